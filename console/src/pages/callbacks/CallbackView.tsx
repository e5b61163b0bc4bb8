import { timestampDate } from '@bufbuild/protobuf/wkt';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';

import type { Callback, CallbackAttempt } from '#gen/callbacks_pb';

import * as api from '../../api/clients';
import { useMutation } from '../../api/useMutation';
import { useHere, useMay } from '../../app/caller';
import { AgentName } from '../../ui/AgentName';
import { Button, ButtonLink } from '../../ui/Button';
import { DataTable, type Column } from '../../ui/DataTable';
import { useConfirm } from '../../ui/Dialog';
import { Card, Facts, Page } from '../../ui/Page';
import { Query } from '../../ui/Query';
import { Time } from '../../ui/Time';
import { duration } from '../../ui/format';
import { tell, tellFailure } from '../../ui/toast';
import { UserLink } from '../users/UserLink';
import { MoveDialog } from './MoveDialog';
import { creators, endText, StateBadge, waitText } from './words';
import { ownZone, wordsIn } from './zones';

/** One callback: its life, its attempts, and what can be done with it. */
export function CallbackView({ callbackId }: { callbackId: string }) {
  const { workspaceId } = useHere();
  const query = useQuery({
    queryKey: ['callbacks', workspaceId, 'one', callbackId],
    refetchInterval: 2000,
    queryFn: ({ signal }) => api.callbacks.getCallback({ workspaceId, callbackId }, { signal }),
  });
  if (!query.data)
    return (
      <Page title="Callback">
        <Query query={query}>{() => null}</Query>
      </Page>
    );
  return <Shown callback={query.data} />;
}

function Shown({ callback }: { callback: Callback }) {
  const {
    id,
    userId,
    phoneNumber,
    status,
    at,
    timezone,
    attempts,
    originSessionId,
    scheduleId,
    batchId,
    sessionId,
    waitsFor,
    endReason,
  } = callback;
  const zones =
    timezone && timezone !== ownZone
      ? ` (${wordsIn(timezone, at ? timestampDate(at) : new Date())} in ${timezone})`
      : '';
  return (
    <Page title={`Call of ${userId}`} lead={callback.reason} actions={<Actions callback={callback} />}>
      <Life callback={callback} />
      <div className="grid-2">
        <Card title="The call" actions={<StateBadge status={status} />}>
          <Facts
            facts={[
              ['Planned for', at && `${wordsIn(ownZone, timestampDate(at))}${zones}`],
              ['Next attempt', callback.nextAttemptAt && <Time at={callback.nextAttemptAt} />],
              ['Waits for', waitsFor && waitText(waitsFor)],
              ['Outcome', endReason && endText(endReason)],
              ['Conversation', sessionId && <Link href={`/sessions/${sessionId}`}>{sessionId}</Link>],
              ['User', <UserLink userId={userId} />],
              ['Number', phoneNumber],
              [
                'Agent',
                <Link href={`/agents/${callback.agentId}`}>
                  <AgentName id={callback.agentId} />
                </Link>,
              ],
            ]}
          />
        </Card>
        <Card title="Where it comes from">
          <Facts
            facts={[
              ['Planned by', creators[callback.createdBy] ?? callback.createdBy],
              [
                'In the conversation',
                originSessionId && <Link href={`/sessions/${originSessionId}`}>{originSessionId}</Link>,
              ],
              ['Schedule', scheduleId && <Link href={`/callbacks/schedules/${scheduleId}`}>{scheduleId}</Link>],
              ['Batch', batchId && <Link href={`/callbacks/batches/${batchId}`}>{batchId}</Link>],
              [
                'Variables',
                Object.entries(callback.dynamicVariables)
                  .map(([name, value]) => `${name}=${value}`)
                  .join(', '),
              ],
              ['Made', <Time at={callback.createdAt} />],
              ['Over', callback.endedAt && <Time at={callback.endedAt} />],
              ['Id', <code>{id}</code>],
            ]}
          />
        </Card>
      </div>
      <Card title={`Attempts: ${attempts.length} of ${callback.maxAttempts}`}>
        {attempts.length === 0 ? (
          <p className="dim">None yet. A call that is missed is tried again after 30 and after 60 minutes.</p>
        ) : (
          <DataTable
            label="Attempts"
            rows={attempts}
            rowKey={({ number }) => String(number)}
            columns={attemptColumns}
          />
        )}
      </Card>
    </Page>
  );
}

