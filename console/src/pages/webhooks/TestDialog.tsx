import { useState } from 'react';

import type { WebhookEndpoint } from '#gen/webhooks_pb';

import * as api from '../../api/clients';
import { useMutation } from '../../api/useMutation';
import { useHere } from '../../app/caller';
import { Dialog } from '../../ui/Dialog';
import { FormFoot } from '../../ui/FormFoot';
import { Select } from '../../ui/Select';
import { events } from './events';

/** Sends an example of an event, and goes to what came back. */
export function TestDialog({
  endpoint,
  onClose,
  onSent,
}: {
  endpoint: WebhookEndpoint;
  onClose(): void;
  onSent(deliveryId: string): void;
}) {
  const { workspaceId } = useHere();
  const [event, setEvent] = useState(endpoint.events[0] ?? 'post_call_transcription');
  const send = useMutation({
    mutationFn: () => api.webhooks.testWebhookEndpoint({ workspaceId, endpointId: endpoint.id, event }),
    onSuccess: ({ id }) => onSent(id),
  });
  return (
    <Dialog title="Send a test" onClose={onClose}>
      <p>
        An example is signed and sent as a real event is, once. Its body has <code>"test": true</code>. It does not
        count for the endpoint's health.
      </p>
      <Select
        label="Example of"
        choices={events.map(({ id, when }) => ({ id, text: id, note: when }))}
        value={event}
        onChange={setEvent}
      />
      <FormFoot of={send} onClose={onClose} onPress={() => send.mutate()}>
        {send.isPending ? 'Waiting for its answer…' : 'Send it'}
      </FormFoot>
    </Dialog>
  );
}
