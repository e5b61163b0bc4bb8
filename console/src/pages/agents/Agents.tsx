import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import type { Agent } from '#gen/agents_pb';

import * as api from '../../api/clients';
import { useMutation } from '../../api/useMutation';
import { useFilters } from '../../app/location';
import { useList } from '../../api/useList';
import { useHere, useMay } from '../../app/caller';
import { Button } from '../../ui/Button';
import type { Column } from '../../ui/DataTable';
import { useConfirm } from '../../ui/Dialog';
import { SearchField } from '../../ui/Field';
import { List } from '../../ui/List';
import { Menu } from '../../ui/Menu';
import { Empty, Page } from '../../ui/Page';
import { Select } from '../../ui/Select';
import { Time } from '../../ui/Time';
import { tell, tellFailure } from '../../ui/toast';
import { NewAgent } from './NewAgent';
import './agents.css';

const orders = [
  { id: 'created_at desc', text: 'Newest first' },
  { id: 'updated_at desc', text: 'Last changed first' },
  { id: 'name', text: 'By name' },
];

/** The agents of the workspace. */
export default function Agents() {
  const { workspaceId } = useHere();
  const mayEdit = useMay('operator');
  const [isNew, setNew] = useState(false);
  const [filters, change] = useFilters(['q', 'order']);
  const { q } = filters;
  const order = filters.order || 'created_at desc';
  const setQ = (value: string) => change({ q: value });
  const list = useList(['agents', workspaceId, q, order], async (pageToken, signal) => {
    const { agents, nextPageToken } = await api.agents.listAgents(
      { workspaceId, q, orderBy: order, pageSize: 200, pageToken },
      { signal },
    );
    return { rows: agents, nextPageToken };
  });
  const add = mayEdit && (
    <Button kind="primary" onPress={() => setNew(true)}>
      New agent
    </Button>
  );
  const empty = q ? (
    <Empty title={`No agent's name has “${q}” in it`} action={<Button onPress={() => setQ('')}>Show all</Button>} />
  ) : (
    <Empty title="No agents yet" action={add}>
      An agent talks with your users by its instructions. Make one, write what it should do, and try it beside the
      editor.
    </Empty>
  );
  return (
    <Page title="Agents" lead="Who talks with your users: instructions, model, voice, tools and limits." actions={add}>
      <div className="filters">
        <SearchField label="Search by name" value={q} onChange={setQ} />
        <Select label="Order" hideLabel choices={orders} value={order} onChange={(value) => change({ order: value })} />
      </div>
      <List
        label="Agents"
        list={list}
        rowKey={({ id }) => id}
        href={({ id }) => `/agents/${id}/instructions`}
        columns={useColumns(mayEdit)}
        empty={empty}
      />
      {isNew && <NewAgent onClose={() => setNew(false)} />}
    </Page>
  );
}

const modelOf = ({ model }: Agent) => [model?.provider, model?.name].filter(Boolean).join(' ') || "the installation's";

function useColumns(mayEdit: boolean): Column<Agent>[] {
  const { workspaceId } = useHere();
  const confirm = useConfirm();
  const client = useQueryClient();
  const remove = useMutation({
    mutationFn: ({ id }: Agent) => api.agents.deleteAgent({ workspaceId, agentId: id }),
    onSuccess: (_, { name }) => tell(`${name} was deleted.`),
    onError: tellFailure,
    onSettled: () => client.invalidateQueries({ queryKey: ['agents'] }),
  });
  const ask = async (agent: Agent) => {
    const isSure = await confirm({
      title: `Delete ${agent.name}?`,
      text: 'The agent, its draft and all its versions will be gone. Its conversations stay readable.',
      action: 'Delete',
    });
    if (isSure) remove.mutate(agent);
  };
  const columns: Column<Agent>[] = [
    { id: 'name', title: 'Name', cell: ({ name }) => name },
    { id: 'model', title: 'Model', cell: modelOf },
    { id: 'language', title: 'Language', cell: ({ language }) => language || "the user's" },
    { id: 'version', title: 'Version', number: true, cell: ({ version }) => version },
    { id: 'updated', title: 'Changed', cell: ({ updatedAt }) => <Time at={updatedAt} /> },
  ];
  if (!mayEdit) return columns;
  return [
    ...columns,
    {
      id: 'more',
      title: '',
      cell: (agent) => (
        <Menu
          label={`More for ${agent.name}`}
          actions={[{ id: 'delete', text: 'Delete', danger: true, run: () => void ask(agent) }]}
        />
      ),
    },
  ];
}
