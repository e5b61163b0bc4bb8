// What was sent and not answered yet: messages of the user and results of tools. After a lost
// connection nobody knows how much of it the server got, so each is sent again under the same id,
// and an answer is asked for again only when none comes.
import type { Answer, Channel } from './events.js';
import type { ClientEvent, Fields, Item } from './wire.js';

/** An item that was sent, or will be when there is a connection. */
export interface Entry {
  readonly id: string;
  readonly item: Readonly<Record<string, unknown>>;
  /** Called once with the answer, or with why there is none. */
  readonly settle: (result: Answer | Refused) => void;
  channel: Channel;
  sent: boolean;
  /** The server has the item. */
  accepted: boolean;
  /** A lost connection makes it unknown what the server got. */
  unsure: boolean;
  /** The server said that it had the item before it was sent again. */
  duplicate: boolean;
  answerId: string;
  timer?: ReturnType<typeof setTimeout>;
}

/** Why something has no answer. */
export interface Refused {
  readonly code: string;
  readonly message: string;
}

export interface OutboxOptions {
  readonly send: (channel: Channel, event: ClientEvent) => boolean;
  readonly isAnswering: (channel: Channel) => boolean;
  readonly settleMs: number;
  readonly failed: (id: string, refused: Refused) => void;
}

export interface Outbox {
  add(id: string, item: Readonly<Record<string, unknown>>, channel: Channel, settle: Entry['settle']): void;
  /** A channel has a connection: what is on it is sent, or sent again. */
  opened(channel: Channel): void;
  /** A channel's connection was lost. */
  lost(channel: Channel): void;
  /** A channel is left: what the server does not have goes to another one. */
  move(from: Channel, to: Channel): void;
  accepted(item: Item): void;
  /** An answer has begun; requestId is that of its metadata. */
  answerStarted(channel: Channel, answerId: string, requestId: string): void;
  answerDone(channel: Channel, answer: Answer): void;
  /** Takes an error or the answer to a check. Returns whether it belonged to an entry. */
  take(event: Fields): boolean;
  /** Ends everything: the session is over. */
  close(refused: Refused): void;
}

/** The member of a response's metadata with the id of the message that it answers. */
export const requestKey = 'parlance_request';

/** The code of an error about an item that the server has. */
const duplicateCode = 'item_create_duplicate_id';

export function makeOutbox(options: OutboxOptions): Outbox {
  const entries: Entry[] = [];

  const isOutput = (entry: Entry): boolean => entry.item['type'] === 'function_call_output';

  function remove(entry: Entry, result: Answer | Refused): void {
    clearTimeout(entry.timer);
    entries.splice(entries.indexOf(entry), 1);
    entry.settle(result);
  }

  function create(entry: Entry): boolean {
    const item = { id: entry.id, ...entry.item };
    return options.send(entry.channel, { type: 'conversation.item.create', event_id: `${entry.id}.item`, item });
  }

  function request(entry: Entry): boolean {
    entry.unsure = false;
    const event_id = `${entry.id}.answer`;
    // The server repeats the metadata in the response, so that it is known whose answer it is.
    // Those
    // of results have none, because one answer takes several results.
    const response = isOutput(entry) ? {} : { response: { metadata: { [requestKey]: entry.id } } };
    return options.send(entry.channel, { type: 'response.create', event_id, ...response });
  }

  function transmit(entry: Entry): void {
    entry.sent = create(entry) && request(entry);
  }

  /** Finds out whether the server has the item, behind everything that it sends again. */
  function check(entry: Entry): void {
    if (!entry.accepted) create(entry);
    const event = { type: 'conversation.item.retrieve', event_id: `${entry.id}.check`, item_id: entry.id };
    options.send(entry.channel, event);
  }

  /** Asks for the answer again, unless one is in progress or has been given. */
  function ask(entry: Entry): void {
    if (!entries.includes(entry) || entry.answerId || !entry.unsure || options.isAnswering(entry.channel)) return;
    request(entry);
  }

  function checked(entry: Entry): void {
    if (!entry.unsure || entry.answerId) return;
    // An item that has just arrived cannot have been answered.
    if (entry.accepted && !entry.duplicate && entry.sent === false) return ask(entry);
    clearTimeout(entry.timer);
    entry.timer = setTimeout(() => ask(entry), options.settleMs);
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

  return {
    add(id, item, channel, settle) {
      const entry: Entry = {
        id, item, channel, settle, sent: false, accepted: false, unsure: false, duplicate: false, answerId: '',
      };
      entries.push(entry);
      transmit(entry);
    },
    opened(channel) {
      for (const entry of entries.filter((e) => e.channel === channel && !e.answerId)) {
        if (entry.unsure) check(entry);
        else if (!entry.sent) transmit(entry);
      }
    },
    lost(channel) {
      for (const entry of entries.filter((e) => e.channel === channel && e.sent)) {
        entry.unsure = true;
        entry.sent = entry.accepted;
        entry.duplicate = false;
        clearTimeout(entry.timer);
      }
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
      // An answer that was resumed on another server does not name its request. On the voice
      // channel it may be one to what was spoken.
      const isNext = (e: Entry): boolean => !isOutput(e) && (e.unsure || channel === 'chat');
      const asked = waiting.find((e) => (requestId ? e.id === requestId : isNext(e)));
      for (const entry of asked ? [...outputs, asked] : outputs) {
        entry.answerId = answerId;
        clearTimeout(entry.timer);
      }
    },
    answerDone(channel, answer) {
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
    close(why) {
      for (const entry of [...entries]) {
        if (!entry.accepted) options.failed(entry.id, why);
        remove(entry, why);
      }
    },
  };
}

const noAnswer = { id: '', reason: '', text: '', spoken: false, citations: [], toolCalls: [], clientToolCalls: [] };
const operatorAnswer: Answer = { ...noAnswer, status: 'operator' };
const cancelledAnswer: Answer = { ...noAnswer, status: 'cancelled', reason: 'client_cancelled' };
