import { timestampDate } from '@bufbuild/protobuf/wkt';

import type { WebhookEndpoint, WebhookEndpointHealth } from '#gen/webhooks_pb';

import { count } from '../../ui/format';
import { ago } from '../../ui/Time';
import { useHealth } from './Health';

/** What is wrong with an endpoint, and what becomes of it. */
export function Trouble({ endpoint }: { endpoint: WebhookEndpoint }) {
  const { data: health } = useHealth(endpoint.id);
  if (endpoint.status === 'disabled')
    return (
      <p className="note bad" role="alert">
        {endpoint.disabledReason === 'gone'
          ? 'Disabled: it answered 410, that it is gone.'
          : `Disabled after ${count(endpoint.consecutiveFailures)} failures in a row.`}{' '}
        Nothing is sent. Mend it, then enable it: what happened meanwhile can be sent by “Send missed events again”.
      </p>
    );
  if (endpoint.status === 'paused')
    return <p className="note warn">Paused: what happens is kept, and is sent when you enable it.</p>;
  if (endpoint.health !== 'warning') return null;
  return (
    <p className="note bad" role="alert">
      {count(endpoint.consecutiveFailures)} failures in a row.{' '}
      {health && `It is disabled ${whenDisabled(health)}, unless it accepts something before.`}
    </p>
  );
}

/** When failures disable an endpoint, in words. */
function whenDisabled({ consecutiveFailures, disableFailures, disableNotBefore }: WebhookEndpointHealth): string {
  const at = disableNotBefore && timestampDate(disableNotBefore);
  const isLater = at !== undefined && at.getTime() > Date.now();
  if (consecutiveFailures >= disableFailures) return isLater ? ago(at) : 'with the next failure';
  return `at ${disableFailures} of them${isLater ? `, ${ago(at)} at the earliest` : ''}`;
}
