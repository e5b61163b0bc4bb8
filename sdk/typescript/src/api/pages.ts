// Lists as iterators over all of their pages.
import type { CallOptions } from '@connectrpc/connect';

/** A page of a list: one array, and where the next page begins. */
interface Page {
  readonly nextPageToken: string;
}

/** What a page is a list of: the elements of its one array. */
export type ItemOf<P> = {
  [K in keyof P]-?: K extends `$${string}` ? never : P[K] extends readonly (infer Item)[] ? Item : never;
}[keyof P];

/**
 * Lists everything, page after page; a page is fetched when it is reached.
 *
 *     for await (const agent of all(parlance.agents.listAgents, { workspaceId })) …
 *
 * Takes each method that has a `pageToken` in its request and a `nextPageToken` in its answer.
 * Throws what the method throws.
 */
export async function* all<Request extends { pageToken?: string | undefined }, P extends Page>(
  list: (request: Request, options?: CallOptions) => Promise<P>,
  request: NoInfer<Request>,
  options?: CallOptions,
): AsyncGenerator<ItemOf<P>, void, undefined> {
  let { pageToken = '' } = request;
  do {
    const page: P = await list({ ...request, pageToken }, options);
    yield* itemsOf(page);
    pageToken = page.nextPageToken;
  } while (pageToken);
}

function itemsOf<P extends Page>(page: P): ItemOf<P>[] {
  const found = Object.entries(page).find(([name, value]) => !name.startsWith('$') && Array.isArray(value));
  return (found?.[1] ?? []) as ItemOf<P>[];
}
