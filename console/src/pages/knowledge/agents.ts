// Which agents there are, and which of them see which sources. The API lists attachments by agent,
// so they are asked agent by agent.

import { useQuery } from '@tanstack/react-query';

import type { Agent } from '#gen/agents_pb';
import type { SourceAttachment } from '#gen/knowledge_pb';

import * as api from '../../api/clients';
import { failureOf } from '../../api/failure';
import { useHere } from '../../app/caller';

/** The most agents whose attachments are looked up. */
export const mostAgents = 200;
const atOnce = 4;

/** The agents whose attachments are looked up, by name. */
export function useAgents() {
  const { workspaceId } = useHere();
  return useQuery({
    queryKey: ['agents', workspaceId, 'by name'],
    queryFn: async ({ signal }) =>
      (await api.agents.listAgents({ workspaceId, pageSize: mostAgents, orderBy: 'name' }, { signal })).agents,
  });
}

/** Does something for each agent, a few at once. One that was deleted meanwhile is left out. */
export async function forEachAgent(agents: readonly Agent[], run: (agentId: string) => Promise<void>): Promise<void> {
  await forEachOf(agents, ({ id }) =>
    run(id).catch((error: unknown) => {
      if (failureOf(error).reason !== 'not-found') throw error;
    }),
  );
}

/** Does something for each of many, a few at once, and keeps the order. */
export async function forEachOf<T, R>(all: readonly T[], run: (one: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async () => {
    for (let at = next++; at < all.length; at = next++) results[at] = await run(all[at] as T);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}

/** What each agent sees, by the id of the source. */
export function useAttachments() {
  const { workspaceId } = useHere();
  const { data: agents } = useAgents();
  return useQuery({
    queryKey: ['attachments', workspaceId],
    enabled: !!agents,
    queryFn: async ({ signal }) => {
      const bySource = new Map<string, SourceAttachment[]>();
      await forEachAgent(agents ?? [], async (agentId) => {
        for (let pageToken = ''; ;) {
          const page = await api.knowledge.listSourceAttachments(
            { workspaceId, agentId, pageSize: 200, pageToken },
            { signal },
          );
          for (const attachment of page.attachments)
            bySource.set(attachment.sourceId, [...(bySource.get(attachment.sourceId) ?? []), attachment]);
          pageToken = page.nextPageToken;
          if (pageToken === '') return;
        }
      });
      return bySource;
    },
  });
}
