const names = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const months = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
const shorts: Record<string, string> = {
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
};

const list = (words: string[]) =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;

/** The parts of a field in words: "1-5" → "Monday to Friday". Undefined: a part is not understood. */
function partsIn(field: string, wordOf: (value: string) => string | undefined): string | undefined {
  const words = field.split(',').map((part) => {
    const [from = '', until, ...rest] = part.split('-');
    const first = wordOf(from);
    if (until === undefined) return first;
    const last = wordOf(until);
    return first && last && rest.length === 0 ? `${first} to ${last}` : undefined;
  });
  return words.every((word) => word !== undefined) ? list(words as string[]) : undefined;
}

const dayName = (value: string) =>
  /^[0-7]$/.test(value)
    ? names[Number(value) % 7]
    : names.find((name) => name.slice(0, 3).toLowerCase() === value.toLowerCase());
const monthName = (value: string) =>
  /^([1-9]|1[0-2])$/.test(value)
    ? months[Number(value) - 1]
    : months.find((name) => name.slice(0, 3).toLowerCase() === value.toLowerCase());
const number = (value: string) => (/^\d+$/.test(value) ? value : undefined);

function times(minute: string, hour: string): string | undefined {
  if (Number(minute) > 59 || hour.split(',').some((one) => Number(one) > 23)) return undefined;
  if (/^\d+$/.test(minute) && /^\d+(,\d+)*$/.test(hour))
    return `at ${list(hour.split(',').map((one) => `${one.padStart(2, '0')}:${minute.padStart(2, '0')}`))}`;
  if (/^\d+$/.test(minute) && hour === '*') return `every hour at minute ${minute}`;
  const step = /^\*\/(\d+)$/;
  if (/^\d+$/.test(minute) && step.test(hour)) return `every ${step.exec(hour)?.[1]} hours, at minute ${minute}`;
  if (step.test(minute) && hour === '*') return `every ${step.exec(minute)?.[1]} minutes`;
  return undefined;
}

function days(dayOfMonth: string, dayOfWeek: string): string | undefined {
  const isAnyDay = dayOfWeek === '*' || dayOfWeek === '?';
  const isAnyDate = dayOfMonth === '*' || dayOfMonth === '?';
  const week = isAnyDay ? '' : partsIn(dayOfWeek, dayName);
  const date = isAnyDate ? '' : partsIn(dayOfMonth, number);
  if (week === undefined || date === undefined) return undefined;
  if (isAnyDay && isAnyDate) return 'every day';
  if (isAnyDate) return `on ${week}`;
  return isAnyDay ? `on day ${date} of the month` : `on day ${date} of the month and on ${week}`;
}

/**
 * A cron expression in words: "0 9 * * MON-FRI" → "on Monday to Friday at 09:00". Undefined: it is
 * not understood here.
 */
export function cronWords(expression: string): string | undefined {
  const [minute, hour, dayOfMonth, month, dayOfWeek, ...rest] = (shorts[expression.trim()] ?? expression.trim()).split(
    /\s+/,
  );
  if (!minute || !hour || !dayOfMonth || !month || !dayOfWeek || rest.length > 0) return undefined;
  const when = times(minute, hour);
  const which = days(dayOfMonth, dayOfWeek);
  const inMonths = month === '*' ? '' : partsIn(month, monthName);
  if (!when || !which || inMonths === undefined) return undefined;
  const isEachDay = which === 'every day' && when.startsWith('every');
  return [isEachDay ? '' : which, inMonths && `in ${inMonths}`, when].filter(Boolean).join(' ');
}
