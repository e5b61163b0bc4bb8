import { useQuery } from '@tanstack/react-query';

import type { Turn } from '#gen/sessions_pb';

import * as api from '../api/clients';

/** How many turns are read at most; longer conversations are shown from their beginning. */
export const mostTurns = 2000;

async function readTurns(sessionId: string, signal: AbortSignal): Promise<Turn[]> {
  const turns: Turn[] = [];
  let pageToken = '';
  do {
    const page = await api.sessions.getTranscript({ sessionId, pageSize: 200, pageToken }, { signal });
    turns.push(...page.turns);
    pageToken = page.nextPageToken;
  } while (pageToken && turns.length < mostTurns);
  return turns;
}

export const transcriptKey = (sessionId: string) => ['session', sessionId, 'transcript'];

/** The turns of a session, oldest first. */
export const useTranscript = (
  sessionId: string,
  options: { refetchInterval?: number | false; enabled?: boolean } = {},
) =>
  useQuery({
    queryKey: transcriptKey(sessionId),
    queryFn: ({ signal }) => readTurns(sessionId, signal),
    ...options,
  });
