import { useState } from 'react';

import type { CallbackBatch } from '#gen/callbacks_pb';

import * as api from '../../api/clients';
import { useLiveList } from '../../api/useLiveList';
import { useHere, useMay } from '../../app/caller';
import { navigate } from '../../app/location';
import { AgentName } from '../../ui/AgentName';
import { Button } from '../../ui/Button';
import type { Column } from '../../ui/DataTable';
import { List } from '../../ui/List';
import { Empty } from '../../ui/Page';
import { Time } from '../../ui/Time';
import { count } from '../../ui/format';
import { BatchForm } from './BatchForm';
import { StateBadge } from './words';

const idOf = ({ id }: CallbackBatch) => id;

/** How many calls of a batch are over. */
export const overOf = ({ progress }: CallbackBatch) =>
  progress ? progress.completed + progress.noAnswer + progress.failed + progress.canceled : 0;

/** Calls to many numbers. */
export function Batches() {
  const { workspaceId } = useHere();
  const may = useMay('operator');
  const [isNew, setNew] = useState(false);
  const list = useLiveList(
    ['batches', workspaceId],
    async (pageToken, signal) => {
      const { batches, nextPageToken } = await api.callbacks.listCallbackBatches(
        { workspaceId, pageSize: 200, pageToken },
        { signal },
      );
      return { rows: batches, nextPageToken };
    },
    idOf,
  );
  const add = may && (
    <Button kind="primary" onPress={() => setNew(true)}>
      New batch
    </Button>
  );
  const columns: Column<CallbackBatch>[] = [
    { id: 'name', title: 'Name', cell: ({ name }) => name },
    { id: 'status', title: 'State', cell: ({ status }) => <StateBadge status={status} /> },
    {
      id: 'over',
      title: 'Over',
      number: true,
      cell: (batch) => `${count(overOf(batch))} of ${count(batch.progress?.total ?? 0)}`,
    },
    { id: 'reached', title: 'Reached', number: true, cell: ({ progress }) => count(progress?.completed ?? 0) },
    { id: 'agent', title: 'Agent', cell: ({ agentId }) => <AgentName id={agentId} /> },
    { id: 'made', title: 'Made', cell: ({ createdAt }) => <Time at={createdAt} /> },
  ];
  return (
    <div className="stack">
      <div className="row end">{add}</div>
      <List
        label="Batches"
        list={list}
        rowKey={idOf}
        columns={columns}
        href={({ id }) => `/callbacks/batches/${id}`}
        empty={
          <Empty title="No batches yet" action={add}>
            A batch has an agent call many numbers, some at a time and in the hours that you say. Paste the numbers, or
            take a CSV file.
          </Empty>
        }
      />
      {isNew && <BatchForm onClose={() => setNew(false)} onMade={({ id }) => navigate(`/callbacks/batches/${id}`)} />}
    </div>
  );
}
