import { create } from '@bufbuild/protobuf';

import {
  AgentBudgetSchema,
  FatigueWindowSchema,
  ModelRefSchema,
  type AgentBudget,
  type FatigueWindow,
} from '#gen/agents_pb';

import { Checkbox, TextArea, TextField } from '../../ui/Field';
import { Card } from '../../ui/Page';
import { Select } from '../../ui/Select';
import { useEditor } from './editor';
import { Amount, Items } from './fields';
import { ModelFields } from './Instructions';

/** How long and how much: of one conversation, of one user, of the agent. */
export function Limits() {
  const { settings, edit, wrong } = useEditor();
  return (
    <>
      <Card title="One conversation">
        <div className="grid-2">
          <Amount
            label="Longest conversation, seconds"
            value={settings.maxDurationSeconds}
            onChange={(maxDurationSeconds) => edit({ maxDurationSeconds })}
            wrong={wrong('max_duration_seconds')}
            placeholder="3600"
            hint="10 to 86,400 (a day)."
          />
          <Amount
            label="Longest silence, seconds"
            value={settings.idleTimeoutSeconds}
            onChange={(idleTimeoutSeconds) => edit({ idleTimeoutSeconds })}
            wrong={wrong('idle_timeout_seconds')}
            placeholder="120 for voice, 1800 for text"
            hint="Then the conversation ends."
          />
        </div>
      </Card>
      <Card title="Budgets">
        <p className="dim small">
          What the models of its conversations may use. When a budget is used up, the agent says the message and the
          conversation ends.
        </p>
        <Items
          what="budget"
          most={3}
          items={settings.budgets}
          onChange={(budgets) => edit({ budgets })}
          title={budgetTitle}
          make={() =>
            create(AgentBudgetSchema, {
              per:
                ['session', 'user', 'agent'].find((per) => !settings.budgets.some((budget) => budget.per === per)) ??
                'session',
            })
          }
        >
          {(item, set, index) => <Budget budget={item} set={set} at={`budgets[${index}]`} />}
        </Items>
      </Card>
      <Card title="Use by one person">
        <p className="dim small">
          How much one user may talk with the agent in a time. When a maximum is reached, the webhook event
          fatigue.alert is sent.
        </p>
        <Items
          what="limit"
          most={20}
          items={settings.fatigue}
          onChange={(fatigue) => edit({ fatigue })}
          title={({ window }) => `In ${window}`}
          make={() => create(FatigueWindowSchema, { window: '24h', maxSessions: 20, action: 'alert' })}
        >
          {(item, set, index) => <Fatigue limit={item} set={set} at={`fatigue[${index}]`} />}
        </Items>
      </Card>
      <Overrides />
    </>
  );
}

const per = [
  { id: 'session', text: 'one conversation' },
  { id: 'user', text: 'one user, in 24 hours' },
  { id: 'agent', text: 'the whole agent, in a month' },
];

const budgetTitle = (budget: AgentBudget) => `For ${per.find(({ id }) => id === budget.per)?.text ?? budget.per}`;

function Budget({ budget, set, at }: { budget: AgentBudget; set(patch: Partial<AgentBudget>): void; at: string }) {
  const { wrong } = useEditor();
  return (
    <>
      <Select label="For" choices={per} value={budget.per} onChange={(next) => set({ per: next })} />
      <div className="grid-2">
        <Amount
          label="Most tokens"
          value={budget.maxTokens}
          onChange={(maxTokens) => set({ maxTokens })}
          wrong={wrong(`${at}.max_tokens`)}
          placeholder="no limit"
        />
        <Amount
          label="Most cost"
          value={budget.maxCost}
          onChange={(maxCost) => set({ maxCost })}
          wrong={wrong(`${at}.max_cost`)}
          placeholder="no limit"
          hint="In the currency of the installation's prices."
        />
      </div>
      <TextArea
        label="What the agent says when it is used up"
        rows={2}
        value={budget.message}
        onChange={(message) => set({ message })}
        wrong={wrong(`${at}.message`)}
      />
      <Checkbox
        isSelected={!!budget.degradeModel}
        onChange={(is) => set({ degradeModel: is ? create(ModelRefSchema) : undefined })}
      >
        Answer with a cheaper model before that
      </Checkbox>
      {budget.degradeModel && (
        <>
          <ModelFields
            value={budget.degradeModel}
            onChange={(patch) => set({ degradeModel: { ...create(ModelRefSchema), ...budget.degradeModel, ...patch } })}
            wrong={wrong}
            at={`${at}.degrade_model`}
          />
          <Amount
            label="From this share of the limit, percent"
            maxValue={100}
            value={budget.degradePercent}
            onChange={(degradePercent) => set({ degradePercent })}
            wrong={wrong(`${at}.degrade_percent`)}
            placeholder="80"
          />
        </>
      )}
    </>
  );
}

