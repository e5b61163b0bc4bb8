import { Link } from 'wouter';

import type { Session } from '#gen/sessions_pb';

import { AgentName } from '../../ui/AgentName';
import { Time } from '../../ui/Time';
import { count } from '../../ui/format';

const most = 5;

/** Who waits for a person, the one who has waited longest first. */
export function Waiting({ sessions }: { sessions: Session[] }) {
  if (sessions.length === 0)
    return (
      <div role="status" className="visually-hidden">
        Nobody waits for a person.
      </div>
    );
  const sorted = sessions.toSorted((a, b) =>
    Number((a.handover?.requestedAt?.seconds ?? 0n) - (b.handover?.requestedAt?.seconds ?? 0n)),
  );
  return (
    <section className="note warn stack" role="status" aria-label="Waiting for a person">
      <strong>
        {sessions.length === 1 ? 'Somebody waits for a person' : `${count(sessions.length)} users wait for a person`}
      </strong>
      {sorted.slice(0, most).map(({ id, userId, agentId, handover }) => (
        <div key={id} className="row">
          <Link href={`/sessions/${id}`}>{userId}</Link>
          <span>
            with <AgentName id={agentId} />, asked <Time at={handover?.requestedAt} />
            {handover?.reason && <>: {handover.reason}</>}
          </span>
        </div>
      ))}
      {sessions.length > most && <Link href="/sessions?handover=requested">All who wait</Link>}
    </section>
  );
}
