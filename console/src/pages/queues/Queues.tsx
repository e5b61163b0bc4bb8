import { useQuery } from '@tanstack/react-query';

import type { BacklogKind, ListQueuesResponse, Queue } from '#gen/queues_pb';

import * as api from '../../api/clients';
import { useMay } from '../../app/caller';
import { DataTable, type Column } from '../../ui/DataTable';
import { count, duration } from '../../ui/format';
import { Badge, Card, Page } from '../../ui/Page';
import { Query } from '../../ui/Query';
import { Time } from '../../ui/Time';

const refreshMs = 3_000;

const kinds: Record<string, { title: string; text: string }> = {
  events: { title: 'Events', text: 'on their way to webhooks and to the feed' },
  sources: { title: 'Sources', text: 'being read, cut into passages and embedded' },
  deliveries: { title: 'Webhook messages', text: 'to be delivered' },
  callbacks: { title: 'Callbacks', text: 'calls to be made' },
  privacy: { title: 'Privacy requests', text: 'exports and erasures' },
  analyses: { title: 'Analyses', text: 'of sessions that have ended' },
};

export default function Queues() {
  const isAdmin = useMay('admin');
  const backlog = useQuery({
    queryKey: ['backlog'],
    refetchInterval: refreshMs,
    queryFn: ({ signal }) => api.queues.getBacklog({}, { signal }),
  });
  return (
    <Page
      title="Queues"
      lead={
        'Work that is done outside requests. What is accepted is in the database and is not lost ' +
        'when a worker or Redis is away; it waits.'
      }
    >
      <section className="stack" aria-label="Your work">
        <h2>Your work</h2>
        <Query query={backlog}>
          {({ kinds: rows }) => (
            <DataTable label="Your work" rows={rows} rowKey={({ kind }) => kind} columns={workColumns} />
          )}
        </Query>
      </section>
      {isAdmin && <Installation />}
    </Page>
  );
}

const workColumns: Column<BacklogKind>[] = [
  {
    id: 'kind',
    title: 'Work',
    cell: ({ kind }) => (
      <>
        <strong>{kinds[kind]?.title ?? kind}</strong> <span className="dim small">{kinds[kind]?.text}</span>
      </>
    ),
  },
  { id: 'waiting', title: 'Waiting', number: true, cell: ({ waiting }) => count(waiting) },
  { id: 'running', title: 'Running', number: true, cell: ({ running }) => count(running) },
  {
    id: 'retrying',
    title: 'Tried again',
    number: true,
    cell: ({ retrying }) => (retrying > 0 ? <Badge tone="warn">{count(retrying)}</Badge> : 0),
  },
  {
    id: 'failed',
    title: 'Given up, 7 days',
    number: true,
    cell: ({ failed }) => (failed > 0 ? <Badge tone="bad">{count(failed)}</Badge> : 0),
  },
  { id: 'oldest', title: 'Oldest', cell: ({ oldestAt }) => (oldestAt ? <Time at={oldestAt} /> : '–') },
];

/** The queues and workers, which all tenants of the installation share. */
function Installation() {
  const query = useQuery({
    queryKey: ['queues'],
    refetchInterval: refreshMs,
    queryFn: ({ signal }) => api.queues.listQueues({}, { signal }),
  });
  return (
    <section className="stack" aria-label="The installation">
      <h2>The installation</h2>
      <Query query={query}>
        {(data) => (
          <>
            {data.workers.length === 0 && (
              <p className="note bad" role="alert">
                No worker runs: nothing of the above is done. Start one with <code>parlance worker</code>.
              </p>
            )}
            <DataTable label="Queues" rows={data.queues} rowKey={({ name }) => name} columns={queueColumns} />
            <Workers workers={data.workers} />
          </>
        )}
      </Query>
    </section>
  );
}

const queueColumns: Column<Queue>[] = [
  {
    id: 'name',
    title: 'Queue',
    cell: ({ name, paused }) => (
      <>
        {name} {paused && <Badge tone="warn">paused</Badge>}
      </>
    ),
  },
  { id: 'pending', title: 'Pending', number: true, cell: ({ pending }) => count(pending) },
  { id: 'active', title: 'Running', number: true, cell: ({ active }) => count(active) },
  { id: 'scheduled', title: 'Later', number: true, cell: ({ scheduled }) => count(scheduled) },
  { id: 'retrying', title: 'Tried again', number: true, cell: ({ retrying }) => count(retrying) },
  { id: 'archived', title: 'Set aside', number: true, cell: ({ archived }) => count(archived) },
  { id: 'latency', title: 'Oldest waits', number: true, cell: ({ latencyMs }) => duration(latencyMs) },
  {
    id: 'today',
    title: 'Done today',
    number: true,
    cell: ({ processedToday, failedToday }) =>
      `${count(processedToday)}${failedToday > 0 ? `, ${count(failedToday)} failed` : ''}`,
  },
];

function Workers({ workers }: { workers: ListQueuesResponse['workers'] }) {
  return (
    <Card title="Workers">
      {workers.map(({ host, pid, startedAt, active, concurrency, queues }) => (
        <div key={`${host} ${pid}`} className="row between">
          <span>
            <strong>{host}</strong>{' '}
            <span className="dim small">
              process {pid}, started <Time at={startedAt} />
            </span>
          </span>
          <span className="row">
            <Badge tone={active >= concurrency ? 'warn' : undefined}>
              {active} of {concurrency} busy
            </Badge>
            <span className="dim small">{queues.join(', ')}</span>
          </span>
        </div>
      ))}
    </Card>
  );
}
