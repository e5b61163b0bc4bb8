import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import type { WebhookEndpoint } from '#gen/webhooks_pb';

import * as api from '../../api/clients';
import { useMutation } from '../../api/useMutation';
import { useHere } from '../../app/caller';
import { Dialog } from '../../ui/Dialog';
import { FailureNote } from '../../ui/Page';
import { Select } from '../../ui/Select';
import { count } from '../../ui/format';
import { FormFoot } from '../../ui/FormFoot';
import { tell } from '../../ui/toast';
import { attemptsSince, countFailed } from './attempts';

const spans = [
  { id: '1', text: 'The last hour' },
  { id: '24', text: 'The last 24 hours' },
  { id: '72', text: 'The last 3 days' },
  { id: '168', text: 'The last 7 days' },
  { id: '720', text: 'The last 30 days' },
];
const failed = { id: 'failed', text: 'What failed', note: 'Events that were tried until they were given up.' };
const missed = {
  id: 'missed',
  text: 'Everything that it missed',
  note: 'Also what happened while it was disabled, or had not chosen the event. It is enabled by this.',
};

/** Sends events of the past again, after showing how many they are. */
export function RecoverDialog({ endpoint, onClose }: { endpoint: WebhookEndpoint; onClose(): void }) {
  const { workspaceId } = useHere();
  const client = useQueryClient();
  const isOn = endpoint.status === 'enabled';
  const [hours, setHours] = useState('24');
  const [what, setWhat] = useState(isOn ? 'failed' : 'missed');
  const of = { workspaceId, endpointId: endpoint.id };
  const since = () => timestampFromDate(new Date(Date.now() - Number(hours) * 3_600_000));
  const preview = useQuery({
    queryKey: ['deliveries', endpoint.id, 'failed', hours],
    queryFn: async ({ signal }) => {
      const { attempts, isAll } = await attemptsSince({ ...of, startedAfter: since() }, signal);
      return { failed: countFailed(attempts), isAll };
    },
  });
  const send = useMutation({
    mutationFn: async () => {
      if (what === 'missed') return (await api.webhooks.enableWebhookEndpoint({ ...of, since: since() })).requeued ?? 0;
      let sum = 0;
      for (;;) {
        const { recovered, more } = await api.webhooks.recoverWebhookDeliveries({ ...of, since: since() });
        sum += recovered;
        if (!more) return sum;
      }
    },
    onSuccess: (sum) => {
      tell(sum === 1 ? '1 event is sent again.' : `${count(sum)} events are sent again.`);
      void client.invalidateQueries({ queryKey: ['webhooks'] });
      void client.invalidateQueries({ queryKey: ['webhook-health', endpoint.id] });
      void client.invalidateQueries({ queryKey: ['deliveries', endpoint.id] });
      onClose();
    },
  });
  const found = preview.data;
  return (
    <Dialog title="Send missed events again" onClose={onClose}>
      <Select label="Since" choices={spans} value={hours} onChange={setHours} />
      <Select label="What" choices={isOn ? [failed, missed] : [missed]} value={what} onChange={setWhat} />
      <p role="status">
        {!found
          ? 'Counting…'
          : `${found.isAll ? '' : 'At least '}${count(found.failed)} ` +
            `${found.failed === 1 ? 'event' : 'events'} failed for good in that time.`}
        {what === 'missed' && ' What it never got is found when you send it.'} Events that it has received are not sent
        again.
      </p>
      {preview.error !== null && <FailureNote error={preview.error} />}
      <FormFoot
        of={send}
        onClose={onClose}
        isDisabled={what === 'failed' && found?.isAll && found.failed === 0}
        onPress={() => send.mutate()}
      >
        {send.isPending ? 'Sending…' : 'Send again'}
      </FormFoot>
    </Dialog>
  );
}
