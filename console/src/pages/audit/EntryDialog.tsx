import type { JsonValue } from '@bufbuild/protobuf';

import type { AuditEntry } from '#gen/audit_pb';

import { useHere } from '../../app/caller';
import { CodeBlock } from '../../ui/Code';
import { Dialog } from '../../ui/Dialog';
import { Facts } from '../../ui/Page';
import { Time } from '../../ui/Time';
import { ActorLine } from './ActorLine';
import './audit.css';
import { changesOf, type Change } from './changes';

/** One entry: who, from where, and what was before and after. */
export function EntryDialog({ entry, onClose }: { entry: AuditEntry; onClose(): void }) {
  const { workspaces } = useHere();
  const workspace = workspaces.find(({ id }) => id === entry.workspaceId)?.name ?? entry.workspaceId;
  const outcomes: Record<string, string> = {
    done: 'done',
    unknown: 'not known: the request failed in the middle, and the change may have been made',
  };
  return (
    <Dialog title={`${entry.action}, entry ${entry.number}`} shape="wide" onClose={onClose}>
      <Facts
        facts={[
          [
            'Who',
            <>
              <ActorLine entry={entry} /> {entry.actorId && <code className="small">{entry.actorId}</code>}
            </>,
          ],
          ['When', <Time at={entry.at} exact />],
          ['Resource', entry.resourceId && <code>{entry.resourceId}</code>],
          ['In', entry.parentId && <code>{entry.parentId}</code>],
          ['Workspace', workspace],
          ['Outcome', outcomes[entry.outcome] ?? `refused: ${entry.outcome}`],
          ['From', [entry.remoteAddress, entry.userAgent].filter(Boolean).join(', ')],
          ['Request', entry.requestId && <code>{entry.requestId}</code>],
          ['User (hash)', entry.userHash && <code>{entry.userHash}</code>],
        ]}
      />
      <Diff entry={entry} />
      <details>
        <summary>Hashes</summary>
        <Facts
          facts={[
            ['This entry', <code>{entry.hash}</code>],
            ['The one before', <code>{entry.previousHash}</code>],
          ]}
        />
      </details>
    </Dialog>
  );
}

function Diff({ entry }: { entry: AuditEntry }) {
  const changes = changesOf(entry);
  if (changes.length === 0) return <p className="dim">No fields were changed by it.</p>;
  return (
    <>
      <h3>{!entry.before ? 'What was made' : !entry.after ? 'What is gone' : 'What changed'}</h3>
      <div className="table-wrap">
        <table className="table diff" aria-label="Before and after">
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Before</th>
              <th scope="col">After</th>
            </tr>
          </thead>
          <tbody>
            {changes.map((change) => (
              <ChangeRow key={change.path} change={change} />
            ))}
          </tbody>
        </table>
      </div>
      <p className="dim small">
        [secret] stands for secrets, [content] for what users, agents and documents said, and [sha256:…] for long texts.
      </p>
      <details>
        <summary>As JSON</summary>
        <CodeBlock
          code={JSON.stringify({ before: entry.before ?? null, after: entry.after ?? null }, null, 2)}
          label="Before and after as JSON"
        />
      </details>
    </>
  );
}

function ChangeRow({ change: { path, before, after } }: { change: Change }) {
  return (
    <tr>
      <td data-label="Field">
        <code>{path}</code>
      </td>
      <td data-label="Before">{before === undefined ? <span className="dim">–</span> : <del>{textOf(before)}</del>}</td>
      <td data-label="After">{after === undefined ? <span className="dim">–</span> : <ins>{textOf(after)}</ins>}</td>
    </tr>
  );
}

const textOf = (value: JsonValue) => (typeof value === 'string' ? value || '(empty)' : JSON.stringify(value, null, 1));
