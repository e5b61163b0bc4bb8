import { create } from '@bufbuild/protobuf';

import { HandoverDestinationSchema, type AgentCallbacks, type AgentHandover } from '#gen/agents_pb';

import { Switch, TextArea, TextField } from '../../ui/Field';
import { Card } from '../../ui/Page';
import { Select } from '../../ui/Select';
import { useEditor } from './editor';
import { Amount, Items, Lines, OptionalNumber } from './fields';

/** When and whom the agent may call, and how it hands over to people. */
export function Calls() {
  return (
    <>
      <Outbound />
      <Handover />
    </>
  );
}

function Outbound() {
  const {
    settings: { callbacks },
    edit,
    wrong,
  } = useEditor();
  const set = (patch: Partial<AgentCallbacks>) => edit({ callbacks: { ...callbacks, ...patch } });
  const at = (name: string) => wrong(`callbacks.${name}`);
  return (
    <Card title="Calling people">
      <Switch isSelected={callbacks.requireConsent} onChange={(requireConsent) => set({ requireConsent })}>
        Call only users who have agreed to it
      </Switch>
      <div className="grid-2">
        <TextField
          label="Nobody is called from"
          value={callbacks.quietFrom ?? ''}
          onChange={(value) => set({ quietFrom: value || undefined })}
          wrong={at('quiet_from')}
          placeholder="21:00"
          hint="Local time, HH:MM. The same as until: there are no quiet hours."
        />
        <TextField
          label="until"
          value={callbacks.quietUntil ?? ''}
          onChange={(value) => set({ quietUntil: value || undefined })}
          wrong={at('quiet_until')}
          placeholder="08:00"
        />
        <OptionalNumber
          label="Minutes between two calls of a user"
          minValue={0}
          maxValue={43_200}
          value={callbacks.minIntervalMinutes}
          onChange={(minIntervalMinutes) => set({ minIntervalMinutes })}
          wrong={at('min_interval_minutes')}
          placeholder="240"
        />
        <Amount
          label="It rings for, seconds"
          value={callbacks.ringSeconds}
          onChange={(ringSeconds) => set({ ringSeconds })}
          wrong={at('ring_seconds')}
          placeholder="30"
        />
        <TextField
          label="Calls come from"
          type="tel"
          value={callbacks.fromNumber}
          onChange={(fromNumber) => set({ fromNumber })}
          wrong={at('from_number')}
          placeholder="the workspace's first number"
          hint="With the country's code: +4930…"
        />
        <Lines
          label="Countries that may be called"
          rows={2}
          value={callbacks.countries}
          onChange={(countries) => set({ countries: countries.map((code) => code.toUpperCase()) })}
          wrong={at('countries') ?? at('countries[0]')}
          placeholder="all"
          hint="Two letters each, such as DE, one a line."
        />
      </div>
      <Select
        label="When an answering machine answers"
        value={callbacks.voicemail || 'hang_up'}
        onChange={(voicemail) => set({ voicemail })}
        choices={[
          { id: 'hang_up', text: 'Hang up', note: 'The call counts as missed.' },
          { id: 'leave_message', text: 'Leave a message' },
        ]}
      />
      {callbacks.voicemail === 'leave_message' && (
        <TextArea
          label="The message"
          rows={2}
          value={callbacks.voicemailMessage}
          onChange={(voicemailMessage) => set({ voicemailMessage })}
          wrong={at('voicemail_message')}
        />
      )}
      <Switch isSelected={callbacks.pressKeys} onChange={(pressKeys) => set({ pressKeys })}>
        The agent may press keys, for the menus of telephone systems
      </Switch>
    </Card>
  );
}

function Handover() {
  const {
    settings: { handover },
    edit,
    wrong,
  } = useEditor();
  const set = (patch: Partial<AgentHandover>) => edit({ handover: { ...handover, ...patch } });
  return (
    <Card title="Handing over to a person">
      <Switch isSelected={handover.enabled} onChange={(enabled) => set({ enabled })}>
        The agent may ask for a person
      </Switch>
      <p className="dim small">
        Conversations in writing wait for an operator in Sessions; telephone calls are transferred to one of these
        numbers.
      </p>
      <Items
        what="number"
        most={20}
        items={handover.destinations}
        onChange={(destinations) => set({ destinations })}
        make={() => create(HandoverDestinationSchema)}
      >
        {(item, change, index) => (
          <div className="grid-2">
            <TextField
              label="What the agent calls it"
              value={item.name}
              onChange={(name) => change({ name })}
              wrong={wrong(`handover.destinations[${index}].name`)}
              placeholder="sales"
            />
            <TextField
              label="Number"
              type="tel"
              value={item.phoneNumber}
              onChange={(phoneNumber) => change({ phoneNumber })}
              wrong={wrong(`handover.destinations[${index}].phone_number`)}
              placeholder="+4930…"
            />
          </div>
        )}
      </Items>
      <div className="grid-2">
        <Select
          label="How a call is transferred"
          value={handover.mode || 'cold'}
          onChange={(mode) => set({ mode })}
          choices={[
            { id: 'cold', text: 'At once' },
            { id: 'warm', text: 'After the person heard a summary' },
          ]}
        />
        <Amount
          label="It rings for, seconds"
          value={handover.ringSeconds}
          onChange={(ringSeconds) => set({ ringSeconds })}
          wrong={wrong('handover.ring_seconds')}
          placeholder="25"
          hint="Then the caller comes back to the agent."
        />
      </div>
    </Card>
  );
}
