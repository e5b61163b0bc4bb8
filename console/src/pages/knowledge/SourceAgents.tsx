import { useQueryClient } from '@tanstack/react-query';

import type { Source, SourceAttachment } from '#gen/knowledge_pb';

import * as api from '../../api/clients';
import { useMutation } from '../../api/useMutation';
import { useHere, useMay } from '../../app/caller';
import { useAgentNames } from '../../api/useAgentNames';
import { NotAllAgents } from './NotAllAgents';
import { Button } from '../../ui/Button';
import { DataTable } from '../../ui/DataTable';
import { Empty } from '../../ui/Page';
import { Query } from '../../ui/Query';
import { Select } from '../../ui/Select';
import { Time } from '../../ui/Time';
import { tellFailure } from '../../ui/toast';
import { useAttachments } from './agents';
import { ChooseAgent } from './ChooseAgent';

const modes = [
  { id: 'auto', text: 'When it fits the question', note: 'auto: its best passages are searched out for each turn' },
  { id: 'prompt', text: 'Always, as a whole', note: 'prompt: all of its text is in the prompt; for short sources' },
];

/** The agents that answer from a source. */
export function SourceAgents({ source: { id: sourceId, readyAt, name } }: { source: Source }) {
  const { workspaceId } = useHere();
  const mayChange = useMay('operator');
  const client = useQueryClient();
  const attachments = useAttachments();
  const changed = { onError: tellFailure, onSettled: () => client.invalidateQueries({ queryKey: ['attachments'] }) };
  const attach = useMutation({
    mutationFn: ({ agentId, usageMode }: { agentId: string; usageMode: string }) =>
      api.knowledge.attachSources({ workspaceId, agentId, sourceIds: [sourceId], usageMode }),
    ...changed,
  });
  const detach = useMutation({
    mutationFn: (agentId: string) => api.knowledge.detachSource({ workspaceId, agentId, sourceId }),
    ...changed,
  });
  const here = attachments.data?.get(sourceId) ?? [];
  const nameOf = useAgentNames(here.map(({ agentId }) => agentId));
  return (
    <Query query={attachments}>
      {() => (
        <div className="stack">
          {here.length === 0 ? (
            <Empty title="No agent answers from it">
              Attach it to an agent below{!readyAt && ' when it is ready'}.
            </Empty>
          ) : (
            <DataTable<SourceAttachment>
              label={`Agents that answer from ${name}`}
              rows={here}
              rowKey={({ agentId }) => agentId}
              columns={[
                {
                  id: 'agent',
                  title: 'Agent',
                  cell: ({ agentId }) => <a href={`#/agents/${agentId}`}>{nameOf(agentId)}</a>,
                },
                {
                  id: 'mode',
                  title: 'Used',
                  cell: ({ agentId, usageMode }) =>
                    mayChange ? (
                      <Select
                        label={`How ${nameOf(agentId)} uses it`}
                        hideLabel
                        choices={modes}
                        value={usageMode}
                        onChange={(mode) => attach.mutate({ agentId, usageMode: mode })}
                      />
                    ) : (
                      modes.find(({ id }) => id === usageMode)?.text
                    ),
                },
                { id: 'since', title: 'Since', cell: ({ createdAt }) => <Time at={createdAt} /> },
                ...(mayChange
                  ? [
                      {
                        id: 'more',
                        title: '',
                        cell: ({ agentId }: SourceAttachment) => (
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
              ]}
            />
          )}
          {mayChange && (
            <ChooseAgent
              label="Another agent"
              action="Attach"
              without={here.map(({ agentId }) => agentId)}
              isDisabled={!readyAt || attach.isPending}
              onChoose={(agentId) => attach.mutate({ agentId, usageMode: 'auto' })}
            />
          )}
          <NotAllAgents />
        </div>
      )}
    </Query>
  );
}
