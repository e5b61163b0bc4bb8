import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import type { ApiKey } from '#gen/workspaces_pb';

import * as api from '../../api/clients';
import { useList } from '../../api/useList';
import { useMutation } from '../../api/useMutation';
import { useHere } from '../../app/caller';
import { Button } from '../../ui/Button';
import type { Column } from '../../ui/DataTable';
import { useConfirm } from '../../ui/Dialog';
import { List } from '../../ui/List';
import { Menu } from '../../ui/Menu';
import { Badge, Empty, Page } from '../../ui/Page';
import { Time } from '../../ui/Time';
import { tell, tellFailure } from '../../ui/toast';
import { NewKey, ShownKey } from './NewKey';

/** How long the old secret of a rotated key goes on working. */
const overlapSeconds = 24 * 60 * 60;

export default function Keys() {
  const [isNew, setNew] = useState(false);
  const [made, setMade] = useState<ApiKey>();
  const list = useList(['keys'], async (pageToken, signal) => {
    const { apiKeys, nextPageToken } = await api.apiKeys.listApiKeys({ pageSize: 200, pageToken }, { signal });
    return { rows: apiKeys, nextPageToken };
  });
  const add = (
    <Button kind="primary" onPress={() => setNew(true)}>
      New key
    </Button>
  );
  return (
    <Page
      title="Keys"
      lead="API keys of this tenant. A program calls the API with one; give each program its own, with the least that it needs."
      actions={add}
    >
      <List
        label="API keys"
        list={list}
        rowKey={({ id }) => id}
        columns={useColumns(setMade)}
        empty={
          <Empty title="No keys yet" action={add}>
            Make a key for each program that calls the API.
          </Empty>
        }
      />
      {isNew && (
        <NewKey
          onClose={() => setNew(false)}
          onMade={(key) => {
            setNew(false);
            setMade(key);
          }}
        />
      )}
      {made && <ShownKey apiKey={made} onClose={() => setMade(undefined)} />}
    </Page>
  );
}

function useColumns(onRotated: (key: ApiKey) => void): Column<ApiKey>[] {
  const { workspaces, caller } = useHere();
  const confirm = useConfirm();
  const client = useQueryClient();
  const changed = { onError: tellFailure, onSettled: () => client.invalidateQueries({ queryKey: ['keys'] }) };
  const rotate = useMutation({
    mutationFn: ({ id }: ApiKey) => api.apiKeys.rotateApiKey({ apiKeyId: id, overlapSeconds }),
    onSuccess: onRotated,
    ...changed,
  });
  const remove = useMutation({
    mutationFn: ({ id }: ApiKey) => api.apiKeys.deleteApiKey({ apiKeyId: id }),
    onSuccess: (_, { name }) => tell(`The key ${name} was deleted.`),
    ...changed,
  });
  const askRotate = async (key: ApiKey) => {
    const isSure = await confirm({
      title: `Rotate ${key.name}?`,
      text: 'The key gets a new secret. The old one works for another 24 hours, so that programs can be changed.',
      action: 'Rotate',
    });
    if (isSure) rotate.mutate(key);
  };
  const askRemove = async (key: ApiKey) => {
    const isSure = await confirm({
      title: `Delete ${key.name}?`,
      text: 'Programs that use it are refused at once. This cannot be undone.',
      action: 'Delete',
    });
    if (isSure) remove.mutate(key);
  };
  return [
    {
      id: 'name',
      title: 'Name',
      cell: ({ id, name }) => (
        <>
          <bdi>{name}</bdi> {id === caller.id && <Badge tone="accent">this one</Badge>}
        </>
      ),
    },
    { id: 'scope', title: 'May', cell: ({ scope }) => <Badge>{scope}</Badge> },
    {
      id: 'workspace',
      title: 'Workspace',
      cell: ({ workspaceId }) =>
        workspaceId ? (workspaces.find(({ id }) => id === workspaceId)?.name ?? workspaceId) : 'all',
    },
    { id: 'hint', title: 'Ends in', cell: ({ secretHint }) => <code>…{secretHint}</code> },
    { id: 'used', title: 'Last used', cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
    { id: 'expires', title: 'Expires', cell: ({ expiresAt }) => <Time at={expiresAt} /> },
    {
      id: 'more',
      title: '',
      cell: (key) => (
        <Menu
          label={`More for ${key.name}`}
          actions={[
            { id: 'rotate', text: 'Rotate', run: () => void askRotate(key) },
            {
              id: 'delete',
              text: 'Delete',
              danger: true,
              isDisabled: key.id === caller.id,
              run: () => void askRemove(key),
            },
          ]}
        />
      ),
    },
  ];
}
