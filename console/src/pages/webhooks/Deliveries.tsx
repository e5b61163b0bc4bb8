import type { WebhookDelivery } from '#gen/webhooks_pb';

import * as api from '../../api/clients';
import { useLiveList } from '../../api/useLiveList';
import { useHere } from '../../app/caller';
import { useFilters } from '../../app/location';
import { Button } from '../../ui/Button';
import type { Column } from '../../ui/DataTable';
import { FilterDays, Filters } from '../../ui/Filters';
import { List } from '../../ui/List';
import { Badge, Empty } from '../../ui/Page';
import { Select } from '../../ui/Select';
import { Time } from '../../ui/Time';
import { dayBegins, dayEnds } from '../../ui/days';
import { duration } from '../../ui/format';
import { eventChoices } from './events';

const states = [
  { id: '', text: 'All' },
  { id: 'succeeded', text: 'Accepted' },
  { id: 'failed', text: 'Failed' },
  { id: 'pending', text: 'Waiting' },
  { id: 'unknown', text: 'Not known', note: 'The worker stopped before it had the answer.' },
];

/** What became of an attempt. */
export function DeliveryBadge({ delivery: { status, statusCode } }: { delivery: WebhookDelivery }) {
  if (status === 'succeeded') return <Badge tone="good">accepted, {statusCode}</Badge>;
  if (status === 'failed') return <Badge tone="bad">failed{statusCode > 0 && `, ${statusCode}`}</Badge>;
  return (
    <Badge tone={status === 'pending' ? 'accent' : 'warn'}>{status === 'pending' ? 'waiting' : 'not known'}</Badge>
  );
}

const columns: Column<WebhookDelivery>[] = [
  { id: 'event', title: 'Event', cell: ({ event }) => <span className="nowrap">{event}</span> },
  { id: 'status', title: 'State', cell: (delivery) => <DeliveryBadge delivery={delivery} /> },
  { id: 'attempt', title: 'Attempt', number: true, cell: ({ attempt }) => attempt },
  { id: 'error', title: 'Error', cell: ({ error }) => error || <span className="dim">–</span> },
  { id: 'took', title: 'Took', number: true, cell: ({ durationMs }) => duration(durationMs) },
  {
    id: 'at',
    title: 'Began',
    cell: ({ startedAt }) => (startedAt ? <Time at={startedAt} /> : <span className="dim">not yet</span>),
  },
  {
    id: 'next',
    title: 'Next attempt',
    cell: ({ nextAttemptAt }) => (nextAttemptAt ? <Time at={nextAttemptAt} /> : <span className="dim">none</span>),
  },
];
const idOf = ({ id }: WebhookDelivery) => id;

/** The attempts to deliver to an endpoint, the newest first. */
export function Deliveries({ endpointId, onTest }: { endpointId: string; onTest?: () => void }) {
  const { workspaceId } = useHere();
  const [filters, change] = useFilters(['event', 'status', 'from', 'until']);
  const list = useLiveList(
    ['deliveries', endpointId, filters],
    async (pageToken, signal) => {
      const { event, status, from, until } = filters;
      const { deliveries, nextPageToken } = await api.webhooks.listWebhookDeliveries(
        {
          workspaceId,
          endpointId,
          limit: 200,
          pageToken,
          event,
          status,
          startedAfter: dayBegins(from),
          startedBefore: dayEnds(until),
          omitBodies: true,
        },
        { signal },
      );
      return { rows: deliveries, nextPageToken };
    },
    idOf,
  );
  const isFiltered = Object.values(filters).some(Boolean);
  const clear = () => change({ event: '', status: '', from: '', until: '' });
  return (
    <div className="stack">
      <Filters many onClear={isFiltered ? clear : undefined}>
        <Select label="Event" choices={eventChoices} value={filters.event} onChange={(event) => change({ event })} />
        <Select label="State" choices={states} value={filters.status} onChange={(status) => change({ status })} />
        <FilterDays from={filters.from} until={filters.until} onChange={change} />
      </Filters>
      <List
        label="Deliveries"
        list={list}
        rowKey={idOf}
        columns={columns}
        href={({ id }) => `/webhooks/${endpointId}/deliveries/${id}`}
        empty={
          isFiltered ? (
            <Empty title="No delivery matches" action={<Button onPress={clear}>Clear filters</Button>} />
          ) : (
            <Empty
              title="Nothing was sent yet"
              action={
                onTest && (
                  <Button kind="primary" onPress={onTest}>
                    Send a test
                  </Button>
                )
              }
            >
              Deliveries appear when an event happens that this endpoint has chosen.
            </Empty>
          )
        }
      />
    </div>
  );
}
