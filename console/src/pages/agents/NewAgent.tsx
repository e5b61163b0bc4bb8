import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { useLocation } from 'wouter';

import * as api from '../../api/clients';
import { failureOf } from '../../api/failure';
import { useMutation } from '../../api/useMutation';
import { useHere } from '../../app/caller';
import { Dialog } from '../../ui/Dialog';
import { TextArea, TextField } from '../../ui/Field';
import { FormFoot } from '../../ui/FormFoot';
import { Select } from '../../ui/Select';
import { presets } from './presets';

/** Asks what a new agent begins with, makes it, and opens it. */
export function NewAgent({ onClose }: { onClose(): void }) {
  const { workspaceId } = useHere();
  const client = useQueryClient();
  const [, go] = useLocation();
  const [preset, setPreset] = useState('empty');
  const [name, setName] = useState('');
  const [instructions, setInstructions] = useState('');
  const [firstMessage, setFirstMessage] = useState('');
  const make = useMutation({
    mutationFn: (_, once) => api.agents.createAgent({ workspaceId, name, instructions, firstMessage }, once),
    onSuccess: ({ id }) => {
      void client.invalidateQueries({ queryKey: ['agents'] });
      go(`/agents/${id}/instructions`);
    },
  });
  const begin = (id: string) => {
    const next = presets.find((other) => other.id === id);
    if (!next) return;
    const before = presets.find((other) => other.id === preset);
    setPreset(id);
    if (name === '' || name === before?.name) setName(next.name);
    setInstructions(next.instructions);
    setFirstMessage(next.firstMessage);
  };
  const wrong = make.error ? failureOf(make.error).fields : {};
  return (
    <Dialog title="New agent" shape="wide" onClose={onClose}>
      <Form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          make.mutate();
        }}
      >
        <TextField
          label="Name"
          value={name}
          onChange={setName}
          isRequired
          autoFocus
          maxLength={200}
          wrong={wrong['name']}
          placeholder="Support of the shop"
        />
        <Select
          label="Begin with"
          value={preset}
          onChange={begin}
          choices={presets.map(({ id, title, note }) => ({ id, text: title, note }))}
          hint="It fills in the texts below, which you then change."
        />
        <TextArea
          label="Instructions"
          rows={8}
          value={instructions}
          onChange={setInstructions}
          wrong={wrong['instructions']}
          hint="Who the agent is, what it does, and what it must not do."
        />
        <TextField
          label="First message"
          value={firstMessage}
          onChange={setFirstMessage}
          wrong={wrong['first_message']}
          hint="Empty: it waits for the user."
        />
        <FormFoot of={make} onClose={onClose} isDisabled={name.trim() === ''}>
          Make the agent
        </FormFoot>
      </Form>
    </Dialog>
  );
}
