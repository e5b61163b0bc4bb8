import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Form } from 'react-aria-components/Form';

import * as api from '../../api/clients';
import { useHere } from '../../app/caller';
import { useFilters } from '../../app/location';
import { useAgentChoices } from '../../api/useAgentNames';
import { AgentSelect } from '../../ui/AgentSelect';
import { Button } from '../../ui/Button';
import { NumberField, Switch, TextArea, TextField } from '../../ui/Field';
import { Card, Empty, FailureNote, Loading, Page } from '../../ui/Page';
import { Select } from '../../ui/Select';
import './knowledge.css';
import { QueryAnswer } from './QueryAnswer';
import { SourcePicker } from './SourcePicker';
import { parseTags } from './TagList';

/** What is asked, as the address has it. */
interface Asked {
  agent: string;
  q: string;
  k: string;
  ranking: string;
  rerank: string;
  floor: string;
  tags: string;
  explain: string;
}

const names = ['agent', 'q', 'k', 'ranking', 'rerank', 'floor', 'tags', 'explain'] as const;

export default function QueryTester() {
  const [asked, change] = useFilters(names);
  const { workspaceId } = useHere();
  const answer = useQuery({
    queryKey: ['knowledge query', workspaceId, asked],
    enabled: asked.agent !== '' && asked.q !== '',
    staleTime: 0,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      api.knowledge.queryKnowledge(
        {
          workspaceId,
          agentId: asked.agent,
          q: asked.q,
          topK: Number(asked.k) || 5,
          ranking: asked.ranking || 'hybrid',
          rerank: asked.rerank === 'yes',
          minSimilarity: asked.floor === '' ? undefined : Number(asked.floor),
          tags: asked.tags === '' ? undefined : { anyOf: parseTags(asked.tags) },
          explain: asked.explain !== '',
          explainSourceId: asked.explain,
        },
        { signal },
      ),
  });
  const ask = (next: Asked) => {
    if (JSON.stringify(next) === JSON.stringify(asked)) void answer.refetch();
    else change({ ...next });
  };
  return (
    <Page
      title="Ask a question"
      lead={
        <>
          <a href="#/knowledge">All sources</a> · What the search finds for a question, and why. No model is asked.
        </>
      }
    >
      <Card>
        <Question asked={asked} isAsking={answer.isFetching} onAsk={ask} />
      </Card>
      {answer.error && <FailureNote error={answer.error} />}
      {answer.isFetching && !answer.data && <Loading what="Searching…" />}
      {answer.data && !answer.error && (
        <QueryAnswer answer={answer.data} question={asked.q} onExplain={(explain) => change({ explain })} />
      )}
      {!answer.data && !answer.isFetching && !answer.error && (
        <Empty title="Nothing asked yet">
          Ask what a user would ask. You see the passages that the agent would get, best first, with their scores.
        </Empty>
      )}
    </Page>
  );
}

function Question({ asked, isAsking, onAsk }: { asked: Asked; isAsking: boolean; onAsk(asked: Asked): void }) {
  const [form, setForm] = useState({ ...asked, k: asked.k || '5', ranking: asked.ranking || 'hybrid' });
  const set = (changes: Partial<Asked>) => setForm({ ...form, ...changes });
  const { choices: agents } = useAgentChoices();
  const only = agents[0]?.id ?? '';
  useEffect(() => setForm((before) => ({ ...before, explain: asked.explain })), [asked.explain]);
  const agent = form.agent || only;
  return (
    <Form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        onAsk({ ...form, agent });
      }}
    >
      <div className="ask">
        <AgentSelect label="Agent" value={agent} onChange={(value) => set({ agent: value })} />
        <TextArea
          label="Question"
          rows={2}
          value={form.q}
          onChange={(q) => set({ q })}
          autoFocus
          placeholder="How long can I return a book?"
          maxLength={8000}
        />
      </div>
      <div className="row" style={{ alignItems: 'end' }}>
        <div style={{ flex: '1 1 240px', maxWidth: 420 }}>
          <SourcePicker
            label="Why not this source?"
            placeholder="Say why a source is not found"
            value={form.explain}
            onChange={(explain) => set({ explain })}
          />
        </div>
        <Button kind="primary" type="submit" isDisabled={isAsking || form.q.trim() === '' || agent === ''}>
          {isAsking ? 'Searching…' : 'Ask'}
        </Button>
      </div>
      <details
        className="more"
        open={
          asked.k !== '' &&
          (asked.k !== '5' || asked.ranking !== 'hybrid' || asked.floor + asked.tags + asked.rerank !== '')
        }
      >
        <summary>How it is searched</summary>
        <Settings form={form} set={set} />
      </details>
    </Form>
  );
}

const rankings = [
  { id: 'hybrid', text: 'Meaning and words', note: 'hybrid: as agents do' },
  { id: 'similarity', text: 'Meaning only', note: 'similarity' },
];

function Settings({ form, set }: { form: Asked; set(changes: Partial<Asked>): void }) {
  return (
    <div className="grid-3">
      <Select label="Ranking" choices={rankings} value={form.ranking} onChange={(ranking) => set({ ranking })} />
      <NumberField
        label="Passages"
        value={Number(form.k)}
        minValue={1}
        maxValue={50}
        onChange={(k) => set({ k: Number.isNaN(k) ? '5' : String(k) })}
      />
      <NumberField
        label="Least similarity"
        value={form.floor === '' ? NaN : Number(form.floor)}
        minValue={0}
        maxValue={1}
        step={0.01}
        placeholder="none"
        onChange={(floor) => set({ floor: Number.isNaN(floor) ? '' : String(floor) })}
      />
      <TextField
        label="Only with one of these tags"
        value={form.tags}
        placeholder="all"
        onChange={(tags) => set({ tags })}
      />
      <div style={{ alignSelf: 'end' }}>
        <Switch isSelected={form.rerank === 'yes'} onChange={(isOn) => set({ rerank: isOn ? 'yes' : '' })}>
          Rerank
        </Switch>
      </div>
    </div>
  );
}
