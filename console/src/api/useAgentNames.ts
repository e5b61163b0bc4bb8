import { useQuery } from '@tanstack/react-query';

import { useHere } from '../app/caller';
import * as api from './clients';

/** The agents of the workspace as choices, and a function that names one by its id. */
export function useAgentNames() {
  const { workspaceId, caller } = useHere();
  const { data = [] } = useQuery({
    queryKey: ['agent-names', workspaceId],
    staleTime: 60_000,
    enabled: caller.role !== 'billing',
    queryFn: async ({ signal }) => {
      const found: { id: string; text: string }[] = [];
      let pageToken = '';
      do {
        const { agents, nextPageToken } = await api.agents.listAgents(
          { workspaceId, pageSize: 200, pageToken },
          { signal },
        );
        found.push(...agents.map(({ id, name }) => ({ id, text: name })));
        pageToken = nextPageToken;
      } while (pageToken && found.length < 1000);
      return found;
    },
  });
  return { choices: data, nameOf: (id: string) => data.find((agent) => agent.id === id)?.text ?? id };
}
