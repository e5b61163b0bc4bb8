import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Form } from 'react-aria-components/Form';

import * as api from '../../api/clients';
import { failureOf } from '../../api/failure';
import { useMutation } from '../../api/useMutation';
import { useAgentChoices } from '../../api/useAgentNames';
import { useHere } from '../../app/caller';
import { navigate } from '../../app/location';
import { AgentSelect } from '../../ui/AgentSelect';
import { Dialog } from '../../ui/Dialog';
import { Checkbox, TextArea, TextField } from '../../ui/Field';
import { FormFoot } from '../../ui/FormFoot';
import { Select } from '../../ui/Select';
import { CallFailure } from './CallFailure';
import { variablesOf, wrongVariables } from './variables';
import { localIn, zoneChoices } from './zones';

const hourMs = 3_600_000;
const numberZone = { id: '', text: "The number's own" };

/** Plans one call. */
export function CallbackForm({ zone, onClose }: { zone: string; onClose(): void }) {
  const { workspaceId } = useHere();
  const client = useQueryClient();
  const { choices } = useAgentChoices();
  const [chosen, setAgent] = useState('');
  const [userId, setUser] = useState('');
  const [phoneNumber, setNumber] = useState('');
  const [when, setWhen] = useState('at');
  const [at, setAt] = useState(() => localIn(zone, new Date(Date.now() + hourMs)));
  const [timezone, setZone] = useState(zone);
  const [reason, setReason] = useState('');
  const [variables, setVariables] = useState('');
  const [ignoreLimits, setIgnore] = useState(false);
  const agentId = chosen || choices[0]?.id || '';
  const make = useMutation({
    mutationFn: (_, once) =>
      api.callbacks.createCallback(
        {
          workspaceId,
          agentId,
          userId: userId.trim(),
          phoneNumber,
          at: when === 'now' ? 'now' : at,
          timezone,
          reason,
          ignoreLimits,
          dynamicVariables: variablesOf(variables),
        },
        once,
      ),
    onSuccess: ({ id }) => {
      void client.invalidateQueries({ queryKey: ['callbacks'] });
      navigate(`/callbacks/list/${id}`);
    },
  });
  const wrong = make.error ? failureOf(make.error).fields : {};
  return (
    <Dialog title="New callback" onClose={onClose}>
      <Form
        className="stack"
        validationBehavior="aria"
        onSubmit={(event) => {
          event.preventDefault();
          make.mutate();
        }}
      >
        <AgentSelect label="Agent that calls" value={agentId} onChange={setAgent} />
        <TextField
          label="User"
          value={userId}
          onChange={setUser}
          isRequired
          autoFocus
          placeholder="customer-42"
          hint="As your sessions name the user."
          wrong={wrong['user_id']}
        />
        <TextField
          label="Number"
          type="tel"
          value={phoneNumber}
          onChange={setNumber}
          isRequired
          placeholder="+49 30 123456"
          hint="With its country's code."
          wrong={wrong['phone_number']}
        />
        <Select
          label="When"
          choices={[
            { id: 'at', text: 'At a time' },
            { id: 'now', text: 'Now' },
          ]}
          value={when}
          onChange={setWhen}
        />
        {when === 'at' && (
          <TextField label="Time" type="datetime-local" value={at} onChange={setAt} wrong={wrong['at']} />
        )}
        <Select
          label="Time zone of the user"
          choices={[numberZone, ...zoneChoices]}
          value={timezone}
          onChange={setZone}
          hint="The time above and the quiet hours are in it."
        />
        <TextField
          label="Reason"
          value={reason}
          onChange={setReason}
          placeholder="The appointment of tomorrow"
          hint="What the call is about. The agent knows it."
          wrong={wrong['reason']}
        />
        <TextArea
          label="Variables"
          code
          rows={2}
          value={variables}
          onChange={setVariables}
          placeholder="name=Ada"
          hint="Of the conversation, one in a line."
          wrong={wrongVariables(variables) ?? wrong['dynamic_variables']}
        />
        <Checkbox
          isSelected={ignoreLimits}
          onChange={setIgnore}
          hint="Also in the agent's quiet hours, and soon after another call of the user."
        >
          Call even if the agent may not then
        </Checkbox>
        <FormFoot
          of={make}
          onClose={onClose}
          failure={<CallFailure error={make.error} />}
          isDisabled={!userId.trim() || !phoneNumber.trim() || !agentId || wrongVariables(variables) !== undefined}
        >
          {when === 'now' ? 'Call now' : 'Plan the call'}
        </FormFoot>
      </Form>
    </Dialog>
  );
}
