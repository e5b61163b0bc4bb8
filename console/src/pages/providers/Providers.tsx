import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import type { ProviderCredential } from '#gen/credentials_pb';

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
import { kinds } from './kinds';
import { ProviderDialog } from './ProviderDialog';

export default function Providers() {
  const { workspaceId } = useHere();
  const [edited, setEdited] = useState<ProviderCredential | 'new'>();
  const list = useList(['providers', workspaceId], async (pageToken, signal) => {
    const { providerCredentials, nextPageToken } = await api.credentials.listProviderCredentials(
      { workspaceId, pageSize: 200, pageToken },
      { signal },
    );
    return { rows: providerCredentials, nextPageToken };
  });
  const add = (
    <Button kind="primary" onPress={() => setEdited('new')}>
      New provider
    </Button>
  );
  return (
    <Page
      title="Providers"
      lead="Keys of this workspace at model, speech and telephone providers. They are stored encrypted and are never shown again."
      actions={add}
    >
      <List
        label="Providers"
        list={list}
        rowKey={({ id }) => id}
        columns={useColumns(setEdited)}
        empty={
          <Empty title="No providers" action={add}>
            Agents of this workspace use what the installation has: its model or, without one, the built-in responder,
            which quotes your documents. Add a key to use a model of your choice.
          </Empty>
        }
      />
      {edited && (
        <ProviderDialog credential={edited === 'new' ? undefined : edited} onClose={() => setEdited(undefined)} />
      )}
    </Page>
  );
}

function useColumns(onEdit: (credential: ProviderCredential) => void): Column<ProviderCredential>[] {
  const { workspaceId } = useHere();
  const confirm = useConfirm();
  const client = useQueryClient();
  const test = useMutation({
    mutationFn: ({ id }: ProviderCredential) =>
      api.credentials.testProviderCredential({ workspaceId, credentialId: id }),
    onSuccess: ({ ok, detail, latencyMs }) => tell(ok ? `It works. ${detail} (${latencyMs} ms)` : detail),
    onError: tellFailure,
  });
  const remove = useMutation({
    mutationFn: ({ id }: ProviderCredential) =>
      api.credentials.deleteProviderCredential({ workspaceId, credentialId: id }),
    onError: tellFailure,
    onSettled: () => client.invalidateQueries({ queryKey: ['providers'] }),
  });
  const askTest = async (credential: ProviderCredential) => {
    const isSure = await confirm({
      title: 'Try it?',
      text: 'One small real call is made, which the provider may charge for.',
      action: 'Try it',
    });
    if (isSure) test.mutate(credential);
  };
  const askRemove = async (credential: ProviderCredential) => {
    const isSure = await confirm({
      title: `Delete ${nameOf(credential)}?`,
      text: 'Agents that use it fall back to what the installation has.',
      action: 'Delete',
    });
    if (isSure) remove.mutate(credential);
  };
  return [
    { id: 'name', title: 'Name', cell: nameOf },
    { id: 'kind', title: 'For', cell: ({ kind }) => kinds.find(({ id }) => id === kind)?.text ?? kind },
    {
      id: 'provider',
      title: 'Provider',
      cell: ({ provider, baseUrl }) => (
        <>
          {provider} {baseUrl && <span className="dim small">{baseUrl}</span>}
        </>
      ),
    },
    {
      id: 'key',
      title: 'Key',
      cell: ({ apiKeyHint }) => (apiKeyHint ? <code>…{apiKeyHint}</code> : <Badge>set</Badge>),
    },
    { id: 'model', title: 'Default model', cell: ({ defaultModel }) => defaultModel || '–' },
    { id: 'updated', title: 'Changed', cell: ({ updatedAt }) => <Time at={updatedAt} /> },
    {
      id: 'more',
      title: '',
      cell: (credential) => (
        <Menu
          label={`More for ${nameOf(credential)}`}
          actions={[
            { id: 'edit', text: 'Edit', run: () => onEdit(credential) },
            { id: 'test', text: 'Try it', run: () => void askTest(credential) },
            { id: 'delete', text: 'Delete', danger: true, run: () => void askRemove(credential) },
          ]}
        />
      ),
    },
  ];
}

const nameOf = ({ name, provider }: ProviderCredential) => name || provider;
