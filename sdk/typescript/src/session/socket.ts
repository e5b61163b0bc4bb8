// One socket of a session, which is made again after it was lost.
import { explainClose, explainRefusal, leftCode } from './closing.js';
import type { ConnectionState } from './events.js';
import { type Retry, waitBefore } from './retry.js';
import type { ClientEvent, ServerEvent } from './wire.js';

/** As much of the browser's WebSocket as is used. */
export interface WebSocketLike {
  readonly readyState: number;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
  send(data: string): void;
  close(code?: number, reason?: string): void;
  /** Only of the package ws: tells of the service's pings. */
  on?(type: 'ping', listener: () => void): unknown;
}

/**
 * A constructor of WebSockets: the browser's, Node's own (22 and later), or that of the package
 * ws.
 */
export type WebSocketConstructor = new (url: string) => WebSocketLike;

/** Where a socket's events go. */
export interface SocketListener {
  event(event: ServerEvent): void;
  sent(event: ClientEvent): void;
  state(state: ConnectionState): void;
  /** The session has ended, or cannot be used any more. */
  ended(reason: string, text: string, failed: boolean): void;
}

export interface SocketOptions {
  readonly url: string;
  readonly WebSocket: WebSocketConstructor;
  readonly retry: Retry;
  readonly random: () => number;
  /** Says why a handshake was refused, as a code of docs/errors.md; empty if it is not known. */
  readonly refusalOf: (url: string) => Promise<string>;
  readonly listener: SocketListener;
}

/** A socket that is made again. */
export interface Socket {
  readonly state: ConnectionState;
  readonly isOpen: boolean;
  connect(): void;
  /** Sends an event; false when there is no connection. */
  send(event: ClientEvent): boolean;
  /** Loses the connection and makes it again, as a cut network would. */
  drop(): void;
  /** Hangs up, which completes the session unless it has another socket. */
  hangUp(): void;
  /** Closes the socket without a hang-up: the session waits for another one. */
  leave(): void;
}

const openState = 1; // WebSocket.OPEN
const closedState = 3; // WebSocket.CLOSED
const lostCode = 1006;

