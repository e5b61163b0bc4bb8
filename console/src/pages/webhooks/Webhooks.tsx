import { useState } from 'react';

import type { WebhookEndpoint } from '#gen/webhooks_pb';

import * as api from '../../api/clients';
import { useList } from '../../api/useList';
import { useHere, useMay } from '../../app/caller';
import { navigate, useFilters } from '../../app/location';
import { Button } from '../../ui/Button';
import type { Column } from '../../ui/DataTable';
import { List } from '../../ui/List';
import { Empty, Page } from '../../ui/Page';
import { Tabs } from '../../ui/Tabs';
import { Time } from '../../ui/Time';
import { EndpointForm } from './EndpointForm';
import { EventFeed } from './EventFeed';
import { Accepted, StatusBadge } from './Health';
import { ShownSecret } from './ShownSecret';

const columns: Column<WebhookEndpoint>[] = [
  { id: 'url', title: 'Endpoint', cell: ({ url }) => url },
  { id: 'description', title: 'Description', cell: ({ description }) => description || <span className="dim">–</span> },
  { id: 'status', title: 'State', cell: (endpoint) => <StatusBadge endpoint={endpoint} /> },
  { id: 'accepted', title: 'Accepted in 24 h', cell: ({ id }) => <Accepted endpointId={id} /> },
  { id: 'success', title: 'Last success', cell: ({ lastSuccessAt }) => <Time at={lastSuccessAt} /> },
  { id: 'failure', title: 'Last failure', cell: ({ lastFailureAt }) => <Time at={lastFailureAt} /> },
  {
    id: 'events',
    title: 'Events',
    number: true,
    cell: ({ events }) => <span title={events.join(', ')}>{events.length}</span>,
  },
];

export default function Webhooks() {
  const may = useMay('operator');
  const [isNew, setNew] = useState(false);
  const [made, setMade] = useState<WebhookEndpoint>();
  const [{ tab }, change] = useFilters(['tab']);
  const add = may && (
    <Button kind="primary" onPress={() => setNew(true)}>
      New endpoint
    </Button>
  );
  return (
    <Page
      title="Webhooks"
      lead={
        'Your programs are told what happens here: a conversation is over, a document is ready. ' +
        'Each event is a signed request, sent until it is accepted.'
      }
      actions={add}
    >
      <Tabs
        label="Webhooks"
        selected={tab || 'endpoints'}
        onSelect={(id) => change({ tab: id === 'endpoints' ? '' : id })}
        tabs={[
          { id: 'endpoints', title: 'Endpoints', content: <Endpoints add={add} /> },
          { id: 'events', title: 'Events', content: <EventFeed /> },
        ]}
      />
      {isNew && (
        <EndpointForm
          onClose={() => setNew(false)}
          onSaved={(endpoint) => {
            setNew(false);
            setMade(endpoint);
          }}
        />
      )}
      {made && <ShownSecret secret={made.secret ?? ''} onClose={() => navigate(`/webhooks/${made.id}?tab=verify`)} />}
    </Page>
  );
}

function Endpoints({ add }: { add: React.ReactNode }) {
  const { workspaceId } = useHere();
  const list = useList(
    ['webhooks', workspaceId],
    async (pageToken, signal) => {
      const { endpoints, nextPageToken } = await api.webhooks.listWebhookEndpoints(
        { workspaceId, pageSize: 200, pageToken },
        { signal },
      );
      return { rows: endpoints, nextPageToken };
    },
    { refetchInterval: 10_000 },
  );
  return (
    <List
      label="Endpoints"
      list={list}
      rowKey={({ id }) => id}
      columns={columns}
      href={({ id }) => `/webhooks/${id}`}
      empty={
        <Empty title="No endpoints yet" action={add}>
          An endpoint is a URL of yours that is called when something happens. To try it on your own machine without
          one: <code>parlance listen --forward-to http://localhost:3000/hook</code>
        </Empty>
      }
    />
  );
}
