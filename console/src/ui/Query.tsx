import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';

import { Button } from './Button';
import { FailureNote, Loading } from './Page';

/** What a query answered, or that it is on its way, or what went wrong. */
export function Query<T>({ query, children }: { query: UseQueryResult<T>; children(data: T): ReactNode }) {
  if (query.data !== undefined) return <>{children(query.data)}</>;
  if (query.error)
    return <FailureNote error={query.error} retry={<Button onPress={() => void query.refetch()}>Try again</Button>} />;
  return <Loading />;
}
