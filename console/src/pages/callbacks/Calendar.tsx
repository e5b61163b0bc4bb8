import { timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import type { CalendarEntry } from '#gen/callbacks_pb';

import * as api from '../../api/clients';
import { useMutation } from '../../api/useMutation';
import { download } from '../../api/download';
import { useHere, useMay, useMaySeePersonal } from '../../app/caller';
import { useFilters } from '../../app/location';
import { Button } from '../../ui/Button';
import { Filters } from '../../ui/Filters';
import { Query } from '../../ui/Query';
import { Select } from '../../ui/Select';
import { tellFailure } from '../../ui/toast';
import { CallbackForm } from './CallbackForm';
import { CalendarDays } from './CalendarDays';
import { addDays, addMonths, dayIn, dayWords, isZone, momentOf, mondayOf, ownZone, zoneChoices } from './zones';

const views = [
  { id: 'month', text: 'Month' },
  { id: 'week', text: 'Week' },
];

/** What is shown: the first day, and the day after the last. */
function spanOf(view: string, day: string) {
  if (view === 'week') return { from: mondayOf(day), until: addDays(mondayOf(day), 7) };
  const first = `${day.slice(0, 7)}-01`;
  return { from: mondayOf(first), until: addDays(mondayOf(addDays(addMonths(first, 1), -1)), 7) };
}

async function* calendarFile(of: Parameters<typeof api.callbacks.exportCallbackCalendar>[0]) {
  for await (const { data } of api.callbacks.exportCallbackCalendar(of)) yield data;
}

/** Planned and past calls of a month or a week. On a telephone: a list of the days that have some. */
export function Calendar() {
  const { workspaceId } = useHere();
  const may = useMay('operator');
  const maySave = useMaySeePersonal();
  const [isNew, setNew] = useState(false);
  const [filters, change] = useFilters(['view', 'day', 'zone']);
  const zone = isZone(filters.zone) ? filters.zone : ownZone;
  const today = dayIn(zone, new Date());
  const view = filters.view || 'month';
  const day = /^\d{4}-\d{2}-\d{2}$/.test(filters.day) ? filters.day : today;
  const span = spanOf(view, day);
  const times = {
    from: timestampFromDate(momentOf(zone, `${span.from}T00:00`)),
    until: timestampFromDate(momentOf(zone, `${span.until}T00:00`)),
  };
  const query = useQuery({
    queryKey: ['callbacks', workspaceId, 'calendar', span, zone],
    refetchInterval: 15_000,
    queryFn: ({ signal }) => api.callbacks.getCallbackCalendar({ workspaceId, ...times }, { signal }),
  });
  const save = useMutation({
    mutationFn: () => download('callbacks.ics', 'text/calendar', calendarFile({ workspaceId, ...times })),
    onError: tellFailure,
  });
  const move = (by: number) => change({ day: view === 'week' ? addDays(day, 7 * by) : addMonths(day, by) });
  const title =
    view === 'week'
      ? [
          dayWords(span.from, { day: 'numeric', month: 'short' }),
          dayWords(addDays(span.until, -1), { day: 'numeric', month: 'short', year: 'numeric' }),
        ].join(' – ')
      : dayWords(day, { month: 'long', year: 'numeric' });
  return (
    <div className="stack">
      <div className="row between">
        <div className="row">
          <Button icon aria-label="Earlier" onPress={() => move(-1)}>
            ‹
          </Button>
          <Button onPress={() => change({ day: '' })}>Today</Button>
          <Button icon aria-label="Later" onPress={() => move(1)}>
            ›
          </Button>
          <h2 aria-live="polite">{title}</h2>
        </div>
        <div className="row">
          {maySave && (
            <Button isDisabled={save.isPending} onPress={() => save.mutate()}>
              Save as iCal
            </Button>
          )}
          {may && (
            <Button kind="primary" onPress={() => setNew(true)}>
              New callback
            </Button>
          )}
        </div>
      </div>
      <Filters>
        <Select
          label="View"
          choices={views}
          value={view}
          onChange={(id) => change({ view: id === 'month' ? '' : id })}
        />
        <Select
          label="Time zone"
          choices={zoneChoices}
          value={zone}
          onChange={(id) => change({ zone: id === ownZone ? '' : id })}
        />
      </Filters>
      <Query query={query}>
        {({ entries, truncated }) => (
          <>
            {truncated && (
              <p className="note warn">
                There are more than 1,000 calls in this time; the first are shown. Choose a week.
              </p>
            )}
            <CalendarDays
              {...{ span, zone, today, view }}
              month={day.slice(0, 7)}
              entries={byDay(entries, zone)}
              onMore={(at) => change({ view: 'week', day: at })}
            />
          </>
        )}
      </Query>
      {isNew && <CallbackForm zone={zone} onClose={() => setNew(false)} />}
    </div>
  );
}

function byDay(entries: CalendarEntry[], zone: string): Map<string, CalendarEntry[]> {
  const days = new Map<string, CalendarEntry[]>();
  for (const entry of entries) {
    if (!entry.at) continue;
    const day = dayIn(zone, timestampDate(entry.at));
    const of = days.get(day);
    if (of) of.push(entry);
    else days.set(day, [entry]);
  }
  return days;
}
