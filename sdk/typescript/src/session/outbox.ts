// What was sent and not answered yet: messages of the user and results of tools. Messages are sent
// one at a time, the next when the one before is answered: the service answers all that it has by
// then. After a lost connection nobody knows how much the server got, so what was sent is sent
// again under the same id, and an answer is asked for again only when none comes.
import type { Answer, Channel } from './events.js';
import type { Retry } from './retry.js';
import type { ClientEvent, Fields, Item } from './wire.js';

/** An item that was sent, or will be when it is its turn and there is a connection. */
export interface Entry {
  readonly id: string;
  readonly item: Readonly<Record<string, unknown>>;
  /** Called once with the answer, or with why there is none. */
  readonly settle: (result: Answer | Refused) => void;
  /** Where it is sent. Undefined while it waits for the answer of a message before it. */
  channel: Channel | undefined;
  sent: boolean;
  /** The server has the item. */
  accepted: boolean;
  /** A lost connection makes it unknown what the server got. */
  unsure: boolean;
  /** The connection was lost since it was sent first. */
  wasLost: boolean;
  /** The server said that it had the item before it was sent again. */
  duplicate: boolean;
  /** The answer in progress. */
  answerId: string;
  /** The answer that was lost together with its server; another one may follow. */
  lostAnswer?: Answer;
  timer?: ReturnType<typeof setTimeout>;
}

/** Why something has no answer. */
export interface Refused {
  readonly code: string;
  readonly message: string;
}

export interface OutboxOptions {
  readonly send: (channel: Channel, event: ClientEvent) => boolean;
  /** The channel for what is said now. It is being connected, if it was not. */
  readonly route: () => Channel;
  /** The channel that route() would name, as it is. */
  readonly preferred: () => Channel;
  readonly isAnswering: (channel: Channel) => boolean;
  readonly retry: Pick<Retry, 'settleMs' | 'resumedMs'>;
  readonly failed: (id: string, refused: Refused) => void;
}

export interface Outbox {
  /** Adds a message, or the result of a tool. A result does not wait for its turn. */
  add(id: string, item: Readonly<Record<string, unknown>>, settle: Entry['settle']): void;
  /** A channel has a connection: what is on it is sent, or sent again. */
  opened(channel: Channel): void;
  /** A channel's connection was lost. */
  lost(channel: Channel): void;
  /** A channel's connection is not made again: what is on it, or would be, has no answer. */
  gaveUp(channel: Channel, why: Refused): void;
  /** A channel is left: what the server does not have goes to another one. */
  move(from: Channel, to: Channel): void;
  accepted(item: Item): void;
  /** An answer has begun; requestId is that of its metadata. */
  answerStarted(channel: Channel, answerId: string, requestId: string): void;
  answerDone(channel: Channel, answer: Answer): void;
  /** Takes an error or the answer to a check. Returns whether it belonged to an entry. */
  take(event: Fields): boolean;
  /** Ends everything: the session is over or left. */
  close(refused: Refused): void;
}

/** The member of a response's metadata with the id of the message that it answers. */
export const requestKey = 'parlance_request';

/** The code of an error about an item that the server has. */
const duplicateCode = 'item_create_duplicate_id';

const isOutput = (entry: Entry): boolean => entry.item['type'] === 'function_call_output';

/** Whether an answer has ended as one whose server was lost does. */
const isLost = ({ status, error }: Answer): boolean => status === 'failed' && error?.code === 'unavailable';

