import { timestampDate, type Timestamp } from '@bufbuild/protobuf/wkt';
import { useEffect, useState } from 'react';

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });
const absolute = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
const steps: [Intl.RelativeTimeFormatUnit, number][] = [
  ['second', 60],
  ['minute', 60],
  ['hour', 24],
  ['day', 30],
  ['month', 12],
  ['year', Infinity],
];

/** 5 min. ago, in 2 days */
export function ago(date: Date, now = Date.now()): string {
  let value = (date.getTime() - now) / 1000;
  for (const [unit, size] of steps) {
    if (Math.abs(value) < size) return relative.format(Math.round(value), unit);
    value /= size;
  }
  return absolute.format(date);
}

/** A time as how long ago it was; the time itself is its title. `exact`: the time itself. */
export function Time({ at, exact }: { at: Timestamp | undefined; exact?: boolean }) {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((n) => n + 1), 30_000);
    return () => clearInterval(timer);
  }, []);
  if (!at) return <span className="dim">never</span>;
  const date = timestampDate(at);
  return (
    <time dateTime={date.toISOString()} title={absolute.format(date)} className="nowrap">
      {exact ? absolute.format(date) : ago(date)}
    </time>
  );
}
