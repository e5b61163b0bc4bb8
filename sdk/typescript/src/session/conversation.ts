// One session of the server: its two sockets, and what comes over them put together.
import { makeAnswers } from './answers.js';
import { makeApprovals } from './approvals.js';
import { leftCode, replacedCode } from './closing.js';
import type { Answer, Channel, ConnectionState, Handover, SessionEvent } from './events.js';
import { sayGoodbye, webSocketOf } from './goodbye.js';
import { newId } from './ids.js';
import { makeItems } from './items.js';
import type { ConnectOptions, SessionUrls } from './options.js';
import { makeOutbox, requestKey, type Refused } from './outbox.js';
import { askRefusal } from './refusal.js';
import { defaultRetry } from './retry.js';
import { makeSocket, type Socket } from './socket.js';
import { makeClientTools, sessionUpdate } from './tools.js';
import { type ClientEvent, type Fields, fieldsOf, type ServerEvent } from './wire.js';

/** What the voice does with its socket. */
export interface VoiceTap {
  state(state: ConnectionState): void;
  /** Settings for each new connection. */
  settings(): Readonly<Record<string, unknown>>;
  /** Takes an event. Returns whether nobody else is to have it. */
  take(event: Fields): boolean;
  sent(event: ClientEvent): void;
}

/** A session of the server. */
export interface Conversation {
  readonly state: ConnectionState;
  readonly handover: Handover;
  readonly hasEnded: boolean;
  readonly isAnswering: boolean;
  readonly canTalk: boolean;
  open(): void;
  reconnect(): void;
  openVoice(): void;
  /** Closes the voice connection; the session goes on in writing. */
  leaveVoice(): void;
  isOpen(channel: Channel): boolean;
  send(event: ClientEvent, channel?: Channel): boolean;
  /** Stops the answer in progress, without a connection once there is one. */
  cancel(): void;
  /**
   * Says something under an id, and settles with the answer or with why there is none. It is sent
   * when what was said before is answered.
   */
  say(id: string, text: string, settle: (result: Answer | Refused) => void): void;
  decide(id: string, approve: boolean, reason: string): boolean;
  answerTool(callId: string, output: unknown): boolean;
  drop(): void;
  /** Ends the session; without a connection one is made for it. */
  hangUp(): void;
  /** Closes the connections. open() makes them again. */
  leave(): void;
}

/** Begins the ids of events whose errors concern nobody: what they were for had ended meanwhile. */
export const ownEvent = 'own_';

/** Why there is no answer of a session that has ended. */
export const over: Refused = { code: 'session-closed', message: 'The session has ended.' };

/** Why there is no answer of a conversation that close() has left. */
export const left: Refused = { code: 'closed', message: 'The conversation was closed by close(). open() goes on with it.' };

const replaced: Refused = {
  code: 'replaced',
  message: 'Another connection of this session took over, perhaps in another tab. reconnect() takes it back.',
};

/** How long a message may be. Source: docs/realtime.md, Items. */
const maxTextChars = 32_000;

const nobody: Handover = { status: 'none', operator: '' };

