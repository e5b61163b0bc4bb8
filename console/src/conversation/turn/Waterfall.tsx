import type { Stage } from './stages';

import { duration } from '../../ui/format';

/** Stages as bars on one time axis; their names and lengths are the table of it. */
export function Waterfall({ stages, label }: { stages: readonly Stage[]; label: string }) {
  const end = Math.max(1, ...stages.map(({ from, ms }) => from + ms));
  return (
    <ol className="waterfall" aria-label={label}>
      {stages.map(({ name, from, ms, tone }, at) => (
        <li key={at}>
          <span className="name">{name}</span>
          <span className="track" aria-hidden="true">
            <span
              className={`stretch ${tone}`}
              style={{ left: `${(100 * from) / end}%`, width: `${(100 * ms) / end}%` }}
            />
          </span>
          <span className="length" title={`from ${duration(from)}`}>
            {duration(ms)}
          </span>
        </li>
      ))}
    </ol>
  );
}
