import { useState } from 'react';

import type { KnowledgeEvaluation } from '#gen/knowledge_pb';

import * as api from '../../api/clients';
import { useList } from '../../api/useList';
import { useHere, useMay } from '../../app/caller';
import { AgentName } from '../../ui/AgentName';
import { Button } from '../../ui/Button';
import type { Column } from '../../ui/DataTable';
import { count, percent } from '../../ui/format';
import { List } from '../../ui/List';
import { Empty, Page } from '../../ui/Page';
import { Time } from '../../ui/Time';
import './knowledge.css';
import { NewEvaluation } from './NewEvaluation';

/** What a ranking is called. */
export const rankingName = (ranking: string) => (ranking === 'hybrid' ? 'Meaning and words' : 'Meaning only');

export default function Evaluations() {
  const { workspaceId } = useHere();
  const mayChange = useMay('operator');
  const [isNew, setNew] = useState(false);
  const list = useList(['evaluations', workspaceId], async (pageToken, signal) => {
    const { evaluations, nextPageToken } = await api.knowledge.listKnowledgeEvaluations(
      { workspaceId, pageSize: 200, pageToken },
      { signal },
    );
    return { rows: evaluations, nextPageToken };
  });
  const add = mayChange && (
    <Button kind="primary" onPress={() => setNew(true)}>
      New evaluation
    </Button>
  );
  return (
    <Page
      title="Evaluations"
      lead={
        <>
          <a href="#/knowledge">All sources</a> · Questions whose answers are known: how many does the search find? Ask
          them before and after a change.
        </>
      }
      actions={add}
    >
      <List
        label="Evaluations"
        list={list}
        rowKey={({ id }) => id}
        href={({ id }) => `/knowledge/evaluations/${id}`}
        columns={useColumns()}
        empty={
          <Empty title="No evaluation yet" action={add}>
            Collect questions of users, and name for each the source that answers it. Only the search is run, so it
            costs nearly nothing.
          </Empty>
        }
      />
      {isNew && <NewEvaluation onClose={() => setNew(false)} />}
    </Page>
  );
}

function useColumns(): Column<KnowledgeEvaluation>[] {
  const rate = (evaluation: KnowledgeEvaluation, ranking: string) => {
    const metrics = evaluation.metrics.find((one) => one.ranking === ranking);
    return metrics ? percent(metrics.hits, evaluation.questionCount) : '–';
  };
  return [
    { id: 'name', title: 'Name', cell: ({ name, id }) => name || id },
    { id: 'agent', title: 'Agent', cell: ({ agentId }) => <AgentName id={agentId} /> },
    { id: 'questions', title: 'Questions', number: true, cell: ({ questionCount }) => count(questionCount) },
    { id: 'hybrid', title: 'Found by meaning and words', number: true, cell: (one) => rate(one, 'hybrid') },
    { id: 'similarity', title: 'Found by meaning only', number: true, cell: (one) => rate(one, 'similarity') },
    { id: 'when', title: 'When', cell: ({ createdAt }) => <Time at={createdAt} /> },
  ];
}
