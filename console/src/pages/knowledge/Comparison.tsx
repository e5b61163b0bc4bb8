import { useQuery } from '@tanstack/react-query';

import type { EvaluationChange, EvaluationMove, KnowledgeEvaluation } from '#gen/knowledge_pb';

import * as api from '../../api/clients';
import { useHere } from '../../app/caller';
import { useFilters } from '../../app/location';
import { count } from '../../ui/format';
import { Badge, Card } from '../../ui/Page';
import { Select } from '../../ui/Select';
import { rankingName } from './Evaluations';

/** What got better and worse since another evaluation, which is chosen here. */
export function Comparison({ evaluation: { id, agentId, comparison } }: { evaluation: KnowledgeEvaluation }) {
  const { workspaceId } = useHere();
  const [filters, change] = useFilters(['before']);
  const { data: others = [] } = useQuery({
    retry: false, // of an agent that was deleted they cannot be listed
    queryKey: ['evaluations', workspaceId, 'of agent', agentId],
    queryFn: async ({ signal }) =>
      (await api.knowledge.listKnowledgeEvaluations({ workspaceId, agentId, pageSize: 200 }, { signal })).evaluations,
  });
  const choices = others.filter((one) => one.id !== id).map((one) => ({ id: one.id, text: one.name || one.id }));
  if (choices.length === 0) return null;
  return (
    <Card title="Compared with an earlier one">
      <div style={{ maxWidth: 360 }}>
        <Select
          label="Earlier evaluation"
          choices={[{ id: '', text: 'None' }, ...choices]}
          value={filters.before}
          onChange={(before) => change({ before })}
        />
      </div>
      {comparison && (
        <>
          {comparison.changes.map((one) => (
            <Change key={one.ranking} change={one} />
          ))}
          {comparison.onlyHere + comparison.onlyThere > 0 && (
            <p className="dim small">
              {count(comparison.onlyHere)} questions are only here, {count(comparison.onlyThere)} only in the earlier
              one; they are not compared.
            </p>
          )}
        </>
      )}
    </Card>
  );
}

const signed = (value: number) => `${value > 0 ? '+' : ''}${value.toFixed(3)}`;
const points = (value: number) => `${value > 0 ? '+' : ''}${(100 * value).toFixed(1)} points`;

function Change({ change: { ranking, hitRateChange, mrrChange, same, better, worse } }: { change: EvaluationChange }) {
  const tone =
    hitRateChange > 0 || (hitRateChange === 0 && mrrChange > 0)
      ? 'good'
      : hitRateChange < 0 || mrrChange < 0
        ? 'bad'
        : undefined;
  return (
    <div className="stack">
      <h3 className="row">
        {rankingName(ranking)} <Badge tone={tone}>{points(hitRateChange)}</Badge>{' '}
        <span className="dim small">
          MRR {signed(mrrChange)}; {same} as before, {better.length} better, {worse.length} worse
        </span>
      </h3>
      {worse.length > 0 && <Moves title="Worse" moves={worse} />}
      {better.length > 0 && <Moves title="Better" moves={better} />}
    </div>
  );
}

const place = (rank: number) => (rank === 0 ? 'not found' : `place ${rank}`);

const Moves = ({ title, moves }: { title: string; moves: EvaluationMove[] }) => (
  <details>
    <summary>
      {title}: {moves.length}
    </summary>
    <ul>
      {moves.map(({ q, rankBefore, rank }) => (
        <li key={q}>
          {q}{' '}
          <span className="dim small">
            {place(rankBefore)} → {place(rank)}
          </span>
        </li>
      ))}
    </ul>
  </details>
);
