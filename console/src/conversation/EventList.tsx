import { memo, useEffect, useRef, useState, useSyncExternalStore } from 'react';

import { Button } from '../ui/Button';
import { SearchField } from '../ui/Field';
import { tell } from '../ui/toast';
import { gistOf, type Entry, type EventLog } from './log';

const signs = { in: ['←', 'received'], out: ['→', 'sent'], state: ['·', 'connection'] } as const;
const clock = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
});

const fits = (entry: Entry, words: string[]) => {
  if (words.length === 0) return true;
  const text = `${signs[entry.direction][0]} ${signs[entry.direction][1]} ${JSON.stringify(entry.event)}`.toLowerCase();
  return words.every((word) => text.includes(word));
};

const asText = (entries: readonly Entry[]) =>
  entries.map(({ at, direction, event }) => JSON.stringify({ at: at.toISOString(), direction, event })).join('\n');

/** Each event of the conversation's sockets. */
export function EventList({ log }: { log: EventLog }) {
  const entries = useSyncExternalStore(log.subscribe, log.entries);
  const [filter, setFilter] = useState('');
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = entries.filter((entry) => fits(entry, words));
  const list = useRef<HTMLOListElement>(null);
  const follows = useRef(true);
  useEffect(() => {
    if (follows.current) list.current?.scrollTo({ top: list.current.scrollHeight });
  }, [shown.length]);
  const copy = async () => {
    await navigator.clipboard.writeText(asText(shown));
    tell(`${shown.length} events were copied.`);
  };
  return (
    <div className="events stack">
      <div className="row">
        <SearchField
          label="Filter the events"
          placeholder="Filter: sent response"
          value={filter}
          onChange={setFilter}
        />
        <span className="dim small" role="status">
          {words.length > 0 ? `${shown.length} of ` : ''}
          {entries.length}
        </span>
        <span className="grow" />
        <Button onPress={() => void copy()}>Copy</Button>
        <Button kind="quiet" onPress={() => log.clear()}>
          Clear
        </Button>
      </div>
      <ol
        ref={list}
        tabIndex={0}
        aria-label="Events"
        onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
          follows.current = scrollTop + clientHeight >= scrollHeight - 30;
        }}
      >
        {shown.map((entry) => (
          <Event key={entry.id} entry={entry} />
        ))}
      </ol>
    </div>
  );
}

const Event = memo(function Event({ entry: { at, direction, event } }: { entry: Entry }) {
  const [isOpen, setOpen] = useState(false);
  const [sign, words] = signs[direction];
  return (
    <li>
      <details onToggle={(toggled) => setOpen(toggled.currentTarget.open)}>
        <summary>
          <span className={`way ${direction}`} aria-hidden="true">
            {sign}
          </span>
          <span className="visually-hidden">{words} </span>
          <code>{event.type}</code> <span className="gist">{gistOf(event)}</span>{' '}
          <time className="dim">{clock.format(at)}</time>
        </summary>
        {isOpen && (
          <pre className="json" tabIndex={0} aria-label={event.type}>
            {JSON.stringify(event, null, 2)}
          </pre>
        )}
      </details>
    </li>
  );
});
