import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import type { AgentTool } from '#gen/tools_pb';

import * as api from '../../api/clients';
import { useList } from '../../api/useList';
import { useMutation } from '../../api/useMutation';
import { Button } from '../../ui/Button';
import type { Column } from '../../ui/DataTable';
import { useConfirm } from '../../ui/Dialog';
import { Switch } from '../../ui/Field';
import { List } from '../../ui/List';
import { Menu } from '../../ui/Menu';
import { Badge, Card, Empty } from '../../ui/Page';
import { tell, tellFailure } from '../../ui/toast';
import { reasonName } from '../tools/reasons';
import { AttachTool, MostCalls } from './AttachTool';
import { ClientTools } from './ClientTools';
import { useEditor } from './editor';

/** What the agent can do beside talking. */
export function Tools() {
  return (
    <>
      <Attached />
      <ClientTools />
    </>
  );
}

function Attached() {
  const { workspaceId, agentId, mayEdit } = useEditor();
  const [isAdding, setAdding] = useState(false);
  const [limited, setLimited] = useState<AgentTool>();
  const list = useList(['agent-tools', agentId], async (pageToken, signal) => {
    const { tools, nextPageToken } = await api.tools.listAgentTools(
      { workspaceId, agentId, pageSize: 200, pageToken },
      { signal },
    );
    return { rows: tools, nextPageToken };
  });
  return (
    <Card title="Tools" actions={mayEdit && <Button onPress={() => setAdding(true)}>Attach a tool</Button>}>
      <p className="dim small">
        Attached tools count at once, in the published version too: they are not part of the draft. Switching a memory
        tool off is.
      </p>
      <List
        label="Tools of the agent"
        list={list}
        rowKey={({ tool, name }) => `${tool?.id} ${name}`}
        columns={useColumns(setLimited)}
        empty={<Empty title="It has no tools">Attach one, and the model can call it.</Empty>}
      />
      {isAdding && (
        <AttachTool attached={new Set(list.rows?.map(({ tool }) => tool?.id ?? ''))} onClose={() => setAdding(false)} />
      )}
      {limited && <MostCalls of={limited} onClose={() => setLimited(undefined)} />}
    </Card>
  );
}

const buckets: Record<string, string> = {
  custom: 'yours',
  memory: 'memory',
  opt_in: 'built in',
  system: 'always there',
};

function useColumns(onLimit: (tool: AgentTool) => void): Column<AgentTool>[] {
  const { mayEdit } = useEditor();
  const { attach, detach } = useAttachment();
  const confirm = useConfirm();
  const ask = async (row: AgentTool) => {
    if (
      await confirm({
        title: `Detach ${row.tool?.slug}?`,
        text: 'The agent can no longer call it, at once. The tool itself stays.',
        action: 'Detach',
      })
    )
      detach.mutate(row.tool?.id ?? '');
  };
  const nameOf = (row: AgentTool) => {
    const { tool, name, description, needsApproval, maxCallsPerSession } = row;
    return (
      <div className="tool-name">
        <b>{tool?.bucket === 'custom' ? <a href={`#/tools/${tool.id}`}>{name}</a> : name}</b>{' '}
        <Badge>{buckets[tool?.bucket ?? ''] ?? tool?.bucket}</Badge> {needsApproval && <Badge>asks first</Badge>}{' '}
        {maxCallsPerSession > 0 && <Badge>at most {maxCallsPerSession} calls</Badge>} <WhyOff row={row} />
        <span className="dim small clamp">{description}</span>
      </div>
    );
  };
  return [
    { id: 'name', title: 'Tool', cell: nameOf },
    {
      id: 'on',
      title: 'On',
      number: true,
      cell: (row) => (
        <div className="tool-do">
          <OnOff row={row} set={(enabled) => attach.mutate({ toolId: row.tool?.id ?? '', enabled })} />
          {mayEdit && row.tool?.bucket !== 'system' && (
            <Menu
              label={`More for ${row.name}`}
              actions={[
                { id: 'most', text: 'Limit the calls', run: () => onLimit(row) },
                {
                  id: 'detach',
                  text: 'Detach',
                  danger: true,
                  isDisabled: row.tool?.bucket === 'memory',
                  run: () => void ask(row),
                },
              ]}
            />
          )}
        </div>
      ),
    },
  ];
}

/** Why the model does not see a tool. Whether a memory tool is switched off is as the draft says. */
function WhyOff({ row: { tool, disabledReason, disabledDetail } }: { row: AgentTool }) {
  const {
    settings: { toolsConfig },
  } = useEditor();
  const isOffInDraft = tool?.bucket === 'memory' && toolsConfig.disabledTools.includes(tool.slug);
  const reason = isOffInDraft ? 'disabled_tools' : disabledReason === 'disabled_tools' ? '' : disabledReason;
  return reason ? (
    <Badge tone="warn">
      {reasonName(reason)}
      {disabledDetail && `: ${disabledDetail}`}
    </Badge>
  ) : null;
}

/** Switches a tool. Those of memory are settings of the agent; the others are attached. */
function OnOff({ row, set }: { row: AgentTool; set(on: boolean): void }) {
  const {
    settings: { toolsConfig },
    edit,
  } = useEditor();
  const { tool, disabledReason, name } = row;
  if (!tool || tool.bucket === 'system') return <span className="dim small">always</span>;
  const label = <span className="visually-hidden">{name}</span>;
  if (tool.bucket !== 'memory')
    return (
      <Switch isSelected={disabledReason !== 'attachment_disabled' && disabledReason !== 'not_enabled'} onChange={set}>
        {label}
      </Switch>
    );
  const others = toolsConfig.disabledTools.filter((other) => other !== tool.slug);
  return (
    <Switch
      isSelected={!toolsConfig.disabledTools.includes(tool.slug)}
      onChange={(on) => edit({ toolsConfig: { ...toolsConfig, disabledTools: on ? others : [...others, tool.slug] } })}
    >
      {label}
    </Switch>
  );
}

/** Attaches a tool or changes its attachment, and detaches it. */
export function useAttachment() {
  const { workspaceId, agentId } = useEditor();
  const client = useQueryClient();
  const changed = {
    onError: tellFailure,
    onSettled: () => client.invalidateQueries({ queryKey: ['agent-tools', agentId] }),
  };
  const attach = useMutation({
    mutationFn: (of: { toolId: string; enabled?: boolean; maxCallsPerSession?: number }) =>
      api.tools.attachTool({ workspaceId, agentId, ...of }),
    ...changed,
  });
  const detach = useMutation({
    mutationFn: (toolId: string) => api.tools.detachTool({ workspaceId, agentId, toolId }),
    onSuccess: () => tell('The tool is detached.'),
    ...changed,
  });
  return { attach, detach };
}
