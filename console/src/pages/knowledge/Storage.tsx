import { useQuery } from '@tanstack/react-query';

import * as api from '../../api/clients';
import { bytes, percent } from '../../ui/format';
import { Progress } from '../../ui/Progress';

/** What the tenant has used, and what its plan allows. */
export const useUsage = () =>
  useQuery({ queryKey: ['kb usage'], staleTime: 60_000, queryFn: ({ signal }) => api.usage.getUsage({}, { signal }) });

/** How much of the plan's storage is used. */
export function Storage() {
  const { data } = useUsage();
  const meter = data?.meters.find(({ meter: name }) => name === 'kb_bytes');
  if (!data || !meter) return null;
  const { quantity, limit, percent: full, planWithMore } = meter;
  if (limit === 0) return <p className="dim small">{bytes(quantity)} stored.</p>;
  return (
    <div className="stack" style={{ gap: 4 }}>
      <Progress
        label={`Storage: ${bytes(quantity)} used of ${bytes(limit)} for each workspace`}
        value={full}
        text={percent(full, 100)}
      />
      {full >= 80 && (
        <p className="note warn">
          The storage is {full >= 100 ? 'full' : 'nearly full'}. Delete what is not needed
          {planWithMore && <>, or change to the plan {planWithMore}</>}: <a href="#/usage">usage and plan</a>.
        </p>
      )}
    </div>
  );
}
