import type { PhoneCall } from '#gen/telephony_pb';

import * as api from '../../api/clients';
import { useLiveList } from '../../api/useLiveList';
import { useHere } from '../../app/caller';
import { useFilters } from '../../app/location';
import { AgentSelect } from '../../ui/AgentSelect';
import { AgentName } from '../../ui/AgentName';
import { Button, ButtonLink } from '../../ui/Button';
import type { Column } from '../../ui/DataTable';
import { Filters, FilterText } from '../../ui/Filters';
import { List } from '../../ui/List';
import { Empty } from '../../ui/Page';
import { Select } from '../../ui/Select';
import { Time } from '../../ui/Time';
import { duration } from '../../ui/format';
import { callStates, endText, StateBadge } from './words';

const names = ['direction', 'status', 'agent', 'user'] as const;
const idOf = ({ id }: PhoneCall) => id;
const directions = [
  { id: '', text: 'All' },
  { id: 'inbound', text: 'To an agent' },
  { id: 'outbound', text: 'By an agent' },
];

/** Calls over the carrier, the newest first. */
export function Calls() {
  const { workspaceId } = useHere();
  const [filters, change] = useFilters(names);
  const list = useLiveList(
    ['calls', workspaceId, filters],
    async (pageToken, signal) => {
      const { direction, status, agent, user } = filters;
      const { calls, nextPageToken } = await api.telephony.listCalls(
        { workspaceId, pageSize: 200, pageToken, direction, status, agentId: agent, userId: user },
        { signal },
      );
      return { rows: calls, nextPageToken };
    },
    idOf,
  );
  const isFiltered = Object.values(filters).some(Boolean);
  const clear = () => change(Object.fromEntries(names.map((name) => [name, ''])));
  const columns: Column<PhoneCall>[] = [
    {
      id: 'user',
      title: 'User',
      cell: ({ userId, from, to, direction }) => userId || (direction === 'inbound' ? from : to),
    },
    {
      id: 'direction',
      title: 'Direction',
      cell: ({ direction, from, to }) => (direction === 'inbound' ? `called ${to}` : `was called at ${to}, by ${from}`),
    },
    { id: 'status', title: 'State', cell: ({ status }) => <StateBadge status={status} /> },
    { id: 'agent', title: 'Agent', cell: ({ agentId }) => <AgentName id={agentId} /> },
    { id: 'at', title: 'Began', cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      id: 'talked',
      title: 'Talked',
      number: true,
      cell: ({ answeredAt, durationSeconds }) => (answeredAt ? duration(durationSeconds * 1000) : '–'),
    },
    {
      id: 'outcome',
      title: 'Outcome',
      cell: ({ endReason }) => (endReason ? endText(endReason) : <span className="dim">–</span>),
    },
  ];
  return (
    <div className="stack">
      <Filters many onClear={isFiltered ? clear : undefined}>
        <FilterText label="User" value={filters.user} onChange={(user) => change({ user })} placeholder="Whole id" />
        <Select
          label="Direction"
          choices={directions}
          value={filters.direction}
          onChange={(direction) => change({ direction })}
        />
        <Select label="State" choices={callStates} value={filters.status} onChange={(status) => change({ status })} />
        <AgentSelect label="Agent" empty="All" value={filters.agent} onChange={(agent) => change({ agent })} />
      </Filters>
      <List
        label="Calls"
        list={list}
        rowKey={idOf}
        columns={columns}
        href={({ id }) => `/callbacks/calls/${id}`}
        empty={
          isFiltered ? (
            <Empty title="No call matches" action={<Button onPress={clear}>Clear filters</Button>} />
          ) : (
            <Empty title="No calls yet" action={<ButtonLink href="#/callbacks/list">Plan a callback</ButtonLink>}>
              Calls appear here as they ring. On the simulated line, <code>parlance call +12015550123</code> is a
              telephone.
            </Empty>
          )
        }
      />
    </div>
  );
}
