import { create } from '@bufbuild/protobuf';
import { useState } from 'react';

import { AgentGuardSchema, GuardJudgeSchema, ModelRefSchema, type AgentGuard, type GuardJudge } from '#gen/agents_pb';

import * as api from '../../api/clients';
import { useMutation } from '../../api/useMutation';
import { Button } from '../../ui/Button';
import { Checkbox, TextArea, TextField } from '../../ui/Field';
import { Badge, Card, FailureNote } from '../../ui/Page';
import { Select } from '../../ui/Select';
import { useEditor } from './editor';
import { Items, Lines, OptionalNumber } from './fields';
import { ModelFields } from './Instructions';

/** What the agent stays away from. */
export function Guards() {
  const { settings, edit } = useEditor();
  return (
    <>
      <Card title="No-go zones">
        <p className="dim small">
          What the user says is looked at before anything else sees it, and what the agent says before it is sent. The
          first zone that fits acts.
        </p>
        <Items
          what="guard"
          most={100}
          items={settings.guards}
          onChange={(guards) => edit({ guards })}
          make={() => create(AgentGuardSchema, { name: `Zone ${settings.guards.length + 1}`, action: 'block' })}
          title={({ name, action }) => (
            <>
              {name || 'No name yet'} <Badge>{actions.find(({ id }) => id === action)?.text ?? action}</Badge>
            </>
          )}
        >
          {(item, set, index) => <Guard guard={item} set={set} at={`guards[${index}]`} />}
        </Items>
      </Card>
      <TryGuards />
      <Card title="Orders in texts from outside">
        <Select
          label="When a document, a memory or a tool's answer seems to dictate a call of a tool"
          value={settings.injectionPolicy || 'flag'}
          onChange={(injectionPolicy) => edit({ injectionPolicy })}
          choices={[
            { id: 'flag', text: 'Make the call, and note the suspicion' },
            { id: 'block', text: 'Do not make the call', note: 'The agent asks the user instead.' },
            { id: 'off', text: 'Do not look' },
          ]}
        />
      </Card>
    </>
  );
}

const actions = [
  { id: 'block', text: 'Say only the reply' },
  {
    id: 'escalate',
    text: 'Say the reply, and raise an alarm',
    note: 'The webhook event escalation.triggered is sent; with Handover a person is asked for.',
  },
  { id: 'end', text: 'Say the reply, and end' },
];

function Guard({ guard, set, at }: { guard: AgentGuard; set(patch: Partial<AgentGuard>): void; at: string }) {
  const { wrong } = useEditor();
  return (
    <>
      <div className="grid-2">
        <TextField label="Name" value={guard.name} onChange={(name) => set({ name })} wrong={wrong(`${at}.name`)} />
        <Select label="What happens" choices={actions} value={guard.action} onChange={(action) => set({ action })} />
      </div>
      <TextArea
        label="Reply"
        rows={2}
        value={guard.reply}
        onChange={(reply) => set({ reply })}
        wrong={wrong(`${at}.reply`)}
        hint="What the agent says instead. Empty: nothing."
      />
      <Lines
        label="Phrases"
        value={guard.phrases}
        onChange={(phrases) => set({ phrases })}
        wrong={firstOf(wrong, `${at}.phrases`, guard.phrases.length)}
        hint="One a line, found as whole words. Case, accents and look-alike letters make no difference."
      />
      <Lines
        code
        label="Patterns"
        value={guard.patterns}
        onChange={(patterns) => set({ patterns })}
        wrong={firstOf(wrong, `${at}.patterns`, guard.patterns.length)}
        hint="Regular expressions (RE2), one a line."
        placeholder="\b[0-9]{4}( ?[0-9]{4}){3}\b"
      />
      <Lines
        label="Examples"
        value={guard.examples}
        onChange={(examples) => set({ examples })}
        wrong={firstOf(wrong, `${at}.examples`, guard.examples.length)}
        hint="Sentences whose meaning is guarded, one a line. They need an embedding model."
      />
      {guard.examples.length > 0 && (
        <OptionalNumber
          label="Least similarity to an example"
          minValue={0}
          maxValue={1}
          step={0.05}
          value={guard.minSimilarity || undefined}
          onChange={(next) => set({ minSimilarity: next ?? 0 })}
          wrong={wrong(`${at}.min_similarity`)}
          hint="0 to 1. Begin with 0.7, and see below what sentences have."
        />
      )}
      <Checkbox
        isSelected={!!guard.judge}
        onChange={(is) => set({ judge: is ? create(GuardJudgeSchema) : undefined })}
        hint="Costs a call of the model for each sentence."
      >
        Ask a language model
      </Checkbox>
      {guard.judge && <Judge judge={guard.judge} set={(judge) => set({ judge })} at={`${at}.judge`} />}
    </>
  );
}

/** What is wrong with a list, or with the first of its entries that is. */
function firstOf(wrong: (path: string) => string | undefined, path: string, length: number): string | undefined {
  const inside = Array.from(
    { length },
    (_, index) => wrong(`${path}[${index}]`) && `Line ${index + 1}: ${wrong(`${path}[${index}]`)}`,
  );
  return wrong(path) ?? inside.find(Boolean);
}

function Judge({ judge, set, at }: { judge: GuardJudge; set(judge: GuardJudge): void; at: string }) {
  const { wrong } = useEditor();
  return (
    <div className="stack inset">
      <TextArea
        label="What is forbidden"
        rows={3}
        value={judge.instructions}
        onChange={(instructions) => set({ ...judge, instructions })}
        wrong={wrong(`${at}.instructions`)}
        hint="Say also what is allowed: the model goes by these words alone."
      />
      <ModelFields
        value={judge.model ?? { provider: '', name: '' }}
        wrong={wrong}
        at={`${at}.model`}
        onChange={(patch) => {
          const model = { ...(judge.model ?? create(ModelRefSchema)), ...patch };
          set({ ...judge, model: model.provider || model.name ? model : undefined });
        }}
      />
      <Select
        label="When the model cannot be asked"
        value={judge.onFailure || 'block'}
        onChange={(onFailure) => set({ ...judge, onFailure })}
        choices={[
          { id: 'block', text: 'Hold the sentence back' },
          { id: 'allow', text: 'Let the sentence pass' },
        ]}
      />
    </div>
  );
}

function TryGuards() {
  const { workspaceId, agentId, draft } = useEditor();
  const [text, setText] = useState('');
  const check = useMutation({ mutationFn: () => api.agents.checkGuards({ workspaceId, agentId, text }) });
  return (
    <Card title="Try them">
      {draft && (
        <p className="dim small">
          This asks the published version. What you changed in the draft counts in the test conversation.
        </p>
      )}
      <TextArea label="What somebody might say" rows={2} value={text} onChange={setText} />
      <div>
        <Button onPress={() => check.mutate()} isDisabled={text.trim() === '' || check.isPending}>
          {check.isPending ? 'Checking…' : 'Check'}
        </Button>
      </div>
      {check.error && <FailureNote error={check.error} />}
      <div role="status" className="stack">
        {check.data?.verdicts.length === 0 && <p className="note good">No zone fits.</p>}
        {check.data?.verdicts.map(({ guard, action, matched, matchedBy, similarity }) => (
          <p key={guard} className="note warn">
            <b>{guard}</b> ({action}) by {matchedBy}
            {similarity > 0 && ` (${similarity.toFixed(2)})`}: <q>{matched}</q>
          </p>
        ))}
        {check.data?.reply && (
          <p>
            The agent would say: <q>{check.data.reply}</q>
          </p>
        )}
      </div>
    </Card>
  );
}
