// Close codes and reasons in words.

/** The close code of a connection that another one has replaced. */
export const replacedCode = 4409;

/** The close code of a socket that this client has left, to come back perhaps. */
export const leftCode = 4001;

/** What the close of a socket means. */
export interface Closing {
  readonly text: string;
  /** Whether the same URL may be used again. */
  readonly comesBack: boolean;
  /** Whether the session itself has ended, or never will begin. */
  readonly ended: boolean;
}

type Kind = 'retry' | 'ended' | 'refused';

const reasons: Readonly<Record<string, readonly [text: string, kind: Kind]>> = {
  'replaced': ['Another connection of this session took over, perhaps in another tab.', 'refused'],
  'slow_reader': ['This page did not read fast enough.', 'retry'],
  'slow_writer': ['A message took too long to arrive.', 'retry'],
  'flood': ['This page sent too much for too long.', 'retry'],
  'protocol_error': ['Something between this page and the service broke the connection’s protocol.', 'retry'],
  'invalid_utf8': ['A message was not UTF-8.', 'retry'],
  'reconnect': ['This server is being stopped and asks its clients to move.', 'retry'],
  'frame_too_large': ['A message was larger than a frame may be (1 MiB).', 'refused'],
  'session-closed': ['The session has ended.', 'ended'],
  'session-token-invalid': ['The session’s token is not taken any more. Start another session.', 'ended'],
  'session-modality': ['This session does not take this kind of connection.', 'refused'],
  'origin-not-allowed': ['The agent does not allow this page’s origin.', 'refused'],
  'hang_up': ['The conversation was hung up.', 'ended'],
  'end_call': ['The agent ended the conversation.', 'ended'],
  'budget_used_up': ['The agent’s budget is used up.', 'ended'],
  'idle_timeout': ['Nobody said anything for as long as the agent waits.', 'ended'],
  'max_duration': ['The conversation has lasted as long as the agent allows.', 'ended'],
  'disconnected': ['The connection was lost, and nobody came back in time.', 'ended'],
  'expired': ['The session was not used before its token expired.', 'ended'],
  'no_turns': ['It was hung up before anything was said.', 'ended'],
  'ended_by_api': ['It was ended through the API.', 'ended'],
  'erased': ['The session was deleted.', 'ended'],
};

const closing = ([text, kind]: readonly [string, Kind]): Closing => ({
  text,
  comesBack: kind === 'retry',
  ended: kind === 'ended',
});

/** What a close code and its reason mean. Source: docs/realtime.md, Closing. */
export function explainClose(code: number, reason: string): Closing {
  const known = reasons[reason];
  if (known) return closing(known);
  switch (code) {
    case 1000:
      return closing([reason ? `The session is completed: ${reason}.` : 'The conversation is over.', 'ended']);
    case 1001:
      return closing(['The page was left.', 'ended']);
    case 1008:
      return closing([`The connection was refused: ${reason || 'no reason was given'}.`, 'ended']);
    case 1011:
      if (reason === 'internal_error')
        return closing(['The service had a fault of its own on this connection.', 'retry']);
      return closing([`The session has failed: ${reason || 'no reason was given'}.`, 'ended']);
    case 1009:
      return closing(reasons['frame_too_large'] ?? ['', 'refused']);
    case replacedCode:
      return closing(reasons['replaced'] ?? ['', 'refused']);
    case 1002:
    case 1005:
    case 1006:
    case 1007:
    case 1012:
    case 4000: // drop()
      return closing(['The connection was lost.', 'retry']);
    default:
      return closing([reason ? `Closed: ${reason}.` : `Closed with the code ${code}.`, code >= 4000 ? 'retry' : 'ended']);
  }
}

/** What the code of a refused handshake (docs/errors.md) means; undefined for a passing trouble. */
export function explainRefusal(code: string): Closing | undefined {
  const known = reasons[code];
  return known && known[1] !== 'retry' ? closing(known) : undefined;
}
