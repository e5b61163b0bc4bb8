import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import type { Person } from '#gen/people_pb';

import * as api from '../../api/clients';
import { useMutation } from '../../api/useMutation';
import { Dialog } from '../../ui/Dialog';
import { FormFoot } from '../../ui/FormFoot';
import { Select } from '../../ui/Select';
import { roles } from './roles';

/** Gives a person a role in place of the one of their groups. */
export function RoleDialog({ person, onClose }: { person: Person; onClose(): void }) {
  const client = useQueryClient();
  const [role, setRole] = useState(person.assignedRole);
  const save = useMutation({
    mutationFn: () => api.people.updatePerson({ personId: person.id, assignedRole: role }),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: ['people'] });
      onClose();
    },
  });
  const choices = [{ id: '', text: `As the groups say: ${person.groupRole}` }, ...roles];
  return (
    <Dialog title={`Role of ${person.name}`} onClose={onClose}>
      <Select
        label="Role"
        choices={choices}
        value={role}
        onChange={setRole}
        hint="It counts at once, also where they are signed in."
      />
      <FormFoot of={save} onClose={onClose} onPress={() => save.mutate()}>
        Save
      </FormFoot>
    </Dialog>
  );
}
