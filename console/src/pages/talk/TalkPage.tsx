import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';

import * as api from '../../api/clients';
import { useHere } from '../../app/caller';
import { useFilters } from '../../app/location';
import { Conversation } from '../../conversation/Conversation';
import { AgentSelect } from '../../ui/AgentSelect';
import { ButtonLink } from '../../ui/Button';
import { Empty, Page } from '../../ui/Page';
import { Query } from '../../ui/Query';

/** A conversation with an agent that is chosen here: ?agent=agt_…, and &draft=1 for its draft. */
export default function TalkPage() {
  const { workspaceId } = useHere();
  const [filters, change] = useFilters(['agent', 'draft']);
  const newest = useQuery({
    queryKey: ['talk', 'agents', workspaceId],
    queryFn: async ({ signal }) => (await api.agents.listAgents({ workspaceId, pageSize: 1 }, { signal })).agents,
  });
  const chosen = filters.agent;
  const agentId = chosen || newest.data?.[0]?.id;
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
          <div className="talk-choice">
            <AgentSelect label="Agent" hideLabel value={agentId} onChange={(agent) => change({ agent, draft: '' })} />
          </div>
        )
      }
    >
      <Query query={newest}>
        {() =>
          agentId ? <Conversation key={`${agentId} ${isDraft}`} agentId={agentId} draft={isDraft} /> : <Nobody />
        }
      </Query>
    </Page>
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
