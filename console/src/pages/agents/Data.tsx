// What is kept and what is found out: memory, privacy and analysis.

import { create } from '@bufbuild/protobuf';

import {
  AnalysisCriterionSchema,
  AnalysisFieldSchema,
  type AgentAnalysis,
  type AgentMemory,
  type AnalysisField,
  type PrivacySettings,
} from '#gen/agents_pb';
import { RetentionSettingsSchema } from '#gen/workspaces_pb';

import { Checkbox, Switch, TextArea, TextField } from '../../ui/Field';
import { Card } from '../../ui/Page';
import { Select } from '../../ui/Select';
import { useEditor } from './editor';
import { Amount, Items, Lines } from './fields';

/** What the agent remembers of its users. */
export function Memory() {
  const {
    settings: { memory },
    edit,
    wrong,
  } = useEditor();
  const set = (patch: Partial<AgentMemory>) => edit({ memory: { ...memory, ...patch } });
  return (
    <Card>
      <Switch isSelected={memory.enabled} onChange={(enabled) => set({ enabled })}>
        Remember users across conversations
      </Switch>
      {wrong('memory') && <p className="note bad">{wrong('memory')}</p>}
      <Switch
        isSelected={!memory.skipExtraction}
        isDisabled={!memory.enabled}
        onChange={(is) => set({ skipExtraction: !is })}
      >
        Look for things to remember when a conversation is over
      </Switch>
      <Amount
        label="Most tokens of memories in a conversation"
        value={memory.maxTokens}
        onChange={(maxTokens) => set({ maxTokens })}
        wrong={wrong('memory.max_tokens')}
        placeholder="800"
        hint="100 to 8,000. The rest is found by searching."
      />
      <Lines
        label="Categories that somebody must confirm"
        rows={2}
        value={memory.confirmCategories}
        onChange={(confirmCategories) => set({ confirmCategories })}
        wrong={wrong('memory.confirm_categories')}
        hint={
          <>
            One a line; <code>*</code> is every category. Such memories wait until the user or an operator confirms
            them.
          </>
        }
      />
      <p className="small">
        What is remembered of each person is in <a href="#/users">Users</a>.
      </p>
    </Card>
  );
}

const kinds = [
  { id: 'card', text: 'Card numbers' },
  { id: 'email', text: 'E-mail addresses' },
  { id: 'phone', text: 'Telephone numbers' },
  { id: 'iban', text: 'Bank accounts (IBAN)' },
];

/** What is stored of the conversations, and for how long. */
export function Privacy() {
  const {
    settings: { privacy },
    edit,
    wrong,
  } = useEditor();
  const set = (patch: Partial<PrivacySettings>) => edit({ privacy: { ...privacy, ...patch } });
  const retention = privacy.retention ?? create(RetentionSettingsSchema);
  return (
    <>
      <Card title="What is stored">
        <fieldset className="checks">
          <legend>Replace before storing</legend>
          {kinds.map(({ id, text }) => (
            <Checkbox
              key={id}
              isSelected={privacy.redact.includes(id)}
              onChange={(is) =>
                set({ redact: is ? [...privacy.redact, id] : privacy.redact.filter((other) => other !== id) })
              }
            >
              {text}
            </Checkbox>
          ))}
        </fieldset>
        {wrong('privacy.redact') && <p className="note bad">{wrong('privacy.redact')}</p>}
        <Switch isSelected={privacy.zeroRetention} onChange={(zeroRetention) => set({ zeroRetention })}>
          Keep nothing of what is said
        </Switch>
        <p className="dim small">
          It is kept encrypted until the webhook with the transcript is delivered, and then deleted. Not together with
          memory, analysis or recording.
        </p>
        {wrong('privacy.zero_retention') && <p className="note bad">{wrong('privacy.zero_retention')}</p>}
      </Card>
      <Card title="How long it is kept">
        <div className="grid-2">
          <Amount
            label="Conversations, days"
            value={retention.transcriptDays}
            onChange={(transcriptDays) => set({ retention: { ...retention, transcriptDays } })}
            wrong={wrong('privacy.retention.transcript_days')}
            placeholder="as the workspace says"
          />
          <Amount
            label="Recordings, days"
            value={retention.audioDays}
            onChange={(audioDays) => set({ retention: { ...retention, audioDays } })}
            wrong={wrong('privacy.retention.audio_days')}
            placeholder="as the workspace says"
          />
        </div>
        <p className="dim small">When this is published it counts for all conversations that there are.</p>
      </Card>
    </>
  );
}

