import { create } from '@bufbuild/protobuf';

import { ModelRefSchema, type AgentModel, type ModelRef } from '#gen/agents_pb';

import { TextArea, TextField } from '../../ui/Field';
import { Card } from '../../ui/Page';
import { Select } from '../../ui/Select';
import { useEditor } from './editor';
import { Amount, Items, OptionalNumber } from './fields';

/** What the agent is told, what it says first, and which model answers. */
export function Instructions() {
  const { settings, edit, wrong } = useEditor();
  return (
    <>
      <Card>
        <TextField
          label="Name"
          value={settings.name}
          onChange={(name) => edit({ name })}
          wrong={wrong('name')}
          maxLength={200}
        />
        <TextArea
          label="Instructions"
          rows={14}
          value={settings.instructions}
          onChange={(instructions) => edit({ instructions })}
          wrong={wrong('instructions')}
          hint={
            <>
              Who the agent is, what it does, and what it must not do. <code>{'{{name}}'}</code> is a variable of the
              session. {settings.instructions.length.toLocaleString('en')} of 100,000 characters.
            </>
          }
        />
        <TextArea
          label="First message"
          rows={3}
          value={settings.firstMessage}
          onChange={(firstMessage) => edit({ firstMessage })}
          wrong={wrong('first_message')}
          hint="What the agent says before the user has said anything. Empty: it waits for the user."
        />
        <TextField
          label="Language"
          value={settings.language}
          onChange={(language) => edit({ language })}
          wrong={wrong('language')}
          placeholder="the user's"
          hint="Such as en, or de-CH for Swiss German. Empty: the language of the user."
        />
      </Card>
      <Model />
    </>
  );
}

const known = ['openai', 'anthropic', 'azure', 'extractive'];
const names: Record<string, string> = {
  openai: 'OpenAI, or a server with its API',
  anthropic: 'Anthropic',
  azure: 'Azure OpenAI',
  extractive: 'Built in: quotes documents, no language model',
};

/** The provider and the name of a model. */
export function ModelFields({
  value,
  onChange,
  wrong,
  at,
}: {
  value: Pick<ModelRef, 'provider' | 'name'>;
  onChange(patch: { provider?: string; name?: string }): void;
  wrong?(path: string): string | undefined;
  at?: string;
}) {
  const choices = [...new Set([...known, ...(value.provider ? [value.provider] : [])])].map((id) => ({
    id,
    text: names[id] ?? id,
  }));
  return (
    <div className="grid-2">
      <Select
        label="Provider"
        value={value.provider}
        onChange={(provider) => onChange({ provider })}
        choices={[{ id: '', text: "The installation's" }, ...choices]}
      />
      <TextField
        label="Model"
        value={value.name}
        onChange={(name) => onChange({ name })}
        wrong={wrong?.(`${at}.name`) ?? wrong?.(`${at}.provider`)}
        placeholder="the installation's"
      />
    </div>
  );
}

function Model() {
  const {
    settings: { model },
    edit,
    wrong,
  } = useEditor();
  const change = (patch: Partial<AgentModel>) => edit({ model: { ...model, ...patch } });
  return (
    <Card title="Model">
      <ModelFields value={model} onChange={change} wrong={wrong} at="model" />
      <div className="grid-3">
        <OptionalNumber
          label="Temperature"
          minValue={0}
          maxValue={2}
          step={0.1}
          value={model.temperature}
          onChange={(temperature) => change({ temperature })}
          wrong={wrong('model.temperature')}
          placeholder="the provider's"
          hint="0: the same answer each time; 2: most varied."
        />
        <Amount
          label="Longest answer, tokens"
          value={model.maxOutputTokens}
          onChange={(maxOutputTokens) => change({ maxOutputTokens })}
          wrong={wrong('model.max_output_tokens')}
          placeholder="the provider's"
        />
        <Amount
          label="Earlier turns, tokens"
          value={model.historyTokens}
          onChange={(historyTokens) => change({ historyTokens })}
          wrong={wrong('model.history_tokens')}
          placeholder="6000"
          hint="What is older is summarised."
        />
      </div>
      <h3>When it fails</h3>
      <p className="dim small">These are asked in this order when a model fails before its first word. At most five.</p>
      <Items
        what="fallback"
        most={5}
        items={model.fallbacks}
        onChange={(fallbacks) => change({ fallbacks })}
        make={() => create(ModelRefSchema)}
      >
        {(item, set, index) => (
          <ModelFields value={item} onChange={set} wrong={wrong} at={`model.fallbacks[${index}]`} />
        )}
      </Items>
    </Card>
  );
}
