import { useQuery } from '@tanstack/react-query';

import * as api from '../../api/clients';
import { useFilters } from '../../app/location';
import { Page } from '../../ui/Page';
import { Query } from '../../ui/Query';
import { Select } from '../../ui/Select';
import { Alerts } from './Alerts';
import { Days } from './Days';
import { Meters } from './Meters';
import { Plan } from './Plan';

const monthsShown = 12;
const monthTitle = new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' });

/** The last months: 2026-11 and its title. */
function months() {
  const now = new Date();
  return Array.from({ length: monthsShown }, (_, back) => {
    const first = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1));
    return { id: first.toISOString().slice(0, 7), text: monthTitle.format(first) };
  });
}

export default function UsagePage() {
  const [filters, change] = useFilters(['month']);
  const all = months();
  const month = filters.month || (all[0]?.id ?? '');
  const usage = useQuery({
    queryKey: ['usage', month],
    queryFn: ({ signal }) => api.usage.getUsage({ month }, { signal }),
    refetchInterval: 60_000,
  });
  return (
    <Page
      title="Usage and plan"
      lead="What was used, what it cost, and how much is left."
      actions={
        <div style={{ width: 200 }}>
          <Select label="Month" hideLabel choices={all} value={month} onChange={(id) => change({ month: id })} />
        </div>
      }
    >
      <Query query={usage}>
        {(data) => (
          <>
            <Plan usage={data} />
            <Meters usage={data} />
            <Days usage={data} />
            <Alerts />
          </>
        )}
      </Query>
    </Page>
  );
}
