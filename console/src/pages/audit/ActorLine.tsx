import type { AuditEntry } from '#gen/audit_pb';

const kinds: Record<string, string> = {
  api_key: 'key',
  session_token: "session's token",
  person: 'person',
  cli: 'command',
};

/** Who did it: a key, somebody who signed in, the token of a session, or a command on the database. */
export function ActorLine({ entry: { actorKind, actorName, actorId } }: { entry: AuditEntry }) {
  return (
    <span>
      {actorName || actorId} <span className="dim small">{kinds[actorKind] ?? actorKind}</span>
    </span>
  );
}
