import { useInfiniteQuery } from '@tanstack/react-query';
import { useMemo } from 'react';

/** A page of a list of the API. */
interface Answer<Row> {
  rows: Row[];
  nextPageToken: string;
}

/** The most rows that are kept; who wants to see further narrows the list. */
const most = 20_000;

/** A list of the API, page by page. `fetch` gets the token of the page. */
export function useList<Row>(
  key: readonly unknown[],
  fetch: (pageToken: string, signal: AbortSignal) => Promise<Answer<Row>>,
  options: { refetchInterval?: number | false; refetchOnWindowFocus?: boolean; enabled?: boolean } = {},
) {
  const query = useInfiniteQuery({
    queryKey: key,
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) => fetch(pageParam, signal),
    getNextPageParam: (last, pages) =>
      last.nextPageToken && pages.length * 200 < most ? last.nextPageToken : undefined,
    ...options,
  });
  const rows = useMemo(() => query.data?.pages.flatMap((page) => page.rows), [query.data]);
  const more = { has: query.hasNextPage, isLoading: query.isFetchingNextPage, load: () => void query.fetchNextPage() };
  return { rows, more, error: query.error, refetch: query.refetch };
}
