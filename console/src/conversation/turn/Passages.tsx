import { useState } from 'react';
import { Link } from 'wouter';

import type { Citation } from '#gen/sessions_pb';

import { Button } from '../../ui/Button';
import { Badge } from '../../ui/Page';
import { excerptAround, excerptPieces, firstQuote } from './highlight';

const pagesOf = ({ pageStart, pageEnd }: Citation) => {
  if (pageStart === 0) return '';
  return pageEnd > pageStart ? `pages ${pageStart}–${pageEnd}` : `page ${pageStart}`;
};

/** The passages that the model was given, with their scores. */
export function Passages({
  passages,
  answer,
  question,
  idOf,
}: {
  passages: readonly Citation[];
  answer: string;
  question: string;
  idOf(passage: number): string;
}) {
  return (
    <ol className="passages">
      {passages.map((passage, at) => {
        const { sourceId, sourceName, similarity } = passage;
        const place = [passage.heading, pagesOf(passage)].filter(Boolean).join(' · ');
        return (
          <li key={passage.chunkId} id={idOf(at)} tabIndex={-1} value={at + 1}>
            <div className="row">
              <Link href={`/knowledge/${sourceId}`}>{sourceName || sourceId}</Link>
              {place && <span className="dim small">{place}</span>}
              {passage.quoted && <Badge tone="accent">quoted</Badge>}
              <span className="score small dim" title="How alike the question and the passage are, from 0 to 1">
                <meter min={0} max={1} value={similarity} aria-label="Similarity" /> {similarity.toFixed(3)}
              </span>
            </div>
            <Excerpt excerpt={passage.excerpt} answer={answer} question={question} />
          </li>
        );
      })}
    </ol>
  );
}

/** How many characters of a passage are shown at first. */
const short = 320;

/** The text of a passage: around what is quoted, or whole. */
function Excerpt({ excerpt, answer, question }: { excerpt: string; answer: string; question: string }) {
  const [isWhole, setWhole] = useState(false);
  const isShort = excerpt.length <= short;
  const shown = (isWhole || isShort ? excerpt : excerptAround(excerpt, firstQuote(excerpt, answer))).replaceAll(
    /\n{2,}/g,
    '\n',
  );
  return (
    <>
      <blockquote dir="auto">
        <div className={isWhole || isShort ? undefined : 'clamped-lines'}>
          {excerptPieces(shown, answer, question).map((piece, key) =>
            piece.passage === undefined ? (
              piece.text
            ) : (
              <mark key={key} className={piece.isQuote ? undefined : 'alike'}>
                {piece.text}
              </mark>
            ),
          )}
        </div>
      </blockquote>
      {!isShort && (
        <div>
          <Button kind="quiet" onPress={() => setWhole(!isWhole)}>
            {isWhole ? 'Less' : 'More of it'}
          </Button>
        </div>
      )}
    </>
  );
}
