import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'wouter';

import type { KnowledgeEvaluation } from '#gen/knowledge_pb';

import * as api from '../../api/clients';
import { useMutation } from '../../api/useMutation';
import { useHere, useMay } from '../../app/caller';
import { useFilters } from '../../app/location';
import { AgentName } from '../../ui/AgentName';
import { Button } from '../../ui/Button';
import { useConfirm } from '../../ui/Dialog';
import { count, duration, percent } from '../../ui/format';
import { Card, Facts, Page } from '../../ui/Page';
import { Query } from '../../ui/Query';
import { Time } from '../../ui/Time';
import { tell, tellFailure } from '../../ui/toast';
import { Comparison } from './Comparison';
import { EvaluationRows } from './EvaluationRows';
import { rankingName } from './Evaluations';
import './knowledge.css';

export default function Evaluation({ params: { evaluationId } }: { params: { evaluationId: string } }) {
  const { workspaceId } = useHere();
  const [filters] = useFilters(['before']);
  const compareTo = filters.before;
  const query = useQuery({
    queryKey: ['evaluation', workspaceId, evaluationId, compareTo],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => api.knowledge.getKnowledgeEvaluation({ workspaceId, evaluationId, compareTo }, { signal }),
  });
  const evaluation = query.data;
  return (
    <Page
      title={evaluation?.name || 'Evaluation'}
      lead={<a href="#/knowledge/evaluations">All evaluations</a>}
      actions={evaluation && <Actions evaluation={evaluation} />}
    >
      <Query query={query}>{(found) => <Results evaluation={found} />}</Query>
    </Page>
  );
}

function Results({ evaluation }: { evaluation: KnowledgeEvaluation }) {
  const { metrics, questionCount, topK, minSimilarity, agentId, embeddingModel, createdAt, durationMs } = evaluation;
  return (
    <>
      <div className="grid-2">
        {metrics.map(({ ranking, hits, mrr }) => (
          <Card key={ranking} title={rankingName(ranking)}>
            <div className="number-tile">
              <div className="value">{percent(hits, questionCount)}</div>
              <p className="dim">
                {count(hits)} of {count(questionCount)} questions found among the first {topK} passages
              </p>
            </div>
            <p className="small">
              <strong>{mrr.toFixed(3)}</strong> <span className="dim">mean of 1 / place (MRR): 1 is always first</span>
            </p>
          </Card>
        ))}
      </div>
      <Card>
        <Facts
          facts={[
            [
              'Agent',
              <a href={`#/agents/${agentId}`}>
                <AgentName id={agentId} />
              </a>,
            ],
            [
              'Asked',
              <>
                <Time at={createdAt} />, in {duration(durationMs)}
              </>,
            ],
            ['Passages for each question', topK],
            ['Least similarity', minSimilarity],
            ['Compared by', embeddingModel],
          ]}
        />
      </Card>
      <Comparison evaluation={evaluation} />
      <EvaluationRows evaluation={evaluation} />
    </>
  );
}

/** Asks the same questions again, as things are now; or forgets them. */
function Actions({ evaluation }: { evaluation: KnowledgeEvaluation }) {
  const { workspaceId } = useHere();
  const confirm = useConfirm();
  const client = useQueryClient();
  const [, go] = useLocation();
  const { id: evaluationId, agentId, name, topK, minSimilarity, metrics, results } = evaluation;
  const changed = { onError: tellFailure, onSettled: () => client.invalidateQueries({ queryKey: ['evaluations'] }) };
  const again = useMutation({
    mutationFn: (_, once) =>
      api.knowledge.createKnowledgeEvaluation(
        {
          workspaceId,
          agentId,
          name: `${name || 'Evaluation'} (again)`.slice(0, 200),
          topK,
          minSimilarity,
          rankings: metrics.map(({ ranking }) => ranking),
          questions: results.map(({ q, sourceIds }) => ({ q, sourceIds })),
        },
        once,
      ),
    onSuccess: ({ id }) => go(`/knowledge/evaluations/${id}?before=${evaluationId}`),
    ...changed,
  });
  const remove = useMutation({
    mutationFn: () => api.knowledge.deleteKnowledgeEvaluation({ workspaceId, evaluationId }),
    onSuccess: () => {
      tell('The evaluation was deleted.');
      go('/knowledge/evaluations');
    },
    ...changed,
  });
  const askRemove = async () => {
    if (
      await confirm({
        title: 'Delete the evaluation?',
        text: 'Its questions and results are gone. This cannot be undone.',
        action: 'Delete',
      })
    )
      remove.mutate();
  };
  if (!useMay('operator')) return null;
  return (
    <>
      <Button kind="primary" isDisabled={again.isPending} onPress={() => again.mutate()}>
        {again.isPending ? `Asking ${results.length} questions…` : 'Ask them again'}
      </Button>
      <Button kind="danger" isDisabled={remove.isPending} onPress={() => void askRemove()}>
        Delete
      </Button>
    </>
  );
}
