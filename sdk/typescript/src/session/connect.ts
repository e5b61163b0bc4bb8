// The session client: one object for text and voice.
import { type Conversation, makeConversation } from './conversation.js';
import { type Emitter, makeEmitter } from './emitter.js';
import type { Answer, ConnectionState, Handover } from './events.js';
import { newId } from './ids.js';
import type { ConnectOptions, SessionUrls } from './options.js';
import type { Refused } from './outbox.js';
import { makeVoice, type Voice } from './voice.js';
import type { ClientEvent } from './wire.js';

/** Why something was refused. `code` is one of docs/errors.md, or a word of the protocol. */
export class SessionError extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** A message of the user and its answer. */
export interface Turn {
  /** The id of the message, as in `user.message`. */
  readonly id: string;
  /**
   * The answer, once it has ended; also one that failed, was cancelled, or that a person gives
   * (`status`). Rejects with a SessionError when the message or the answer was refused, or the
   * session has ended.
   */
  readonly done: Promise<Answer>;
}

/** A conversation with an agent. */
export interface Session extends Pick<Emitter, 'on' | 'onAny' | 'events'> {
  /** Both connections together: open when one is. */
  readonly state: ConnectionState;
  /** Whether the session is over. restart() begins another one. */
  readonly hasEnded: boolean;
  /** Whether an answer is in progress, also while there is no connection. */
  readonly isAnswering: boolean;
  readonly handover: Handover;
  readonly voice: Voice;
  /** Makes the text connection, if `autoConnect` was false. */
  open(): void;
  /** Connects at once, also after another client has taken over (4409). */
  reconnect(): void;
  /**
   * Says something, 1 to 32,000 characters. Without a connection it is sent when there is one.
   * While the user talks it is answered aloud.
   */
  send(text: string): Turn;
  /** Stops the answer, and the agent's voice. */
  cancel(): void;
  /** Allows or refuses a call, within 60 s of `approval.requested`. False when it is too late. */
  approve(approvalId: string, isAllowed: boolean, reason?: string): boolean;
  /**
   * Gives the result of a client's tool: a text, or anything that becomes JSON. False: too late.
   */
  answerTool(callId: string, output: unknown): boolean;
  /** Sends any event of the protocol. False when there is no connection. */
  sendEvent(event: ClientEvent): boolean;
  /** Begins another session, of `fetchSession`. Rejects with what that rejects with. */
  restart(): Promise<void>;
  /** Loses the connections, which are made again: for trying that out. */
  drop(): void;
  /** Ends the session. */
  hangUp(): void;
  /** Closes the connections. The session waits 120 s for a client with the same URLs. */
  close(): void;
}

/**
 * Begins a conversation. Events are reported from the next microtask on, so that listeners can be
 * added first. Throws a SessionError when there is neither `chatUrl` nor `fetchSession`.
 */
export function connect(options: ConnectOptions): Session {
  if (!options.chatUrl && !options.fetchSession)
    throw new SessionError('invalid-request', 'connect() needs chatUrl or fetchSession.');
  const emitter = makeEmitter();
  const { emit } = emitter;
  let current: Conversation | undefined;
  let fetching: Promise<void> | undefined;
  /** What was said before there was a session. */
  const early: { readonly id: string; readonly text: string; readonly settle: (result: Answer | Refused) => void }[] = [];
  let unavailableState: ConnectionState | undefined;
  let wantsOpen = options.autoConnect !== false;
  let isClosed = false;

  const { voice, tap, close: closeVoice } = makeVoice(options.worklets, emit, {
    canTalk: () => current?.canTalk ?? false,
    open: () => current?.openVoice(),
    leave: () => current?.leaveVoice(),
    isOpen: () => current?.isOpen('voice') ?? false,
    send: (event) => current?.send(event, 'voice') ?? false,
  });

  function begin(urls: SessionUrls): void {
    if (isClosed) return unavailable(new Error('The conversation was closed.'));
    unavailableState = undefined;
    current = makeConversation(urls, options, emit, tap);
    if (wantsOpen) current.open();
    for (const { id, text, settle } of early.splice(0)) current.say(id, text, settle);
  }

  function fetchSession(): Promise<void> {
    const { fetchSession } = options;
    if (!fetchSession) return Promise.reject(new SessionError('invalid-request', 'There is no fetchSession.'));
    fetching ??= fetchSession()
      .then(begin)
      .catch((error: unknown) => {
        unavailable(error);
        throw error;
      })
      .finally(() => (fetching = undefined));
    return fetching;
  }

  /** Reports that there is no session. */
  function unavailable(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    const why = { code: 'no-session', message };
    unavailableState = { name: 'closed', text: message, reason: why.code, canReconnect: true };
    emit({ type: 'state', channel: 'chat', state: unavailableState });
    for (const { id, text, settle } of early.splice(0)) {
      emit({ type: 'user.message', id, text, spoken: false, status: 'failed', error: why });
      settle(why);
    }
  }

  function start(): void {
    if (current) current.open();
    else if (options.chatUrl) begin({ chatUrl: options.chatUrl, wsUrl: options.wsUrl });
    else fetchSession().catch(() => undefined); // it was reported
  }

  if (options.chatUrl && !wantsOpen) begin({ chatUrl: options.chatUrl, wsUrl: options.wsUrl });
  else queueMicrotask(start);

  function send(text: string): Turn {
    let settle: (result: Answer | Refused) => void = () => undefined;
    const done = new Promise<Answer>((resolve, reject) => {
      settle = (result) => ('status' in result ? resolve(result) : reject(new SessionError(result.code, result.message)));
    });
    done.catch(() => undefined); // who does not look at it is told by the events
    const id = newId('msg');
    if (current) {
      current.say(id, text, settle);
      return { id, done };
    }
    emit({ type: 'user.message', id, text, spoken: false, status: 'sending' });
    early.push({ id, text, settle });
    wantsOpen = true;
    start();
    return { id, done };
  }

  return {
    on: emitter.on,
    onAny: emitter.onAny,
    events: emitter.events,
    voice,
    get state() {
      return current?.state ?? unavailableState ?? { name: 'idle', text: 'There is no connection yet.' };
    },
    get hasEnded() {
      return current?.hasEnded ?? false;
    },
    get isAnswering() {
      return current?.isAnswering ?? false;
    },
    get handover() {
      return current?.handover ?? { status: 'none', operator: '' };
    },
    open() {
      wantsOpen = true;
      isClosed = false;
      start();
    },
    reconnect() {
      if (current) current.reconnect();
      else start();
    },
    send,
    cancel() {
      current?.send({ type: 'response.cancel', event_id: newId('own') });
      if (voice.state.phase !== 'off') voice.silence();
    },
    approve: (id, isAllowed, reason = '') => current?.decide(id, isAllowed, reason) ?? false,
    answerTool: (callId, output) => current?.answerTool(callId, output) ?? false,
    sendEvent: (event) => current?.send(event) ?? false,
    restart() {
      isClosed = false;
      closeVoice();
      current?.leave();
      current = unavailableState = undefined;
      return fetchSession();
    },
    drop: () => current?.drop(),
    hangUp() {
      closeVoice();
      current?.hangUp();
    },
    close() {
      isClosed = true;
      closeVoice();
      current?.leave();
      emitter.finish();
    },
  };
}
