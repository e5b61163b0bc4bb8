import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import type { Memory } from '#gen/memory_pb';

import * as api from '../../api/clients';
import { useList } from '../../api/useList';
import { useMutation } from '../../api/useMutation';
import { useHere, useMay } from '../../app/caller';
import { Button } from '../../ui/Button';
import type { Column } from '../../ui/DataTable';
import { useConfirm } from '../../ui/Dialog';
import { SearchField } from '../../ui/Field';
import { List } from '../../ui/List';
import { Menu, type Action } from '../../ui/Menu';
import { Badge, Empty } from '../../ui/Page';
import { Select } from '../../ui/Select';
import { Time } from '../../ui/Time';
import { tell, tellFailure } from '../../ui/toast';
import { MemoryForm } from './MemoryForm';

const states = [
  { id: '', text: 'In use or waiting' },
  { id: 'active', text: 'In use' },
  { id: 'pending', text: 'Waiting for a yes' },
  { id: 'superseded', text: 'Replaced by newer ones' },
];

/** What agents remember of a user. */
export function Memories({ userId }: { userId: string }) {
  const { workspaceId } = useHere();
  const mayEdit = useMay('operator');
  const [q, setQ] = useState('');
  const [status, setStatus] = useState('');
  const [edited, setEdited] = useState<Memory | 'new'>();
  const [query, setQuery] = useState('');
  const list = useList(['memories', workspaceId, userId, q, status], async (pageToken, signal) => {
    const { memories, nextPageToken } = await api.memory.listMemories(
      { workspaceId, userId, q, status, pageSize: 200, pageToken },
      { signal },
    );
    return { rows: memories, nextPageToken };
  });
  const found = useList(
    ['memories', workspaceId, userId, 'by meaning', query],
    async (_, signal) => {
      const { results } = await api.memory.searchMemories({ workspaceId, userId, query, topK: 20 }, { signal });
      return { rows: results.flatMap(({ memory }) => (memory ? [memory] : [])), nextPageToken: '' };
    },
    { enabled: query !== '' },
  );
  const add = mayEdit && (
    <Button kind="primary" onPress={() => setEdited('new')}>
      Add a memory
    </Button>
  );
  const shown = query ? found : list;
  const search = (next: string) => {
    setQ(next);
    setQuery('');
  };
  return (
    <div className="stack">
      <div className="row between">
        <div className="memory-filters">
          <SearchField label="Search the memories" value={q} onChange={search} />
          <Select
            label="State"
            hideLabel
            choices={states}
            value={status}
            onChange={setStatus}
            isDisabled={query !== ''}
          />
          {q.trim() !== '' && <Button onPress={() => setQuery(q)}>Search as the agent does</Button>}
        </div>
        <div className="row">
          {add}
          {mayEdit && <ForgetAll userId={userId} />}
        </div>
      </div>
      <List
        label="Memories"
        list={shown}
        rowKey={({ id }) => id}
        columns={useColumns(userId, mayEdit, setEdited)}
        empty={
          q || status ? (
            <Empty title="No memory fits" />
          ) : (
            <Empty title="Nothing is remembered" action={add}>
              Agents with memory add what they learn in conversations. You can add something yourself.
            </Empty>
          )
        }
      />
      {edited && (
        <MemoryForm
          userId={userId}
          memory={edited === 'new' ? undefined : edited}
          onClose={() => setEdited(undefined)}
        />
      )}
    </div>
  );
}

/** Runs a change of memories, and reads them again. */
function useChange() {
  const client = useQueryClient();
  return {
    onError: tellFailure,
    onSettled: () =>
      Promise.all(['memories', 'user', 'users'].map((name) => client.invalidateQueries({ queryKey: [name] }))),
  };
}

