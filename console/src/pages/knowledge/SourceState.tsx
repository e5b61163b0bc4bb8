import { timestampDate } from '@bufbuild/protobuf/wkt';
import { useEffect, useState } from 'react';

import type { Source } from '#gen/knowledge_pb';

import { duration } from '../../ui/format';
import { Badge } from '../../ui/Page';
import { Progress } from '../../ui/Progress';

const stages: Record<string, string> = {
  fetching: 'Fetching the page',
  parsing: 'Reading',
  ocr: 'Reading pictures (OCR)',
  chunking: 'Dividing into passages',
  embedding: 'Making it searchable',
};

const advice: Record<string, string> = {
  encrypted: 'Save it without a password, and replace the content.',
  corrupt: 'Open it in its program, save it again, and replace the content.',
  empty: 'Nothing in it can be read. A scan needs OCR: process it again by OCR. Else replace the content.',
  binary: 'Save it in a format that is accepted, and replace the content.',
  'wrong-type': 'Its content is of another type than its name says. Save it again, and replace the content.',
  'too-large': 'Split it into smaller files.',
  'too-complex': 'Split it, or save it in a simpler format.',
  'too-many-pages': 'Split it: a source has at most 2,000 pages.',
  'too-many-chunks': 'Split it: a source has at most 10,000 passages.',
  timeout: 'Process it again, or split it.',
  'fetch-failed': 'Check the address, then fetch it again.',
  unsupported: 'Whoever runs this service installs what the message names; then process it again.',
  'embedding-refused': 'Change the text at the place that the message names, and replace the content.',
  internal: 'Process it again. If it fails again, whoever runs this service finds why in the log of the workers.',
};

/** What to do about a failed source. */
export const adviceFor = (code: string) => advice[code] ?? 'Process it again, or replace the content.';

/** The state of a source as a badge. */
export function StateBadge({ source: { status, replacing, warnings } }: { source: Source }) {
  if (status === 'failed') return <Badge tone="bad">failed</Badge>;
  if (status === 'processing') return <Badge tone="accent">{replacing ? 'replacing' : 'reading'}</Badge>;
  if (status === 'queued') return <Badge>waiting</Badge>;
  return warnings.length > 0 ? <Badge tone="warn">ready, with warnings</Badge> : <Badge tone="good">ready</Badge>;
}

const stageOf = ({ status, stage }: Source) =>
  stages[stage] ?? (status === 'queued' ? 'Waiting for its turn' : 'Reading');

/** How far a source is that is being read, and when its worker was last heard of. */
export function SourceProgress({ source }: { source: Source }) {
  const pages = source.pageCount > 0 ? ` · page ${source.pagesDone} of ${source.pageCount}` : '';
  const isWaiting = source.status === 'queued' && source.progress === 0;
  return (
    <div className="stack" style={{ gap: 4 }}>
      <Progress label={`${stageOf(source)}${pages}`} value={isWaiting ? undefined : source.progress} />
      {source.error?.code === 'retrying' && <p className="small dim">It is tried again: {source.error.message}</p>}
      <Heartbeat source={source} />
    </div>
  );
}

function Heartbeat({ source: { heartbeatAt, status } }: { source: Source }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  if (!heartbeatAt || status !== 'processing') return null;
  const silence = Math.max(0, now - timestampDate(heartbeatAt).getTime());
  if (silence < 15_000) return <p className="small dim">At work: heard of {Math.round(silence / 1000)} s ago.</p>;
  return (
    <p className="small dim">Not heard of for {duration(silence)}. After a minute another worker goes on with it.</p>
  );
}

/** Why a source failed, and what to do. */
export function SourceFailure({ source: { status, error, fetchError } }: { source: Source }) {
  if (status === 'failed' && error)
    return (
      <p className="note bad" role="alert">
        <strong>{error.message}</strong> {adviceFor(error.code)}
      </p>
    );
  if (fetchError)
    return (
      <p className="note warn">
        Its address could not be fetched the last time: {fetchError} What was fetched before goes on answering.
      </p>
    );
  return null;
}
