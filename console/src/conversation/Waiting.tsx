import { useState } from 'react';
import { Form } from 'react-aria-components/Form';

import type { Approval, ClientToolCall, Session } from '#sdk/session/index';

import { Button } from '../ui/Button';
import { TextArea, TextField } from '../ui/Field';
import { Json } from './turn/Part';

const late = 'It is too late: the agent waits for this no longer.';

/** What the agent waits for: a word on a call of a tool, or the result of a tool of the client. */
export function Waiting({
  session,
  approvals,
  calls,
}: {
  session: Session;
  approvals: readonly Approval[];
  calls: readonly ClientToolCall[];
}) {
  return (
    <>
      {approvals.map(({ id, name, arguments: input }) => (
        <ApprovalForm
          key={id}
          name={name}
          input={input}
          onDecide={(isAllowed, reason) => session.approve(id, isAllowed, reason)}
        />
      ))}
      {calls.map((call) => (
        <ToolForm key={call.callId} call={call} onAnswer={(output) => session.answerTool(call.callId, output)} />
      ))}
    </>
  );
}

/** Asks whether a call may be made. onDecide says whether it was in time. */
export function ApprovalForm({
  name,
  input,
  onDecide,
}: {
  name: string;
  input: string;
  onDecide(isAllowed: boolean, reason: string): boolean | Promise<boolean>;
}) {
  const [reason, setReason] = useState('');
  const [isLate, setLate] = useState(false);
  const [isDeciding, setDeciding] = useState(false);
  const decide = async (isAllowed: boolean) => {
    setDeciding(true);
    setLate(!(await onDecide(isAllowed, reason.trim())));
    setDeciding(false);
  };
  return (
    <section className="card waiting" aria-label={`Approval of ${name}`}>
      <h3>
        May the agent call <code>{name}</code>?
      </h3>
      <Json text={input} label={`Input of ${name}`} />
      <TextField
        label="Reason"
        hint="Told to the model when you refuse."
        value={reason}
        onChange={setReason}
        maxLength={500}
      />
      {isLate && (
        <p className="note warn" role="alert">
          {late}
        </p>
      )}
      <div className="row">
        <Button kind="primary" isDisabled={isDeciding} onPress={() => void decide(true)}>
          Allow
        </Button>
        <Button isDisabled={isDeciding} onPress={() => void decide(false)}>
          Refuse
        </Button>
      </div>
    </section>
  );
}

function ToolForm({ call, onAnswer }: { call: ClientToolCall; onAnswer(output: string): boolean }) {
  const [output, setOutput] = useState('{"ok": true}');
  const [isLate, setLate] = useState(false);
  return (
    <section className="card waiting" aria-label={`Your tool ${call.name}`}>
      <h3>
        Your tool <code>{call.name}</code> is called
      </h3>
      <Json text={call.arguments} label={`Input of ${call.name}`} />
      <Form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          setLate(!onAnswer(output));
        }}
      >
        <TextArea
          label={`Result of ${call.name}`}
          hint="As your client would give it. The agent waits 20 seconds, unless it is set otherwise."
          code
          rows={3}
          value={output}
          onChange={setOutput}
        />
        {isLate && (
          <p className="note warn" role="alert">
            {late}
          </p>
        )}
        <div>
          <Button kind="primary" type="submit">
            Send the result
          </Button>
        </div>
      </Form>
    </section>
  );
}
