import type { QueryClient, QueryKey } from '@tanstack/react-query';

/**
 * Forgets what is known of a thing that was deleted, once no page shows it: a page that is about to
 * close would ask for it again, and be told that it is not there.
 */
export function forget(client: QueryClient, queryKey: QueryKey) {
  const cache = client.getQueryCache();
  const stop = cache.subscribe(() => {
    if (cache.findAll({ queryKey, type: 'active' }).length > 0) return;
    stop();
    client.removeQueries({ queryKey });
  });
}
