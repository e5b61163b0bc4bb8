import { Button } from '../ui/Button';
import { TextArea, TextField } from '../ui/Field';
import { Select } from '../ui/Select';
import { exampleTools, type Settings, type Variable, type Wrong } from './settings';

interface Props {
  settings: Settings;
  wrong: Wrong;
  onChange(settings: Settings): void;
}

const modalities = [
  { id: '', text: 'As it begins', note: 'in writing, or aloud when it begins with Talk' },
  { id: 'text', text: 'In writing only', note: 'ends after 30 minutes of silence, unless the agent says otherwise' },
  {
    id: 'voice+text',
    text: 'Aloud and in writing',
    note: 'ends after 2 minutes of silence, unless the agent says otherwise',
  },
];

/** Settings of a test conversation. Every one of them has a default that does. */
export function SettingsForm({ settings, wrong, onChange }: Props) {
  const change = (changes: Partial<Settings>) => onChange({ ...settings, ...changes });
  return (
    <div className="stack">
      <div className="grid-2">
        <TextField
          label="User id"
          value={settings.userId}
          onChange={(userId) => change({ userId })}
          maxLength={256}
          wrong={wrong.userId}
          hint="Whom the conversation is with, as your application names them. The agent remembers by it."
        />
        <Select
          label="Kind"
          choices={modalities}
          value={settings.modality}
          onChange={(modality) => change({ modality: modality as Settings['modality'] })}
        />
      </div>
      <Variables variables={settings.variables} onChange={(variables) => change({ variables })} />
      <TextArea
        label="Overrides (JSON)"
        code
        rows={3}
        value={settings.overrides}
        onChange={(overrides) => change({ overrides })}
        wrong={wrong.overrides}
        placeholder={'{"instructions": "Answer in rhymes.", "temperature": 0.2}'}
        hint="Fields of the agent for this conversation: instructions, first_message, language, model, temperature, voice, retrieval."
      />
      <TextArea
        label="Tools that you answer by hand (JSON)"
        code
        rows={4}
        value={settings.clientTools}
        onChange={(clientTools) => change({ clientTools })}
        wrong={wrong.clientTools}
        hint="When the agent calls one, you are asked for its result, as your client would give it."
      />
      {settings.clientTools.trim() === '' && (
        <div>
          <Button kind="quiet" onPress={() => change({ clientTools: JSON.stringify(exampleTools, null, 2) })}>
            Fill in an example tool
          </Button>
        </div>
      )}
    </div>
  );
}

function Variables({ variables, onChange }: { variables: Variable[]; onChange(variables: Variable[]): void }) {
  const set = (at: number, changes: Partial<Variable>) =>
    onChange(variables.map((one, place) => (place === at ? { ...one, ...changes } : one)));
  return (
    <fieldset className="variables">
      <legend>Variables</legend>
      <p className="small dim">
        They fill {'{{name}}'} in instructions, first message and tools. Names that begin with secret__ reach tools
        only.
      </p>
      {variables.map(({ name, value }, at) => (
        <div key={at} className="variable">
          <TextField
            label={`Variable ${at + 1}`}
            placeholder="name"
            value={name}
            onChange={(changed) => set(at, { name: changed })}
            code
          />
          <TextField label={`Value ${at + 1}`} value={value} onChange={(changed) => set(at, { value: changed })} />
          <Button
            icon
            kind="quiet"
            aria-label={`Remove variable ${name || at + 1}`}
            onPress={() => onChange(variables.filter((_, place) => place !== at))}
          >
            ✕
          </Button>
        </div>
      ))}
      <div>
        <Button onPress={() => onChange([...variables, { name: '', value: '' }])}>Add a variable</Button>
      </div>
    </fieldset>
  );
}