/** Makes a socket. It connects with connect(). */
export function makeSocket(options: SocketOptions): Socket {
  const { listener, retry } = options;
  let state: ConnectionState = { name: 'idle', text: 'There is no connection yet.' };
  let socket: WebSocketLike | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let watchdog: ReturnType<typeof setTimeout> | undefined;
  let lastEventId = '';
  let wasOpen = false;
  let lostAt = 0;
  let attempts = 0;
  let over = false;

  function change(next: ConnectionState): void {
    state = next;
    listener.state(next);
  }

  function connect(): void {
    clearTimeout(timer);
    over = false;
    detach();
    let made: WebSocketLike;
    let isAlive = false;
    try {
      const url = new URL(options.url);
      if (lastEventId) url.searchParams.set('last_event_id', lastEventId);
      made = new options.WebSocket(url.href);
    } catch (error) {
      const why = (error instanceof Error ? error.message : String(error)).replace(/token=[^\s&'"]+/g, 'token=…');
      return stop(lostCode, 'unreachable', `No connection can be made to this URL: ${why}`, true);
    }
    socket = made;
    let alive = (): void => undefined;
    watch(retry.openMs);
    change({ name: 'connecting', text: 'Connecting …' });
    made.onopen = () => change({ name: 'open', text: 'Connected.' });
    made.onmessage = ({ data }: { data: unknown }) => {
      if (!isAlive) {
        // Only now: something in between may accept connections, and close them at once.
        isAlive = wasOpen = true;
        lostAt = attempts = 0;
        if (made.on) alive = () => socket === made && watch(retry.silentMs);
        else clearTimeout(watchdog);
      }
      alive();
      take(data);
    };
    made.on?.('ping', () => alive());
    made.onclose = ({ code, reason }: { code: number; reason: string }) => {
      if (socket === made) void closed(code, reason);
    };
    // A close event follows at once, but not in Chromium when the page's policy blocks the URL.
    made.onerror = () =>
      setTimeout(() => {
        if (socket === made && made.readyState === closedState) void closed(lostCode, '');
      });
  }

  /** Takes the connection for lost when nothing comes for so long. */
  function watch(ms: number): void {
    clearTimeout(watchdog);
    watchdog = setTimeout(() => {
      detach();
      void closed(lostCode, '');
    }, ms);
  }

  function take(data: unknown): void {
    let event: ServerEvent | null;
    try {
      event = JSON.parse(String(data)) as ServerEvent | null;
    } catch {
      return; // the service sends JSON only
    }
    if (typeof event !== 'object' || event === null) return; // an event is an object
    // Sound is not kept for a client that was away, so nothing can be asked for behind it.
    if (event.event_id && event.type !== 'response.output_audio.delta') lastEventId = event.event_id;
    listener.event(event);
  }

  async function closed(code: number, reason: string): Promise<void> {
    clearTimeout(watchdog);
    socket = undefined;
    const meaning = explainClose(code, reason);
    if (over) return stop(code, reason, meaning.text, false);
    if (meaning.ended) return end(code, reason || 'hang_up', meaning.text);
    if (!meaning.comesBack) return stop(code, reason, meaning.text, true);
    lostAt ||= Date.now();
    if (code === lostCode) {
      const refusal = await options.refusalOf(options.url);
      const refused = explainRefusal(refusal);
      if (over || socket) return; // somebody was faster than the question
      if (refused?.ended) return end(code, refusal, refused.text);
      if (refused) return stop(code, refusal, refused.text, true);
    }
    again(code, reason, meaning.text);
  }

  function again(code: number, reason: string, text: string): void {
    const leftMs = retry.graceMs - (Date.now() - lostAt);
    if (leftMs <= 0 || (!wasOpen && attempts + 1 >= retry.firstAttempts)) {
      const why = wasOpen ? `${text} It could not be made again in time.` : 'The service could not be reached.';
      return stop(code, reason || 'unreachable', why, true);
    }
    const retryInMs = Math.min(waitBefore(attempts++, code, retry, options.random), leftMs);
    clearTimeout(timer); // the one of an earlier loss whose question was slow
    timer = setTimeout(connect, retryInMs);
    change({ name: 'reconnecting', text: `${text} Trying again …`, code, reason, retryInMs });
  }

  function end(code: number, reason: string, text: string): void {
    stop(code, reason, text, false);
    listener.ended(reason, text, code === 1011);
  }

  function stop(code: number, reason: string, text: string, canReconnect: boolean): void {
    over = true;
    attempts = lostAt = 0;
    globalThis.removeEventListener?.('online', online);
    change({ name: 'closed', text, code, reason, canReconnect });
  }

  function online(): void {
    if (state.name === 'reconnecting') connect();
  }

  /** Forgets the socket, so that nothing more of it is heard. */
  function detach(code?: number, reason?: string): void {
    clearTimeout(timer);
    clearTimeout(watchdog);
    const old = socket;
    socket = undefined;
    if (!old) return;
    old.onopen = old.onmessage = old.onclose = null;
    if (old.readyState <= openState) old.close(code ?? 4000, reason ?? 'replaced by another connection');
  }

  return {
    get state() {
      return state;
    },
    get isOpen() {
      return socket?.readyState === openState;
    },
    connect() {
      globalThis.addEventListener?.('online', online);
      if (state.name !== 'connecting' && socket?.readyState !== openState) connect();
    },
    send(event) {
      if (socket?.readyState !== openState) return false;
      socket.send(JSON.stringify(event));
      listener.sent(event);
      return true;
    },
    drop() {
      detach(4000, 'dropped');
      if (!over) void closed(4000, '');
    },
    hangUp() {
      detach(1000, 'hang_up');
      if (over || state.name === 'idle') return;
      stop(1000, 'hang_up', 'The conversation was hung up.', false);
    },
    leave() {
      detach(leftCode, 'left');
      lastEventId = ''; // another socket is told what follows; only an answer in progress is of use
      if (!over && state.name !== 'idle') stop(leftCode, 'left', 'The connection was closed.', true);
    },
  };
}
