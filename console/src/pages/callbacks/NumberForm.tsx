import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Form } from 'react-aria-components/Form';

import type { PhoneNumber } from '#gen/telephony_pb';

import * as api from '../../api/clients';
import { failureOf } from '../../api/failure';
import { useMutation } from '../../api/useMutation';
import { useAgentChoices } from '../../api/useAgentNames';
import { useHere } from '../../app/caller';
import { AgentSelect } from '../../ui/AgentSelect';
import { Dialog } from '../../ui/Dialog';
import { Switch, TextArea, TextField } from '../../ui/Field';
import { FormFoot } from '../../ui/FormFoot';
import { ShownSecret } from '../../ui/ShownSecret';
import { CallFailure } from './CallFailure';
import { linesOf, variablesOf, wrongVariables } from './variables';

/** Has an agent answer a number, or changes how it does. */
export function NumberForm({
  number,
  onClose,
  onSaved,
}: {
  number?: PhoneNumber;
  onClose(): void;
  onSaved(number: PhoneNumber): void;
}) {
  const { workspaceId } = useHere();
  const client = useQueryClient();
  const { choices } = useAgentChoices();
  const [values, setValues] = useState({
    phoneNumber: number?.phoneNumber ?? '',
    agentId: number?.agentId ?? '',
    name: number?.name ?? '',
    lookupUrl: number?.lookupUrl ?? '',
    variables: linesOf(number?.dynamicVariables ?? {}),
    enabled: number?.enabled ?? true,
  });
  const set = (change: Partial<typeof values>) => setValues((before) => ({ ...before, ...change }));
  const agentId = values.agentId || choices[0]?.id || '';
  const save = useMutation({
    mutationFn: (_, once) => {
      const { phoneNumber, name, lookupUrl, variables, enabled } = values;
      const sent = {
        workspaceId,
        agentId,
        name,
        lookupUrl: lookupUrl.trim(),
        enabled,
        dynamicVariables: variablesOf(variables),
      };
      if (!number) return api.telephony.createPhoneNumber({ ...sent, phoneNumber }, once);
      return api.telephony.updatePhoneNumber({
        ...sent,
        numberId: number.id,
        updateMask: { paths: ['agent_id', 'name', 'lookup_url', 'dynamic_variables', 'enabled'] },
      });
    },
    onSuccess: (saved) => {
      void client.invalidateQueries({ queryKey: ['numbers'] });
      onSaved(saved);
    },
  });
  const wrong = save.error ? failureOf(save.error).fields : {};
  return (
    <Dialog title={number ? `Change ${number.phoneNumber}` : 'New number'} onClose={onClose}>
      <Form
        className="stack"
        validationBehavior="aria"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        {!number && (
          <TextField
            label="Number"
            type="tel"
            value={values.phoneNumber}
            onChange={(phoneNumber) => set({ phoneNumber })}
            isRequired
            autoFocus
            placeholder="+49 30 123456"
            hint="One of your carrier's account, with its country's code."
            wrong={wrong['phone_number']}
          />
        )}
        <AgentSelect label="Agent that answers" value={agentId} onChange={(id) => set({ agentId: id })} />
        <TextField
          label="Name"
          value={values.name}
          onChange={(name) => set({ name })}
          placeholder="Support"
          wrong={wrong['name']}
        />
        <TextField
          label="Look-up URL"
          type="url"
          code
          value={values.lookupUrl}
          onChange={(lookupUrl) => set({ lookupUrl })}
          placeholder="https://example.com/caller"
          wrong={wrong['lookup_url']}
          hint="Asked before a call is answered: who calls, and what the agent should know. It has 3 seconds. Empty: nobody is asked."
        />
        <TextArea
          label="Variables"
          code
          rows={2}
          value={values.variables}
          onChange={(variables) => set({ variables })}
          placeholder="shop=Berlin"
          hint="Of the conversations, one in a line. What a look-up answers wins."
          wrong={wrongVariables(values.variables) ?? wrong['dynamic_variables']}
        />
        <Switch isSelected={values.enabled} onChange={(enabled) => set({ enabled })}>
          Calls are answered
        </Switch>
        <FormFoot
          of={save}
          onClose={onClose}
          failure={<CallFailure error={save.error} />}
          isDisabled={!agentId || !values.phoneNumber.trim() || wrongVariables(values.variables) !== undefined}
        >
          {number ? 'Save' : 'Add the number'}
        </FormFoot>
      </Form>
    </Dialog>
  );
}

/** Shows the secret of look-ups, the only time. */
export const LookUpSecret = ({ secret, onClose }: { secret: string; onClose(): void }) => (
  <ShownSecret title="Secret of look-ups" secret={secret} label="The secret of look-ups" onClose={onClose}>
    <p>It is shown only now. Look-ups are signed with it as webhooks are: Webhooks has the code that checks it.</p>
  </ShownSecret>
);
