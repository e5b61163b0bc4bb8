import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { Link } from 'wouter';

import type { CallTransfer, PhoneCall } from '#gen/telephony_pb';

import * as api from '../../api/clients';
import { failureOf } from '../../api/failure';
import { useMutation } from '../../api/useMutation';
import { useHere, useMay } from '../../app/caller';
import { AgentName } from '../../ui/AgentName';
import { Button, ButtonLink } from '../../ui/Button';
import { Dialog, useConfirm } from '../../ui/Dialog';
import { TextArea, TextField } from '../../ui/Field';
import { Badge, Card, Facts, Page } from '../../ui/Page';
import { Query } from '../../ui/Query';
import { Select } from '../../ui/Select';
import { Time } from '../../ui/Time';
import { duration } from '../../ui/format';
import { FormFoot } from '../../ui/FormFoot';
import { tell, tellFailure } from '../../ui/toast';
import { UserLink } from '../users/UserLink';
import { CallFailure } from './CallFailure';
import { endText, StateBadge } from './words';

/** One call over the carrier. */
export function CallView({ callId }: { callId: string }) {
  const { workspaceId } = useHere();
  const query = useQuery({
    queryKey: ['calls', workspaceId, 'one', callId],
    refetchInterval: 2000,
    queryFn: ({ signal }) => api.telephony.getCall({ workspaceId, callId }, { signal }),
  });
  if (!query.data)
    return (
      <Page title="Call">
        <Query query={query}>{() => null}</Query>
      </Page>
    );
  return <Shown call={query.data} />;
}

function Shown({ call }: { call: PhoneCall }) {
  const { userId, sessionId, callbackId } = call;
  return (
    <Page
      title={call.direction === 'inbound' ? `Call from ${call.from}` : `Call to ${call.to}`}
      actions={<Actions call={call} />}
    >
      <div className="grid-2">
        <Card title="The call" actions={<StateBadge status={call.status} />}>
          <Facts
            facts={[
              ['From', call.from],
              ['To', call.to],
              ['User', userId && <UserLink userId={userId} />],
              [
                'Agent',
                <Link href={`/agents/${call.agentId}`}>
                  <AgentName id={call.agentId} />
                </Link>,
              ],
              ['Conversation', sessionId && <Link href={`/sessions/${sessionId}`}>{sessionId}</Link>],
              ['Callback', callbackId && <Link href={`/callbacks/list/${callbackId}`}>{callbackId}</Link>],
              ['Answered by', { human: 'a person', machine: 'a machine', '': '' }[call.answeredBy] ?? call.answeredBy],
              ['Began', <Time at={call.createdAt} exact />],
              ['Talked', call.answeredAt && duration(call.durationSeconds * 1000)],
              ['Minutes counted', call.pstnMinutes > 0 && call.pstnMinutes],
              ['Outcome', call.endReason && endText(call.endReason)],
              ['Carrier', [call.carrier, call.carrierCallId].filter(Boolean).join(', ')],
              ['Id', <code>{call.id}</code>],
            ]}
          />
        </Card>
        {call.transfer && <Transfer transfer={call.transfer} />}
      </div>
    </Page>
  );
}

const transferStates: Record<string, string> = {
  requested: 'asked for',
  ringing: 'ringing',
  connected: 'connected',
  failed: 'failed',
};

function Transfer({ transfer }: { transfer: CallTransfer }) {
  return (
    <Card
      title="Put through to a person"
      actions={
        <Badge tone={transfer.status === 'failed' ? 'bad' : transfer.status === 'connected' ? 'good' : 'accent'}>
          {transferStates[transfer.status] ?? transfer.status}
        </Badge>
      }
    >
      <Facts
        facts={[
          ['To', transfer.to],
          ['How', transfer.mode === 'warm' ? 'the person hears a summary first' : 'at once'],
          ['Summary', transfer.summary],
          ['Outcome', transfer.endReason && endText(transfer.endReason)],
          ['Asked', <Time at={transfer.requestedAt} />],
          ['Connected', transfer.connectedAt && <Time at={transfer.connectedAt} />],
        ]}
      />
    </Card>
  );
}

function Actions({ call }: { call: PhoneCall }) {
  const { workspaceId } = useHere();
  const mayHangUp = useMay('runtime');
  const mayTransfer = useMay('operator');
  const confirm = useConfirm();
  const client = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const hangUp = useMutation({
    mutationFn: () => api.telephony.hangUpCall({ workspaceId, callId: call.id }),
    onError: tellFailure,
    onSuccess: () => tell('The call was hung up.'),
    onSettled: () => client.invalidateQueries({ queryKey: ['calls'] }),
  });
  const askHangUp = async () => {
    if (
      await confirm({
        title: 'Hang up?',
        text: 'The call ends at once, in the middle of a sentence if need be.',
        action: 'Hang up',
      })
    )
      hangUp.mutate();
  };
  return (
    <>
      <ButtonLink href="#/callbacks/calls" kind="quiet">
        All calls
      </ButtonLink>
      {mayTransfer && call.status === 'in_progress' && <Button onPress={() => setOpen(true)}>Put through</Button>}
      {mayHangUp && !call.endedAt && (
        <Button kind="danger" isDisabled={hangUp.isPending} onPress={() => void askHangUp()}>
          Hang up
        </Button>
      )}
      {isOpen && <TransferDialog call={call} onClose={() => setOpen(false)} />}
    </>
  );
}

const modes = [
  { id: 'cold', text: 'At once' },
  { id: 'warm', text: 'With a summary', note: 'The person hears it before they are connected.' },
];

function TransferDialog({ call, onClose }: { call: PhoneCall; onClose(): void }) {
  const { workspaceId } = useHere();
  const client = useQueryClient();
  const [to, setTo] = useState('');
  const [mode, setMode] = useState('cold');
  const [summary, setSummary] = useState('');
  const transfer = useMutation({
    mutationFn: () =>
      api.telephony.transferCall({ workspaceId, callId: call.id, to, mode, summary: mode === 'warm' ? summary : '' }),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: ['calls'] });
      onClose();
    },
  });
  const wrong = transfer.error ? failureOf(transfer.error).fields : {};
  return (
    <Dialog title="Put through to a person" onClose={onClose}>
      <Form
        className="stack"
        validationBehavior="aria"
        onSubmit={(event) => {
          event.preventDefault();
          transfer.mutate();
        }}
      >
        <p>The agent leaves the call. When nobody answers, the caller comes back to the agent.</p>
        <TextField
          label="Number of the person"
          type="tel"
          value={to}
          onChange={setTo}
          isRequired
          autoFocus
          placeholder="+49 30 123456"
          wrong={wrong['to']}
        />
        <Select label="How" choices={modes} value={mode} onChange={setMode} />
        {mode === 'warm' && (
          <TextArea label="Summary" value={summary} onChange={setSummary} rows={3} wrong={wrong['summary']} />
        )}
        <FormFoot
          of={transfer}
          onClose={onClose}
          failure={<CallFailure error={transfer.error} />}
          isDisabled={!to.trim()}
        >
          Put through
        </FormFoot>
      </Form>
    </Dialog>
  );
}
