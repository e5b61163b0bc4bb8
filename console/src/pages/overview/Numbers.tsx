import { timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';

import type { Activity, ActivityStep } from '#gen/insights_pb';

import * as api from '../../api/clients';
import { useHere } from '../../app/caller';
import { useFilters } from '../../app/location';
import { AgentSelect } from '../../ui/AgentSelect';
import { count, percent } from '../../ui/format';
import { Query } from '../../ui/Query';
import { Select } from '../../ui/Select';
import { TimeChart, type Series } from '../../ui/TimeChart';

const hour = 3_600_000;
const ranges = [
  { id: '24h', text: 'Last 24 hours', ms: 24 * hour },
  { id: '7d', text: 'Last 7 days', ms: 7 * 24 * hour },
  { id: '30d', text: 'Last 30 days', ms: 30 * 24 * hour },
  { id: '90d', text: 'Last 90 days', ms: 90 * 24 * hour },
];
const usual = '7d';
const refreshMs = 30_000;

/** What happened over time, as numbers and plots. */
export function Numbers() {
  const { workspaceId } = useHere();
  const [filters, change] = useFilters(['range', 'agent']);
  const range = ranges.find(({ id }) => id === (filters.range || usual)) ?? ranges[1];
  const agentId = filters.agent;
  const activity = useQuery({
    queryKey: ['activity', workspaceId, agentId, range?.id],
    refetchInterval: refreshMs,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      api.insights.getActivity(
        {
          workspaceId,
          agentId,
          since: timestampFromDate(new Date(Date.now() - (range?.ms ?? 0))),
          timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
        },
        { signal },
      ),
  });
  return (
    <>
      <div className="row">
        <div style={{ width: 180 }}>
          <Select
            label="Time"
            hideLabel
            choices={ranges}
            value={range?.id ?? usual}
            onChange={(id) => change({ range: id })}
          />
        </div>
        <div style={{ width: 220 }}>
          <AgentSelect
            label="Agent"
            hideLabel
            empty="All agents"
            value={agentId}
            onChange={(id) => change({ agent: id })}
          />
        </div>
      </div>
      <Query query={activity}>{(data) => <Plots activity={data} />}</Query>
    </>
  );
}

function Plots({ activity }: { activity: Activity }) {
  const { times, plots } = useMemo(() => plotsOf(activity), [activity]);
  const { total, currency } = activity;
  if (!total) return null;
  return (
    <>
      <div className="grid-3">
        <Tile
          name="Sessions"
          value={count(total.sessions)}
          note={total.failedSessions > 0 ? `${count(total.failedSessions)} failed` : 'none failed'}
          isBad={total.failedSessions > 0}
        />
        <Tile name="Minutes of voice" value={total.voiceMinutes.toFixed(total.voiceMinutes < 100 ? 1 : 0)} />
        <Tile name="Tokens" value={count(total.tokens)} />
        <Tile
          name="Cost"
          value={total.cost === '' ? '–' : `${Number(total.cost).toFixed(2)} ${currency}`}
          note={total.cost === '' ? 'No prices are set.' : undefined}
        />
        <Tile
          name="Answers without a passage"
          value={percent(total.answersWithoutPassage, total.knowledgeAnswers)}
          note={`${count(total.answersWithoutPassage)} of ${count(total.knowledgeAnswers)}`}
        />
        <Tile
          name="Webhook messages"
          value={count(total.deliveries)}
          note={total.failedDeliveries > 0 ? `${count(total.failedDeliveries)} given up` : 'none given up'}
          isBad={total.failedDeliveries > 0}
        />
      </div>
      <div className="grid-2">
        {plots.map(({ title, series, format }) => (
          <TimeChart key={title} title={title} times={times} series={series} format={format} />
        ))}
      </div>
    </>
  );
}

function Tile({ name, value, note, isBad }: { name: string; value: string; note?: string; isBad?: boolean }) {
  return (
    <div className="card number-tile" style={{ gap: 2 }}>
      <span className="dim small">{name}</span>
      <span className="value">{value}</span>
      {note && (
        <span className={`badge ${isBad ? 'bad' : ''}`} style={{ justifySelf: 'start' }}>
          {note}
        </span>
      )}
    </div>
  );
}

interface PlotDef {
  title: string;
  series: Series[];
  format(value: number): string;
}

const minutes = (value: number) => value.toFixed(value > 0 && value < 10 ? 1 : 0);
const money = (value: number) => value.toFixed(value >= 100 ? 0 : 2);

function plotsOf({ steps, currency }: Activity): { times: Date[]; plots: PlotDef[] } {
  const of = (value: (step: ActivityStep) => number) => steps.map(value);
  const series = (name: string, tone: Series['tone'], value: (step: ActivityStep) => number): Series => ({
    name,
    tone,
    values: of(value),
  });
  return {
    times: steps.map(({ startsAt }) => (startsAt ? timestampDate(startsAt) : new Date(0))),
    plots: [
      {
        title: 'Sessions',
        format: count,
        series: [series('Sessions', 'accent', (s) => s.sessions), series('Failed', 'bad', (s) => s.failedSessions)],
      },
      {
        title: 'Answers',
        format: count,
        series: [
          series('Answers', 'accent', (s) => s.turns),
          series('Without a passage', 'warn', (s) => s.answersWithoutPassage),
        ],
      },
      { title: 'Minutes of voice', format: minutes, series: [series('Minutes', 'accent', (s) => s.voiceMinutes)] },
      { title: 'Tokens', format: count, series: [series('Tokens', 'accent', (s) => s.tokens)] },
      {
        title: `Cost${currency ? ` in ${currency}` : ''}`,
        format: money,
        series: [series('Cost', 'accent', (s) => Number(s.cost) || 0)],
      },
      {
        title: 'Webhook messages',
        format: count,
        series: [
          series('Messages', 'accent', (s) => s.deliveries),
          series('Given up', 'bad', (s) => s.failedDeliveries),
        ],
      },
      {
        title: 'Errors',
        format: count,
        series: [
          series('Answers', 'bad', (s) => s.failedTurns),
          series('Tools', 'warn', (s) => s.failedToolCalls),
          series('Sources', 'dim', (s) => s.failedSources),
        ],
      },
    ],
  };
}
