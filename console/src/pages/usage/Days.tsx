import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';

import type { Usage, UsageRow } from '#gen/usage_pb';

import * as api from '../../api/clients';
import { useHere } from '../../app/caller';
import { AgentName } from '../../ui/AgentName';
import { Card } from '../../ui/Page';
import { Query } from '../../ui/Query';
import { Select } from '../../ui/Select';
import { TimeChart } from '../../ui/TimeChart';
import { meterName } from './meters';

/** The days of the month: one meter as a plot, and who used it. */
export function Days({ usage }: { usage: Usage }) {
  const [meter, setMeter] = useState('sessions');
  const from = `${usage.month}-01`;
  const to = lastDay(usage.month);
  const days = useQuery({
    queryKey: ['usage-days', usage.month, meter],
    queryFn: ({ signal }) => api.usage.listUsageDays({ from, to, meter, groupBy: ['day'] }, { signal }),
  });
  const { title, format } = meterName(meter);
  const choices = usage.meters
    .filter((one) => one.meter !== 'tokens')
    .map((one) => ({ id: one.meter, text: meterName(one.meter).title }));
  return (
    <div className="stack">
      <div style={{ maxWidth: 260 }}>
        <Select label="Day by day" choices={choices} value={meter} onChange={setMeter} />
      </div>
      <Query query={days}>
        {({ rows }) => <DayChart title={`${title} by day`} rows={rows} month={usage.month} format={format} />}
      </Query>
      <By meter={meter} from={from} to={to} />
    </div>
  );
}

const lastDay = (month: string) => {
  const [year = 0, number = 0] = month.split('-').map(Number);
  return `${month}-${new Date(Date.UTC(year, number, 0)).getUTCDate()}`;
};

function DayChart({
  title,
  rows,
  month,
  format,
}: {
  title: string;
  rows: UsageRow[];
  month: string;
  format(value: number): string;
}) {
  const { times, values } = useMemo(() => {
    const byDay = new Map(rows.map(({ day, quantity }) => [day, quantity]));
    const count = Number(lastDay(month).slice(-2));
    const names = Array.from({ length: count }, (_, at) => `${month}-${String(at + 1).padStart(2, '0')}`);
    return { times: names.map((day) => new Date(`${day}T12:00:00`)), values: names.map((day) => byDay.get(day) ?? 0) };
  }, [rows, month]);
  const series = useMemo(() => [{ name: 'Used', values, tone: 'accent' as const }], [values]);
  return <TimeChart title={title} times={times} series={series} format={format} />;
}

/** What of a meter each workspace, agent or model used, and what all that it used cost. */
function By({ meter, from, to }: { meter: string; from: string; to: string }) {
  const { workspaces } = useHere();
  const [group, setGroup] = useState('agent');
  const query = useQuery({
    queryKey: ['usage-by', from, to, group],
    queryFn: ({ signal }) => api.usage.listUsageDays({ from, to, groupBy: [group] }, { signal }),
  });
  const { format } = meterName(meter);
  const idOf = (row: UsageRow) =>
    group === 'agent' ? row.agentId : group === 'workspace' ? row.workspaceId : row.model;
  const nameOf = (row: UsageRow) => {
    const id = idOf(row);
    if (group === 'agent' && id) return <AgentName id={id} />;
    return workspaces.find((workspace) => workspace.id === id)?.name ?? (id || 'none');
  };
  const groups = [
    { id: 'agent', text: 'Agents' },
    { id: 'workspace', text: 'Workspaces' },
    { id: 'model', text: 'Models' },
  ];
  return (
    <Card
      title="Who used it"
      actions={
        <div style={{ width: 160 }}>
          <Select label="Group by" hideLabel choices={groups} value={group} onChange={setGroup} />
        </div>
      }
    >
      <Query query={query}>
        {({ rows, currency }) => {
          const costs = costsBy(rows, idOf);
          const used = rows.filter((row) => row.meter === meter);
          return used.length === 0 ? (
            <p className="dim">Nothing was used.</p>
          ) : (
            <table className="table">
              <thead>
                <tr>
                  <th scope="col">Name</th>
                  <th scope="col" className="number">
                    Used
                  </th>
                  <th scope="col" className="number">
                    Cost, of all meters
                  </th>
                </tr>
              </thead>
              <tbody>
                {used
                  .toSorted((a, b) => b.quantity - a.quantity)
                  .map((row) => (
                    <tr key={idOf(row)}>
                      <td data-label="Name">{nameOf(row)}</td>
                      <td data-label="Used" className="number">
                        {format(row.quantity)}
                      </td>
                      <td data-label="Cost, of all meters" className="number">
                        {costs.has(idOf(row)) ? `${costs.get(idOf(row))?.toFixed(2)} ${currency}` : '–'}
                      </td>
                    </tr>
                  ))}
              </tbody>
            </table>
          );
        }}
      </Query>
    </Card>
  );
}

/** The sum of the costs of each group; one without any cost is not in it. */
function costsBy(rows: UsageRow[], idOf: (row: UsageRow) => string): Map<string, number> {
  const costs = new Map<string, number>();
  for (const row of rows) if (row.cost) costs.set(idOf(row), (costs.get(idOf(row)) ?? 0) + Number(row.cost));
  return costs;
}
