import type { Session } from '#gen/sessions_pb';

import { Time } from '../../../ui/Time';
import { isOpen } from './useAgentName';

/** That a person is wanted for the conversation, or has it. */
export function Handover({ session }: { session: Session }) {
  const { handover } = session;
  if (!handover) return null;
  const { status, operator, reason, summary, destination, requestedAt, takenAt } = handover;
  const isWanted = status === 'requested';
  const title = isWanted
    ? isOpen(session)
      ? 'A person is asked for'
      : 'A person was asked for, and nobody came'
    : `${operator} ${isOpen(session) ? 'has' : 'had'} the conversation`;
  return (
    <section className={`note ${isWanted ? 'warn' : ''}`} aria-label="Handover">
      <h2>{title}</h2>
      <p className="small">
        {isWanted ? <Time at={requestedAt} /> : <Time at={takenAt} />}
        {destination && ` · for ${destination}`}
      </p>
      {reason && <p dir="auto">{reason}</p>}
      {summary && <p dir="auto">{summary}</p>}
    </section>
  );
}
