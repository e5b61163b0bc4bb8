import { useQueryClient } from '@tanstack/react-query';

import type { Tool } from '#gen/tools_pb';

import * as api from '../../api/clients';
import { useMutation } from '../../api/useMutation';
import { useHere, useMay } from '../../app/caller';
import { useAgentNames } from '../../api/useAgentNames';
import { Button } from '../../ui/Button';
import { DataTable, type Column } from '../../ui/DataTable';
import { Switch } from '../../ui/Field';
import { Badge, Empty } from '../../ui/Page';
import { Query } from '../../ui/Query';
import { tellFailure } from '../../ui/toast';
import { NotAllAgents } from '../knowledge/NotAllAgents';
import { ChooseAgent } from '../knowledge/ChooseAgent';
import { reasonName } from './reasons';
import { useToolUsers, type ToolUser } from './users';

/** The agents that have a tool. */
export function ToolAgents({ tool: { id: toolId, bucket, slug } }: { tool: Tool }) {
  const { workspaceId } = useHere();
  const canAttach = useMay('operator') && (bucket === 'custom' || bucket === 'opt_in');
  const client = useQueryClient();
  const users = useToolUsers();
  const here = users.data?.get(toolId) ?? [];
  const nameOf = useAgentNames(here.map(({ agentId }) => agentId));
  const changed = { onError: tellFailure, onSettled: () => client.invalidateQueries({ queryKey: ['tool users'] }) };
  const attach = useMutation({
    mutationFn: ({ agentId, enabled }: { agentId: string; enabled: boolean }) =>
      api.tools.attachTool({ workspaceId, agentId, toolId, enabled }),
    ...changed,
  });
  const detach = useMutation({
    mutationFn: (agentId: string) => api.tools.detachTool({ workspaceId, agentId, toolId }),
    ...changed,
  });
  const columns: Column<ToolUser>[] = [
    { id: 'agent', title: 'Agent', cell: ({ agentId }) => <a href={`#/agents/${agentId}`}>{nameOf(agentId)}</a> },
    {
      id: 'on',
      title: 'State',
      cell: ({ agentId, enabled, disabledReason }) =>
        canAttach && (enabled || disabledReason === 'attachment_disabled') ? (
          <Switch
            isSelected={enabled}
            isDisabled={attach.isPending}
            onChange={(isOn) => attach.mutate({ agentId, enabled: isOn })}
          >
            <span className="nowrap">{enabled ? 'on' : 'off'}</span>
            <span className="visually-hidden"> for {nameOf(agentId)}</span>
          </Switch>
        ) : (
          <Badge tone={enabled ? 'good' : 'warn'}>{enabled ? 'on' : reasonName(disabledReason)}</Badge>
        ),
    },
    {
      id: 'most',
      title: 'Most calls in a conversation',
      number: true,
      cell: ({ maxCallsPerSession }) => maxCallsPerSession || 'no limit',
    },
    ...(canAttach
      ? [
          {
            id: 'more',
            title: '',
            cell: ({ agentId }: ToolUser) => (
              <Button
                isDisabled={detach.isPending}
                aria-label={`Detach from ${nameOf(agentId)}`}
                onPress={() => detach.mutate(agentId)}
              >
                Detach
              </Button>
            ),
          },
        ]
      : []),
  ];
  return (
    <Query query={users}>
      {() => (
        <div className="stack">
          {bucket === 'system' && <p className="dim">Every agent has it; it cannot be turned off.</p>}
          {bucket === 'memory' && <p className="dim">Agents with memory have it.</p>}
          {here.length === 0 ? (
            <Empty title="No agent has it">{canAttach ? 'Attach it to an agent below.' : ''}</Empty>
          ) : (
            <DataTable
              label={`Agents that have ${slug}`}
              rows={here}
              rowKey={({ agentId }) => agentId}
              columns={columns}
            />
          )}
          {canAttach && (
            <ChooseAgent
              label="Another agent"
              action="Attach"
              without={here.map(({ agentId }) => agentId)}
              isDisabled={attach.isPending}
              onChoose={(agentId) => attach.mutate({ agentId, enabled: true })}
            />
          )}
          <NotAllAgents />
        </div>
      )}
    </Query>
  );
}
