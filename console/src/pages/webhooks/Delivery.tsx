import { useQuery, useQueryClient } from '@tanstack/react-query';

import type { WebhookDelivery } from '#gen/webhooks_pb';

import * as api from '../../api/clients';
import { useMutation } from '../../api/useMutation';
import { useHere, useMay } from '../../app/caller';
import { navigate } from '../../app/location';
import { Button, ButtonLink } from '../../ui/Button';
import { CodeBlock } from '../../ui/Code';
import { DataTable, type Column } from '../../ui/DataTable';
import { Card, Facts, Page } from '../../ui/Page';
import { Query } from '../../ui/Query';
import { Tabs } from '../../ui/Tabs';
import { Time } from '../../ui/Time';
import { bytes, duration } from '../../ui/format';
import { prettyJSON } from '../../ui/json';
import { tell, tellFailure } from '../../ui/toast';
import { DeliveryBadge } from './Deliveries';
import './webhooks.css';

interface Params {
  endpointId?: string;
  deliveryId?: string;
}

export default function Delivery({ params: { endpointId = '', deliveryId = '' } }: { params: Params }) {
  const { workspaceId } = useHere();
  const query = useQuery({
    queryKey: ['deliveries', endpointId, 'one', deliveryId],
    queryFn: ({ signal }) => api.webhooks.getWebhookDelivery({ workspaceId, endpointId, deliveryId }, { signal }),
    refetchInterval: ({ state }) => (state.data?.status === 'pending' ? 1000 : 10_000),
  });
  if (!query.data)
    return (
      <Page title="Delivery">
        <Query query={query}>{() => null}</Query>
      </Page>
    );
  return <Shown delivery={query.data} />;
}

function Shown({ delivery }: { delivery: WebhookDelivery }) {
  const { workspaceId } = useHere();
  const may = useMay('operator');
  const client = useQueryClient();
  const { id: deliveryId, endpointId } = delivery;
  const again = useMutation({
    mutationFn: () => api.webhooks.redeliverWebhook({ workspaceId, endpointId, deliveryId }),
    onError: tellFailure,
    onSuccess: ({ id }) => {
      tell('It is sent again.');
      navigate(`/webhooks/${endpointId}/deliveries/${id}`);
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['deliveries', endpointId] }),
  });
  const isTest = delivery.requestHeaders['X-Parlance-Test'] === 'true';
  return (
    <Page
      title={delivery.event}
      lead={isTest ? 'A test: an example of the event.' : undefined}
      actions={
        <>
          <ButtonLink href={`#/webhooks/${endpointId}?tab=deliveries`} kind="quiet">
            The endpoint
          </ButtonLink>
          {may && !isTest && (
            <Button kind="primary" isDisabled={again.isPending} onPress={() => again.mutate()}>
              Send again
            </Button>
          )}
        </>
      }
    >
      <div className="grid-2">
        <Card title={`Attempt ${delivery.attempt}`} actions={<DeliveryBadge delivery={delivery} />}>
          <Facts
            facts={[
              ['Error', delivery.error],
              ['Began', delivery.startedAt && <Time at={delivery.startedAt} exact />],
              ['Took', delivery.startedAt && duration(delivery.durationMs)],
              ['Next attempt', delivery.nextAttemptAt && <Time at={delivery.nextAttemptAt} />],
              ['Event', <code>{delivery.eventId}</code>],
              ['Delivery', <code>{delivery.id}</code>],
            ]}
          />
        </Card>
        {!isTest && <Attempts delivery={delivery} />}
      </div>
      <Sent delivery={delivery} />
    </Page>
  );
}

const columns: Column<WebhookDelivery>[] = [
  { id: 'attempt', title: 'Attempt', cell: ({ attempt }) => attempt },
  { id: 'status', title: 'State', cell: (delivery) => <DeliveryBadge delivery={delivery} /> },
  { id: 'took', title: 'Took', number: true, cell: ({ durationMs }) => duration(durationMs) },
  { id: 'at', title: 'Began', cell: ({ startedAt, nextAttemptAt }) => <Time at={startedAt ?? nextAttemptAt} /> },
];

/** The attempts of the same event. */
function Attempts({ delivery: { endpointId, eventId } }: { delivery: WebhookDelivery }) {
  const { workspaceId } = useHere();
  const query = useQuery({
    queryKey: ['deliveries', endpointId, 'event', eventId],
    refetchInterval: 3000,
    queryFn: ({ signal }) =>
      api.webhooks.listWebhookDeliveries(
        { workspaceId, endpointId, eventId, limit: 200, omitBodies: true },
        { signal },
      ),
  });
  return (
    <Card title="All attempts of this event">
      <Query query={query}>
        {({ deliveries }) => (
          <DataTable
            label="Attempts"
            rows={deliveries}
            rowKey={({ id }) => id}
            columns={columns}
            href={({ id }) => `/webhooks/${endpointId}/deliveries/${id}`}
          />
        )}
      </Query>
    </Card>
  );
}

function Sent({ delivery }: { delivery: WebhookDelivery }) {
  const { requestBody, responseBody, requestHeaders, responseHeaders } = delivery;
  const size = bytes(new TextEncoder().encode(requestBody).length);
  return (
    <Tabs
      label="What was sent and what came back"
      tabs={[
        {
          id: 'payload',
          title: 'Payload',
          content: requestBody ? (
            <div className="stack">
              <p className="dim small">
                {size}. Line breaks and indents are added here; the signature covers the body as it was sent.
              </p>
              <CodeBlock code={prettyJSON(requestBody)} label="Payload" />
            </div>
          ) : (
            <p>Nothing was sent yet.</p>
          ),
        },
        {
          id: 'headers',
          title: 'Headers',
          content: <Headers headers={requestHeaders} label="Headers that were sent" />,
        },
        {
          id: 'answer',
          title: 'Answer',
          content: (
            <div className="stack">
              {delivery.statusCode > 0 ? (
                <p>Status {delivery.statusCode}</p>
              ) : (
                <p>{delivery.error || 'No answer yet.'}</p>
              )}
              <Headers headers={responseHeaders} label="Headers of the answer" />
              {responseBody && <CodeBlock code={prettyJSON(responseBody)} label="Body of the answer" />}
            </div>
          ),
        },
      ]}
    />
  );
}

const signs = /^(webhook-(id|timestamp|signature)|x-parlance-signature)$/i;

/** Headers; those that the signature is checked with stand out. */
function Headers({ headers, label }: { headers: Record<string, string>; label: string }) {
  const all = Object.entries(headers).sort(
    ([a], [b]) => Number(signs.test(b)) - Number(signs.test(a)) || a.localeCompare(b),
  );
  if (all.length === 0) return null;
  return (
    <dl className="headers-list card" aria-label={label}>
      {all.map(([name, value]) => (
        <div key={name} style={{ display: 'contents' }}>
          <dt className={signs.test(name) ? 'signs' : undefined}>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
