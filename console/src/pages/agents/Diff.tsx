import { toJson } from '@bufbuild/protobuf';
import { ValueSchema, type Value } from '@bufbuild/protobuf/wkt';

import type { VersionChange } from '#gen/agents_pb';

import { compareLines, type Line } from './lines';

const longest = 80; // characters of a value that is shown in one line
const around = 3; // unchanged lines that are shown beside changed ones

/** The changes that can be seen: not those from nothing to an empty text. */
export const visible = (changes: VersionChange[]) => changes.filter(({ from, to }) => textOf(from) !== textOf(to));

/** The settings in which two versions differ: path, before and after. */
export function Diff({ changes }: { changes: VersionChange[] }) {
  const shown = visible(changes);
  if (shown.length === 0) return <p className="dim">They are the same.</p>;
  return (
    <ul className="diff">
      {shown.map(({ path, from, to }) => {
        const [before, after] = [textOf(from), textOf(to)];
        const isLong = [before, after].some((text) => text.length > longest || text.includes('\n'));
        return (
          <li key={path}>
            <h3>
              <code>{path}</code>
            </h3>
            {isLong ? (
              <LineDiff before={before} after={after} />
            ) : (
              <p className="diff-short">
                <Before text={before} /> <span aria-hidden="true">→</span> <After text={after} />
              </p>
            )}
          </li>
        );
      })}
    </ul>
  );
}

/** A value as text: texts as they are, nothing as an empty text, and the rest as JSON. */
function textOf(value: Value | undefined): string {
  const json = value && toJson(ValueSchema, value);
  if (json === undefined || json === null || (Array.isArray(json) && json.length === 0)) return '';
  return typeof json === 'string'
    ? json
    : JSON.stringify(json, (_, inner: unknown) => inner ?? undefined, typeof json === 'object' ? 2 : 0);
}

const Before = ({ text }: { text: string }) => (
  <del>
    {text || 'not set'}
    <span className="visually-hidden"> before, </span>
  </del>
);
const After = ({ text }: { text: string }) => (
  <ins>
    {text || 'not set'}
    <span className="visually-hidden"> after</span>
  </ins>
);

const marks = { same: ' ', added: '+', removed: '−' };

function LineDiff({ before, after }: { before: string; after: string }) {
  const lines = folded(
    before === '' ? only('added', after) : after === '' ? only('removed', before) : compareLines(before, after),
  );
  return (
    <div className="diff-lines" tabIndex={0} role="group" aria-label="Line by line">
      {lines.map((line, index) =>
        typeof line === 'number' ? (
          <div key={index} className="dim">
            … {line} {line === 1 ? 'line' : 'lines'} the same
          </div>
        ) : (
          <div key={index} className={line.kind}>
            <span aria-hidden="true">{marks[line.kind]} </span>
            {line.kind !== 'same' && <span className="visually-hidden">{line.kind}: </span>}
            {line.text || '\u00a0'}
          </div>
        ),
      )}
    </div>
  );
}

const only = (kind: Line['kind'], text: string): Line[] => text.split('\n').map((line) => ({ kind, text: line }));

/** Replaces long runs of unchanged lines by their number. */
function folded(lines: Line[]): (Line | number)[] {
  const isNear = lines.map((_, at) =>
    lines.slice(Math.max(0, at - around), at + around + 1).some(({ kind }) => kind !== 'same'),
  );
  const result: (Line | number)[] = [];
  lines.forEach((line, at) => {
    if (isNear[at]) return result.push(line);
    const last = result.at(-1);
    if (typeof last === 'number') result[result.length - 1] = last + 1;
    else result.push(1);
  });
  return result;
}
