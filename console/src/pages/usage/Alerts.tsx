import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Form } from 'react-aria-components/Form';

import * as api from '../../api/clients';
import { useMutation } from '../../api/useMutation';
import { useHere, useMay } from '../../app/caller';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { NumberField } from '../../ui/Field';
import { FormFoot } from '../../ui/FormFoot';
import { Card } from '../../ui/Page';
import { Query } from '../../ui/Query';
import { Select } from '../../ui/Select';
import { tellFailure } from '../../ui/toast';
import { alertMeters, meterName } from './meters';

/** Thresholds of one's own: a webhook tells when one is reached. */
export function Alerts() {
  const { caller } = useHere();
  const isAdmin = useMay('admin') || caller.role === 'billing';
  const [isNew, setNew] = useState(false);
  const client = useQueryClient();
  const query = useQuery({
    queryKey: ['usage-alerts'],
    queryFn: ({ signal }) => api.usage.listUsageAlerts({}, { signal }),
  });
  const remove = useMutation({
    mutationFn: (alertId: string) => api.usage.deleteUsageAlert({ alertId }),
    onError: tellFailure,
    onSettled: () => client.invalidateQueries({ queryKey: ['usage-alerts'] }),
  });
  return (
    <Card title="Alerts" actions={isAdmin && <Button onPress={() => setNew(true)}>New alert</Button>}>
      <p className="dim">
        The event usage.threshold is sent to your webhooks at 50, 80 and 100 % of each limit, and at what you set here.
      </p>
      <Query query={query}>
        {({ alerts }) => (
          <ul className="stack" style={{ listStyle: 'none', margin: 0, padding: 0 }}>
            {alerts.map(({ id, meter, quantity, percent }) => {
              const { title, format } = meterName(meter);
              return (
                <li key={id} className="row between">
                  <span>
                    {title}: {percent > 0 ? `${percent} % of the limit` : format(quantity)}
                  </span>
                  {isAdmin && (
                    <Button kind="quiet" aria-label={`Remove the alert for ${title}`} onPress={() => remove.mutate(id)}>
                      Remove
                    </Button>
                  )}
                </li>
              );
            })}
          </ul>
        )}
      </Query>
      {isNew && <NewAlert onClose={() => setNew(false)} />}
    </Card>
  );
}

function NewAlert({ onClose }: { onClose(): void }) {
  const client = useQueryClient();
  const [meter, setMeter] = useState('sessions');
  const [quantity, setQuantity] = useState(NaN);
  const make = useMutation({
    mutationFn: (_, once) => api.usage.createUsageAlert({ meter, quantity }, once),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: ['usage-alerts'] });
      onClose();
    },
  });
  return (
    <Dialog title="New alert" onClose={onClose}>
      <Form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          make.mutate();
        }}
      >
        <Select
          label="What is counted"
          choices={alertMeters.map((id) => ({ id, text: meterName(id).title }))}
          value={meter}
          onChange={setMeter}
        />
        <NumberField
          label="Tell me at"
          hint="In a month."
          value={quantity}
          onChange={setQuantity}
          minValue={0}
          isRequired
        />
        <FormFoot of={make} onClose={onClose} isDisabled={Number.isNaN(quantity)}>
          Set the alert
        </FormFoot>
      </Form>
    </Dialog>
  );
}
