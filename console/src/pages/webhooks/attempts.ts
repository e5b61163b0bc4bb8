import type { Timestamp } from '@bufbuild/protobuf/wkt';

import type { WebhookDelivery } from '#gen/webhooks_pb';

import * as api from '../../api/clients';

const pages = 5;

/** The attempts since a time, the newest first: at most 1,000. `isAll`: there are no others. */
export async function attemptsSince(
  of: { workspaceId: string; endpointId: string; startedAfter: Timestamp },
  signal: AbortSignal,
) {
  const attempts: WebhookDelivery[] = [];
  let pageToken = '';
  for (let page = 0; page < pages; page++) {
    const answer = await api.webhooks.listWebhookDeliveries(
      { ...of, limit: 200, omitBodies: true, pageToken },
      { signal },
    );
    attempts.push(...answer.deliveries);
    pageToken = answer.nextPageToken;
    if (!pageToken) return { attempts, isAll: true };
  }
  return { attempts, isAll: false };
}

/** How many events have failed for good: the newest attempt failed, and no other is due. */
export function countFailed(attempts: WebhookDelivery[]): number {
  const newest = new Map<string, WebhookDelivery>();
  for (const attempt of attempts) {
    const known = newest.get(attempt.eventId);
    if (!known || known.attempt < attempt.attempt) newest.set(attempt.eventId, attempt);
  }
  return [...newest.values()].filter(({ status, nextAttemptAt }) => status === 'failed' && !nextAttemptAt).length;
}
