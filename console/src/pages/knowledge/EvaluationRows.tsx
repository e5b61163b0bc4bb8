import type { EvaluationPlace, EvaluationResult, KnowledgeEvaluation } from '#gen/knowledge_pb';

import { useMay } from '../../app/caller';
import { useFilters } from '../../app/location';
import type { Column } from '../../ui/DataTable';
import { DataTable } from '../../ui/DataTable';
import { Switch } from '../../ui/Field';
import { Badge, Empty } from '../../ui/Page';
import { rankingName } from './Evaluations';

const reasons: Record<string, string> = {
  not_attached: 'not attached',
  not_ready: 'not ready',
  below_floor: 'below the least similarity',
  crowded_out: 'others were better',
};

/** The questions, and at which place each was found. */
export function EvaluationRows({
  evaluation: { results, metrics, agentId, topK },
}: {
  evaluation: KnowledgeEvaluation;
}) {
  const mayAsk = useMay('runtime');
  const [filters, change] = useFilters(['only']);
  const isMissesOnly = filters.only === 'misses';
  const misses = results.filter(({ places }) => places.some(({ rank }) => rank === 0));
  const columns: Column<EvaluationResult>[] = [
    { id: 'q', title: 'Question', cell: ({ q }) => q },
    {
      id: 'source',
      title: 'Answered by',
      cell: ({ sourceIds }) => (
        <span className="row">
          {sourceIds.map((id, n) => (
            <a key={id} href={`#/knowledge/${id}`}>
              source{sourceIds.length > 1 ? ` ${n + 1}` : ''}
            </a>
          ))}
        </span>
      ),
    },
    ...metrics.map(({ ranking }): Column<EvaluationResult> => ({
      id: ranking,
      title: rankingName(ranking),
      cell: ({ places }) => <Place place={places.find((place) => place.ranking === ranking)} />,
    })),
    {
      id: 'why',
      title: '',
      cell: ({ q, sourceIds }) => (
        <a
          href={`#/knowledge/test?${new URLSearchParams({ agent: agentId, q, k: String(topK), explain: sourceIds[0] ?? '' })}`}
        >
          Try it
        </a>
      ),
    },
  ];
  if (!mayAsk) columns.pop();
  const rows = isMissesOnly ? misses : results;
  return (
    <section className="stack">
      <div className="row between">
        <h2>Questions</h2>
        <Switch isSelected={isMissesOnly} onChange={(isOn) => change({ only: isOn ? 'misses' : '' })}>
          Only those that were not found ({misses.length})
        </Switch>
      </div>
      {rows.length === 0 ? (
        <Empty title="All were found" />
      ) : (
        <DataTable label="Questions" rows={rows} rowKey={({ q }) => q} columns={columns} />
      )}
    </section>
  );
}

function Place({ place }: { place: EvaluationPlace | undefined }) {
  if (!place) return '–';
  if (place.rank > 0) return <Badge tone="good">place {place.rank}</Badge>;
  return <Badge tone="bad">{reasons[place.outcome] ?? 'not found'}</Badge>;
}
