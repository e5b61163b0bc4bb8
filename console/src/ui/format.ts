// Numbers for people.

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** 12,345; from a million on 1.2M */
export const count = (n: number) => (Math.abs(n) >= 1e6 ? short.format(n) : whole.format(n));

/** 1.5 MB */
export function bytes(n: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let unit = 0;
  for (; n >= 1000 && unit < units.length - 1; unit++) n /= 1000;
  return `${unit === 0 || n >= 100 ? whole.format(n) : n.toFixed(1)} ${units[unit]}`;
}

/** 850 ms, 2.4 s, 3 min 5 s */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return seconds < 3600
    ? `${Math.floor(seconds / 60)} min ${seconds % 60} s`
    : `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

/** 12 % */
export const percent = (part: number, all: number) => (all > 0 ? `${Math.round((100 * part) / all)} %` : '–');
