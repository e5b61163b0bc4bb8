import { useQuery } from '@tanstack/react-query';

import type { Session } from '#gen/sessions_pb';

import * as api from '../../api/clients';
import { useLiveList } from '../../api/useLiveList';
import { useHere } from '../../app/caller';
import { useFilters } from '../../app/location';
import { AgentSelect } from '../../ui/AgentSelect';
import { AgentName } from '../../ui/AgentName';
import { Button, ButtonLink } from '../../ui/Button';
import type { Column } from '../../ui/DataTable';
import { FilterDays, Filters, FilterText } from '../../ui/Filters';
import { List } from '../../ui/List';
import { Badge, Empty, Page } from '../../ui/Page';
import { Select } from '../../ui/Select';
import { Time } from '../../ui/Time';
import { dayBegins, dayEnds } from '../../ui/days';
import { count, duration } from '../../ui/format';
import { handovers, modalities, outcomeOf, outcomes, statuses, statusOf } from './words';
import { Waiting } from './Waiting';

const names = ['status', 'agent', 'user', 'modality', 'outcome', 'handover', 'from', 'until'] as const;
const idOf = ({ id }: Session) => id;

export default function Sessions() {
  const { workspaceId } = useHere();
  const [filters, change] = useFilters(names);
  const list = useLiveList(
    ['sessions', workspaceId, filters],
    async (pageToken, signal) => {
      const { status, agent, user, modality, outcome, handover, from, until } = filters;
      const { sessions, nextPageToken } = await api.sessions.listSessions(
        {
          workspaceId,
          pageSize: 200,
          pageToken,
          status,
          agentId: agent,
          userId: user,
          modality,
          endReason: outcome,
          handover,
          createdAfter: dayBegins(from),
          createdBefore: dayEnds(until),
        },
        { signal },
      );
      return { rows: sessions, nextPageToken };
    },
    idOf,
  );
  const isFiltered = Object.values(filters).some(Boolean);
  const clear = () => change(Object.fromEntries(names.map((name) => [name, ''])));
  const waiting = useWaiting();
  return (
    <Page
      title="Sessions"
      lead="Conversations of this workspace, the newest first. New ones appear by themselves."
      actions={<ButtonLink href="#/talk">Talk to an agent</ButtonLink>}
    >
      {filters.handover !== 'requested' && <Waiting sessions={waiting} />}
      <SessionFilters filters={filters} change={change} onClear={isFiltered ? clear : undefined} rows={list.rows} />
      <List
        label="Sessions"
        list={list}
        rowKey={idOf}
        columns={useColumns()}
        href={({ id }) => `/sessions/${id}`}
        empty={
          isFiltered ? (
            <Empty title="No session matches" action={<Button onPress={clear}>Clear filters</Button>} />
          ) : (
            <Empty
              title="No conversations yet"
              action={
                <ButtonLink kind="primary" href="#/talk">
                  Talk to an agent
                </ButtonLink>
              }
            >
              Each conversation appears here with what was said. Have the first one yourself.
            </Empty>
          )
        }
      />
    </Page>
  );
}

/** Open sessions in which a person was asked for and nobody has come yet. */
function useWaiting(): Session[] {
  const { workspaceId } = useHere();
  const { data } = useQuery({
    queryKey: ['sessions', workspaceId, 'waiting'],
    refetchInterval: 5000,
    queryFn: ({ signal }) =>
      api.sessions.listSessions({ workspaceId, handover: 'requested', pageSize: 200 }, { signal }),
  });
  return data?.sessions ?? [];
}

interface FiltersProps {
  filters: Record<(typeof names)[number], string>;
  change(changes: Partial<Record<(typeof names)[number], string>>): void;
  onClear?: () => void;
  rows?: Session[];
}

function SessionFilters({ filters, change, onClear, rows = [] }: FiltersProps) {
  const own = new Set(
    [filters.outcome, ...rows.slice(0, 1000).map(({ endReason }) => endReason)].filter(
      (reason) => reason && !(reason in outcomes),
    ),
  );
  const reasons = [
    { id: '', text: 'All' },
    ...Object.entries(outcomes).map(([id, text]) => ({ id, text })),
    ...[...own].map((id) => ({ id, text: outcomeOf(id) })),
  ];
  return (
    <Filters many onClear={onClear}>
      <FilterText label="User" value={filters.user} onChange={(user) => change({ user })} placeholder="Whole id" />
      <AgentSelect label="Agent" empty="All" value={filters.agent} onChange={(agent) => change({ agent })} />
      <Select label="Status" choices={statuses} value={filters.status} onChange={(status) => change({ status })} />
      <Select label="Outcome" choices={reasons} value={filters.outcome} onChange={(outcome) => change({ outcome })} />
      <Select
        label="Channel"
        choices={modalities}
        value={filters.modality}
        onChange={(modality) => change({ modality })}
      />
      <Select
        label="Handover"
        choices={handovers}
        value={filters.handover}
        onChange={(handover) => change({ handover })}
      />
      <FilterDays from={filters.from} until={filters.until} onChange={change} />
    </Filters>
  );
}

function useColumns(): Column<Session>[] {
  return [
    { id: 'user', title: 'User', cell: ({ userId }) => userId },
    { id: 'status', title: 'Status', cell: (session) => <Status session={session} /> },
    { id: 'agent', title: 'Agent', cell: ({ agentId }) => <AgentName id={agentId} /> },
    { id: 'modality', title: 'Channel', cell: ({ modality }) => modality },
    { id: 'began', title: 'Began', cell: ({ startedAt, createdAt }) => <Time at={startedAt ?? createdAt} /> },
    {
      id: 'length',
      title: 'Length',
      number: true,
      cell: ({ startedAt, durationMs }) => (startedAt ? duration(durationMs) : '–'),
    },
    { id: 'turns', title: 'Turns', number: true, cell: ({ turnCount }) => count(turnCount) },
    {
      id: 'outcome',
      title: 'Outcome',
      cell: ({ endReason }) => (endReason ? outcomeOf(endReason) : <span className="dim">–</span>),
    },
  ];
}

function Status({ session: { status, endedAt, handover } }: { session: Session }) {
  if (!endedAt && handover?.status === 'requested') return <Badge tone="warn">waits for a person</Badge>;
  if (!endedAt && handover?.status === 'operator')
    return <Badge tone="accent">with {handover.operator || 'a person'}</Badge>;
  const { text, tone } = statusOf(status);
  return <Badge tone={tone}>{text}</Badge>;
}
