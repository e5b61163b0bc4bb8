import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Form } from 'react-aria-components/Form';

import type { WebhookEndpoint } from '#gen/webhooks_pb';

import * as api from '../../api/clients';
import { failureOf } from '../../api/failure';
import { useMutation } from '../../api/useMutation';
import { useAgentNames } from '../../api/useAgentNames';
import { useHere } from '../../app/caller';
import { AgentSelect } from '../../ui/AgentSelect';
import { Dialog } from '../../ui/Dialog';
import { Checkbox, NumberField, Switch, TextField } from '../../ui/Field';
import { FormFoot } from '../../ui/FormFoot';
import { EventsField } from './EventsField';
import { HeaderRows, headersOf, type HeaderRow } from './HeaderRows';
import './webhooks.css';

interface Values {
  url: string;
  description: string;
  events: string[];
  agentIds: string[];
  ordered: boolean;
  maxPerSecond: number;
  maxInFlight: number;
}

const valuesOf = (endpoint?: WebhookEndpoint): Values => ({
  url: endpoint?.url ?? '',
  description: endpoint?.description ?? '',
  events: endpoint?.events ?? ['post_call_transcription'],
  agentIds: endpoint?.agentIds ?? [],
  ordered: endpoint?.ordered ?? false,
  maxPerSecond: endpoint?.maxPerSecond ?? 0,
  maxInFlight: endpoint?.maxInFlight ?? 0,
});

const updatePaths = ['url', 'description', 'events', 'agent_ids', 'ordered', 'max_per_second', 'max_in_flight'];

/** Makes an endpoint, or changes the one that is given. */
export function EndpointForm({
  endpoint,
  onClose,
  onSaved,
}: {
  endpoint?: WebhookEndpoint;
  onClose(): void;
  onSaved(endpoint: WebhookEndpoint): void;
}) {
  const { workspaceId } = useHere();
  const client = useQueryClient();
  const [values, setValues] = useState(() => valuesOf(endpoint));
  const [headers, setHeaders] = useState<HeaderRow[]>([]);
  const [replaces, setReplaces] = useState(!endpoint || endpoint.headerNames.length === 0);
  const set = (change: Partial<Values>) => setValues((before) => ({ ...before, ...change }));
  const save = useMutation({
    mutationFn: (_, once) => {
      const sent = {
        workspaceId,
        ...values,
        url: values.url.trim(),
        ...(replaces ? { headers: headersOf(headers) } : {}),
      };
      if (!endpoint) return api.webhooks.createWebhookEndpoint(sent, once);
      const paths = replaces ? [...updatePaths, 'headers'] : updatePaths;
      return api.webhooks.updateWebhookEndpoint({ ...sent, endpointId: endpoint.id, updateMask: { paths } });
    },
    onSuccess: (saved) => {
      void client.invalidateQueries({ queryKey: ['webhooks'] });
      onSaved(saved);
    },
  });
  const wrong = save.error ? failureOf(save.error).fields : {};
  return (
    <Dialog title={endpoint ? 'Change the endpoint' : 'New endpoint'} shape="wide" onClose={onClose}>
      <Form
        className="stack"
        validationBehavior="aria"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <TextField
          label="URL"
          type="url"
          code
          value={values.url}
          onChange={(url) => set({ url })}
          isRequired
          autoFocus
          placeholder="https://example.com/webhooks"
          hint="It begins with https:// and can be reached from the Internet."
          wrong={wrong['url']}
        />
        <TextField
          label="Description"
          value={values.description}
          onChange={(description) => set({ description })}
          placeholder="Orders, production"
          wrong={wrong['description']}
        />
        <EventsField value={values.events} onChange={(events) => set({ events })} wrong={wrong['events']} />
        <details className="more-settings">
          <summary>More settings: agents, order, limits, headers</summary>
          <div className="stack loose">
            <AgentsField value={values.agentIds} onChange={(agentIds) => set({ agentIds })} />
            <Switch isSelected={values.ordered} onChange={(ordered) => set({ ordered })}>
              One at a time, in the order in which things happened. A failing event holds those after it.
            </Switch>
            <div className="grid-2">
              <NumberField
                label="Requests a second"
                value={values.maxPerSecond}
                minValue={0}
                maxValue={1000}
                onChange={(n) => set({ maxPerSecond: n || 0 })}
                hint="0: no limit. What is over it waits."
                wrong={wrong['max_per_second']}
              />
              <NumberField
                label="Requests at once"
                value={values.maxInFlight}
                minValue={0}
                maxValue={100}
                onChange={(n) => set({ maxInFlight: n || 0 })}
                hint="0: no limit."
                wrong={wrong['max_in_flight']}
              />
            </div>
            {endpoint && endpoint.headerNames.length > 0 && (
              <Checkbox
                isSelected={replaces}
                onChange={setReplaces}
                hint="Their values cannot be shown. Another host or port in the URL needs them again."
              >
                Replace the headers {endpoint.headerNames.join(', ')}
              </Checkbox>
            )}
            {replaces && <HeaderRows rows={headers} onChange={setHeaders} wrong={wrong['headers']} />}
          </div>
        </details>
        <FormFoot of={save} onClose={onClose} isDisabled={values.url.trim() === ''}>
          {endpoint ? 'Save' : 'Make the endpoint'}
        </FormFoot>
      </Form>
    </Dialog>
  );
}

function AgentsField({ value, onChange }: { value: string[]; onChange(value: string[]): void }) {
  const nameOf = useAgentNames(value);
  return (
    <fieldset className="events">
      <legend>Agents</legend>
      <span className="hint">With none chosen: all of them, and events about no agent.</span>
      <div className="events-list">
        {value.map((id) => (
          <Checkbox key={id} isSelected onChange={() => onChange(value.filter((other) => other !== id))}>
            {nameOf(id)}
          </Checkbox>
        ))}
      </div>
      <AgentSelect label="Add an agent" without={value} value="" onChange={(id) => onChange([...value, id])} />
    </fieldset>
  );
}
