import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import type { Workspace } from '#gen/workspaces_pb';

import * as api from '../../api/clients';
import { useMutation } from '../../api/useMutation';
import { Dialog } from '../../ui/Dialog';
import { TextField } from '../../ui/Field';
import { FormFoot } from '../../ui/FormFoot';
import { tell } from '../../ui/toast';

/** Deletes a workspace, when its name was typed. */
export function DeleteWorkspace({ workspace, onClose }: { workspace: Workspace; onClose(): void }) {
  const client = useQueryClient();
  const [typed, setTyped] = useState('');
  const remove = useMutation({
    mutationFn: () => api.workspaces.deleteWorkspace({ workspaceId: workspace.id }),
    onSuccess: () => {
      tell(`The workspace ${workspace.name} was deleted.`);
      void client.invalidateQueries({ queryKey: ['caller'] });
      onClose();
    },
  });
  return (
    <Dialog role="alertdialog" title={`Delete ${workspace.name}?`} onClose={onClose}>
      <p>Its agents, knowledge, tools, webhooks, sessions and transcripts are deleted. This cannot be undone.</p>
      <TextField label={`Type ${workspace.name} to go on`} value={typed} onChange={setTyped} autoFocus />
      <FormFoot
        of={remove}
        onClose={onClose}
        kind="danger"
        isDisabled={typed !== workspace.name}
        onPress={() => remove.mutate()}
      >
        Delete
      </FormFoot>
    </Dialog>
  );
}