const attemptColumns: Column<CallbackAttempt>[] = [
  {
    id: 'number',
    title: 'Attempt',
    cell: ({ number, callId }) => <Link href={`/callbacks/calls/${callId}`}>{number}</Link>,
  },
  { id: 'status', title: 'State', cell: ({ status }) => <StateBadge status={status} /> },
  { id: 'end', title: 'Outcome', cell: ({ endReason }) => (endReason ? endText(endReason) : '–') },
  { id: 'at', title: 'Began', cell: ({ startedAt }) => <Time at={startedAt} /> },
  {
    id: 'talked',
    title: 'Talked',
    number: true,
    cell: ({ answeredAt, durationSeconds }) => (answeredAt ? duration(durationSeconds * 1000) : '–'),
  },
  {
    id: 'session',
    title: 'Conversation',
    cell: ({ sessionId }) => (sessionId ? <Link href={`/sessions/${sessionId}`}>{sessionId}</Link> : '–'),
  },
];

/** The states that a callback goes through, up to where it is. */
function Life({ callback: { status } }: { callback: Callback }) {
  const open = ['scheduled', 'dialing', 'in_progress', 'completed'];
  const states = open.includes(status) ? open : ['scheduled', 'dialing', status];
  return (
    <ol className="life" aria-label="Life of the callback">
      {states.map((state) => (
        <li key={state} aria-current={state === status ? 'step' : undefined}>
          {state === status ? (
            <StateBadge status={state} />
          ) : (
            <span className="dim small">{plain[state] ?? state}</span>
          )}
        </li>
      ))}
    </ol>
  );
}

const plain: Record<string, string> = {
  scheduled: 'planned',
  dialing: 'dialling',
  in_progress: 'talking',
  completed: 'completed',
};

function Actions({ callback }: { callback: Callback }) {
  const { workspaceId } = useHere();
  const may = useMay('operator');
  const confirm = useConfirm();
  const client = useQueryClient();
  const [isMoving, setMoving] = useState(false);
  const of = { workspaceId, callbackId: callback.id };
  const after = { onError: tellFailure, onSettled: () => client.invalidateQueries({ queryKey: ['callbacks'] }) };
  const cancel = useMutation({
    mutationFn: () => api.callbacks.cancelCallback(of),
    onSuccess: () => tell('The callback was cancelled.'),
    ...after,
  });
  const callNow = useMutation({
    mutationFn: () =>
      api.callbacks.updateCallback({
        ...of,
        at: 'now',
        ignoreLimits: true,
        updateMask: { paths: ['at', 'ignore_limits'] },
      }),
    onSuccess: () => tell('The agent calls now.'),
    ...after,
  });
  const isPlanned = callback.status === 'scheduled';
  const askCancel = async () => {
    const text = isPlanned
      ? 'The user is not called. This cannot be undone; plan another callback instead.'
      : 'The call is hung up.';
    if (await confirm({ title: 'Cancel the callback?', text, action: 'Cancel the callback' })) cancel.mutate();
  };
  const askNow = async () => {
    if (
      await confirm({
        title: 'Call now?',
        text: `The agent calls ${callback.phoneNumber} at once, also in its quiet hours.`,
        action: 'Call now',
      })
    )
      callNow.mutate();
  };
  return (
    <>
      <ButtonLink href="#/callbacks/list" kind="quiet">
        All callbacks
      </ButtonLink>
      {may && isPlanned && (
        <Button isDisabled={callNow.isPending} onPress={() => void askNow()}>
          Call now
        </Button>
      )}
      {may && isPlanned && <Button onPress={() => setMoving(true)}>Move</Button>}
      {may && !callback.endedAt && (
        <Button kind="danger" isDisabled={cancel.isPending} onPress={() => void askCancel()}>
          {isPlanned ? 'Cancel' : 'Hang up'}
        </Button>
      )}
      {isMoving && <MoveDialog callback={callback} onClose={() => setMoving(false)} />}
    </>
  );
}
