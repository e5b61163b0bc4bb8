// How long the beginning of a spoken answer takes, from the end of what the user said.
import { duration, fill, h } from './dom.js';

/** The stages in their order. `kind` is the colour of the bar, as in timing.js. */
const stages = [
  { at: 'endpoint', name: 'believed to be over', kind: 'endpoint' },
  { at: 'transcript', name: 'transcript', kind: 'retrieval' },
  { at: 'token', name: 'first token', kind: 'model' },
  { at: 'sound', name: 'first sound', kind: 'tools' },
];

const width = 640,
  height = 12;

/**
 * The stages of the newest spoken answer. They are measured by this page as their events arrive,
 * until the service sends its own measurement. Times are in milliseconds.
 */
export class Latency {
  element = h('div', { class: 'latency', hidden: true });
  #spokenUntil = 0;
  #reached = {};
  #measured = false;

  /** The user has spoken until a time. The service has found that out now. */
  begin(spokenUntil, now) {
    this.#spokenUntil = Math.min(spokenUntil, now);
    this.#reached = {};
    this.#measured = false;
    this.reach('endpoint', now);
  }

  /** A stage (endpoint, transcript, token, sound) is reached. Only the first time counts. */
  reach(stage, now) {
    if (this.#measured || this.#spokenUntil === 0 || this.#reached[stage] !== undefined) return;
    this.#reached[stage] = Math.round(now - this.#spokenUntil);
    this.#show();
  }

  /** Takes the service's event parlance.timing. */
  measured(event) {
    this.#measured = true;
    this.#reached = {
      endpoint: event.endpoint_ms,
      transcript: event.transcript_ms,
      token: event.first_token_ms,
      sound: event.first_audio_ms,
    };
    this.#show();
  }

  /** Nothing that is said now belongs to the stages so far. */
  reset() {
    this.#spokenUntil = 0;
  }

  /** The stages that were reached: [{ name, kind, from, to }]. */
  get bars() {
    let from = 0;
    return stages
      .filter(({ at }) => this.#reached[at] !== undefined)
      .map(({ at, name, kind }) => {
        const to = Math.max(from, this.#reached[at]);
        const bar = { name, kind, from, to };
        from = to;
        return bar;
      });
  }

  #show() {
    const { bars } = this;
    const scale = width / Math.max(1, bars.at(-1)?.to ?? 1);
    const picture = h('svg', {
      'viewBox': `0 0 ${width} ${height}`,
      'preserveAspectRatio': 'none',
      'aria-hidden': 'true',
    });
    for (const { name, kind, from, to } of bars)
      picture.append(
        h(
          'g',
          { class: `bar ${kind}` },
          h('title', {}, `${name}: ${duration(to - from)}`),
          h('rect', { x: (from * scale).toFixed(1), y: 0, width: Math.max(1, (to - from) * scale).toFixed(1), height }),
        ),
      );
    fill(
      this.element,
      h(
        'p',
        { class: 'help' },
        this.#measured ? 'From the end of your speech:' : 'From the end of your speech, as this page sees it:',
      ),
      picture,
      h(
        'ol',
        {},
        bars.map(({ name, kind, to }) => h('li', { class: kind }, `${name} ${duration(to)}`)),
      ),
    );
    this.element.hidden = bars.length === 0;
  }
}
