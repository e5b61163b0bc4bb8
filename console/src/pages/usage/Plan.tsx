import { useQuery } from '@tanstack/react-query';

import type { Billing } from '#gen/billing_pb';
import type { Usage } from '#gen/usage_pb';

import * as api from '../../api/clients';
import { useMutation } from '../../api/useMutation';
import { useHere, useMay } from '../../app/caller';
import { Button } from '../../ui/Button';
import { Badge, Card, Facts } from '../../ui/Page';
import { Time } from '../../ui/Time';
import { tellFailure } from '../../ui/toast';

/** The plan, what it has, and how it is paid for. */
export function Plan({ usage }: { usage: Usage }) {
  const billing = useQuery({ queryKey: ['billing'], queryFn: ({ signal }) => api.billing.getBilling({}, { signal }) });
  const { features } = usage;
  return (
    <Card
      title={`Plan: ${usage.plan}`}
      actions={billing.data?.stripeConfigured && <Pay billing={billing.data} usage={usage} />}
    >
      <div className="row">
        <Badge tone={features?.tools ? 'good' : 'warn'}>{features?.tools ? 'Tools' : 'No tools'}</Badge>
        <Badge tone={features?.mcp ? 'good' : 'warn'}>{features?.mcp ? 'MCP servers' : 'No MCP servers'}</Badge>
        <Badge>{features?.models.length ? `Models: ${features.models.join(', ')}` : 'All models'}</Badge>
      </div>
      {billing.data?.paymentFailedAt && (
        <p className="note bad">
          Payments fail since <Time at={billing.data.paymentFailedAt} exact />. The plan is kept until{' '}
          <Time at={billing.data.graceUntil} exact />.
        </p>
      )}
      {billing.data?.usageProblem && <p className="note warn">{billing.data.usageProblem}</p>}
      <Facts
        facts={[
          ['Cost this month', usage.cost && `${Number(usage.cost).toFixed(2)} ${usage.currency}`],
          ['Transcripts are kept', features?.transcriptDays ? `at most ${features.transcriptDays} days` : ''],
          ['Recordings are kept', features?.audioDays ? `at most ${features.audioDays} days` : ''],
          [
            'Subscription',
            billing.data?.subscription &&
              `${billing.data.subscription.status}${billing.data.subscription.cancelAtPeriodEnd ? ', ends then' : ''}`,
          ],
          [
            'Paid until',
            billing.data?.subscription?.currentPeriodEnd && (
              <Time at={billing.data.subscription.currentPeriodEnd} exact />
            ),
          ],
          ['Months begin in', usage.timezone],
        ]}
      />
    </Card>
  );
}

function Pay({ billing, usage }: { billing: Billing; usage: Usage }) {
  const { caller } = useHere();
  const isAdmin = useMay('admin') || caller.role === 'billing';
  const back = location.href;
  const portal = useMutation({
    mutationFn: () => api.billing.createPortal({ returnUrl: back }),
    onSuccess: ({ url }) => location.assign(url),
    onError: tellFailure,
  });
  const checkout = useMutation({
    mutationFn: (plan: string) => api.billing.createCheckout({ plan, successUrl: back, cancelUrl: back }),
    onSuccess: ({ url }) => location.assign(url),
    onError: tellFailure,
  });
  if (!isAdmin) return null;
  if (billing.subscription)
    return (
      <Button onPress={() => portal.mutate()} isDisabled={portal.isPending}>
        Invoices and payment
      </Button>
    );
  const plans = [
    ...new Set([...usage.meters, ...usage.limits].map(({ planWithMore }) => planWithMore).filter(Boolean)),
  ];
  return plans.map((plan) => (
    <Button key={plan} kind="primary" isDisabled={checkout.isPending} onPress={() => checkout.mutate(plan)}>
      Subscribe to {plan}
    </Button>
  ));
}
