import { timestampDate } from '@bufbuild/protobuf/wkt';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Form } from 'react-aria-components/Form';

import type { Callback } from '#gen/callbacks_pb';

import * as api from '../../api/clients';
import { failureOf } from '../../api/failure';
import { useMutation } from '../../api/useMutation';
import { useHere } from '../../app/caller';
import { Dialog } from '../../ui/Dialog';
import { Checkbox, TextField } from '../../ui/Field';
import { FormFoot } from '../../ui/FormFoot';
import { Select } from '../../ui/Select';
import { tell } from '../../ui/toast';
import { CallFailure } from './CallFailure';
import { isZone, localIn, zoneChoices } from './zones';

/** Moves a callback to another time, number or reason. */
export function MoveDialog({ callback, onClose }: { callback: Callback; onClose(): void }) {
  const { workspaceId } = useHere();
  const client = useQueryClient();
  const [zone, setZone] = useState(isZone(callback.timezone) ? callback.timezone : 'UTC');
  const [at, setAt] = useState(() => localIn(zone, callback.at ? timestampDate(callback.at) : new Date()));
  const [phoneNumber, setNumber] = useState(callback.phoneNumber);
  const [reason, setReason] = useState(callback.reason);
  const [ignoreLimits, setIgnore] = useState(false);
  const move = useMutation({
    mutationFn: () =>
      api.callbacks.updateCallback({
        workspaceId,
        callbackId: callback.id,
        at,
        timezone: zone,
        phoneNumber,
        reason,
        ignoreLimits,
        updateMask: { paths: ['at', 'timezone', 'phone_number', 'reason', 'ignore_limits'] },
      }),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: ['callbacks'] });
      tell('The callback was moved.');
      onClose();
    },
  });
  const wrong = move.error ? failureOf(move.error).fields : {};
  return (
    <Dialog title="Move the callback" onClose={onClose}>
      <Form
        className="stack"
        validationBehavior="aria"
        onSubmit={(event) => {
          event.preventDefault();
          move.mutate();
        }}
      >
        <TextField
          label="Time"
          type="datetime-local"
          value={at}
          onChange={setAt}
          isRequired
          autoFocus
          wrong={wrong['at']}
          hint="Its attempts begin anew."
        />
        <Select label="Time zone of the user" choices={zoneChoices} value={zone} onChange={setZone} />
        <TextField
          label="Number"
          type="tel"
          value={phoneNumber}
          onChange={setNumber}
          isRequired
          wrong={wrong['phone_number']}
        />
        <TextField label="Reason" value={reason} onChange={setReason} wrong={wrong['reason']} />
        <Checkbox
          isSelected={ignoreLimits}
          onChange={setIgnore}
          hint="Also in the agent's quiet hours, and soon after another call of the user."
        >
          Call even if the agent may not then
        </Checkbox>
        <FormFoot of={move} onClose={onClose} failure={<CallFailure error={move.error} />} isDisabled={!at}>
          Move
        </FormFoot>
      </Form>
    </Dialog>
  );
}
