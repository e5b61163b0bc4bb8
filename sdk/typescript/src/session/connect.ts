// The session client: one object for text and voice.
import { type Conversation, left, makeConversation, over } from './conversation.js';
import { type Emitter, makeEmitter } from './emitter.js';
import type { Answer, ConnectionState, Handover, SessionEvent } from './events.js';
import { sayGoodbye } from './goodbye.js';
import { newId } from './ids.js';
import type { ConnectOptions, SessionUrls } from './options.js';
import type { Refused } from './outbox.js';
import { makeVoice, type Voice } from './voice.js';
import type { ClientEvent } from './wire.js';

/** Why something was refused. `code` is one of docs/errors.md, or a word of the protocol. */
export class SessionError extends Error {
  override readonly name = 'SessionError';

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
   * (`status`). Rejects with a SessionError when the message or the answer was refused, and when
   * there will be no answer: the session has ended (`session-closed`), was closed (`closed`), or
   * has no connection any more (the `reason` of its state, for example `unreachable`).
   */
  readonly done: Promise<Answer>;
}

/** A conversation with an agent. */
export interface Session extends Pick<Emitter, 'on' | 'onAny'> {
  /** The events from now on. Ends with the session, or when it is closed. */
  events(signal?: AbortSignal): AsyncIterableIterator<SessionEvent>;
  /** Both connections together: open when one is. */
  readonly state: ConnectionState;
  /** Whether the session is over. restart() begins another one. */
  readonly hasEnded: boolean;
  /** Whether an answer is in progress, also while there is no connection. */
  readonly isAnswering: boolean;
  readonly handover: Handover;
  readonly voice: Voice;
  /** Makes the text connection, if `autoConnect` was false, or after close(). */
  open(): void;
  /** Connects at once, also after another client has taken over (4409), and after close(). */
  reconnect(): void;
  /**
   * Says something, 1 to 32,000 characters. It is sent when what was said before is answered, and
   * without a connection when there is one. While the user talks it is answered aloud. Refused
   * after close(), and while another client has taken over.
   */
  send(text: string): Turn;
  /** Stops the answer, without a connection once there is one, and the agent's voice. */
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
  /**
   * Ends the session. Without a connection one is made to say so, for up to 30 s: do not end the
   * program at once.
   */
  hangUp(): void;
  /**
   * Closes the connections. The session waits 120 s for a client with the same URLs, or for open().
   * What is not answered fails.
   */
  close(): void;
}

/**
 * Begins a conversation. Events are reported from the next microtask on, so that listeners can be
 * added first. Throws a SessionError when there is neither `chatUrl` nor `fetchSession`, or a URL
 * is none.
 */
export function connect(options: ConnectOptions): Session {
  if (!options.chatUrl && !options.fetchSession)
    throw new SessionError('invalid-request', 'connect() needs chatUrl or fetchSession.');
  const emitter = makeEmitter();
  const emit = (event: SessionEvent): void => {
    emitter.emit(event);
    if (event.type === 'ended') emitter.finish();
  };
  let current: Conversation | undefined;
  let fetching: Promise<void> | undefined;
  /** What was said before there was a session. */
  const early: { readonly id: string; readonly text: string; readonly settle: (result: Answer | Refused) => void }[] = [];
  let unavailableState: ConnectionState | undefined;
  let wantsOpen = options.autoConnect !== false;
  let isClosed = false;
  /** It was hung up before there was a session. */
  let isHungUp = false;

  const { voice, tap, close: closeVoice } = makeVoice(options.worklets, emit, {
    canTalk: () => current?.canTalk,
    async ready() {
      if (!current && !isHungUp && !isClosed) await fetchSession().catch(() => undefined); // it was reported
    },
    open: () => current?.openVoice(),
    leave: () => current?.leaveVoice(),
    isOpen: () => current?.isOpen('voice') ?? false,
    send: (event) => current?.send(event, 'voice') ?? false,
  });

  function begin(urls: SessionUrls): void {
    checkUrls(urls);
    if (isHungUp) return sayGoodbye(urls.chatUrl, options);
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

  function failEarly(why: Refused): void {
    for (const { id, text, settle } of early.splice(0)) {
      emit({ type: 'user.message', id, text, spoken: false, status: 'failed', error: why });
      settle(why);
    }
  }

  /** Reports that there is no session. */
  function unavailable(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    const why = { code: 'no-session', message };
    unavailableState = { name: 'closed', text: message, reason: why.code, canReconnect: true };
    emit({ type: 'state', channel: 'chat', state: unavailableState });
    failEarly(why);
  }

  function start(): void {
    if (isHungUp || isClosed) return;
    if (current) current.open();
    else fetchSession().catch(() => undefined); // it was reported
  }

  if (options.chatUrl) {
    const urls = { chatUrl: options.chatUrl, wsUrl: options.wsUrl };
    checkUrls(urls);
    current = makeConversation(urls, options, emit, tap);
  }
  if (wantsOpen || !current) queueMicrotask(start);

  function send(text: string): Turn {
    let settle: (result: Answer | Refused) => void = () => undefined;
    const done = new Promise<Answer>((resolve, reject) => {
      settle = (result) => ('status' in result ? resolve(result) : reject(new SessionError(result.code, result.message)));
    });
    done.catch(() => undefined); // who does not look at it is told by the events
    const id = newId('msg');
    if (current && !isClosed) {
      current.say(id, text, settle);
      return { id, done };
    }
    emit({ type: 'user.message', id, text, spoken: false, status: 'sending' });
    early.push({ id, text, settle });
    if (isClosed) failEarly(left);
    else if (isHungUp) failEarly(over);
    wantsOpen = true;
    start();
    return { id, done };
  }

  return {
    on: emitter.on,
    onAny: emitter.onAny,
    events(signal) {
      const events = emitter.events(signal);
      if (isClosed || isHungUp || current?.hasEnded) emitter.finish();
      return events;
    },
    voice,
    get state() {
      return current?.state ?? unavailableState ?? { name: 'idle', text: 'There is no connection yet.' };
    },
    get hasEnded() {
      return current?.hasEnded ?? isHungUp;
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
      isClosed = false;
      if (current) current.reconnect();
      else start();
    },
    send,
    cancel() {
      current?.cancel();
      if (voice.state.phase !== 'off') voice.silence();
    },
    approve: (id, isAllowed, reason = '') => current?.decide(id, isAllowed, reason) ?? false,
    answerTool: (callId, output) => current?.answerTool(callId, output) ?? false,
    sendEvent: (event) => current?.send(event) ?? false,
    restart() {
      isClosed = isHungUp = false;
      closeVoice();
      current?.leave();
      current = unavailableState = undefined;
      return fetchSession();
    },
    drop: () => current?.drop(),
    hangUp() {
      closeVoice();
      if (current) return current.hangUp();
      if (isHungUp) return;
      isHungUp = true;
      failEarly(over);
      emit({ type: 'ended', reason: 'hang_up', text: 'The conversation was hung up.', failed: false });
    },
    close() {
      isClosed = true;
      closeVoice();
      current?.leave();
      failEarly(left);
      emitter.finish();
    },
  };
}

/** Throws a SessionError that does not show the URL: it has the session's token. */
function checkUrls({ chatUrl, wsUrl }: SessionUrls): void {
  for (const [name, url] of Object.entries({ chatUrl, ...(wsUrl !== undefined && { wsUrl }) }))
    if (!/^(wss?|https?):\/\/\S+$/i.test(url)) throw new SessionError('invalid-request', `${name} is no URL of a session: wss://…`);
}
