import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Form } from 'react-aria-components/Form';

import type { Session } from '#gen/sessions_pb';

import * as api from '../../../api/clients';
import { useMutation } from '../../../api/useMutation';
import { forget, kept } from '../../../api/kept';
import { useMay } from '../../../app/caller';
import { Composer } from '../../../conversation/Composer';
import { Button } from '../../../ui/Button';
import { CodeBlock } from '../../../ui/Code';
import { Dialog } from '../../../ui/Dialog';
import { TextArea } from '../../../ui/Field';
import { FormFoot } from '../../../ui/FormFoot';
import { FailureNote } from '../../../ui/Page';

const keptName = (sessionId: string) => `operator.${sessionId}`;

/** Where the person who has the conversation writes to the user, and gives it back. */
export function Operator({ session: { id: sessionId, handover } }: { session: Session }) {
  const may = useMay('operator');
  const client = useQueryClient();
  const [isReleasing, setReleasing] = useState(false);
  const changed = () => client.invalidateQueries({ queryKey: ['session', sessionId] });
  const send = useMutation({
    mutationFn: (text: string) => api.sessions.sendOperatorMessage({ sessionId, text }),
    onSuccess: changed,
  });
  if (!may) return null;
  if (handover?.status !== 'operator') return <Unsent sessionId={sessionId} />;
  return (
    <section className="card operator-box" aria-label="Write to the user">
      <h2 className="small">You write as {handover.operator}</h2>
      {send.error && <FailureNote error={send.error} />}
      <Composer
        label="Message to the user"
        placeholder="Enter sends it."
        autoFocus
        keptAs={keptName(sessionId)}
        onSend={(text) =>
          send.mutateAsync(text).then(
            () => true,
            () => false,
          )
        }
      >
        <Button onPress={() => setReleasing(true)}>Give back to the agent</Button>
      </Composer>
      {isReleasing && <Release sessionId={sessionId} onClose={() => setReleasing(false)} onDone={changed} />}
    </section>
  );
}

/** A message that was not sent before the session ended, or before somebody gave it back. */
export function Unsent({ sessionId }: { sessionId: string }) {
  const [text, setText] = useState(() => kept<string>(keptName(sessionId)));
  if (!text) return null;
  const discard = () => {
    forget(keptName(sessionId));
    setText(undefined);
  };
  return (
    <section className="card" aria-label="Not sent">
      <h2 className="small">You wrote this, and it was not sent</h2>
      <CodeBlock code={text} label="What was not sent" />
      <div>
        <Button onPress={discard}>Discard</Button>
      </div>
    </section>
  );
}

function Release({ sessionId, onClose, onDone }: { sessionId: string; onClose(): void; onDone(): unknown }) {
  const [note, setNote] = useState('');
  const release = useMutation({
    mutationFn: () => api.sessions.releaseSession({ sessionId, note }),
    onSuccess: () => {
      onDone();
      onClose();
    },
  });
  return (
    <Dialog title="Give the conversation back" onClose={onClose}>
      <Form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          release.mutate();
        }}
      >
        <p>The agent answers the next message of the user. It knows what you wrote.</p>
        <TextArea
          label="What else the agent should know"
          hint="The user does not see it."
          value={note}
          onChange={setNote}
          rows={3}
          maxLength={4000}
        />
        <FormFoot of={release} onClose={onClose}>
          Give back
        </FormFoot>
      </Form>
    </Dialog>
  );
}
