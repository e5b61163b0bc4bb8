import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { useLocation } from 'wouter';

import * as api from '../../api/clients';
import { failureOf } from '../../api/failure';
import { useMutation } from '../../api/useMutation';
import { useHere } from '../../app/caller';
import { useAgentChoices } from '../../api/useAgentNames';
import { AgentSelect } from '../../ui/AgentSelect';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { NumberField, TextArea, TextField } from '../../ui/Field';
import { FormFoot } from '../../ui/FormFoot';
import { Loading } from '../../ui/Page';
import { Select } from '../../ui/Select';
import { parseQuestions, type Question } from './questions';
import { SourcePicker } from './SourcePicker';

const most = 200; // CreateKnowledgeEvaluationRequest.questions
const rankings = [
  { id: '', text: 'Both', note: 'compares the two' },
  { id: 'hybrid', text: 'Meaning and words' },
  { id: 'similarity', text: 'Meaning only' },
];

/** Asks for questions with their sources, and has them evaluated. */
export function NewEvaluation({ onClose }: { onClose(): void }) {
  const { workspaceId } = useHere();
  const [, go] = useLocation();
  const client = useQueryClient();
  const { choices: agents } = useAgentChoices();
  const [chosen, setAgentId] = useState('');
  const [name, setName] = useState('');
  const [topK, setTopK] = useState(5);
  const [ranking, setRanking] = useState('');
  const [questions, setQuestions] = useState<Question[]>([{ q: '', sourceId: '', sourceName: '' }]);
  const agentId = chosen || (agents[0]?.id ?? '');
  const complete = questions.filter(
    ({ q, sourceId, sourceName }) => q.trim() !== '' && (sourceId !== '' || sourceName !== ''),
  );
  const run = useMutation({
    mutationFn: (_, once) =>
      api.knowledge.createKnowledgeEvaluation(
        {
          workspaceId,
          agentId,
          name,
          topK,
          rankings: ranking ? [ranking] : [],
          questions: complete.map(({ q, sourceId, sourceName }) => ({
            q,
            sourceIds: sourceId ? [sourceId] : [],
            sourceNames: sourceId ? [] : [sourceName],
          })),
        },
        once,
      ),
    onSuccess: ({ id }) => {
      void client.invalidateQueries({ queryKey: ['evaluations'] });
      go(`/knowledge/evaluations/${id}`);
    },
  });
  const wrong = run.error ? failureOf(run.error).fields : {};
  return (
    <Dialog title="New evaluation" shape="wide" onClose={onClose}>
      <Form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          run.mutate();
        }}
      >
        <div className="grid-2">
          <TextField
            label="Name"
            value={name}
            onChange={setName}
            autoFocus
            placeholder="Before the new handbook"
            maxLength={200}
            wrong={wrong['name']}
          />
          <AgentSelect label="Agent" value={agentId} onChange={setAgentId} />
          <NumberField
            label="Passages for each question"
            value={topK}
            minValue={1}
            maxValue={50}
            onChange={(value) => setTopK(value || 5)}
          />
          <Select label="Ranking" choices={rankings} value={ranking} onChange={setRanking} />
        </div>
        <Questions questions={questions} onChange={setQuestions} />
        {run.isPending && <Loading what={`Asking ${complete.length} questions…`} />}
        <FormFoot
          of={run}
          onClose={onClose}
          isDisabled={agentId === '' || complete.length === 0 || complete.length > most}
        >
          {complete.length === 0 ? 'Run' : `Run ${complete.length} ${complete.length === 1 ? 'question' : 'questions'}`}
        </FormFoot>
      </Form>
    </Dialog>
  );
}

function Questions({ questions, onChange }: { questions: Question[]; onChange(questions: Question[]): void }) {
  const [pasted, setPasted] = useState<string>();
  const set = (at: number, changes: Partial<Question>) =>
    onChange(questions.map((one, index) => (index === at ? { ...one, ...changes } : one)));
  const take = () => {
    onChange([...questions.filter(({ q }) => q !== ''), ...parseQuestions(pasted ?? '')]);
    setPasted(undefined);
  };
  return (
    <fieldset className="stack plain">
      <legend>Questions</legend>
      {pasted === undefined ? (
        questions.map(({ q, sourceId, sourceName }, at) => (
          <div key={at} className="question-row">
            <TextField label={`Question ${at + 1}`} value={q} onChange={(value) => set(at, { q: value })} />
            {sourceName !== '' && sourceId === '' ? (
              <TextField
                label={`Name of the source that answers question ${at + 1}`}
                value={sourceName}
                onChange={(value) => set(at, { sourceName: value })}
              />
            ) : (
              <SourcePicker
                label={`Source that answers question ${at + 1}`}
                value={sourceId}
                onChange={(id) => set(at, { sourceId: id })}
              />
            )}
            <Button
              icon
              aria-label={`Remove question ${at + 1}`}
              onPress={() => onChange(questions.filter((_, index) => index !== at))}
            >
              ✕
            </Button>
          </div>
        ))
      ) : (
        <TextArea
          label="A question and the name of its source in each line, as CSV"
          code
          rows={8}
          value={pasted}
          onChange={setPasted}
          placeholder={'question,source\nHow long can I return a book?,returns.md'}
        />
      )}
      {questions.length > most && (
        <p className="bad-text small" role="alert">
          An evaluation has at most {most} questions.
        </p>
      )}
      <div className="row">
        {pasted === undefined ? (
          <>
            <Button onPress={() => onChange([...questions, { q: '', sourceId: '', sourceName: '' }])}>
              Add a question
            </Button>
            <Button onPress={() => setPasted('')}>Paste many</Button>
          </>
        ) : (
          <>
            <Button onPress={take} isDisabled={parseQuestions(pasted).length === 0}>
              Take {parseQuestions(pasted).length} questions
            </Button>
            <Button onPress={() => setPasted(undefined)}>Back</Button>
          </>
        )}
      </div>
    </fieldset>
  );
}
