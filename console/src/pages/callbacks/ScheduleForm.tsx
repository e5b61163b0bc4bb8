import { timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Form } from 'react-aria-components/Form';

import type { CallbackSchedule } from '#gen/callbacks_pb';

import * as api from '../../api/clients';
import { failureOf } from '../../api/failure';
import { useMutation } from '../../api/useMutation';
import { useAgentChoices } from '../../api/useAgentNames';
import { useHere } from '../../app/caller';
import { AgentSelect } from '../../ui/AgentSelect';
import { Dialog } from '../../ui/Dialog';
import { TextArea, TextField } from '../../ui/Field';
import { FormFoot } from '../../ui/FormFoot';
import { Select } from '../../ui/Select';
import { CallFailure } from './CallFailure';
import { cronWords } from './cronWords';
import { linesOf, variablesOf, wrongVariables } from './variables';
import { addDays, dayIn, momentOf, ownZone, zoneChoices } from './zones';

const presets = [
  { id: '', text: 'As written below' },
  { id: '0 9 * * *', text: 'Every day at 09:00' },
  { id: '0 9 * * MON-FRI', text: 'Monday to Friday at 09:00' },
  { id: '0 9 * * MON', text: 'Every Monday at 09:00' },
  { id: '0 9 1 * *', text: 'On the first of the month at 09:00' },
];
const updatePaths = [
  'agent_id',
  'phone_number',
  'cron',
  'timezone',
  'reason',
  'starts_at',
  'ends_at',
  'exceptions',
  'dynamic_variables',
];

function valuesOf(schedule?: CallbackSchedule) {
  const zone = schedule?.timezone || ownZone;
  return {
    agentId: schedule?.agentId ?? '',
    userId: schedule?.userId ?? '',
    phoneNumber: schedule?.phoneNumber ?? '',
    cron: schedule?.cron ?? '0 9 * * MON-FRI',
    timezone: zone,
    reason: schedule?.reason ?? '',
    exceptions: schedule?.exceptions.join('\n') ?? '',
    variables: linesOf(schedule?.dynamicVariables ?? {}),
    startsOn: schedule?.startsAt ? dayIn(zone, timestampDate(schedule.startsAt)) : '',
    endsOn: schedule?.endsAt ? dayIn(zone, new Date(timestampDate(schedule.endsAt).getTime() - 1)) : '',
  };
}

/** Makes a schedule, or changes the one that is given. */
export function ScheduleForm({
  schedule,
  onClose,
  onSaved,
}: {
  schedule?: CallbackSchedule;
  onClose(): void;
  onSaved(schedule: CallbackSchedule): void;
}) {
  const { workspaceId } = useHere();
  const client = useQueryClient();
  const { choices } = useAgentChoices();
  const [values, setValues] = useState(() => valuesOf(schedule));
  const set = (change: Partial<typeof values>) => setValues((before) => ({ ...before, ...change }));
  const agentId = values.agentId || choices[0]?.id || '';
  const save = useMutation({
    mutationFn: (_, once) => {
      const { userId, phoneNumber, cron, timezone, reason, exceptions, variables, startsOn, endsOn } = values;
      const dayIs = (day: string) => (day ? timestampFromDate(momentOf(timezone, `${day}T00:00`)) : undefined);
      const sent = {
        workspaceId,
        agentId,
        phoneNumber,
        cron,
        timezone,
        reason,
        startsAt: dayIs(startsOn),
        endsAt: dayIs(endsOn && addDays(endsOn, 1)),
        exceptions: exceptions.split(/[\s,;]+/).filter(Boolean),
        dynamicVariables: variablesOf(variables),
      };
      if (schedule)
        return api.callbacks.updateCallbackSchedule({
          ...sent,
          scheduleId: schedule.id,
          updateMask: { paths: updatePaths },
        });
      return api.callbacks.createCallbackSchedule({ ...sent, userId: userId.trim() }, once);
    },
    onSuccess: (saved) => {
      void client.invalidateQueries({ queryKey: ['schedules'] });
      onSaved(saved);
    },
  });
  const wrong = save.error ? failureOf(save.error).fields : {};
  return (
    <Dialog title={schedule ? 'Change the schedule' : 'New schedule'} shape="wide" onClose={onClose}>
      <Form
        className="stack"
        validationBehavior="aria"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <div className="grid-2">
          <TextField
            label="User"
            value={values.userId}
            onChange={(userId) => set({ userId })}
            isRequired
            isReadOnly={schedule !== undefined}
            autoFocus={!schedule}
            placeholder="customer-42"
            wrong={wrong['user_id']}
          />
          <TextField
            label="Number"
            type="tel"
            value={values.phoneNumber}
            onChange={(phoneNumber) => set({ phoneNumber })}
            isRequired
            placeholder="+49 30 123456"
            wrong={wrong['phone_number']}
          />
          <AgentSelect label="Agent that calls" value={agentId} onChange={(id) => set({ agentId: id })} />
          <TextField
            label="Reason"
            value={values.reason}
            onChange={(reason) => set({ reason })}
            placeholder="The weekly check"
            hint="The agent knows it."
            wrong={wrong['reason']}
          />
          <WhenFields values={values} set={set} wrong={wrong} />
        </div>
        <FormFoot
          of={save}
          onClose={onClose}
          failure={<CallFailure error={save.error} />}
          isDisabled={
            !values.userId.trim() ||
            !values.phoneNumber.trim() ||
            !values.cron.trim() ||
            !agentId ||
            wrongVariables(values.variables) !== undefined
          }
        >
          {schedule ? 'Save' : 'Make the schedule'}
        </FormFoot>
      </Form>
    </Dialog>
  );
}

type Values = ReturnType<typeof valuesOf>;

function WhenFields({
  values,
  set,
  wrong,
}: {
  values: Values;
  set(change: Partial<Values>): void;
  wrong: Record<string, string>;
}) {
  const wrongDays = Object.entries(wrong).find(([name]) => name.startsWith('exceptions'))?.[1];
  return (
    <>
      <Select
        label="Repeats"
        choices={presets}
        value={presets.some(({ id }) => id === values.cron) ? values.cron : ''}
        onChange={(cron) => cron && set({ cron })}
      />
      <TextField
        label="Cron expression"
        code
        value={values.cron}
        onChange={(cron) => set({ cron })}
        isRequired
        wrong={wrong['cron']}
        hint={cronWords(values.cron) ?? 'Minute, hour, day of the month, month, day of the week.'}
      />
      <Select
        label="Time zone"
        choices={zoneChoices}
        value={values.timezone}
        onChange={(timezone) => set({ timezone })}
      />
      <div className="grid-3">
        <TextField
          label="First day"
          type="date"
          value={values.startsOn}
          onChange={(startsOn) => set({ startsOn })}
          wrong={wrong['starts_at']}
        />
        <TextField
          label="Last day"
          type="date"
          value={values.endsOn}
          onChange={(endsOn) => set({ endsOn })}
          wrong={wrong['ends_at']}
        />
      </div>
      <TextArea
        label="Not on these days"
        code
        rows={2}
        value={values.exceptions}
        onChange={(exceptions) => set({ exceptions })}
        placeholder="2026-12-25"
        hint="One in a line."
        wrong={wrongDays}
      />
      <TextArea
        label="Variables"
        code
        rows={2}
        value={values.variables}
        onChange={(variables) => set({ variables })}
        placeholder="name=Ada"
        hint="Of the conversations, one in a line."
        wrong={wrongVariables(values.variables) ?? wrong['dynamic_variables']}
      />
    </>
  );
}
