import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';

import type { Source } from '#gen/knowledge_pb';

import * as api from '../../api/clients';
import { useHere } from '../../app/caller';

/** Whether a source is waiting or being read. */
export const isBusy = ({ status }: Source) => status === 'queued' || status === 'processing';

/** How often a source that is being read is asked for; its heartbeat is every 5 s. */
const pollMilliseconds = 2000;

interface Options {
  /** What is known of it already. */
  known?: Source;
  /**
   * Whether its changes are streamed. A browser has few connections, so only the page of one source
   * does; else, and when the stream ends, it is polled.
   */
  stream?: boolean;
}

/** A source as it is now, and while it is being read as it changes. */
export function useSource(sourceId: string, { known, stream = false }: Options = {}) {
  const { workspaceId } = useHere();
  const client = useQueryClient();
  const key = ['source', workspaceId, sourceId];
  const query = useQuery({
    queryKey: key,
    initialData: known,
    initialDataUpdatedAt: 0,
    refetchOnMount: known && !isBusy(known) ? false : true,
    queryFn: ({ signal }) => api.knowledge.getSource({ workspaceId, sourceId }, { signal }),
    refetchInterval: ({ state: { data } }) => (data && isBusy(data) ? pollMilliseconds : false),
  });
  const busy = !!query.data && isBusy(query.data);
  useStream(workspaceId, sourceId, stream && busy, (source) =>
    client.setQueryData(key, (before?: Source) => ({ ...source, content: source.content ?? before?.content })),
  );
  const [wasBusy, setWasBusy] = useState(busy);
  useEffect(() => {
    if (wasBusy && !busy) {
      for (const name of ['sources', 'chunks', 'attachments', 'kb usage'])
        void client.invalidateQueries({ queryKey: [name] });
    }
    setWasBusy(busy);
  }, [client, busy, wasBusy]);
  return query;
}

function useStream(workspaceId: string, sourceId: string, isOn: boolean, onChange: (source: Source) => void) {
  useEffect(() => {
    if (!isOn) return;
    const stop = new AbortController();
    const watch = async () => {
      for await (const { source } of api.knowledge.watchSource({ workspaceId, sourceId }, { signal: stop.signal }))
        if (source) onChange(source);
    };
    watch().catch(() => undefined); // the source is polled as well
    return () => stop.abort();
  }, [workspaceId, sourceId, isOn]);
}
