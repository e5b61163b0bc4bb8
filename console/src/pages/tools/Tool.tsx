import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'wouter';

import type { Tool as ToolMessage } from '#gen/tools_pb';

import * as api from '../../api/clients';
import { forget } from '../../api/forget';
import { useMutation } from '../../api/useMutation';
import { useHere, useMay } from '../../app/caller';
import { useFilters } from '../../app/location';
import { useAgentNames } from '../../api/useAgentNames';
import { Button } from '../../ui/Button';
import { CodeBlock } from '../../ui/Code';
import { useConfirm } from '../../ui/Dialog';
import { Card, Facts, Page } from '../../ui/Page';
import { Query } from '../../ui/Query';
import { Tabs } from '../../ui/Tabs';
import { Time } from '../../ui/Time';
import { tell, tellFailure } from '../../ui/toast';
import { draftOf, prettyJson, updateRequest, type ToolDraft } from './draft';
import { RunTool } from './RunTool';
import { ToolAgents } from './ToolAgents';
import { ToolCalls } from './ToolCalls';
import { ToolForm } from './ToolForm';
import { kindName } from './Tools';
import './tools.css';
import { useToolUsers } from './users';

export default function Tool({ params }: { params: { toolId: string } }) {
  const { workspaceId } = useHere();
  const mayChange = useMay('operator');
  const toolId = decodeURIComponent(params.toolId);
  const [filters, change] = useFilters(['tab']);
  const query = useQuery({
    queryKey: ['tool', workspaceId, toolId],
    queryFn: ({ signal }) => api.tools.getTool({ workspaceId, toolId }, { signal }),
  });
  if (!query.data)
    return (
      <Page title="Tool">
        <Query query={query}>{() => null}</Query>
      </Page>
    );
  const tool = query.data;
  const isOurs = tool.bucket === 'custom';
  const tabs = [
    {
      id: 'settings',
      title: 'Settings',
      content: isOurs && mayChange ? <Settings key={tool.id} tool={tool} /> : <Shown tool={tool} />,
    },
    ...(isOurs && mayChange
      ? [{ id: 'try', title: 'Try it', content: <RunTool key={tool.updatedAt?.seconds.toString()} tool={tool} /> }]
      : []),
    { id: 'calls', title: 'Calls', content: <ToolCalls tool={tool} /> },
    { id: 'agents', title: 'Agents', content: <ToolAgents tool={tool} /> },
  ];
  return (
    <Page
      title={tool.slug}
      lead={<a href="#/tools">All tools</a>}
      actions={isOurs && mayChange && <Remove tool={tool} />}
    >
      <Tabs
        label="Parts of the tool"
        tabs={tabs}
        selected={tabs.some(({ id }) => id === filters.tab) ? filters.tab : 'settings'}
        onSelect={(tab) => change({ tab })}
      />
    </Page>
  );
}

function Settings({ tool }: { tool: ToolMessage }) {
  const { workspaceId } = useHere();
  const client = useQueryClient();
  const save = useMutation({
    mutationFn: (draft: ToolDraft) => api.tools.updateTool(updateRequest(workspaceId, tool.id, draft)),
    onSuccess: (saved) => {
      client.setQueryData(['tool', workspaceId, tool.id], saved);
      void client.invalidateQueries({ queryKey: ['tools'] });
      tell('Saved. The next turn of each agent uses it.');
    },
  });
  return (
    <ToolForm
      key={tool.updatedAt?.nanos}
      start={draftOf(tool)}
      tool={tool}
      error={save.error}
      isSaving={save.isPending}
      action="Save"
      onSave={(draft) => save.mutate(draft)}
    />
  );
}

/** A tool that cannot be changed. */
function Shown({ tool }: { tool: ToolMessage }) {
  return (
    <Card>
      <p>{tool.description}</p>
      <Facts
        facts={[
          ['Kind', kindName(tool)],
          ['Calls', tool.webhookUrl ? `${tool.method} ${tool.webhookUrl}` : tool.mcpServerUrl],
          ['Changed', tool.updatedAt && <Time at={tool.updatedAt} />],
        ]}
      />
      {tool.inputSchemaJson && (
        <>
          <h2>Arguments</h2>
          <CodeBlock code={prettyJson(tool.inputSchemaJson)} label="Arguments as JSON Schema" />
        </>
      )}
    </Card>
  );
}

function Remove({ tool: { id: toolId, slug } }: { tool: ToolMessage }) {
  const { workspaceId } = useHere();
  const confirm = useConfirm();
  const client = useQueryClient();
  const [, go] = useLocation();
  const { data: users } = useToolUsers();
  const agentIds = (users?.get(toolId) ?? []).map(({ agentId }) => agentId);
  const nameOf = useAgentNames(agentIds);
  const remove = useMutation({
    mutationFn: () => api.tools.deleteTool({ workspaceId, toolId }),
    onSuccess: () => {
      tell(`${slug} was deleted.`);
      go('/tools');
      forget(client, ['tool', workspaceId, toolId]);
      for (const key of ['tools', 'tool users']) void client.invalidateQueries({ queryKey: [key] });
    },
    onError: tellFailure,
  });
  const ask = async () => {
    const names = agentIds.map(nameOf);
    const whose =
      names.length > 0 ? `These agents have it now and will not any more: ${names.join(', ')}.` : 'No agent has it.';
    const isSure = await confirm({
      title: `Delete ${slug}?`,
      text: `${whose} Its settings and secrets are gone; the record of its calls stays. This cannot be undone.`,
      action: 'Delete',
    });
    if (isSure) remove.mutate();
  };
  return (
    <Button kind="danger" isDisabled={remove.isPending} onPress={() => void ask()}>
      Delete
    </Button>
  );
}
