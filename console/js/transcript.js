// A session's transcript and the cards of its turns. An update reads only the pages that may have
// changed.
import { call, path } from './api.js';
import { turnCard } from './turn.js';

/** The turns of a session in an element. */
export class Transcript {
  #token = '';
  #shown = new Map();
  #reading;
  #repeat = false;

  /** Whether a turn in progress is left out, because it is shown elsewhere. */
  live = false;

  constructor(sessionID, element) {
    this.sessionID = sessionID;
    this.element = element;
  }

  get turns() {
    return [...this.#shown.values()].map((s) => s.turn);
  }

  /** Reads what is new or has changed. A call during another is done after it. */
  refresh() {
    if (this.#reading) {
      this.#repeat = true;
      return this.#reading;
    }
    this.#reading = this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read() {
    do {
      this.#repeat = false;
      let token = this.#token,
        whole = true;
      do {
        // The last page is read each time. A full page whose turns are all shown does not change
        // any more.
        const page = await call('GET', `sessions/${path(this.sessionID)}/transcript`, {
          query: { page_size: 50, page_token: token },
        });
        const turns = page.turns ?? [],
          shown = turns.filter((turn) => !this.live || turn.status !== 'in_progress');
        if (whole) this.#token = token;
        whole &&= shown.length === turns.length;
        for (const turn of shown) this.#show(turn);
        token = page.next_page_token ?? '';
      } while (token);
    } while (this.#repeat);
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