const types = ['string', 'number', 'integer', 'boolean', 'enum'].map((id) => ({
  id,
  text:
    { string: 'Text', number: 'Number', integer: 'Whole number', boolean: 'Yes or no', enum: 'One of several' }[id] ??
    id,
}));

/** What a model finds out about each conversation when it is over. */
export function Analysis() {
  const {
    settings: { analysis },
    edit,
    wrong,
  } = useEditor();
  const set = (patch: Partial<AgentAnalysis>) => edit({ analysis: { ...analysis, ...patch } });
  return (
    <>
      <Card>
        <Switch isSelected={analysis.enabled} onChange={(enabled) => set({ enabled })}>
          Analyse conversations when they are over
        </Switch>
        <p className="dim small">
          A summary, whether it was a success, and what you ask for below. It costs one call of the model for each
          conversation.
        </p>
        {wrong('analysis') && <p className="note bad">{wrong('analysis')}</p>}
        <TextField
          label="Language of the summary"
          value={analysis.language}
          onChange={(language) => set({ language })}
          wrong={wrong('analysis.language')}
          placeholder="the conversation's"
        />
      </Card>
      <Card title="What makes it a success">
        <p className="dim small">Without any the model judges whether the user got what they wanted.</p>
        <Items
          what="criterion"
          most={30}
          items={analysis.criteria}
          onChange={(criteria) => set({ criteria })}
          title={({ id, name }) => name || id}
          make={() => create(AnalysisCriterionSchema, { id: `criterion_${analysis.criteria.length + 1}` })}
        >
          {(item, change, index) => (
            <>
              <div className="grid-2">
                <TextField
                  label="Name"
                  value={item.name}
                  onChange={(name) => change({ name })}
                  wrong={wrong(`analysis.criteria[${index}].name`)}
                />
                <TextField
                  code
                  label="Key in results"
                  value={item.id}
                  onChange={(id) => change({ id })}
                  wrong={wrong(`analysis.criteria[${index}].id`)}
                />
              </div>
              <TextArea
                label="When it is met"
                rows={2}
                value={item.prompt}
                onChange={(prompt) => change({ prompt })}
                wrong={wrong(`analysis.criteria[${index}].prompt`)}
                placeholder="The user's question was answered, or an appointment made."
              />
            </>
          )}
        </Items>
      </Card>
      <Card title="What to read out of it">
        <Items
          what="value"
          most={40}
          items={analysis.data}
          onChange={(data) => set({ data })}
          title={({ id, type }) => `${id} (${types.find((other) => other.id === type)?.text ?? type})`}
          make={() => create(AnalysisFieldSchema, { id: `value_${analysis.data.length + 1}`, type: 'string' })}
        >
          {(item, change, index) => <DataField field={item} change={change} at={`analysis.data[${index}]`} />}
        </Items>
      </Card>
    </>
  );
}

function DataField({
  field,
  change,
  at,
}: {
  field: AnalysisField;
  change(patch: Partial<AnalysisField>): void;
  at: string;
}) {
  const { wrong } = useEditor();
  return (
    <>
      <div className="grid-2">
        <TextField
          code
          label="Key in results"
          value={field.id}
          onChange={(id) => change({ id })}
          wrong={wrong(`${at}.id`)}
        />
        <Select
          label="Kind"
          choices={types}
          value={field.type}
          onChange={(type) => change({ type, enum: type === 'enum' ? field.enum : [] })}
        />
      </div>
      <TextArea
        label="What it is"
        rows={2}
        value={field.description}
        onChange={(description) => change({ description })}
        wrong={wrong(`${at}.description`)}
        placeholder="Number of the order, as the user said it."
      />
      {field.type === 'enum' && (
        <Lines
          label="The values"
          value={field.enum}
          onChange={(values) => change({ enum: values })}
          wrong={wrong(`${at}.enum`)}
          hint="One a line."
        />
      )}
    </>
  );
}
