import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Form } from 'react-aria-components/Form';

import type { ApiKey } from '#gen/workspaces_pb';

import * as api from '../../api/clients';
import { failureOf } from '../../api/failure';
import { useMutation } from '../../api/useMutation';
import { useHere } from '../../app/caller';
import { Dialog } from '../../ui/Dialog';
import { TextField } from '../../ui/Field';
import { FormFoot } from '../../ui/FormFoot';
import { Select } from '../../ui/Select';
import { ShownSecret } from '../../ui/ShownSecret';

const scopes = [
  { id: 'runtime', text: 'Conversations', note: 'runtime: sessions, turns and knowledge queries; for a back end' },
  { id: 'read', text: 'Reading', note: 'read: everything, and changes nothing; for reports' },
  { id: 'operator', text: 'Operating', note: 'operator: everything inside workspaces; for deployments' },
  { id: 'admin', text: 'Everything', note: 'admin: keys, workspaces, the plan' },
];
const lives = [
  { id: '', text: 'Never' },
  { id: '30', text: 'In 30 days' },
  { id: '90', text: 'In 90 days' },
  { id: '365', text: 'In a year' },
];

/** Asks for a new key's settings and makes it. */
export function NewKey({ onClose, onMade }: { onClose(): void; onMade(key: ApiKey): void }) {
  const { workspaces, caller } = useHere();
  const client = useQueryClient();
  const [name, setName] = useState('');
  const [scope, setScope] = useState('runtime');
  const [workspaceId, setWorkspaceId] = useState(caller.workspaceId);
  const [days, setDays] = useState('');
  const [opened] = useState(Date.now); // the same when it is sent again
  const make = useMutation({
    mutationFn: (_, once) =>
      api.apiKeys.createApiKey(
        {
          name,
          scope,
          workspaceId,
          expiresAt: days ? timestampFromDate(new Date(opened + Number(days) * 86_400_000)) : undefined,
        },
        once,
      ),
    onSuccess: (key) => {
      void client.invalidateQueries({ queryKey: ['keys'] });
      onMade(key);
    },
  });
  const wrong = make.error ? failureOf(make.error).fields : {};
  return (
    <Dialog title="New key" onClose={onClose}>
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
          placeholder="Shop's back end"
          wrong={wrong['name']}
        />
        <Select label="What it may do" choices={scopes} value={scope} onChange={setScope} />
        <Select
          label="Workspace"
          choices={[{ id: '', text: 'All' }, ...workspaces.map(({ id, name: text }) => ({ id, text }))]}
          value={workspaceId}
          onChange={setWorkspaceId}
        />
        <Select label="Expires" choices={lives} value={days} onChange={setDays} />
        <FormFoot of={make} onClose={onClose} isDisabled={name.trim() === ''}>
          Make the key
        </FormFoot>
      </Form>
    </Dialog>
  );
}

/** Shows a key's secret, the only time. */
export const ShownKey = ({ apiKey, onClose }: { apiKey: ApiKey; onClose(): void }) => (
  <ShownSecret title={apiKey.name} secret={apiKey.secret ?? ''} label="The new key" onClose={onClose}>
    <p>It is shown only now: put it where your program finds it, and not into its source.</p>
  </ShownSecret>
);
