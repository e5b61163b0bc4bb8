import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import * as api from '../../api/clients';
import { useMutation } from '../../api/useMutation';
import { useHere, useMay } from '../../app/caller';
import { Button } from '../../ui/Button';
import { useConfirm } from '../../ui/Dialog';
import { TextField } from '../../ui/Field';
import { Badge, Card, Facts, FailureNote } from '../../ui/Page';
import { Query } from '../../ui/Query';
import { Time } from '../../ui/Time';
import { tell, tellFailure } from '../../ui/toast';
import { countsText, Requests } from './Requests';

/** Whether a user may be called, a copy of all data, and its erasure. */
export function PrivacyOfUser({ userId }: { userId: string }) {
  return (
    <div className="stack loose">
      <Consent userId={userId} />
      <Ask userId={userId} />
      <Requests userId={userId} />
    </div>
  );
}

function Consent({ userId }: { userId: string }) {
  const { workspaceId } = useHere();
  const mayEdit = useMay('operator');
  const client = useQueryClient();
  const [note, setNote] = useState('');
  const key = ['call-consent', workspaceId, userId];
  const query = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => api.callbacks.getCallConsent({ workspaceId, userId }, { signal }),
  });
  const set = useMutation({
    mutationFn: (granted: boolean) => api.callbacks.setCallConsent({ workspaceId, userId, granted, note }),
    onSuccess: (consent) => {
      client.setQueryData(key, consent);
      setNote('');
      tell(consent.granted ? 'The user may be called.' : 'The user is not called any more.');
    },
  });
  return (
    <Card title="Calls">
      <Query query={query}>
        {(consent) => (
          <Facts
            facts={[
              [
                'The user',
                consent.recordedAt ? (
                  consent.granted ? (
                    <Badge tone="good">agrees to be called</Badge>
                  ) : (
                    <Badge tone="bad">does not want to be called</Badge>
                  )
                ) : (
                  'has not said whether they want to be called'
                ),
              ],
              ['How', consent.note],
              ['Recorded', consent.recordedAt && <Time at={consent.recordedAt} />],
            ]}
          />
        )}
      </Query>
      {mayEdit && (
        <>
          <TextField
            label="How you know"
            value={note}
            onChange={setNote}
            maxLength={500}
            placeholder="Said so on the telephone"
          />
          {set.error && <FailureNote error={set.error} />}
          <div className="row">
            <Button onPress={() => set.mutate(true)} isDisabled={set.isPending}>
              Agrees to calls
            </Button>
            <Button onPress={() => set.mutate(false)} isDisabled={set.isPending}>
              Refuses calls
            </Button>
          </div>
        </>
      )}
    </Card>
  );
}

function Ask({ userId }: { userId: string }) {
  const { workspaceId } = useHere();
  const mayEdit = useMay('operator');
  const confirm = useConfirm();
  const client = useQueryClient();
  const request = useMutation({
    mutationFn: (kind: 'export' | 'erasure') => api.privacy.createPrivacyRequest({ workspaceId, userId, kind }),
    onError: tellFailure,
    onSuccess: () => client.invalidateQueries({ queryKey: ['privacy-requests'] }),
  });
  const look = useMutation({
    mutationFn: () => api.privacy.createPrivacyRequest({ workspaceId, userId, kind: 'erasure', dryRun: true }),
    onError: tellFailure,
  });
  const erase = async () => {
    const { counts } = await look.mutateAsync();
    const isSure = await confirm({
      title: `Erase everything about ${userId}?`,
      action: 'Erase everything',
      text: (
        <>
          This will be gone for good: {countsText(counts) || 'nothing is stored now'}. Open conversations are ended. It
          cannot be undone.
        </>
      ),
    });
    if (isSure) request.mutate('erasure');
  };
  if (!mayEdit) return null;
  return (
    <Card title="The user's data">
      <p className="dim small">
        A copy is a ZIP file of all conversations, recordings and memories. It can be read for seven days by whoever has
        its link.
      </p>
      <div className="row">
        <Button onPress={() => request.mutate('export')} isDisabled={request.isPending}>
          Make a copy
        </Button>
        <Button
          kind="danger"
          onPress={() => void erase().catch(() => undefined)}
          isDisabled={request.isPending || look.isPending}
        >
          Erase everything
        </Button>
      </div>
    </Card>
  );
}
