// Calls that the user has to allow.
import type { Approval } from '../../../typescript/src/session/index.js';
import { fill, type Strings } from '../strings.js';
import { inWords } from './messages.js';

interface Props {
  readonly approvals: readonly Approval[];
  readonly strings: Strings;
  readonly decide: (id: string, isAllowed: boolean) => void;
}

export function Approvals({ approvals, strings, decide }: Props) {
  return (
    <>
      {approvals.map((approval) => (
        <section key={approval.id} class="approval" aria-label={fill(strings.approval, inWords(approval.name))}>
          <p>
            <strong>{fill(strings.approval, inWords(approval.name))}</strong>
          </p>
          <dl dir="auto">
            {argumentsOf(approval.arguments).map(([name, value]) => (
              <div>
                <dt>{inWords(name)}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
          <div class="row">
            <button type="button" class="primary" onClick={() => decide(approval.id, true)}>
              {strings.allow}
            </button>
            <button type="button" onClick={() => decide(approval.id, false)}>
              {strings.deny}
            </button>
          </div>
        </section>
      ))}
    </>
  );
}

/** The arguments of a call as names and texts. */
function argumentsOf(text: string): [name: string, value: string][] {
  try {
    const members = JSON.parse(text) as unknown;
    if (typeof members === 'object' && members !== null)
      return Object.entries(members).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]);
  } catch {
    // It is shown as it is.
  }
  return text ? [['', text]] : [];
}
