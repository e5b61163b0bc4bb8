import { useQueryClient } from '@tanstack/react-query';

import type { WebhookEndpoint } from '#gen/webhooks_pb';

import * as api from '../../api/clients';
import { useMutation } from '../../api/useMutation';
import { useHere } from '../../app/caller';
import { navigate } from '../../app/location';
import { useConfirm } from '../../ui/Dialog';
import { tell, tellFailure } from '../../ui/toast';

/** What can be done with an endpoint as a whole. */
export function useEndpointActions({ id: endpointId, url }: WebhookEndpoint, onSecret: (secret: string) => void) {
  const { workspaceId } = useHere();
  const confirm = useConfirm();
  const client = useQueryClient();
  const of = { workspaceId, endpointId };
  const after = {
    onError: tellFailure,
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: ['webhooks'] }),
        client.invalidateQueries({ queryKey: ['webhook-health', endpointId] }),
      ]),
  };
  const pausing = useMutation({
    mutationFn: () =>
      api.webhooks.updateWebhookEndpoint({ ...of, status: 'paused', updateMask: { paths: ['status'] } }),
    onSuccess: () => tell('Paused. What happens meanwhile is kept and sent when you enable it.'),
    ...after,
  });
  const enabling = useMutation({
    mutationFn: () => api.webhooks.enableWebhookEndpoint(of),
    onSuccess: () => tell('Enabled. What was held is sent now.'),
    ...after,
  });
  const rotating = useMutation({
    mutationFn: () => api.webhooks.rotateWebhookSecret(of),
    onSuccess: ({ secret }) => onSecret(secret ?? ''),
    ...after,
  });
  const removing = useMutation({
    mutationFn: () => api.webhooks.deleteWebhookEndpoint(of),
    onError: tellFailure,
    onSuccess: () => {
      tell('The endpoint was deleted.');
      client.removeQueries({ queryKey: ['webhooks', workspaceId] });
      navigate('/webhooks');
    },
  });
  return {
    isBusy: pausing.isPending || enabling.isPending,
    pause: () => pausing.mutate(),
    enable: () => enabling.mutate(),
    async askRotate() {
      const isSure = await confirm({
        title: 'Make a new secret?',
        text: 'The old one goes on signing beside it for 24 hours, so that you can change your program meanwhile.',
        action: 'Make it',
      });
      if (isSure) rotating.mutate();
    },
    async askDelete() {
      const isSure = await confirm({
        title: 'Delete the endpoint?',
        text: `${url} gets nothing any more. Its deliveries and what waits for it are gone; the events stay in the feed.`,
        action: 'Delete',
      });
      if (isSure) removing.mutate();
    },
  };
}