/** The sockets and states of a session. Nothing is connected before open() or openVoice(). */
export function makeConversation(
  urls: SessionUrls,
  options: ConnectOptions,
  emit: (event: SessionEvent) => void,
  voice: VoiceTap,
): Conversation {
  const retry = { ...defaultRetry, ...options.retry };
  let handover = nobody;
  let ended = false;
  let sessionId = '';
  /** cancel() was called for an answer that has not ended. */
  let isCancelled = false;

  const outbox = makeOutbox({
    send: (channel, event) => ready.has(channel) && send(event, channel),
    route,
    preferred,
    isAnswering: (channel) => answers.inProgress(channel),
    retry,
    failed: (id, why) => {
      if (messages.has(id)) items.failed(id, why);
      else emit({ type: 'error', eventId: id, ...why });
    },
  });
  const messages = new Set<string>();
  /** The channels whose connection has begun with session.created. */
  const ready = new Set<Channel>();
  const tools = makeClientTools(options.tools ?? [], emit, (call_id, output) => {
    const item = { type: 'function_call_output', call_id, output };
    outbox.add(newId('out'), item, () => undefined);
  });
  const approvals = makeApprovals(emit, (item) => {
    send({ type: 'conversation.item.create', event_id: newId(ownEvent), item });
  });
  const answers = makeAnswers({
    emit,
    operator: () => (handover.status === 'operator' ? handover.operator : ''),
    started: (channel, id, metadata) => outbox.answerStarted(channel, id, metadata[requestKey] ?? ''),
    done: (channel, answer) => {
      approvals.answerDone(answer.id);
      isCancelled &&= answers.inProgress();
      outbox.answerDone(channel, answer);
    },
    clientTool: (call) => tools.called(call),
    approval: (answerId, item) => approvals.requested(answerId, item),
    called: (call) => approvals.called(call),
  });
  const items = makeItems(emit, answers, (item) => {
    outbox.accepted(item);
    if (item.type === 'function_call_output' && item.call_id) tools.closed(item.call_id, item.output ?? '');
  });

  const sockets: Record<Channel, Socket | undefined> = {
    chat: makeChannel('chat', urls.chatUrl),
    voice: urls.wsUrl ? makeChannel('voice', urls.wsUrl) : undefined,
  };

  function makeChannel(channel: Channel, url: string): Socket {
    return makeSocket({
      url,
      WebSocket: webSocketOf(options),
      retry,
      random: options.random ?? Math.random,
      refusalOf: options.refusalOf ?? askRefusal,
      listener: {
        event: (event) => take(channel, event),
        sent: (event) => sent(channel, event),
        state: (state) => changed(channel, state),
        ended: (reason, text, failed) => end(reason, text, failed),
      },
    });
  }

  /** The channel for what is said now: while the user talks, what is typed is answered aloud. */
  function preferred(): Channel {
    return sockets.voice?.isOpen ? 'voice' : 'chat';
  }

  function route(): Channel {
    if (!sockets.voice?.isOpen) sockets.chat?.connect();
    return preferred();
  }

  function send(event: ClientEvent, channel: Channel = preferred()): boolean {
    return sockets[channel]?.send(event) ?? false;
  }

  function sent(channel: Channel, event: ClientEvent): void {
    if (event.type === 'input_audio_buffer.append') return voice.sent(event);
    emit({ type: 'raw', channel, direction: 'out', event });
  }

  function changed(channel: Channel, state: ConnectionState): void {
    if (state.name !== 'open') {
      ready.delete(channel);
      // Also while connecting: route() connects before the loss of the last connection is reported.
      outbox.lost(channel);
    }
    emit({ type: 'state', channel, state });
    if (channel === 'voice') voice.state(state);
    const gaveUp = state.name === 'closed' && state.canReconnect && state.code !== leftCode;
    if (gaveUp) outbox.gaveUp(channel, { code: state.reason || 'closed', message: state.text });
  }

  /** Why a message cannot be sent; undefined if it can. */
  function refusalOf(text: string): Refused | undefined {
    if (ended) return over;
    if (!text.trim()) return { code: 'missing_required_parameter', message: 'A message needs a text.' };
    if (text.length > maxTextChars && [...text].length > maxTextChars)
      return { code: 'invalid_value', message: 'A message has at most 32,000 characters.' };
    // Sending would take the session away from the other one again.
    const { name, code } = sockets.chat?.state ?? {};
    if (!sockets.voice?.isOpen && name === 'closed' && code === replacedCode) return replaced;
    return undefined;
  }

  function cancel(channel?: Channel): void {
    send({ type: 'response.cancel', event_id: newId(ownEvent) }, channel);
  }

  /** A connection is ready for events. */
  function opened(channel: Channel, event: Fields): void {
    const id = event.session?.id ?? '';
    if (id !== sessionId) emit({ type: 'session', id });
    sessionId = id;
    const declared = tools.declaration();
    const settings = channel === 'voice' ? voice.settings() : {};
    const update = { ...settings, ...(declared.length > 0 && { tools: declared }) };
    if (Object.keys(update).length > 0) send(sessionUpdate(update), channel);
    ready.add(channel);
    if (isCancelled) cancel(channel);
    outbox.opened(channel);
    approvals.opened();
  }

  function take(channel: Channel, event: ServerEvent): void {
    const fields = fieldsOf(event);
    const isSound = event.type === 'response.output_audio.delta';
    if (!isSound) emit({ type: 'raw', channel, direction: 'in', event });
    if (channel === 'voice' && voice.take(fields)) return;
    if (event.type === 'session.created') opened(channel, fields);
    else if (!answers.take(channel, fields)) other(channel, fields);
  }

  function other(channel: Channel, event: Fields): void {
    switch (event.type) {
      case 'error':
        if (!outbox.take(event) && !event.error?.event_id?.startsWith(ownEvent)) refused(event);
        break;
      case 'conversation.item.truncated': // only the item tells which words were heard
        send({ type: 'conversation.item.retrieve', event_id: newId(ownEvent), item_id: event.item_id }, channel);
        break;
      case 'parlance.handover':
        handover = { status: statusOf(event.status), operator: event.operator ?? '' };
        emit({ type: 'handover', handover });
        break;
      case 'conversation.item.retrieved':
        outbox.take(event);
        items.take(event);
        break;
      default:
        items.take(event);
    }
  }

  function refused({ error }: Fields): void {
    const { code = 'error', message = 'An event was refused.' } = error ?? {};
    emit({ type: 'error', code, message, eventId: error?.event_id ?? '' });
  }

  function end(reason: string, text: string, failed: boolean): void {
    if (ended) return;
    ended = true;
    outbox.close({ ...over, message: text });
    approvals.clear();
    tools.clear();
    for (const socket of Object.values(sockets)) socket?.leave();
    emit({ type: 'ended', reason, text, failed });
  }

  return {
    get state() {
      return overall(sockets.chat?.state, sockets.voice?.state);
    },
    get handover() {
      return handover;
    },
    get hasEnded() {
      return ended;
    },
    get isAnswering() {
      return answers.inProgress();
    },
    get canTalk() {
      return Boolean(urls.wsUrl) && !ended;
    },
    open() {
      if (!ended) sockets.chat?.connect();
    },
    reconnect() {
      if (ended) return;
      const { chat, voice } = sockets;
      if (chat && chat.state.name !== 'idle') chat.connect();
      if (voice && voice.state.name !== 'idle' && voice.state.code !== leftCode) voice.connect();
    },
    openVoice() {
      if (!ended) sockets.voice?.connect();
    },
    leaveVoice() {
      sockets.voice?.leave();
      answers.abandon('voice');
      if (!ended && sockets.chat?.state.name === 'idle') sockets.chat.connect();
      outbox.move('voice', 'chat');
    },
    isOpen: (channel) => sockets[channel]?.isOpen ?? false,
    send,
    cancel() {
      isCancelled = answers.inProgress();
      cancel();
    },
    say(id, text, settle) {
      messages.add(id);
      items.sending(id, text);
      const why = refusalOf(text);
      if (why) {
        items.failed(id, why);
        return settle(why);
      }
      route();
      outbox.add(id, { type: 'message', role: 'user', content: [{ type: 'input_text', text }] }, settle);
    },
    decide: (id, approve, reason) => approvals.decide(id, approve, reason),
    answerTool: (callId, output) => tools.answer(callId, output),
    drop() {
      for (const socket of Object.values(sockets)) if (socket?.isOpen) socket.drop();
    },
    hangUp() {
      if (ended) return;
      const isConnected = Object.values(sockets).some((socket) => socket?.isOpen);
      for (const socket of Object.values(sockets)) socket?.hangUp();
      if (!isConnected) sayGoodbye(urls.chatUrl, options);
      end('hang_up', 'The conversation was hung up.', false);
    },
    leave() {
      for (const socket of Object.values(sockets)) socket?.leave();
      outbox.close(left);
    },
  };
}

/** The state of both sockets together: open when one is. */
function overall(chat: ConnectionState | undefined, voice: ConnectionState | undefined): ConnectionState {
  const idle: ConnectionState = { name: 'idle', text: 'There is no connection yet.' };
  if (chat?.name === 'open' || !voice || voice.name === 'idle') return chat ?? idle;
  if (voice.name === 'open' || chat?.name === 'idle') return voice;
  return chat ?? voice;
}

function statusOf(status: string | undefined): Handover['status'] {
  return status === 'requested' || status === 'operator' || status === 'released' ? status : 'none';
}
