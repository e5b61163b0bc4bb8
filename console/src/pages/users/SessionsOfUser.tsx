import type { Session } from '#gen/sessions_pb';

import * as api from '../../api/clients';
import { useList } from '../../api/useList';
import { useHere } from '../../app/caller';
import type { Column } from '../../ui/DataTable';
import { duration } from '../../ui/format';
import { List } from '../../ui/List';
import { Badge, Empty } from '../../ui/Page';
import { Time } from '../../ui/Time';

const tones = { completed: 'good', failed: 'bad', in_progress: 'accent', pending: undefined } as const;

const columns: Column<Session>[] = [
  { id: 'at', title: 'Began', cell: ({ createdAt }) => <Time at={createdAt} /> },
  {
    id: 'status',
    title: 'Status',
    cell: ({ status }) => <Badge tone={tones[status as keyof typeof tones]}>{status.replace('_', ' ')}</Badge>,
  },
  { id: 'modality', title: 'By', cell: ({ modality }) => modality },
  { id: 'turns', title: 'Turns', number: true, cell: ({ turnCount }) => turnCount },
  { id: 'length', title: 'Length', number: true, cell: ({ durationMs }) => duration(durationMs) },
  { id: 'end', title: 'End', cell: ({ endReason }) => endReason || '–' },
];

/** The conversations of a user. */
export function SessionsOfUser({ userId }: { userId: string }) {
  const { workspaceId } = useHere();
  const list = useList(['user-sessions', workspaceId, userId], async (pageToken, signal) => {
    const { sessions, nextPageToken } = await api.sessions.listSessions(
      { workspaceId, userId, pageSize: 200, pageToken },
      { signal },
    );
    return { rows: sessions, nextPageToken };
  });
  return (
    <List
      label="Sessions of the user"
      list={list}
      rowKey={({ id }) => id}
      columns={columns}
      href={({ id }) => `/sessions/${id}`}
      empty={<Empty title="No sessions">This user has no conversation that is still stored.</Empty>}
    />
  );
}
