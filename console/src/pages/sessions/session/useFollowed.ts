import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';

import type { Turn } from '#gen/sessions_pb';

import * as api from '../../../api/clients';
import { useMaySeePersonal } from '../../../app/caller';

/** What the agent has said so far in a turn in progress, as it says it. */
export function useFollowed(turn: Turn | undefined): string | undefined {
  const client = useQueryClient();
  const may = useMaySeePersonal();
  const [followed, setFollowed] = useState({ turnId: '', text: '' });
  const turnId = turn?.status === 'in_progress' && may ? turn.id : '';
  const sessionId = turn?.sessionId ?? '';
  useEffect(() => {
    if (!turnId) return undefined;
    const stop = new AbortController();
    void (async () => {
      let text = '';
      try {
        for await (const { delta } of api.sessions.followTurn({ sessionId, turnId }, { signal: stop.signal })) {
          text += delta;
          setFollowed({ turnId, text });
        }
      } catch {
        // The turn failed, or nobody can follow it: the transcript says how it ended.
      }
      if (!stop.signal.aborted) await client.invalidateQueries({ queryKey: ['session', sessionId] });
    })();
    return () => stop.abort();
  }, [client, sessionId, turnId]);
  return turnId && followed.turnId === turnId ? followed.text : undefined;
}