function ForgetAll({ userId }: { userId: string }) {
  const { workspaceId } = useHere();
  const confirm = useConfirm();
  const forget = useMutation({
    mutationFn: () => api.memory.deleteMemories({ workspaceId, userId }),
    ...useChange(),
    onSuccess: ({ deleted }) => tell(deleted === 1 ? 'One memory was deleted.' : `${deleted} memories were deleted.`),
  });
  const ask = async () => {
    const isSure = await confirm({
      title: 'Forget everything?',
      text: `All that is remembered of ${userId} will be gone, with its history. The conversations stay. This cannot be undone.`,
      action: 'Forget everything',
    });
    if (isSure) forget.mutate();
  };
  return (
    <Button kind="danger" onPress={() => void ask()} isDisabled={forget.isPending}>
      Forget everything
    </Button>
  );
}

const makers: Record<string, string> = {
  model: 'the agent',
  extraction: 'after a conversation',
  operator: 'an operator',
};

function useColumns(userId: string, mayEdit: boolean, onEdit: (memory: Memory) => void): Column<Memory>[] {
  const { workspaceId } = useHere();
  const confirm = useConfirm();
  const changed = useChange();
  const approve = useMutation({
    mutationFn: ({ id }: Memory) => api.memory.approveMemory({ workspaceId, userId, memoryId: id }),
    ...changed,
  });
  const remove = useMutation({
    mutationFn: ({ id }: Memory) => api.memory.deleteMemory({ workspaceId, userId, memoryId: id }),
    onSuccess: () => tell('The memory was deleted.'),
    ...changed,
  });
  const ask = async (memory: Memory) => {
    if (
      await confirm({
        title: 'Delete this memory?',
        text: <>“{memory.text}” will be gone, with what it replaced. This cannot be undone.</>,
        action: 'Delete',
      })
    )
      remove.mutate(memory);
  };
  const actions = (memory: Memory): Action[] => [
    { id: 'edit', text: 'Edit', isDisabled: memory.status === 'superseded', run: () => onEdit(memory) },
    { id: 'delete', text: 'Delete', danger: true, run: () => void ask(memory) },
  ];
  return [
    {
      id: 'text',
      title: 'Memory',
      cell: ({ text, tags }) => (
        <>
          {text}{' '}
          {tags.map((tag) => (
            <Badge key={tag}>{tag}</Badge>
          ))}
        </>
      ),
    },
    {
      id: 'kind',
      title: 'Kind',
      cell: ({ kind, category, attribute }) => (
        <>
          {kind}
          {category && (
            <span className="dim small">
              <br />
              {category}
              {attribute && `, ${attribute}`}
            </span>
          )}
        </>
      ),
    },
    {
      id: 'status',
      title: 'State',
      cell: (memory) => <State memory={memory} approve={mayEdit ? () => approve.mutate(memory) : undefined} />,
    },
    {
      id: 'by',
      title: 'From',
      cell: ({ createdBy, sessionId }) =>
        sessionId ? (
          <a href={`#/sessions/${sessionId}`}>{makers[createdBy] ?? createdBy}</a>
        ) : (
          (makers[createdBy] ?? createdBy)
        ),
    },
    {
      id: 'at',
      title: 'Changed',
      cell: ({ updatedAt, expiresAt }) => (
        <>
          <Time at={updatedAt} />
          {expiresAt && (
            <span className="dim small">
              <br />
              until <Time at={expiresAt} exact />
            </span>
          )}
        </>
      ),
    },
    ...(mayEdit
      ? [
          {
            id: 'more',
            title: '',
            cell: (memory: Memory) => <Menu label={`More for ${memory.text.slice(0, 60)}`} actions={actions(memory)} />,
          },
        ]
      : []),
  ];
}

function State({ memory: { status, text }, approve }: { memory: Memory; approve?(): void }) {
  if (status === 'superseded') return <Badge>replaced</Badge>;
  if (status !== 'pending') return <Badge tone="good">in use</Badge>;
  return (
    <span className="row">
      <Badge tone="warn">waiting</Badge>
      {approve && (
        <Button onPress={approve} aria-label={`Approve ${text.slice(0, 60)}`}>
          Approve
        </Button>
      )}
    </span>
  );
}
