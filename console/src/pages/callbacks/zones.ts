// Days and times in a time zone that is not the reader's.

/** The reader's own time zone. */
export const ownZone = new Intl.DateTimeFormat().resolvedOptions().timeZone;

const zones = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')];

/** The time zones as choices; the reader's own is the first. */
export const zoneChoices = [ownZone, ...zones.filter((zone) => zone !== ownZone)].map((zone) => ({
  id: zone,
  text: zone.replaceAll('_', ' '),
}));

/** Whether the browser knows a time zone. */
export const isZone = (zone: string) => zoneChoices.some(({ id }) => id === zone);

/** Whether the browser knows a zone; it may be older than the server. */
function isKnown(zone: string): boolean {
  try {
    return Boolean(new Intl.DateTimeFormat('en-GB', { timeZone: zone }));
  } catch {
    return false;
  }
}

/** A format of times in a zone, or in UTC when the browser does not know it. */
const formatIn = (zone: string, options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat('en-GB', { ...options, timeZone: isKnown(zone) ? zone : 'UTC' });

/** The day that it is in a zone: 2026-12-01. */
export function dayIn(zone: string, at: Date): string {
  const parts = formatIn(zone, { year: 'numeric', month: '2-digit', day: '2-digit' }).formatToParts(at);
  const part = (type: string) => parts.find((one) => one.type === type)?.value ?? '';
  return `${part('year')}-${part('month')}-${part('day')}`;
}

/** The time of the day in a zone: 09:00. */
export const timeIn = (zone: string, at: Date) => formatIn(zone, { hour: '2-digit', minute: '2-digit' }).format(at);

/** What a field of datetime-local takes: 2026-12-01T09:00. */
export const localIn = (zone: string, at: Date) => `${dayIn(zone, at)}T${timeIn(zone, at)}`;

/** Day and time in a zone, in words. */
export const wordsIn = (zone: string, at: Date) =>
  formatIn(zone, {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
  }).format(at) + (isKnown(zone) ? '' : ' UTC');

/** How far the zone's clocks are from UTC at a moment, in ms. */
function offset(zone: string, at: Date): number {
  return Date.parse(`${localIn(zone, at)}Z`) - Math.floor(at.getTime() / 60_000) * 60_000;
}

/** The moment of a local time in a zone: 2026-12-01T09:00. */
export function momentOf(zone: string, local: string): Date {
  const asUTC = Date.parse(`${local}Z`);
  const first = new Date(asUTC - offset(zone, new Date(asUTC)));
  return new Date(asUTC - offset(zone, first)); // again: clocks may change in between
}

/** A day so many days later. */
export function addDays(day: string, days: number): string {
  const date = new Date(`${day}T00:00Z`);
  date.setUTCDate(date.getUTCDate() + days);
  return date.toISOString().slice(0, 10);
}

/** The same day of a month so many months later, or its last day. */
export function addMonths(day: string, months: number): string {
  const date = new Date(`${day.slice(0, 7)}-01T00:00Z`);
  date.setUTCMonth(date.getUTCMonth() + months + 1, 0);
  return `${date.toISOString().slice(0, 7)}-${String(Math.min(Number(day.slice(8)), date.getUTCDate())).padStart(2, '0')}`;
}

/** The Monday of a day's week. */
export const mondayOf = (day: string) => addDays(day, -((new Date(`${day}T00:00Z`).getUTCDay() + 6) % 7));

/** A day as a part of it is called, such as "Tuesday 1 December". */
export const dayWords = (day: string, options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', ...options }).format(new Date(`${day}T00:00Z`));
