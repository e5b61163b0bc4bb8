import type { QueryExplanation, QueryKnowledgeResponse, ScoredChunk } from '#gen/knowledge_pb';

import { Button } from '../../ui/Button';
import { Badge, Card, Empty } from '../../ui/Page';
import { pagesOf } from './Chunks';
import { Marked, wordsOf } from './Marked';

const rerankNotes: Record<string, string> = {
  done: 'The reranking server ordered them.',
  failed: 'The reranking server did not answer: the order is that before reranking.',
  not_configured: 'This service has no reranking server: the order is that before reranking.',
};

/** What a question has found. */
export function QueryAnswer({
  answer: { chunks, explanation, rerank, ranking, embeddingModel },
  question,
  onExplain,
}: {
  answer: QueryKnowledgeResponse;
  question: string;
  onExplain(sourceId: string): void;
}) {
  const bestWords = Math.max(0, ...chunks.map(({ wordScore }) => wordScore));
  const bestFused = Math.max(0, ...chunks.map(({ fusedScore }) => fusedScore));
  const words = wordsOf(question);
  return (
    <section className="stack">
      <h2 role="status">
        {chunks.length === 0
          ? 'Nothing was found'
          : `${chunks.length} ${chunks.length === 1 ? 'passage' : 'passages'}, best first`}
      </h2>
      <p className="dim small">
        {ranking === 'hybrid' ? 'By meaning and words.' : 'By meaning.'} {rerankNotes[rerank]} Compared by{' '}
        {embeddingModel}.
      </p>
      {explanation && <Explanation explanation={explanation} onClose={() => onExplain('')} />}
      {chunks.length === 0 && (
        <Empty title="No passage">
          Attach a source to this agent, or lower the least similarity. “Why not this source?” says what keeps a source
          out.
        </Empty>
      )}
      <ol className="results" aria-label="Passages">
        {chunks.map((chunk, at) => (
          <li key={chunk.id}>
            <Result
              chunk={chunk}
              place={at + 1}
              words={words}
              bestWords={bestWords}
              bestFused={bestFused}
              isHybrid={ranking === 'hybrid'}
            />
          </li>
        ))}
      </ol>
    </section>
  );
}

const outcomes: Record<string, { title: string; tone: 'good' | 'warn' | 'bad' }> = {
  found: { title: 'It is found', tone: 'good' },
  not_attached: { title: 'The agent does not see it', tone: 'bad' },
  filtered_out: { title: 'Tags leave it out', tone: 'bad' },
  not_ready: { title: 'It is not ready', tone: 'bad' },
  below_floor: { title: 'It is below the least similarity', tone: 'warn' },
  crowded_out: { title: 'Others are better', tone: 'warn' },
};

function Explanation({
  explanation: { sourceId, outcome, message, bestSimilarity, similarityPlace, wordPlace },
  onClose,
}: {
  explanation: QueryExplanation;
  onClose(): void;
}) {
  const { title, tone } = outcomes[outcome] ?? { title: outcome, tone: 'warn' };
  const places = [
    similarityPlace > 0 && `place ${similarityPlace} by meaning`,
    wordPlace > 0 && `place ${wordPlace} by words`,
  ]
    .filter(Boolean)
    .join(', ');
  return (
    <div className={`note ${tone}`} role="status" aria-label="Why not this source">
      <div className="row between">
        <strong>{title}</strong>
        <Button kind="quiet" icon aria-label="Close the explanation" onPress={onClose}>
          ✕
        </Button>
      </div>
      <p>{message}</p>
      <p className="small">
        {bestSimilarity > 0 && `Best passage: similarity ${bestSimilarity.toFixed(3)}${places && `, ${places}`}. `}
        <a href={`#/knowledge/${sourceId}`}>Open the source</a>
      </p>
    </div>
  );
}

function Result({
  chunk,
  place,
  words,
  bestWords,
  bestFused,
  isHybrid,
}: {
  chunk: ScoredChunk;
  place: number;
  words: string[];
  bestWords: number;
  bestFused: number;
  isHybrid: boolean;
}) {
  const {
    sourceId,
    sourceName,
    heading,
    content,
    index,
    similarity,
    similarityPlace,
    wordScore,
    wordPlace,
    fusedScore,
    rerankScore,
  } = chunk;
  return (
    <Card>
      <div className="result">
        <div className="stack" style={{ gap: 6 }}>
          <div className="row">
            <Badge tone="accent">{place}</Badge>
            <a href={`#/knowledge/${sourceId}?find=${encodeURIComponent(`#${index + 1}`)}`}>{sourceName}</a>
            <span className="dim small">
              #{index + 1} {pagesOf(chunk)}
            </span>
          </div>
          {heading && <p className="dim small">{heading}</p>}
          <div className="passage" tabIndex={0} role="group" aria-label={`Passage ${place}`}>
            <Marked text={content} words={words} />
          </div>
        </div>
        <div className="stack" style={{ alignContent: 'start' }}>
          <Score name="Meaning" kind="" value={similarity} part={similarity} place={similarityPlace} />
          {isHybrid && (
            <Score
              name="Words"
              kind="words"
              value={wordScore}
              part={bestWords > 0 ? wordScore / bestWords : 0}
              place={wordPlace}
            />
          )}
          {isHybrid && (
            <Score name="Together" kind="fused" value={fusedScore} part={bestFused > 0 ? fusedScore / bestFused : 0} />
          )}
          {rerankScore !== undefined && (
            <p className="small">
              Reranked: <strong>{rerankScore.toFixed(3)}</strong>
            </p>
          )}
        </div>
      </div>
    </Card>
  );
}

function Score({
  name,
  kind,
  value,
  part,
  place,
}: {
  name: string;
  kind: string;
  value: number;
  part: number;
  place?: number;
}) {
  return (
    <div className={`score ${kind}`}>
      <span>{name}</span>
      <span className="dim">
        {value.toFixed(3)}
        {place !== undefined && (place > 0 ? ` · place ${place}` : ' · far behind')}
      </span>
      <div className="bar" aria-hidden="true">
        <div className="fill" style={{ width: `${Math.max(0, Math.min(1, part)) * 100}%` }} />
      </div>
    </div>
  );
}
