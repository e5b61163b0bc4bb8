import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { Form } from 'react-aria-components/Form';

import type { Workspace } from '#gen/workspaces_pb';

import * as api from '../../api/clients';
import { failureOf } from '../../api/failure';
import { useMutation } from '../../api/useMutation';
import { Dialog } from '../../ui/Dialog';
import { NumberField, TextField } from '../../ui/Field';
import { FormFoot } from '../../ui/FormFoot';

const daysOf = (n: number | undefined) => n || NaN; // 0 is for ever: an empty field

/** Makes a workspace, or changes one. */
export function WorkspaceDialog({ workspace, onClose }: { workspace: Workspace | undefined; onClose(): void }) {
  const client = useQueryClient();
  const [name, setName] = useState(workspace?.name ?? '');
  const [transcriptDays, setTranscriptDays] = useState(daysOf(workspace?.retention?.transcriptDays));
  const [audioDays, setAudioDays] = useState(daysOf(workspace?.retention?.audioDays));
  const made = useRef<Workspace>(undefined); // when its retention is refused, it is there already
  const save = useMutation({
    mutationFn: async (_, once) => {
      made.current ??= workspace ?? (await api.workspaces.createWorkspace({ name }, once));
      const retention = { transcriptDays: transcriptDays || 0, audioDays: audioDays || 0 };
      await api.workspaces.updateWorkspace({ workspaceId: made.current.id, name, retention });
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['caller'] }),
    onSuccess: onClose,
  });
  const wrong = save.error ? failureOf(save.error).fields : {};
  return (
    <Dialog title={workspace ? `Edit ${workspace.name}` : 'New workspace'} onClose={onClose}>
      <Form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <TextField label="Name" value={name} onChange={setName} wrong={wrong['name']} isRequired autoFocus />
        <NumberField
          label="Days that transcripts are kept"
          hint="Empty: for ever. An agent may say otherwise."
          value={transcriptDays}
          onChange={setTranscriptDays}
          minValue={0}
          maxValue={3650}
        />
        <NumberField
          label="Days that recordings are kept"
          hint="Empty: for ever."
          value={audioDays}
          onChange={setAudioDays}
          minValue={0}
          maxValue={3650}
        />
        <FormFoot of={save} onClose={onClose} isDisabled={name.trim() === ''}>
          Save
        </FormFoot>
      </Form>
    </Dialog>
  );
}