const actions = [
  { id: 'alert', text: 'Only send the event' },
  { id: 'suggest', text: 'Say the message at the end of the turn' },
  { id: 'refuse', text: 'Refuse new sessions' },
];

function Fatigue({ limit, set, at }: { limit: FatigueWindow; set(patch: Partial<FatigueWindow>): void; at: string }) {
  const { wrong } = useEditor();
  return (
    <>
      <TextField
        label="In"
        value={limit.window}
        onChange={(window) => set({ window })}
        wrong={wrong(`${at}.window`)}
        hint="Such as 30m, 24h or 168h (a week)."
      />
      <div className="grid-3">
        <Amount
          label="Most turns"
          value={limit.maxTurns}
          onChange={(maxTurns) => set({ maxTurns })}
          wrong={wrong(`${at}.max_turns`)}
          placeholder="no limit"
        />
        <Amount
          label="Most conversations"
          value={limit.maxSessions}
          onChange={(maxSessions) => set({ maxSessions })}
          wrong={wrong(`${at}.max_sessions`)}
          placeholder="no limit"
        />
        <Amount
          label="Most minutes"
          value={limit.maxMinutes}
          onChange={(maxMinutes) => set({ maxMinutes })}
          wrong={wrong(`${at}.max_minutes`)}
          placeholder="no limit"
        />
      </div>
      <Select label="Then" choices={actions} value={limit.action || 'alert'} onChange={(action) => set({ action })} />
      {limit.action === 'suggest' && (
        <TextArea
          label="Message"
          rows={2}
          value={limit.message}
          onChange={(message) => set({ message })}
          wrong={wrong(`${at}.message`)}
        />
      )}
    </>
  );
}

const overrideKeys = [
  'instructions',
  'first_message',
  'language',
  'model',
  'temperature',
  'voice',
  'retrieval',
  'stt',
  'tts',
  'vad',
  'turn_detection',
  'input_audio_format',
  'output_audio_format',
];

function Overrides() {
  const { settings, edit, wrong } = useEditor();
  const toggle = (list: string[], key: string, is: boolean) =>
    is ? [...list, key] : list.filter((other) => other !== key);
  return (
    <Card title="What one conversation may change">
      <p className="dim small">
        Your programs may set these for one session. What a browser or a device sends by itself counts only where you
        allow it.
      </p>
      <fieldset className="checks">
        <legend>Programs may not change</legend>
        {overrideKeys.map((key) => (
          <Checkbox
            key={key}
            isSelected={settings.lockedOverrides.includes(key)}
            onChange={(is) => edit({ lockedOverrides: toggle(settings.lockedOverrides, key, is) })}
          >
            <code>{key}</code>
          </Checkbox>
        ))}
      </fieldset>
      <fieldset className="checks">
        <legend>Browsers and devices may change</legend>
        {[...overrideKeys, 'dynamic_variables'].map((key) => (
          <Checkbox
            key={key}
            isSelected={settings.clientOverrides.includes(key)}
            onChange={(is) => edit({ clientOverrides: toggle(settings.clientOverrides, key, is) })}
          >
            <code>{key}</code>
          </Checkbox>
        ))}
      </fieldset>
      {(wrong('locked_overrides') ?? wrong('client_overrides')) && (
        <p className="note bad">{wrong('locked_overrides') ?? wrong('client_overrides')}</p>
      )}
    </Card>
  );
}
