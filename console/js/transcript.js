// A session's turns as the service keeps them, and their cards, brought up to date without reading all anew.
import { call, path } from './api.js';
import { turnCard } from './turn.js';

/** The turns of a session in an element. */
export class Transcript {
  #token = ''; #shown = new Map(); #reading; #again = false;

  /** Whether a turn that is being answered is left out: what is heard of it is shown elsewhere. */
  live = false;

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
      let token = this.#token, whole = true;
      do {
        // The last page is read each time: a page that is full, and shown, does not change any more.
        const page = await call('GET', `sessions/${path(this.sessionID)}/transcript`, { query: { page_size: 50, page_token: token } });
        const turns = page.turns ?? [], shown = turns.filter((turn) => !this.live || turn.status !== 'in_progress');
        if (whole) this.#token = token;
        whole &&= shown.length === turns.length;
        for (const turn of shown) this.#show(turn);
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
