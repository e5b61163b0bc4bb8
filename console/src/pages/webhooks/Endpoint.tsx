import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import type { WebhookEndpoint } from '#gen/webhooks_pb';

import * as api from '../../api/clients';
import { useHere, useMay } from '../../app/caller';
import { navigate, useFilters } from '../../app/location';
import { Button, ButtonLink } from '../../ui/Button';
import { Menu } from '../../ui/Menu';
import { Page } from '../../ui/Page';
import { Query } from '../../ui/Query';
import { Tabs } from '../../ui/Tabs';
import { tell } from '../../ui/toast';
import { Deliveries } from './Deliveries';
import { EndpointForm } from './EndpointForm';
import { EndpointHealth } from './EndpointHealth';
import { RecoverDialog } from './RecoverDialog';
import { ShownSecret } from './ShownSecret';
import { TestDialog } from './TestDialog';
import { Trouble } from './Trouble';
import { useEndpointActions } from './useEndpointActions';
import { Verify } from './Verify';

export default function Endpoint({ params: { endpointId = '' } }: { params: { endpointId?: string } }) {
  const { workspaceId } = useHere();
  const query = useQuery({
    queryKey: ['webhooks', workspaceId, endpointId],
    refetchInterval: 5000,
    queryFn: ({ signal }) => api.webhooks.getWebhookEndpoint({ workspaceId, endpointId }, { signal }),
  });
  if (!query.data)
    return (
      <Page title="Endpoint">
        <Query query={query}>{() => null}</Query>
      </Page>
    );
  return <Shown endpoint={query.data} />;
}

type Open = 'edit' | 'test' | 'recover' | undefined;

function Shown({ endpoint }: { endpoint: WebhookEndpoint }) {
  const may = useMay('operator');
  const client = useQueryClient();
  const [{ tab }, change] = useFilters(['tab']);
  const [open, setOpen] = useState<Open>();
  const [secret, setSecret] = useState('');
  const close = () => setOpen(undefined);
  const { isBusy, pause, enable, askRotate, askDelete } = useEndpointActions(endpoint, setSecret);
  const isOn = endpoint.status === 'enabled';
  const actions = may && (
    <>
      <Button onPress={() => setOpen('test')}>Send a test</Button>
      {isOn ? (
        <Button isDisabled={isBusy} onPress={pause}>
          Pause
        </Button>
      ) : (
        <Button kind="primary" isDisabled={isBusy} onPress={enable}>
          Enable
        </Button>
      )}
      <Menu
        label="More for the endpoint"
        actions={[
          { id: 'edit', text: 'Change', run: () => setOpen('edit') },
          { id: 'recover', text: 'Send missed events again', run: () => setOpen('recover') },
          { id: 'rotate', text: 'New secret', run: () => void askRotate() },
          { id: 'delete', text: 'Delete', danger: true, run: () => void askDelete() },
        ]}
      />
    </>
  );
  return (
    <Page
      title={endpoint.description || 'Endpoint'}
      lead={<code>{endpoint.url}</code>}
      actions={
        <>
          <ButtonLink href="#/webhooks" kind="quiet">
            All endpoints
          </ButtonLink>
          {actions}
        </>
      }
    >
      <Trouble endpoint={endpoint} />
      <Tabs
        label="Endpoint"
        selected={tab || 'health'}
        onSelect={(id) => change({ tab: id === 'health' ? '' : id })}
        tabs={[
          {
            id: 'health',
            title: 'Health',
            content: <EndpointHealth endpoint={endpoint} onRecover={may ? () => setOpen('recover') : undefined} />,
          },
          {
            id: 'deliveries',
            title: 'Deliveries',
            content: <Deliveries endpointId={endpoint.id} onTest={may ? () => setOpen('test') : undefined} />,
          },
          { id: 'verify', title: 'How to verify', content: <Verify /> },
        ]}
      />
      {open === 'edit' && (
        <EndpointForm
          endpoint={endpoint}
          onClose={close}
          onSaved={() => {
            close();
            tell('Saved.');
          }}
        />
      )}
      {open === 'test' && (
        <TestDialog
          endpoint={endpoint}
          onClose={close}
          onSent={(id) => {
            void client.invalidateQueries({ queryKey: ['deliveries', endpoint.id] });
            navigate(`/webhooks/${endpoint.id}/deliveries/${id}`);
          }}
        />
      )}
      {open === 'recover' && <RecoverDialog endpoint={endpoint} onClose={close} />}
      {secret && <ShownSecret isRotated secret={secret} onClose={() => setSecret('')} />}
    </Page>
  );
}
