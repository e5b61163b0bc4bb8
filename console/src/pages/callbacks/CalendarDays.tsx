import { timestampDate } from '@bufbuild/protobuf/wkt';
import { Link } from 'wouter';

import type { CalendarEntry } from '#gen/callbacks_pb';

import { useAgentNames } from '../../api/useAgentNames';
import { Button } from '../../ui/Button';
import { Empty } from '../../ui/Page';
import { stateText, stateTone } from './words';
import { addDays, dayWords, timeIn } from './zones';

interface Props {
  span: { from: string; until: string };
  zone: string;
  today: string;
  /** month or week */
  view: string;
  /** 2026-12 */
  month: string;
  entries: Map<string, CalendarEntry[]>;
  onMore(day: string): void;
}

const mostInMonth = 3;

/** The days of a calendar, each with its calls. */
export function CalendarDays({ span, zone, today, view, month, entries, onMore }: Props) {
  const days: string[] = [];
  for (let day = span.from; day < span.until; day = addDays(day, 1)) days.push(day);
  const most = view === 'month' ? mostInMonth : Infinity;
  return (
    <>
      <div className="calendar-heads" aria-hidden="true">
        {days.slice(0, 7).map((day) => (
          <span key={day}>{dayWords(day, { weekday: 'short' })}</span>
        ))}
      </div>
      <ol className={`calendar ${view}`}>
        {days.map((day) => {
          const of = entries.get(day) ?? [];
          const isOther = view === 'month' && !day.startsWith(month);
          return (
            <li
              key={day}
              className={`${isOther ? 'other' : ''} ${day === today ? 'today' : ''} ${of.length === 0 ? 'none' : ''}`}
            >
              <h3>
                <span className="long">
                  {dayWords(day, { weekday: 'long', day: 'numeric', month: 'long' })}
                  {day === today && ', today'}
                </span>
                <span className="short" aria-hidden="true">
                  {Number(day.slice(8))}
                </span>
              </h3>
              {of.length > 0 && (
                <ul>
                  {of.slice(0, most).map((entry, at) => (
                    <li key={entry.callbackId || `${entry.scheduleId} ${at}`}>
                      <Entry entry={entry} zone={zone} />
                    </li>
                  ))}
                </ul>
              )}
              {of.length > most && (
                <Button kind="quiet" onPress={() => onMore(day)}>
                  {of.length - most} more
                </Button>
              )}
            </li>
          );
        })}
      </ol>
      {entries.size === 0 && (
        <Empty title="No calls in this time">
          Plan one by “New callback”, or let an agent do it: it needs the tool schedule_callback. What repeats is a
          schedule.
        </Empty>
      )}
    </>
  );
}

function Entry({
  entry: { at, callbackId, scheduleId, agentId, userId, status, reason },
  zone,
}: {
  entry: CalendarEntry;
  zone: string;
}) {
  const nameOf = useAgentNames([agentId]);
  const to = callbackId ? `/callbacks/list/${callbackId}` : `/callbacks/schedules/${scheduleId}`;
  const title = [stateText(status), callbackId ? '' : 'a run of a schedule to come', `by ${nameOf(agentId)}`, reason]
    .filter(Boolean)
    .join(', ');
  return (
    <Link href={to} className={`calendar-entry ${callbackId ? stateTone(status) : 'planned'}`} title={title}>
      <span className="number">{at && timeIn(zone, timestampDate(at))}</span> {userId}
      <span className="visually-hidden">, {title}</span>
    </Link>
  );
}
