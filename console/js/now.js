// The exchanges in progress: shown as their events arrive, until the transcript has them.
import { fill, h } from './dom.js';
import { bubble, heardText } from './turn.js';

/**
 * The exchanges in progress. An exchange is a message of the user and the answer to it as far as it
 * has arrived. A greeting, and an answer to the result of a tool, have no message of the user.
 */
export class Now {
  element = h('div', { 'class': 'now', 'aria-live': 'polite', 'aria-atomic': 'false' });
  #exchanges = [];
  #settled = new Set();
  #gone = new Set();
  #items = new Set();

  /** Whether an answer is in progress, also while there is no connection. */
  get answering() {
    return this.#exchanges.some((e) => e.response && !e.over);
  }

  /** The exchanges whose answers have ended. */
  get over() {
    return this.#exchanges.filter((e) => e.over);
  }

  /** Shows a message of the user. */
  said(text) {
    this.#add(text, false);
  }

  /** Takes a server event. */
  take(event) {
    const { type, item = {} } = event,
      response = event.response_id ?? event.response?.id;
    if (type === 'conversation.item.added' && item.role === 'user') this.#added(item);
    if (type === 'conversation.item.input_audio_transcription.completed')
      this.#spoken(event.item_id)?.say(event.transcript);
    if (type === 'conversation.item.input_audio_transcription.failed')
      this.#spoken(event.item_id)?.fail(event.error?.message ?? 'There is no transcript.');
    if (type === 'conversation.item.retrieved' && item.role === 'assistant') this.#cut(item);
    if (!response || this.#gone.has(response)) return;
    // A client that comes back in the middle of an answer has missed its response.created.
    const exchange = this.#of(response);
    if (type === 'response.done') exchange.over = true;
    if (type === 'response.output_text.delta' || type === 'response.output_audio_transcript.delta')
      exchange.write(event.item_id, event.delta);
    if (item.type === 'mcp_call' && type === 'response.output_item.added')
      exchange.line(item.id, 'Calling ', h('code', {}, item.name), ' …');
    if (item.type === 'mcp_call' && type === 'response.output_item.done') {
      exchange.line(
        item.id,
        item.error ? 'Failed: ' : 'Called ',
        h('code', {}, item.name),
        item.error ? ` – ${item.error.message}` : '',
      );
    }
  }

  /**
   * Removes the exchanges that the transcript has. The socket does not know the ids of turns, so
   * the user's text, or the item that was spoken, finds a turn's exchange. Another turn must be one
   * of `over`, the exchanges that had ended before the transcript was read.
   */
  settle(turns, over) {
    let others = 0;
    for (const turn of turns.filter((t) => !this.#settled.has(t.id))) {
      const spoken = new Set(turn.items?.map((i) => i.id));
      const found = this.#exchanges.filter((e) => spoken.has(e.item));
      const said = (e) => e.text === (turn.user_text ?? '');
      const written = !found.some(said) && this.#exchanges.find((e) => !e.item && said(e));
      if (written) found.push(written);
      for (const one of found) this.#remove(one);
      // The transcript may have a greeting before this page hears of it.
      if (found.length === 0 && !turn.user_text) continue;
      this.#settled.add(turn.id);
      if (found.length === 0) others++;
    }
    for (const one of over.filter((e) => this.#exchanges.includes(e)).slice(0, others)) this.#remove(one);
  }

  #add(text, heard) {
    const exchange = new Exchange(text, heard);
    this.#exchanges.push(exchange);
    this.element.append(exchange.element);
    return exchange;
  }

  #remove(exchange) {
    this.#exchanges.splice(this.#exchanges.indexOf(exchange), 1);
    exchange.element.remove();
    if (exchange.response) this.#gone.add(exchange.response);
  }

  /** The service has an item of the user. Both sockets of a session may tell it. */
  #added({ id, content: [content] = [] }) {
    if (id && this.#items.has(id)) return;
    this.#items.add(id);
    if (content?.type !== 'input_audio') return this.#heard(content?.text);
    const exchange = this.#add('', true);
    exchange.item = id;
    exchange.say(content.transcript ?? '');
  }

  /** The exchange that begins with a spoken item. */
  #spoken(item) {
    return this.#exchanges.find((e) => e.item === item);
  }

  /** Shows which words of a spoken item of the agent nobody has heard. */
  #cut({ id, content: [content] = [] }) {
    for (const exchange of this.#exchanges) if (exchange.has(id)) exchange.cut(id, content?.transcript ?? '');
  }

  /** The service has the user's message: an answer that starts from now on may be to it. */
  #heard(text) {
    const silent = this.#exchanges.filter((e) => !e.heard);
    const exchange = silent.find((e) => e.text === text) ?? silent[0];
    if (exchange) exchange.heard = true;
  }

  #of(response) {
    const known =
      this.#exchanges.find((e) => e.response === response) ??
      this.#exchanges.find((e) => e.heard && !e.response) ??
      this.#add('', true);
    known.response = response;
    return known;
  }
}

/** A message of the user and its answer. */
class Exchange {
  response = '';
  over = false;
  /** The item of the user, if it was spoken. */
  item = '';
  #user;
  #texts = new Map();
  #parts = new Map();

  constructor(text, heard) {
    this.text = text;
    this.heard = heard;
    this.element = h('div', {}, text && bubble('user', text));
  }

  /** Shows what the user has said aloud. */
  say(text) {
    this.text = text;
    const said = bubble('user', text || '…');
    if (this.#user) this.#user.replaceWith(said);
    else this.element.prepend(said);
    this.#user = said;
  }

  /** What the user has said aloud was not understood, and is not answered. */
  fail(why) {
    this.heard = false;
    this.line(this.item, `Not understood: ${why}`);
  }

  has(item) {
    return this.#texts.has(item);
  }

  /** Adds to the text of an item. */
  write(item, delta) {
    this.#texts.set(item, (this.#texts.get(item) ?? '') + delta);
    this.#answer(item).append(delta);
  }

  /** Marks what follows the words of an item that were heard. */
  cut(item, heard) {
    const text = this.#texts.get(item);
    fill(this.#answer(item), heardText(text, [{ text, heard: { text: heard } }]));
  }

  #answer(item) {
    return this.#part(item, () => bubble('agent', '')).querySelector('.text');
  }

  /** Shows a line about an item, in place of an earlier one. */
  line(item, ...children) {
    fill(
      this.#part(item, () => h('p', { class: 'help' })),
      ...children,
    );
  }

  #part(item, make) {
    if (!this.#parts.has(item)) {
      this.#parts.set(item, make());
      this.element.append(this.#parts.get(item));
    }
    return this.#parts.get(item);
  }
}