export function makeOutbox(options: OutboxOptions): Outbox {
  const entries: Entry[] = [];

  /** Sends the first message, if it waits for its turn. */
  function next(): void {
    const entry = entries.find((e) => !isOutput(e));
    if (!entry || entry.channel) return;
    entry.channel = options.route();
    transmit(entry);
  }

  function remove(entry: Entry, result: Answer | Refused): void {
    clearTimeout(entry.timer);
    entries.splice(entries.indexOf(entry), 1);
    entry.settle(result);
    next();
  }

  /** Ends entries that have no answer, at once, so that none of them has its turn. */
  function fail(failed: readonly Entry[], why: Refused): void {
    for (const entry of failed) {
      clearTimeout(entry.timer);
      entries.splice(entries.indexOf(entry), 1);
    }
    for (const entry of failed) {
      if (!entry.accepted) options.failed(entry.id, why);
      entry.settle(why);
    }
    next();
  }

  function send(entry: Entry, event: ClientEvent): boolean {
    return entry.channel !== undefined && options.send(entry.channel, event);
  }

  function create(entry: Entry): boolean {
    const item = { id: entry.id, ...entry.item };
    return send(entry, { type: 'conversation.item.create', event_id: `${entry.id}.item`, item });
  }

  function request(entry: Entry): boolean {
    entry.unsure = false;
    const event_id = `${entry.id}.answer`;
    // The server repeats the metadata in the response, so that it is known whose answer it is.
    // Those of results have none, because one answer takes several results.
    const response = isOutput(entry) ? {} : { response: { metadata: { [requestKey]: entry.id } } };
    return send(entry, { type: 'response.create', event_id, ...response });
  }

  function transmit(entry: Entry): void {
    entry.sent = create(entry) && request(entry);
  }

  /** Finds out whether the server has the item, behind everything that it sends again. */
  function check(entry: Entry): void {
    if (!entry.accepted) create(entry);
    send(entry, { type: 'conversation.item.retrieve', event_id: `${entry.id}.check`, item_id: entry.id });
  }

  /** Asks for the answer again, unless one is in progress or has been given. */
  function ask(entry: Entry): void {
    if (!entries.includes(entry) || entry.answerId || entry.lostAnswer || !entry.unsure) return;
    if (entry.channel && !options.isAnswering(entry.channel)) request(entry);
  }

  function checked(entry: Entry): void {
    if (!entry.unsure || entry.answerId || entry.lostAnswer) return;
    // An item that has just arrived cannot have been answered.
    if (entry.accepted && !entry.duplicate && entry.sent === false) return ask(entry);
    clearTimeout(entry.timer);
    entry.timer = setTimeout(() => ask(entry), options.retry.settleMs);
  }

  function refused(entry: Entry, part: string, code: string, message: string): void {
    if (part === 'item' && code === duplicateCode) {
      entry.accepted = entry.duplicate = true;
      return;
    }
    if (part === 'check') return checked(entry);
    if (part === 'answer' && code === 'session-taken-over') return remove(entry, operatorAnswer);
    if (part === 'item' && entry.unsure && isOutput(entry)) return remove(entry, { code, message }); // it arrived before
    options.failed(entry.id, { code, message });
    remove(entry, { code, message });
  }

  /** Waits for the answer that follows a lost one; without it the lost one is the answer. */
  function awaitResumed(entry: Entry, lost: Answer): void {
    clearTimeout(entry.timer);
    entry.lostAnswer = lost;
    entry.answerId = '';
    entry.timer = setTimeout(() => remove(entry, lost), options.retry.resumedMs);
  }

  /**
   * Whether an answer that was lost with its server is that of a message. One that began while the
   * connection was lost does not name it.
   */
  function hasLost(entry: Entry, channel: Channel, answerId: string): boolean {
    if (isOutput(entry) || entry.channel !== channel || !entry.wasLost || entry.lostAnswer) return false;
    return entry.answerId ? entry.answerId === answerId : entry.accepted;
  }

  return {
    add(id, item, settle) {
      const entry: Entry = {
        id, item, channel: undefined, settle,
        sent: false, accepted: false, unsure: false, wasLost: false, duplicate: false, answerId: '',
      };
      entries.push(entry);
      if (!isOutput(entry)) return next();
      entry.channel = options.preferred();
      transmit(entry);
    },
    opened(channel) {
      for (const entry of entries.filter((e) => e.channel === channel && !e.answerId)) {
        if (entry.lostAnswer) awaitResumed(entry, entry.lostAnswer);
        else if (entry.unsure) check(entry);
        else if (!entry.sent) transmit(entry);
      }
    },
    lost(channel) {
      for (const entry of entries.filter((e) => e.channel === channel && e.sent)) {
        entry.unsure = entry.wasLost = true;
        entry.sent = entry.accepted;
        entry.duplicate = false;
        clearTimeout(entry.timer);
      }
    },
    gaveUp(channel, why) {
      fail(entries.filter((e) => (e.channel ?? options.preferred()) === channel), why);
    },
    move(from, to) {
      for (const entry of entries.filter((e) => e.channel === from)) {
        if (entry.accepted) remove(entry, cancelledAnswer);
        else {
          entry.channel = to;
          entry.unsure ||= entry.sent;
          if (entry.unsure) check(entry);
          else transmit(entry);
        }
      }
    },
    accepted(item) {
      const callId = item.type === 'function_call_output' ? item.call_id : undefined;
      const entry = entries.find((e) => e.id === item.id || (callId !== undefined && e.item['call_id'] === callId));
      if (entry) entry.accepted = true;
    },
    answerStarted(channel, answerId, requestId) {
      const waiting = entries.filter((e) => e.channel === channel && e.accepted && !e.answerId);
      const outputs = waiting.filter(isOutput);
      // An answer that goes on in place of a lost one does not name its message.
      const asked = waiting.find((e) => (requestId ? e.id === requestId : e.lostAnswer));
      for (const entry of asked ? [...outputs, asked] : outputs) {
        entry.answerId = answerId;
        clearTimeout(entry.timer);
      }
    },
    answerDone(channel, answer) {
      const lost = isLost(answer) ? entries.find((e) => hasLost(e, channel, answer.id)) : undefined;
      if (lost) awaitResumed(lost, answer);
      for (const entry of entries.filter((e) => e.answerId === answer.id)) remove(entry, answer);
      for (const entry of entries.filter((e) => e.channel === channel && e.unsure && e.accepted)) checked(entry);
    },
    take(event) {
      const id = event.type === 'error' ? event.error?.event_id : undefined;
      if (event.type === 'conversation.item.retrieved') {
        const entry = entries.find((e) => e.id === event.item?.id);
        if (entry) {
          entry.accepted = true;
          checked(entry);
        }
        return entry !== undefined;
      }
      const entry = id && entries.find((e) => id.startsWith(`${e.id}.`));
      if (!entry) return false;
      refused(entry, id.slice(entry.id.length + 1), event.error?.code ?? 'error', event.error?.message ?? 'It was refused.');
      return true;
    },
    close: (why) => fail([...entries], why),
  };
}

const noAnswer = { id: '', reason: '', text: '', spoken: false, citations: [], toolCalls: [], clientToolCalls: [] };
const operatorAnswer: Answer = { ...noAnswer, status: 'operator' };
const cancelledAnswer: Answer = { ...noAnswer, status: 'cancelled', reason: 'client_cancelled' };
