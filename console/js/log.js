// The log of a socket's events, in both directions.
import { copyButton, fill, h, json } from './dom.js';

/** How many events are kept. */
const maxEntries = 2000;

/** A list of events with a filter. */
export class EventLog {
  #entries = [];
  #list = h('ol', { 'class': 'events', 'tabindex': '0', 'aria-label': 'Events' });
  #follow = true;
  #sounds = new Map(); // by type: the entries that are added to
  #number = h('span', { class: 'help' });
  #filter = h('input', {
    'type': 'search',
    'placeholder': 'Filter: words that an event has, ← or →',
    'aria-label': 'Filter the events',
    'oninput': () => this.#show(),
  });

  constructor() {
    this.#list.addEventListener('scroll', () => {
      this.#follow = this.#list.scrollTop + this.#list.clientHeight >= this.#list.scrollHeight - 30;
    });
    this.element = h(
      'section',
      { 'class': 'panel log', 'aria-label': 'Event log' },
      h(
        'div',
        { class: 'row' },
        h('h2', {}, 'Events'),
        this.#number,
        copyButton('Copy', () =>
          this.#shown()
            .map((e) => JSON.stringify({ at: e.at.toISOString(), direction: e.direction, event: e.event }))
            .join('\n'),
        ),
        h(
          'button',
          {
            type: 'button',
            class: 'quiet',
            onclick: () => {
              this.#entries = [];
              this.#show();
            },
          },
          'Clear',
        ),
      ),
      this.#filter,
      this.#list,
    );
  }

  /** Adds an event; direction is → (sent), ← (received) or · (about the connection). */
  add(direction, event) {
    if (/^(input_audio_buffer|response\.output_audio)\.|^voice: /.test(event.type)) this.#sounds.clear();
    this.#add(direction, event);
  }

  /**
   * Adds an event with sound. Those up to the next event about speech are one entry, with their
   * number and length.
   */
  addSound(direction, type, ms) {
    const known = this.#sounds.get(type);
    if (!known) return this.#sounds.set(type, this.#add(direction, { type, events: 1, sound_ms: Math.round(ms) }));
    known.event.events++;
    known.event.sound_ms += Math.round(ms);
    known.line.querySelector('.gist').textContent = gist(known.event);
  }

  #add(direction, event) {
    const entry = { direction, event, at: new Date(), line: this.#line(direction, event) };
    this.#entries.push(entry);
    if (this.#entries.length > maxEntries) this.#entries.shift().line.remove();
    if (this.#fits(entry)) {
      this.#list.append(entry.line);
      if (this.#follow) this.#list.scrollTop = this.#list.scrollHeight;
    }
    this.#count();
    return entry;
  }

  #line(direction, event) {
    const words = { '→': 'sent', '←': 'received', '·': 'connection' }[direction];
    const details = h(
      'details',
      {},
      h(
        'summary',
        {},
        h('span', { class: `way ${words}`, title: words }, direction),
        h('code', {}, event.type ?? '?'),
        h('span', { class: 'gist' }, gist(event)),
        h(
          'span',
          { class: 'at' },
          new Date().toLocaleTimeString(undefined, { hour12: false }) +
            `.${String(Date.now() % 1000).padStart(3, '0')}`,
        ),
      ),
    );
    details.addEventListener('toggle', () => {
      if (details.open && details.children.length === 1) details.append(json(event));
    });
    return h('li', {}, details);
  }

  #fits({ direction, event }) {
    const text = `${direction} ${JSON.stringify(event)}`.toLowerCase();
    return this.#filter.value
      .toLowerCase()
      .split(/\s+/)
      .every((word) => text.includes(word));
  }

  #shown() {
    return this.#entries.filter((e) => this.#fits(e));
  }

  #show() {
    fill(
      this.#list,
      this.#shown().map((e) => e.line),
    );
    this.#count();
  }

  #count() {
    const shown = this.#filter.value ? `${this.#shown().length} of ` : '';
    this.#number.textContent = `${shown}${this.#entries.length}`;
  }
}

/** A short text of an event, for its closed entry. */
function gist(event) {
  const text =
    (event.sound_ms && `${event.events} × sound, ${(event.sound_ms / 1000).toFixed(1)} s`) ??
    event.delta ??
    event.transcript ??
    event.text ??
    event.error?.message ??
    event.item?.content?.map((c) => c.text ?? c.transcript ?? '').join(' ') ??
    event.item?.name ??
    event.item?.output ??
    event.response?.status ??
    event.session?.id ??
    (event.audio_end_ms !== undefined ? `at ${event.audio_end_ms} ms` : '');
  return String(text).slice(0, 80);
}
