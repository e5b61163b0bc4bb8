// A session's turns as the service keeps them, and their cards, brought up to date without reading all anew.
import { call, path } from './api.js';
import { turnCard } from './turn.js';

/** The turns of a session in an element. */
export class Transcript {
  #token = ''; #shown = new Map(); #reading; #again = false;

  constructor(sessionID, element) {
    this.sessionID = sessionID;
    this.element = element;
  }

  get turns() { return [...this.#shown.values()].map((s) => s.turn); }

  /** Reads what is new or has changed since; two at once are one after the other. */
  refresh() {
    if (this.#reading) {
      this.#again = true;
      return this.#reading;
    }
    this.#reading = this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read() {
    do {
      this.#again = false;
      let token = this.#token;
      do {
        // The last page is read each time: a page that is full does not change any more.
        const page = await call('GET', `sessions/${path(this.sessionID)}/transcript`, { query: { page_size: 50, page_token: token } });
        for (const turn of page.turns ?? []) this.#show(turn);
        this.#token = token;
        token = page.next_page_token ?? '';
      } while (token);
    } while (this.#again);
  }

  #show(turn) {
    const text = JSON.stringify(turn);
    const known = this.#shown.get(turn.id);
    if (known?.text === text) return;
    const card = turnCard(turn);
    if (known) known.card.replaceWith(card);
    else this.element.append(card);
    this.#shown.set(turn.id, { turn, text, card });
  }
}
