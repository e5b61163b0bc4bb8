import { timestampFromDate, type Timestamp } from '@bufbuild/protobuf/wkt';

const day = (text: string) => (/^\d{4}-\d{2}-\d{2}$/.test(text) ? new Date(`${text}T00:00`) : undefined);

/** When a day of the reader's calendar begins: 2026-12-01. Undefined for "". */
export function dayBegins(text: string): Timestamp | undefined {
  const date = day(text);
  return date && timestampFromDate(date);
}

/** When a day of the reader's calendar is over. Undefined for "". */
export function dayEnds(text: string): Timestamp | undefined {
  const date = day(text);
  date?.setDate(date.getDate() + 1);
  return date && timestampFromDate(date);
}
