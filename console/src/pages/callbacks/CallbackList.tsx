import { timestampDate } from '@bufbuild/protobuf/wkt';
import { useState } from 'react';

import type { Callback } from '#gen/callbacks_pb';

import * as api from '../../api/clients';
import { useLiveList } from '../../api/useLiveList';
import { useHere, useMay } from '../../app/caller';
import { useFilters } from '../../app/location';
import { AgentSelect } from '../../ui/AgentSelect';
import { AgentName } from '../../ui/AgentName';
import { Button } from '../../ui/Button';
import type { Column } from '../../ui/DataTable';
import { FilterDays, Filters, FilterText } from '../../ui/Filters';
import { List } from '../../ui/List';
import { Empty } from '../../ui/Page';
import { Select } from '../../ui/Select';
import { dayBegins, dayEnds } from '../../ui/days';
import { CallbackForm } from './CallbackForm';
import { callbackStates, endText, StateBadge, waitText } from './words';
import { ownZone, wordsIn } from './zones';

const idOf = ({ id }: Callback) => id;
const names = ['status', 'agent', 'user', 'from', 'until'] as const;

/** The columns of callbacks. */
export function useCallbackColumns(): Column<Callback>[] {
  return [
    { id: 'user', title: 'User', cell: ({ userId }) => userId },
    { id: 'number', title: 'Number', cell: ({ phoneNumber }) => <span className="nowrap">{phoneNumber}</span> },
    { id: 'status', title: 'State', cell: ({ status }) => <StateBadge status={status} /> },
    {
      id: 'at',
      title: 'Planned for',
      cell: ({ at, nextAttemptAt = at }) => nextAttemptAt && wordsIn(ownZone, timestampDate(nextAttemptAt)),
    },
    { id: 'agent', title: 'Agent', cell: ({ agentId }) => <AgentName id={agentId} /> },
    {
      id: 'attempts',
      title: 'Attempts',
      number: true,
      cell: ({ attempts, maxAttempts }) => `${attempts.length} of ${maxAttempts}`,
    },
    {
      id: 'outcome',
      title: 'Outcome',
      cell: ({ endReason, waitsFor }) =>
        endReason ? endText(endReason) : waitsFor ? `waits for ${waitText(waitsFor)}` : <span className="dim">–</span>,
    },
  ];
}

/** All callbacks, those due last first. */
export function CallbackList() {
  const { workspaceId } = useHere();
  const may = useMay('operator');
  const [isNew, setNew] = useState(false);
  const [filters, change] = useFilters(names);
  const list = useLiveList(
    ['callbacks', workspaceId, filters],
    async (pageToken, signal) => {
      const { status, agent, user, from, until } = filters;
      const { callbacks, nextPageToken } = await api.callbacks.listCallbacks(
        {
          workspaceId,
          pageSize: 200,
          pageToken,
          status,
          agentId: agent,
          userId: user,
          from: dayBegins(from),
          until: dayEnds(until),
        },
        { signal },
      );
      return { rows: callbacks, nextPageToken };
    },
    idOf,
  );
  const isFiltered = Object.values(filters).some(Boolean);
  const clear = () => change(Object.fromEntries(names.map((name) => [name, ''])));
  const add = may && (
    <Button kind="primary" onPress={() => setNew(true)}>
      New callback
    </Button>
  );
  return (
    <div className="stack">
      <div className="row end">{add}</div>
      <Filters many onClear={isFiltered ? clear : undefined}>
        <FilterText label="User" value={filters.user} onChange={(user) => change({ user })} placeholder="Whole id" />
        <Select
          label="State"
          choices={callbackStates}
          value={filters.status}
          onChange={(status) => change({ status })}
        />
        <AgentSelect label="Agent" empty="All" value={filters.agent} onChange={(agent) => change({ agent })} />
        <FilterDays from={filters.from} until={filters.until} onChange={change} />
      </Filters>
      <List
        label="Callbacks"
        list={list}
        rowKey={idOf}
        columns={useCallbackColumns()}
        href={({ id }) => `/callbacks/list/${id}`}
        empty={
          isFiltered ? (
            <Empty title="No callback matches" action={<Button onPress={clear}>Clear filters</Button>} />
          ) : (
            <Empty title="No callbacks yet" action={add}>
              A callback is one call of an agent to a user, tried up to three times. Plan one, or let an agent do it by
              the tool schedule_callback.
            </Empty>
          )
        }
      />
      {isNew && <CallbackForm zone={ownZone} onClose={() => setNew(false)} />}
    </div>
  );
}
