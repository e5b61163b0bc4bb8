import { useQuery } from '@tanstack/react-query';

import type { WebhookEndpoint } from '#gen/webhooks_pb';

import * as api from '../../api/clients';
import { useHere } from '../../app/caller';
import { Badge } from '../../ui/Page';
import { count, percent } from '../../ui/format';

/** How an endpoint does, asked again every ten seconds. */
export function useHealth(endpointId: string) {
  const { workspaceId } = useHere();
  return useQuery({
    queryKey: ['webhook-health', endpointId],
    refetchInterval: 10_000,
    queryFn: ({ signal }) => api.webhooks.getWebhookEndpointHealth({ workspaceId, endpointId }, { signal }),
  });
}

/** Whether an endpoint gets its events, and why not. */
export function StatusBadge({
  endpoint: { status, disabledReason, health, consecutiveFailures, events },
}: {
  endpoint: WebhookEndpoint;
}) {
  if (status === 'disabled')
    return <Badge tone="bad">disabled: {disabledReason === 'gone' ? 'it answered 410' : 'too many failures'}</Badge>;
  if (status === 'paused') return <Badge tone="warn">paused</Badge>;
  if (health === 'warning' || consecutiveFailures > 0)
    return <Badge tone={health === 'warning' ? 'bad' : 'warn'}>failing, {count(consecutiveFailures)} in a row</Badge>;
  return events.length === 0 ? <Badge>no events chosen</Badge> : <Badge tone="good">ok</Badge>;
}

/** The share of the last day's attempts that were accepted. */
export function Accepted({ endpointId }: { endpointId: string }) {
  const { data } = useHealth(endpointId);
  if (!data) return <span className="dim">…</span>;
  if (data.attempts === 0) return <span className="dim">nothing sent</span>;
  return (
    <span>
      {percent(data.succeeded, data.attempts)} <span className="dim small">of {count(data.attempts)}</span>
    </span>
  );
}
