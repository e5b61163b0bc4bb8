import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';

import { useHere } from '../app/caller';
import * as api from './clients';

/** The most agents that are offered at once; others are found by their name. */
const most = 200;
const staleTime = 60_000;

/** The agents whose name has a text in it, by name, as choices. isAll: there are no others. */
export function useAgentChoices(q = '') {
  const { workspaceId, caller } = useHere();
  const { data, isPending } = useQuery({
    queryKey: ['agents', workspaceId, 'choices', q],
    staleTime,
    placeholderData: keepPreviousData,
    enabled: caller.role !== 'billing',
    queryFn: async ({ signal }) => {
      const { agents, nextPageToken } = await api.agents.listAgents(
        { workspaceId, q, orderBy: 'name', pageSize: most },
        { signal },
      );
      const choices = agents.map(({ id, name }) => ({ id, text: name }));
      return { choices, isAll: nextPageToken === '' };
    },
  });
  return { choices: data?.choices ?? [], isAll: data?.isAll ?? true, isPending };
}

/** A function that names agents by their ids. One that was deleted has its id as its name. */
export function useAgentNames(ids: readonly string[]): (id: string) => string {
  const { workspaceId, caller } = useHere();
  const { choices, isPending } = useAgentChoices();
  const known = new Map(choices.map(({ id, text }) => [id, text]));
  const unknown = isPending ? [] : [...new Set(ids)].filter((id) => id && !known.has(id));
  const asked = useQueries({
    queries: unknown.map((agentId) => ({
      queryKey: ['agents', workspaceId, 'name', agentId],
      staleTime,
      retry: false,
      enabled: caller.role !== 'billing',
      queryFn: async ({ signal }: { signal: AbortSignal }) =>
        (await api.agents.getAgent({ workspaceId, agentId }, { signal })).name,
    })),
  });
  unknown.forEach((id, at) => known.set(id, asked[at]?.data ?? id));
  return (id) => known.get(id) ?? id;
}
