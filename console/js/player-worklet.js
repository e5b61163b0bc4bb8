// Plays the agent's sound, and counts what was played. Runs on the audio thread.
import { loudnessDB, Resampler, samplesOf, silentDB, wireHz } from './pcm.js';
import { PlayQueue } from './playqueue.js';

/** How often the page is told what is played. */
const reportMS = 40;

registerProcessor(
  'player',
  class extends AudioWorkletProcessor {
    #queue = new PlayQueue();
    #resampler;
    #item = '';
    #loudest = silentDB;
    #reportedAt = 0;
    #playing = false;
    #closed = false;

    constructor() {
      super();
      this.port.onmessage = ({ data }) => this.#take(data);
    }

    #take({ type, item, pcm }) {
      if (type === 'play') {
        if (item !== this.#item) this.#begin(item);
        this.#queue.add(item, this.#resampler.push(samplesOf(pcm)));
      }
      if (type === 'end' && item === this.#item) this.#begin('');
      if (type === 'clear') {
        this.#item = '';
        this.port.postMessage({ cleared: this.#inMS(this.#queue.clear()) });
      }
      if (type === 'close') this.#closed = true;
    }

    /** Begins another item, behind the end of the one before. */
    #begin(item) {
      if (this.#item) this.#queue.add(this.#item, this.#resampler.flush());
      this.#item = item;
      this.#resampler = new Resampler(wireHz, sampleRate);
    }

    #inMS(items) {
      const ms = (samples) => (samples / sampleRate) * 1000;
      return items.map(({ item, played, left }) => ({ item, playedMS: ms(played), leftMS: ms(left) }));
    }

    process(_, [[buffer]]) {
      if (this.#closed) return false;
      const playing = this.#queue.take(buffer) > 0;
      this.#loudest = Math.max(this.#loudest, loudnessDB(buffer));
      const due = (currentTime - this.#reportedAt) * 1000 >= reportMS;
      if (playing !== this.#playing || (playing && due)) {
        this.port.postMessage({
          playing,
          loudnessDB: playing ? this.#loudest : silentDB,
          items: this.#inMS(this.#queue.items),
        });
        this.#playing = playing;
        this.#reportedAt = currentTime;
        this.#loudest = silentDB;
      }
      return true;
    }
  },
);
