import type { Usage } from '#gen/usage_pb';

import { bytes, count } from '../../ui/format';
import { Meter } from '../../ui/Meter';
import { Card } from '../../ui/Page';
import { meterName } from './meters';

/** What was used of each meter in the month, and the limits that are not of a month. */
export function Meters({ usage }: { usage: Usage }) {
  const limited = usage.limits.filter(({ limit, used }) => limit > 0 && used !== undefined);
  return (
    <div className="grid-2">
      <Card title="This month">
        {usage.meters.map(({ meter, quantity, limit, percent, expected, limitReachedOn, planWithMore }) => {
          const { title, format } = meterName(meter);
          if (limit === 0)
            return (
              <div key={meter} className="row between small">
                <span>{title}</span>
                <span>
                  {format(quantity)} <span className="dim">no limit</span>
                </span>
              </div>
            );
          return (
            <div key={meter}>
              <Meter label={title} percent={percent} text={`${format(quantity)} of ${format(limit)}`} />
              {limitReachedOn && (
                <p className="small dim">
                  At this pace the limit is reached on {limitReachedOn}; {format(expected)} by the end of the month.
                  {planWithMore && ` The plan ${planWithMore} has more.`}
                </p>
              )}
            </div>
          );
        })}
      </Card>
      <Card title="At the same time">
        {limited.length === 0 && <p className="dim">No limits of this kind.</p>}
        {limited.map(({ name, limit, used = 0, planWithMore }) => {
          const format = name.endsWith('_bytes') ? bytes : count;
          return (
            <div key={name}>
              <Meter
                label={name.replaceAll('_', ' ')}
                percent={(100 * used) / limit}
                text={`${format(used)} of ${format(limit)}`}
              />
              {planWithMore && used >= limit && <p className="small dim">The plan {planWithMore} has more.</p>}
            </div>
          );
        })}
        <h3>Each key, a minute</h3>
        <dl className="facts small">
          {usage.limits
            .filter(({ name }) => name.endsWith('_requests_per_minute'))
            .map(({ name, limit }) => (
              <div key={name} style={{ display: 'contents' }}>
                <dt>{name.replace('_requests_per_minute', '')} requests</dt>
                <dd>{limit > 0 ? count(limit) : 'no limit'}</dd>
              </div>
            ))}
        </dl>
      </Card>
    </div>
  );
}
