import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { useLocation } from 'wouter';

import type { Session } from '#gen/sessions_pb';

import * as api from '../../../api/clients';
import { failureOf } from '../../../api/failure';
import { forget } from '../../../api/forget';
import { useMutation } from '../../../api/useMutation';
import { useHere, useMay } from '../../../app/caller';
import { Button } from '../../../ui/Button';
import { Dialog, useConfirm } from '../../../ui/Dialog';
import { TextField } from '../../../ui/Field';
import { FormFoot } from '../../../ui/FormFoot';
import { Menu, type Action } from '../../../ui/Menu';
import { tell, tellFailure } from '../../../ui/toast';
import { isOpen } from './useAgentName';

/** What can be done with a session as a whole. */
export function Actions({ session }: { session: Session }) {
  const [isTaking, setTaking] = useState(false);
  const [mayRun, mayOperate] = [useMay('runtime'), useMay('operator')];
  const more = useMore(session);
  const canTake = mayOperate && isOpen(session) && session.handover?.status !== 'operator';
  const shown = more.filter(({ id }) =>
    id === 'end' ? mayRun && isOpen(session) : id === 'delete' ? mayOperate : true,
  );
  return (
    <>
      {canTake && (
        <Button kind={session.handover ? 'primary' : 'secondary'} onPress={() => setTaking(true)}>
          Take over
        </Button>
      )}
      <Menu label="More for this session" actions={shown} />
      {isTaking && <TakeOver sessionId={session.id} onClose={() => setTaking(false)} />}
    </>
  );
}

function useMore({ id: sessionId }: Session): Action[] {
  const confirm = useConfirm();
  const client = useQueryClient();
  const [, go] = useLocation();
  const changed = () => client.invalidateQueries({ queryKey: ['session', sessionId] });
  const end = async () => {
    const isSure = await confirm({
      title: 'End this session?',
      text: 'The conversation stops for the user, too. What was said stays.',
      action: 'End it',
    });
    if (isSure)
      await api.sessions
        .endSession({ sessionId, status: 'completed', reason: 'ended in the console' })
        .then(changed, tellFailure);
  };
  const remove = async () => {
    const isSure = await confirm({
      title: 'Delete this session?',
      action: 'Delete it',
      text:
        'Its turns, receipts, traces of calls, recording and webhook events will be gone. What the ' +
        'agent remembers of the user stays. This cannot be undone.',
    });
    if (!isSure) return;
    try {
      await api.sessions.deleteSession({ sessionId });
      tell('The session was deleted.');
      go('/sessions');
      forget(client, ['session', sessionId]);
      await client.invalidateQueries({ queryKey: ['sessions'] });
    } catch (error) {
      tellFailure(error);
    }
  };
  return [
    {
      id: 'copy',
      text: 'Copy its id',
      run: () => void navigator.clipboard.writeText(sessionId).then(() => tell('The id was copied.'), tellFailure),
    },
    { id: 'end', text: 'End', run: () => void end() },
    { id: 'delete', text: 'Delete', danger: true, run: () => void remove() },
  ];
}

function TakeOver({ sessionId, onClose }: { sessionId: string; onClose(): void }) {
  const { caller } = useHere();
  const client = useQueryClient();
  const [operator, setOperator] = useState(caller.name);
  const take = useMutation({
    mutationFn: () => api.sessions.takeOverSession({ sessionId, operator: operator.trim() }),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: ['session', sessionId] });
      onClose();
    },
  });
  return (
    <Dialog title="Take over" onClose={onClose}>
      <Form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          take.mutate();
        }}
      >
        <p>
          You write to the user, and the agent is silent until you give the conversation back. An answer in progress
          stops.
        </p>
        <TextField
          label="Your name"
          hint="As the user sees it."
          value={operator}
          onChange={setOperator}
          maxLength={200}
          isRequired
          autoFocus
          wrong={take.error ? failureOf(take.error).fields['operator'] : undefined}
        />
        <FormFoot of={take} onClose={onClose} isDisabled={operator.trim() === ''}>
          Take over
        </FormFoot>
      </Form>
    </Dialog>
  );
}
