import { timestampDate } from '@bufbuild/protobuf/wkt';
import { useState } from 'react';

import type { Event } from '#gen/webhooks_pb';

import { useHere } from '../../app/caller';
import { useFilters } from '../../app/location';
import { Button } from '../../ui/Button';
import { CodeBlock } from '../../ui/Code';
import { DataTable, type Column } from '../../ui/DataTable';
import { Dialog } from '../../ui/Dialog';
import { Filters } from '../../ui/Filters';
import { Badge, Empty, Facts, FailureNote, Loading } from '../../ui/Page';
import { Select } from '../../ui/Select';
import { Time } from '../../ui/Time';
import { count } from '../../ui/format';
import { prettyJSON } from '../../ui/json';
import { eventChoices } from './events';
import { useEventFeed } from './useEventFeed';

/** What an event is about: the first id that its data has. */
function subjectOf({ data }: Event): string {
  for (const name of [
    'user_id',
    'session_id',
    'name',
    'source_id',
    'endpoint_id',
    'invoice_id',
    'subscription_id',
    'meter',
    'request_id',
  ]) {
    const value = data?.[name];
    if (typeof value === 'string' && value) return value;
  }
  return '';
}

/** What has happened, the newest first, and what happens while one looks. */
export function EventFeed() {
  const { workspaceId } = useHere();
  const [{ event }, change] = useFilters(['event']);
  const { events, isReading, isCut, isLive, error, readOn } = useEventFeed(workspaceId, event);
  const [shown, setShown] = useState<Event>();
  const columns: Column<Event>[] = [
    {
      id: 'type',
      title: 'Event',
      cell: (one) => (
        <Button kind="quiet" onPress={() => setShown(one)}>
          {one.type}
        </Button>
      ),
    },
    { id: 'about', title: 'About', cell: (one) => subjectOf(one) || <span className="dim">–</span> },
    { id: 'at', title: 'Happened', cell: ({ createdAt }) => <Time at={createdAt} /> },
    { id: 'id', title: 'Id', cell: ({ eventId }) => <code>{eventId}</code> },
  ];
  return (
    <div className="stack">
      <Filters>
        <Select label="Event" choices={eventChoices} value={event} onChange={(id) => change({ event: id })} />
        <p role="status" aria-live="polite">
          {isLive ? <Badge tone="good">live</Badge> : <Badge>{isCut ? 'not live' : 'connecting…'}</Badge>}{' '}
          <span className="dim small">{count(events.length)} events</span>
        </p>
      </Filters>
      {isCut && (
        <div className="note row between">
          <span>The feed is read from its oldest event on, and there are newer ones that were not read yet.</span>
          <Button isDisabled={isReading} onPress={readOn}>
            {isReading ? 'Reading…' : 'Read on'}
          </Button>
        </div>
      )}
      {error !== undefined && <FailureNote error={error} />}
      {events.length > 0 ? (
        <DataTable label="Events" rows={events} rowKey={({ eventId }) => eventId} columns={columns} />
      ) : isReading ? (
        <Loading />
      ) : (
        <Empty title="Nothing has happened yet">
          Events appear here as they happen, with or without an endpoint. They are kept for 30 days. End a conversation
          or add a document to see one.
        </Empty>
      )}
      {shown && <ShownEvent event={shown} onClose={() => setShown(undefined)} />}
    </div>
  );
}

function ShownEvent({ event, onClose }: { event: Event; onClose(): void }) {
  return (
    <Dialog title={event.type} shape="side" onClose={onClose}>
      <Facts
        facts={[
          ['Happened', event.createdAt && timestampDate(event.createdAt).toISOString()],
          ['Event', <code>{event.eventId}</code>],
          ['Cursor', <code>{event.cursor}</code>],
        ]}
      />
      <CodeBlock code={prettyJSON(event.dataJson || JSON.stringify(event.data))} label="Data of the event" />
    </Dialog>
  );
}
