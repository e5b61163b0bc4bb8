import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { FileTrigger } from 'react-aria-components/FileTrigger';
import { Form } from 'react-aria-components/Form';

import type { CallbackBatch } from '#gen/callbacks_pb';

import * as api from '../../api/clients';
import { failureOf } from '../../api/failure';
import { useMutation } from '../../api/useMutation';
import { useAgentChoices } from '../../api/useAgentNames';
import { useHere } from '../../app/caller';
import { AgentSelect } from '../../ui/AgentSelect';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { NumberField, TextArea, TextField } from '../../ui/Field';
import { Select } from '../../ui/Select';
import { count } from '../../ui/format';
import { FormFoot } from '../../ui/FormFoot';
import { tellFailure } from '../../ui/toast';
import { CallFailure } from './CallFailure';
import { recipientsOf, type Recipient } from './recipients';
import { momentOf, ownZone, zoneChoices } from './zones';

const most = 10_000;
const empty = {
  agentId: '',
  name: '',
  text: '',
  reason: '',
  startsAt: '',
  windowFrom: '09:00',
  windowUntil: '18:00',
  timezone: ownZone,
  concurrency: 5,
};

/** Makes a batch of numbers that are pasted, or of a CSV file. */
export function BatchForm({ onClose, onMade }: { onClose(): void; onMade(batch: CallbackBatch): void }) {
  const { workspaceId } = useHere();
  const client = useQueryClient();
  const { choices } = useAgentChoices();
  const [values, setValues] = useState(empty);
  const set = (change: Partial<typeof empty>) => setValues((before) => ({ ...before, ...change }));
  const { recipients, variables, wrong: unreadable } = useMemo(() => recipientsOf(values.text), [values.text]);
  const agentId = values.agentId || choices[0]?.id || '';
  const make = useMutation({
    mutationFn: (_, once) => {
      const { name, reason, startsAt, windowFrom, windowUntil, timezone, concurrency } = values;
      return api.callbacks.createCallbackBatch(
        {
          workspaceId,
          agentId,
          name: name.trim(),
          recipients,
          reason,
          windowFrom,
          windowUntil,
          timezone,
          concurrency: concurrency || 0,
          startsAt: startsAt ? timestampFromDate(momentOf(timezone || 'UTC', startsAt)) : undefined,
        },
        once,
      );
    },
    onSuccess: (batch) => {
      void client.invalidateQueries({ queryKey: ['batches'] });
      onMade(batch);
    },
  });
  const wrong = make.error ? failureOf(make.error).fields : {};
  const read = async (files: FileList | null) => {
    const file = files?.[0];
    if (!file) return;
    try {
      const text = await file.text();
      setValues((before) => ({ ...before, text, name: before.name || file.name.replace(/\.\w+$/, '') }));
    } catch (error) {
      tellFailure(error);
    }
  };
  const isTooMany = recipients.length > most;
  return (
    <Dialog title="New batch" shape="wide" onClose={onClose}>
      <Form
        className="stack"
        validationBehavior="aria"
        onSubmit={(event) => {
          event.preventDefault();
          make.mutate();
        }}
      >
        <div className="grid-2">
          <TextField
            label="Name"
            value={values.name}
            onChange={(name) => set({ name })}
            isRequired
            autoFocus
            placeholder="Appointments of this week"
            wrong={wrong['name']}
          />
          <AgentSelect label="Agent that calls" value={agentId} onChange={(id) => set({ agentId: id })} />
        </div>
        <TextArea
          label="Numbers"
          code
          rows={6}
          value={values.text}
          onChange={(text) => set({ text })}
          placeholder={'phone_number,user_id,timezone,name\n+49 30 123456,ada@example.org,Europe/Berlin,Ada'}
          wrong={unreadable}
          hint={
            'A number in each line, or CSV whose first line names the columns: phone_number, user_id, ' +
            'timezone; others are variables of the conversations.'
          }
        />
        <div className="row">
          <FileTrigger acceptedFileTypes={['.csv', 'text/csv', 'text/plain']} onSelect={(files) => void read(files)}>
            <Button>Take a CSV file</Button>
          </FileTrigger>
          <span role="status">{countText(recipients.length, variables)}</span>
        </div>
        <WrongRecipients fields={wrong} recipients={recipients} />
        <TextField
          label="Reason"
          value={values.reason}
          onChange={(reason) => set({ reason })}
          placeholder="The appointment of tomorrow"
          hint="What the calls are about. The agent knows it."
          wrong={wrong['reason']}
        />
        <WhenFields values={values} set={set} wrong={wrong} />
        <FormFoot
          of={make}
          onClose={onClose}
          failure={<CallFailure error={make.error} />}
          isDisabled={!values.name.trim() || recipients.length === 0 || isTooMany || !agentId}
        >
          {make.isPending
            ? 'Checking the numbers…'
            : `Call ${count(recipients.length)} ${recipients.length === 1 ? 'number' : 'numbers'}`}
        </FormFoot>
      </Form>
    </Dialog>
  );
}

function countText(numbers: number, variables: string[]): string {
  if (numbers > most) return `${count(numbers)} numbers: a batch has at most ${count(most)}.`;
  return `${count(numbers)} ${numbers === 1 ? 'number' : 'numbers'}${variables.length > 0 ? `, with ${variables.join(', ')}` : ''}`;
}

interface WhenProps {
  values: typeof empty;
  set(change: Partial<typeof empty>): void;
  wrong: Record<string, string>;
}

function WhenFields({ values, set, wrong }: WhenProps) {
  return (
    <div className="grid-3">
      <TextField
        label="Calls from"
        type="time"
        value={values.windowFrom}
        onChange={(windowFrom) => set({ windowFrom })}
        wrong={wrong['window_from']}
      />
      <TextField
        label="Calls until"
        type="time"
        value={values.windowUntil}
        onChange={(windowUntil) => set({ windowUntil })}
        wrong={wrong['window_until']}
      />
      <Select
        label="Time zone"
        choices={[{ id: '', text: "Each number's own" }, ...zoneChoices]}
        value={values.timezone}
        onChange={(timezone) => set({ timezone })}
      />
      <TextField
        label="Begins"
        type="datetime-local"
        value={values.startsAt}
        onChange={(startsAt) => set({ startsAt })}
        hint="Empty: now."
        wrong={wrong['starts_at']}
      />
      <NumberField
        label="Calls at once"
        value={values.concurrency}
        minValue={1}
        maxValue={100}
        onChange={(concurrency) => set({ concurrency })}
        wrong={wrong['concurrency']}
      />
    </div>
  );
}

/** The recipients that were refused, with what is wrong. */
function WrongRecipients({ fields, recipients }: { fields: Record<string, string>; recipients: Recipient[] }) {
  const wrong = Object.entries(fields).flatMap(([field, text]) => {
    const at = /^recipients\[(\d+)\]/.exec(field)?.[1];
    return at === undefined ? [] : [{ field, text, at: Number(at) }];
  });
  if (wrong.length === 0) return null;
  return (
    <ul className="wrong-list" aria-label="Numbers that were refused">
      {wrong.map(({ field, text, at }) => (
        <li key={field}>
          {at + 1}: {recipients[at]?.phoneNumber || 'no number'}. {text}
        </li>
      ))}
    </ul>
  );
}
