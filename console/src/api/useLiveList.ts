import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';

import { useList } from './useList';

interface Answer<Row> {
  rows: Row[];
  nextPageToken: string;
}

const everyMs = 5000;

/**
 * Puts the first page as it is now in place of the rows that it was before. `gap`: there are rows
 * between it and the others.
 */
function merge<Row>(rows: Row[], newest: Answer<Row>, idOf: (row: Row) => string): { rows: Row[]; gap: boolean } {
  const last = newest.rows.at(-1);
  if (!newest.nextPageToken || !last) return { rows: newest.rows, gap: false };
  const end = rows.findIndex((row) => idOf(row) === idOf(last));
  const ids = new Set(newest.rows.map(idOf));
  return {
    rows: [...newest.rows, ...rows.slice(end + 1).filter((row) => !ids.has(idOf(row)))],
    gap: end < 0 && rows.length > 0,
  };
}

/**
 * A list as of useList whose first page is asked for again while the page is in view: what is new
 * appears at its head.
 */
export function useLiveList<Row>(
  key: readonly unknown[],
  fetch: (pageToken: string, signal: AbortSignal) => Promise<Answer<Row>>,
  idOf: (row: Row) => string,
  options: { enabled?: boolean } = {},
) {
  const list = useList(key, fetch, { ...options, refetchOnWindowFocus: false });
  const isThere = list.rows !== undefined;
  const { data: newest } = useQuery({
    queryKey: [...key, 'newest'],
    queryFn: ({ signal }) => fetch('', signal),
    refetchInterval: everyMs,
    enabled: isThere,
  });
  const { rows: known, refetch } = list;
  // The same array until something changes, so that a long table is not made anew.
  const { rows, gap } = useMemo(
    () => (known && newest ? merge(known, newest, idOf) : { rows: known, gap: false }),
    [known, newest, idOf],
  );
  useEffect(() => {
    if (gap) void refetch();
  }, [gap, refetch]);
  return { ...list, rows };
}
