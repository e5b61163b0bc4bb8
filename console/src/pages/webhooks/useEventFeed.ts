import { Code, ConnectError } from '@connectrpc/connect';
import { useEffect, useRef, useState } from 'react';

import type { Event } from '#gen/webhooks_pb';

import * as api from '../../api/clients';

const pageSize = 200;
const pagesAtOnce = 10;
const againAfterMs = 2000;

const wait = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });

/**
 * The events of a workspace, the newest first: those that are kept, then new ones as they happen.
 * `type`: only events of this name.
 */
export function useEventFeed(workspaceId: string, type: string) {
  const [events, setEvents] = useState<Event[]>([]);
  const [isReading, setReading] = useState(true);
  const [isCut, setCut] = useState(false);
  const [isLive, setLive] = useState(false);
  const [error, setError] = useState<unknown>();
  const [turn, setTurn] = useState(0);
  const cursor = useRef('');

  useEffect(() => {
    cursor.current = '';
    setEvents([]);
  }, [workspaceId, type]);

  useEffect(() => {
    const ending = new AbortController();
    const { signal } = ending;
    const types = type ? [type] : [];
    const add = (more: Event[]) => {
      cursor.current = more.at(-1)?.cursor ?? cursor.current;
      setEvents((before) => [...more.toReversed(), ...before]);
    };
    const readKept = async (): Promise<boolean> => {
      const after = cursor.current;
      let pageToken = '';
      for (let page = 0; page < pagesAtOnce; page++) {
        const answer = await api.webhooks.listEvents(
          { workspaceId, after, pageSize, pageToken, events: types },
          { signal },
        );
        if (signal.aborted) return false;
        add(answer.events);
        pageToken = answer.nextPageToken;
        if (!pageToken) return true;
      }
      return false;
    };
    const follow = async () => {
      while (!signal.aborted) {
        try {
          for await (const { event, cursor: at } of api.webhooks.watchEvents(
            { workspaceId, after: cursor.current, events: types, announce: true },
            { signal },
          )) {
            setLive(true);
            setError(undefined);
            if (event) add([event]);
            else cursor.current = at || cursor.current;
          }
        } catch (thrown) {
          if (signal.aborted) return;
          if (ConnectError.from(thrown).code !== Code.Unavailable) setError(thrown);
        }
        setLive(false);
        await wait(againAfterMs, signal);
      }
    };
    const run = async () => {
      setReading(true);
      try {
        const isAll = await readKept();
        setCut(!isAll);
        setReading(false);
        if (isAll) await follow();
      } catch (thrown) {
        if (signal.aborted) return;
        setError(thrown);
        setReading(false);
      }
    };
    void run();
    return () => ending.abort();
  }, [workspaceId, type, turn]);
  return { events, isReading, isCut, isLive, error, readOn: () => setTurn((n) => n + 1) };
}
