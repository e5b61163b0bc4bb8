import { useQuery } from '@tanstack/react-query';

import type { Session } from '#gen/sessions_pb';

import * as api from '../../../api/clients';

/** Whether a session goes on, or can begin. */
export const isOpen = (session: Session | undefined) =>
  session?.status === 'pending' || session?.status === 'in_progress';

/** The name of a session's agent; isGone: it was deleted since, or cannot be read. */
export function useAgentName({ agentId, workspaceId }: Session): { name: string; isGone: boolean } {
  const agent = useQuery({
    queryKey: ['talk', 'agent', agentId],
    retry: false,
    staleTime: 60_000,
    queryFn: ({ signal }) => api.agents.getAgent({ workspaceId, agentId }, { signal }),
  });
  return { name: agent.data?.name ?? 'Agent', isGone: agent.error !== null };
}
