// A socket of a session with the OpenAI Realtime protocol. After a lost connection it connects
// again with the id of the last event. It explains why a socket was closed.
import { base, call, path } from './api.js';

/** How long the service waits for a client that lost its connection. */
export const graceMS = 120_000;

/** An explanation of a close code and reason; `back` says whether the URL may be used again. */
export function closing(code, reason) {
  const words = {
    'replaced': ['Another connection of this session took over, perhaps in another tab.', false],
    'slow_reader': ['This page did not read fast enough.', true],
    'slow_writer': ['A message took too long to arrive.', true],
    'flood': ['This page sent too much for too long.', true],
    'protocol_error': ['Something between this page and the service broke the connection’s protocol.', true],
    'invalid_utf8': ['A message was not UTF-8.', true],
    'reconnect': ['This server is being stopped and asks its clients to move.', true],
    'frame_too_large': ['A message was larger than a frame may be (1 MiB).', true],
    'internal_error': ['The service had a fault of its own on this connection.', true],
    'session-closed': ['The session ended while the connection was being made.', false],
    'session-token-invalid': ['The session’s token is not taken any more. Start another session.', false],
    'session-modality': ['This session does not take this kind of connection.', false],
    'hang_up': ['The conversation was hung up.', false],
    'end_call': ['The agent ended the conversation.', false],
    'idle_timeout': ['Nobody said anything for as long as the agent waits.', false],
    'max_duration': ['The conversation has lasted as long as the agent allows.', false],
    'disconnected': ['The connection was lost, and nobody came back in time.', false],
    'expired': ['The session was not used before its token expired.', false],
    'no_turns': ['It was hung up before anything was said.', false],
    'ended_by_api': ['It was ended through the API.', false],
  };
  const known = words[reason];
  if (known && !(reason === 'internal_error' && code !== 1011)) return { text: known[0], back: known[1] };
  switch (code) {
    case 1000:
      return { text: reason ? `The session is completed: ${reason}.` : 'The conversation is over.', back: false };
    case 1001:
      return { text: 'The page was left.', back: false };
    case 1006:
      return { text: 'The connection was lost.', back: true };
    case 1008:
      return { text: `The connection was refused: ${reason || 'no reason was given'}.`, back: false };
    case 1009:
      return { text: words.frame_too_large[0], back: true };
    case 1011:
      return { text: `The session has failed: ${reason || 'no reason was given'}.`, back: false };
    case 1012:
      return { text: words.reconnect[0], back: true };
    default:
      return {
        text: reason ? `Closed: ${reason}.` : `Closed with the code ${code}.`,
        back: code >= 4000 && code !== 4409,
      };
  }
}

/**
 * The socket's URL with the host and prefix of this page, whatever host the service has in its own.
 */
export function ownURL(socketURL) {
  const given = new URL(socketURL);
  const url = new URL(`v1/realtime/${given.pathname.split('/v1/realtime/')[1] ?? ''}`, base);
  url.protocol = base.protocol === 'https:' ? 'wss:' : 'ws:';
  url.search = given.search;
  return url;
}

/**
 * A conversation. It dispatches `event` and `sent` (detail: the parsed event) and `state` (detail:
 * { name: connecting | open | waiting | closed, text, code, reason, back }). `back` says that
 * connect() may succeed although the state is closed.
 */
export class Conversation extends EventTarget {
  #url;
  #socket;
  #last = '';
  #timer;
  #lostAt = 0;
  #tries = 0;
  #dropped = false;
  #over = false;

  constructor(sessionID, socketURL) {
    super();
    this.sessionID = sessionID;
    this.#url = ownURL(socketURL);
  }

  get lastEventID() {
    return this.#last;
  }
  get open() {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  connect() {
    clearTimeout(this.#timer);
    const url = new URL(this.#url);
    if (this.#last) url.searchParams.set('last_event_id', this.#last);
    this.#state('connecting', this.#last ? `Coming back behind event ${this.#last} …` : 'Connecting …');
    const socket = new WebSocket(url);
    this.#socket = socket;
    socket.onopen = () => {
      this.#lostAt = 0;
      this.#tries = 0;
      this.#state('open', 'Connected.');
    };
    socket.onmessage = ({ data }) => this.#take(data);
    socket.onclose = ({ code, reason }) => {
      if (this.#socket === socket) this.#closed(code, reason);
    };
  }

  #take(data) {
    let event;
    try {
      event = JSON.parse(data);
    } catch {
      event = { type: '(not JSON)', data: String(data).slice(0, 1000) };
    }
    // Sound is not kept for a client that was away, so nothing can be asked for behind it.
    if (event.event_id && event.type !== 'response.output_audio.delta') this.#last = event.event_id;
    this.dispatchEvent(new CustomEvent('event', { detail: event }));
  }

  /** Sends an event; false when there is no connection. */
  send(event) {
    if (!this.open) return false;
    this.#socket.send(JSON.stringify(event));
    this.dispatchEvent(new CustomEvent('sent', { detail: event }));
    return true;
  }

  /**
   * Drops the connection: for the service, any close code but that of a hang-up is a lost
   * connection.
   */
  drop() {
    this.#dropped = true;
    this.#socket?.close(4000, 'dropped in the console');
  }

  /** Hangs up, which completes the session. */
  hangUp() {
    this.#over = true;
    clearTimeout(this.#timer);
    this.#socket?.close(1000, 'hang_up');
  }

  /** Closes the socket without ending the session, and does not connect again. */
  leave() {
    this.#over = true;
    clearTimeout(this.#timer);
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.close(4001, 'left');
  }

  async #closed(code, reason) {
    if (this.#dropped) {
      this.#dropped = false;
      this.#lostAt = Date.now();
      this.#state(
        'waiting',
        'The connection was dropped on purpose. “Reconnect” comes back with the last event’s id.',
        { code, reason },
      );
      return;
    }
    const { text, back } = closing(code, reason);
    if (this.#over || !back) return this.#state('closed', text, { code, reason, back: reason === 'replaced' });
    const ended = await this.#ended();
    if (ended) return this.#state('closed', ended, { code, reason });
    this.#lostAt ||= Date.now();
    const left = graceMS - (Date.now() - this.#lostAt);
    if (left <= 0)
      return this.#state('closed', `${text} It could not be made again within ${graceMS / 1000} s.`, {
        code,
        reason,
        back: true,
      });
    const wait = Math.min(500 * 2 ** this.#tries++, 8000, left);
    this.#state('waiting', `${text} Trying again in ${duration(wait)} …`, { code, reason });
    this.#timer = setTimeout(() => this.connect(), wait);
  }

  /** Why the session has ended, if it has: a page does not learn why a handshake was refused. */
  async #ended() {
    try {
      const session = await call('GET', `sessions/${path(this.sessionID)}`);
      if (session.status !== 'completed' && session.status !== 'failed') return '';
      return `The session is ${session.status}${session.end_reason ? `: ${closing(0, session.end_reason).text}` : '.'}`;
    } catch {
      return ''; // the next attempt to connect will tell
    }
  }

  #state(name, text, more = {}) {
    this.dispatchEvent(new CustomEvent('state', { detail: { name, text, ...more } }));
  }
}

const duration = (ms) => (ms < 1000 ? `${ms} ms` : `${Math.round(ms / 1000)} s`);
