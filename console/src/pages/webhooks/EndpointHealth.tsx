import { useQuery } from '@tanstack/react-query';
import { timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt';

import type { WebhookEndpoint, WebhookEndpointHealth } from '#gen/webhooks_pb';

import { useAgentNames } from '../../api/useAgentNames';
import { useHere } from '../../app/caller';
import { Button } from '../../ui/Button';
import { Card, Facts } from '../../ui/Page';
import { Query } from '../../ui/Query';
import { TimeChart } from '../../ui/TimeChart';
import { Time } from '../../ui/Time';
import { count, duration, percent } from '../../ui/format';
import { attemptsSince } from './attempts';
import { StatusBadge, useHealth } from './Health';

/** How an endpoint has done in the last day, and how it is set up. */
export function EndpointHealth({ endpoint, onRecover }: { endpoint: WebhookEndpoint; onRecover?: () => void }) {
  const query = useHealth(endpoint.id);
  return (
    <div className="stack loose">
      <div className="grid-2">
        <Card title="The last 24 hours" actions={<StatusBadge endpoint={endpoint} />}>
          <Query query={query}>
            {(health) => <Numbers health={health} endpoint={endpoint} onRecover={onRecover} />}
          </Query>
        </Card>
        <Setup endpoint={endpoint} />
      </div>
      <HourlyChart endpointId={endpoint.id} />
    </div>
  );
}

function Numbers({
  health,
  endpoint,
  onRecover,
}: {
  health: WebhookEndpointHealth;
  endpoint: WebhookEndpoint;
  onRecover?: () => void;
}) {
  return (
    <>
      <Facts
        facts={[
          [
            'Accepted',
            health.attempts === 0
              ? 'nothing was sent'
              : `${percent(health.succeeded, health.attempts)} of ${count(health.attempts)} attempts`,
          ],
          [
            'Time to answer',
            health.p50LatencyMs === undefined
              ? ''
              : `${duration(health.p50LatencyMs)}; 95 of 100 within ${duration(health.p95LatencyMs ?? 0)}`,
          ],
          ['Waiting', count(health.pending)],
          ['Given up', count(health.failedEvents)],
          ['Last success', <Time at={endpoint.lastSuccessAt} />],
          ['Last failure', <Time at={endpoint.lastFailureAt} />],
        ]}
      />
      {health.failedEvents > 0 && onRecover && (
        <div>
          <Button onPress={onRecover}>Send what failed again</Button>
        </div>
      )}
    </>
  );
}

function Setup({ endpoint }: { endpoint: WebhookEndpoint }) {
  const nameOf = useAgentNames(endpoint.agentIds);
  const limits = [
    endpoint.maxPerSecond > 0 && `${endpoint.maxPerSecond} a second`,
    endpoint.maxInFlight > 0 && `${endpoint.maxInFlight} at once`,
  ].filter(Boolean);
  return (
    <Card title="Set up">
      <Facts
        facts={[
          ['Events', endpoint.events.length === 0 ? 'none: nothing is sent' : endpoint.events.join(', ')],
          ['Agents', endpoint.agentIds.length === 0 ? 'all' : endpoint.agentIds.map(nameOf).join(', ')],
          ['Order', endpoint.ordered ? 'one at a time, in order' : 'as they come'],
          ['Limits', limits.join(', ')],
          ['Headers', endpoint.headerNames.join(', ')],
          ['Secret ends in', <code>…{endpoint.secretHint}</code>],
          ['Id', <code>{endpoint.id}</code>],
          ['Made', <Time at={endpoint.createdAt} />],
        ]}
      />
    </Card>
  );
}

const hourMs = 3_600_000;
const hours = 24;

/** Accepted and failed attempts by the hour. */
function HourlyChart({ endpointId }: { endpointId: string }) {
  const { workspaceId } = useHere();
  const { data } = useQuery({
    queryKey: ['deliveries', endpointId, 'hours'],
    refetchInterval: 60_000,
    queryFn: async ({ signal }) => {
      const first = new Date(Math.floor(Date.now() / hourMs) * hourMs - (hours - 1) * hourMs);
      const { attempts, isAll } = await attemptsSince(
        { workspaceId, endpointId, startedAfter: timestampFromDate(first) },
        signal,
      );
      const times = Array.from({ length: hours }, (_, at) => new Date(first.getTime() + at * hourMs));
      const good = times.map(() => 0);
      const bad = times.map(() => 0);
      for (const { startedAt, status } of attempts) {
        const at = startedAt ? Math.floor((timestampDate(startedAt).getTime() - first.getTime()) / hourMs) : -1;
        const values = status === 'succeeded' ? good : bad;
        if (at in values && status !== 'pending') values[at] = (values[at] ?? 0) + 1;
      }
      const series = [
        { name: 'Accepted', values: good, tone: 'good' as const },
        { name: 'Failed', values: bad, tone: 'bad' as const },
      ];
      return { times, series, isAll, isEmpty: attempts.length === 0 };
    },
  });
  if (!data || data.isEmpty) return null;
  return (
    <TimeChart
      title={data.isAll ? 'Attempts by the hour, with tests' : 'Attempts by the hour, with tests (the newest 1,000)'}
      times={data.times}
      series={data.series}
      format={count}
    />
  );
}
