import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Form } from 'react-aria-components/Form';

import type { ProviderCredential } from '#gen/credentials_pb';

import * as api from '../../api/clients';
import { failureOf } from '../../api/failure';
import { useMutation } from '../../api/useMutation';
import { useHere } from '../../app/caller';
import { Dialog } from '../../ui/Dialog';
import { TextField } from '../../ui/Field';
import { FormFoot } from '../../ui/FormFoot';
import { Select } from '../../ui/Select';
import { kinds } from './kinds';

/** Makes a provider's credential, or changes one. */
export function ProviderDialog({
  credential,
  onClose,
}: {
  credential: ProviderCredential | undefined;
  onClose(): void;
}) {
  const { workspaceId } = useHere();
  const client = useQueryClient();
  const [kind, setKind] = useState(credential?.kind ?? 'model');
  const [provider, setProvider] = useState(credential?.provider ?? 'openai');
  const [fields, setFields] = useState({
    name: credential?.name ?? '',
    baseUrl: credential?.baseUrl ?? '',
    apiKey: '',
    accountId: credential?.accountId ?? '',
    defaultModel: credential?.defaultModel ?? '',
  });
  const set = (name: keyof typeof fields) => (value: string) => setFields((before) => ({ ...before, [name]: value }));
  const save = useMutation({
    mutationFn: async (_, once) => {
      const { apiKey, ...rest } = fields;
      if (!credential)
        return api.credentials.createProviderCredential({ workspaceId, kind, provider, apiKey, ...rest }, once);
      return api.credentials.updateProviderCredential({
        workspaceId,
        credentialId: credential.id,
        ...rest,
        ...(apiKey && { apiKey }),
      });
    },
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: ['providers'] });
      onClose();
    },
  });
  const wrong = save.error ? failureOf(save.error).fields : {};
  const providers = kinds.find(({ id }) => id === kind)?.providers ?? [];
  const chooseKind = (id: string) => {
    setKind(id);
    setProvider(kinds.find((one) => one.id === id)?.providers[0]?.id ?? '');
  };
  return (
    <Dialog title={credential ? `Edit ${credential.name || credential.provider}` : 'New provider'} onClose={onClose}>
      <Form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <Select label="For" choices={kinds} value={kind} onChange={chooseKind} isDisabled={!!credential} />
        <Select
          label="Provider"
          choices={providers}
          value={provider}
          onChange={setProvider}
          isDisabled={!!credential}
        />
        <TextField
          label="Name"
          value={fields.name}
          onChange={set('name')}
          wrong={wrong['name']}
          hint="For people; may be empty."
        />
        <TextField
          label="API key"
          type="password"
          autoComplete="off"
          value={fields.apiKey}
          onChange={set('apiKey')}
          wrong={wrong['api_key']}
          isRequired={!credential}
          hint={credential ? 'Empty keeps the one there is.' : undefined}
        />
        {provider === 'twilio' && (
          <TextField
            label="Account SID"
            value={fields.accountId}
            onChange={set('accountId')}
            wrong={wrong['account_id']}
            isRequired
          />
        )}
        <TextField
          label="Base URL"
          value={fields.baseUrl}
          onChange={set('baseUrl')}
          wrong={wrong['base_url']}
          placeholder="https://…/v1"
          hint="Empty: the provider's own. A new server needs the key again."
        />
        {kind !== 'telephony' && (
          <TextField
            label="Default model"
            value={fields.defaultModel}
            onChange={set('defaultModel')}
            wrong={wrong['default_model']}
            hint="Used when an agent names none."
          />
        )}
        <FormFoot of={save} onClose={onClose}>
          Save
        </FormFoot>
      </Form>
    </Dialog>
  );
}
