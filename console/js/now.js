// The exchanges in progress: shown as their events arrive, until the transcript has them.
import { fill, h } from './dom.js';
import { bubble } from './turn.js';

/**
 * The exchanges in progress. An exchange is a message of the user and the answer to it as far as it
 * has arrived. A greeting, and an answer to the result of a tool, have no message of the user.
 */
export class Now {
  element = h('div', { 'class': 'now', 'aria-live': 'polite', 'aria-atomic': 'false' });
  #exchanges = [];
  #settled = new Set();
  #gone = new Set();

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
    if (type === 'conversation.item.added' && item.role === 'user') this.#heard(item.content?.[0]?.text);
    if (!response || this.#gone.has(response)) return;
    // A client that comes back in the middle of an answer has missed its response.created.
    const exchange = this.#of(response);
    if (type === 'response.done') exchange.over = true;
    if (type === 'response.output_text.delta') exchange.answer(event.item_id).append(event.delta);
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
   * the user's text finds a turn's exchange. A turn with another text must be one of `over`, the
   * exchanges that had ended before the transcript was read.
   */
  settle(turns, over) {
    let others = 0;
    for (const turn of turns.filter((t) => !this.#settled.has(t.id))) {
      this.#settled.add(turn.id);
      const found = this.#exchanges.find((e) => e.text === (turn.user_text ?? ''));
      if (found) this.#remove(found);
      else others++;
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
  #parts = new Map();

  constructor(text, heard) {
    this.text = text;
    this.heard = heard;
    this.element = h('div', {}, text && bubble('user', text));
  }

  /** The element for the text of an item. */
  answer(item) {
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
