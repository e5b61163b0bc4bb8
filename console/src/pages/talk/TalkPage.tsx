import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';

import type { Agent } from '#gen/agents_pb';

import * as api from '../../api/clients';
import { useHere } from '../../app/caller';
import { useFilters } from '../../app/location';
import { Conversation } from '../../conversation/Conversation';
import { ButtonLink } from '../../ui/Button';
import { Empty, Page } from '../../ui/Page';
import { Query } from '../../ui/Query';
import { Select } from '../../ui/Select';

/** A conversation with an agent that is chosen here: ?agent=agt_…, and &draft=1 for its draft. */
export default function TalkPage() {
  const { workspaceId } = useHere();
  const [filters, change] = useFilters(['agent', 'draft']);
  const agents = useQuery({
    queryKey: ['talk', 'agents', workspaceId],
    queryFn: async ({ signal }) => (await api.agents.listAgents({ workspaceId, pageSize: 200 }, { signal })).agents,
  });
  const chosen = filters.agent;
  const agentId = chosen || agents.data?.[0]?.id;
  useEffect(() => {
    if (!chosen && agentId) change({ agent: agentId }); // a page that is loaded again shows the same agent
  }, [chosen, agentId]);
  const isDraft = filters.draft === '1';
  return (
    <Page
      title="Talk"
      lead="Try an agent as a user would, and see what its answers are made of."
      actions={
        agentId && (
          <Choice agents={agents.data ?? []} agentId={agentId} onChange={(agent) => change({ agent, draft: '' })} />
        )
      }
    >
      <Query query={agents}>
        {() =>
          agentId ? <Conversation key={`${agentId} ${isDraft}`} agentId={agentId} draft={isDraft} /> : <Nobody />
        }
      </Query>
    </Page>
  );
}

function Choice({ agents, agentId, onChange }: { agents: Agent[]; agentId: string; onChange(agentId: string): void }) {
  const choices = agents.map(({ id, name, version }) => ({ id, text: name, note: `version ${version}` }));
  if (!agents.some(({ id }) => id === agentId)) choices.unshift({ id: agentId, text: agentId, note: '' });
  return (
    <div className="talk-choice">
      <Select label="Agent" hideLabel choices={choices} value={agentId} onChange={onChange} />
    </div>
  );
}

function Nobody() {
  return (
    <Empty
      title="There is nobody to talk with yet"
      action={
        <ButtonLink kind="primary" href="#/agents">
          Make an agent
        </ButtonLink>
      }
    >
      This workspace has no agents. Make one, and try it here.
    </Empty>
  );
}
