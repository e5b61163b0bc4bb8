import type { User } from '#gen/memory_pb';

import * as api from '../../api/clients';
import { useList } from '../../api/useList';
import { useFilters } from '../../app/location';
import { useHere } from '../../app/caller';
import { Button } from '../../ui/Button';
import type { Column } from '../../ui/DataTable';
import { SearchField } from '../../ui/Field';
import { count } from '../../ui/format';
import { List } from '../../ui/List';
import { Empty, Page } from '../../ui/Page';
import { Tabs } from '../../ui/Tabs';
import { Time } from '../../ui/Time';
import { Requests } from './Requests';
import { userHref } from './href';
import './users.css';

/** The users of the workspace's agents, and what was asked for about them. */
export default function Users() {
  const [{ view }, change] = useFilters(['view']);
  return (
    <Page
      title="Users"
      lead="The people who talk with your agents: what is remembered of them, their conversations, and their data."
    >
      <Tabs
        label="Users"
        selected={view || 'all'}
        onSelect={(id) => change({ view: id })}
        tabs={[
          { id: 'all', title: 'Users', content: <AllUsers /> },
          { id: 'requests', title: 'Privacy requests', content: <Requests /> },
        ]}
      />
    </Page>
  );
}

const columns: Column<User>[] = [
  { id: 'id', title: 'User', cell: ({ userId }) => userId },
  { id: 'sessions', title: 'Sessions', number: true, cell: ({ sessions }) => count(sessions) },
  { id: 'turns', title: 'Turns', number: true, cell: ({ turns }) => count(turns) },
  { id: 'memories', title: 'Memories', number: true, cell: ({ memories }) => count(memories) },
  {
    id: 'tokens',
    title: 'Tokens',
    number: true,
    cell: ({ inputTokens, outputTokens }) => count(inputTokens + outputTokens),
  },
  { id: 'seen', title: 'Last seen', cell: ({ lastSeenAt }) => <Time at={lastSeenAt} /> },
];

function AllUsers() {
  const { workspaceId } = useHere();
  const [{ prefix }, change] = useFilters(['prefix']);
  const setPrefix = (value: string) => change({ prefix: value });
  const list = useList(['users', workspaceId, prefix], async (pageToken, signal) => {
    const { users, nextPageToken } = await api.memory.listUsers(
      { workspaceId, prefix, pageSize: 200, pageToken },
      { signal },
    );
    return { rows: users, nextPageToken };
  });
  const empty = prefix ? (
    <Empty
      title={`No user's id begins with “${prefix}”`}
      action={<Button onPress={() => setPrefix('')}>Show all</Button>}
    >
      Large and small letters differ.
    </Empty>
  ) : (
    <Empty title="No users yet">
      Each session names its user by an id of yours. Users appear here with their first session.
    </Empty>
  );
  return (
    <div className="stack">
      <div className="search">
        <SearchField label="Beginning of the user's id" value={prefix} onChange={setPrefix} />
      </div>
      <List
        label="Users"
        list={list}
        rowKey={({ userId }) => userId}
        columns={columns}
        href={({ userId }) => userHref(userId)}
        empty={empty}
      />
    </div>
  );
}
