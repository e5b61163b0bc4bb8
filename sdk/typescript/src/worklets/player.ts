// Plays the agent's sound, and counts what was played. Runs on the audio thread.
import { loudnessDb, samplesOf, silentDb, wireHz } from '../audio/pcm.js';
import { makePlayQueue, type Played } from '../audio/playqueue.js';
import { makeResampler } from '../audio/resample.js';

/** How often the page is told what is played. */
const reportMs = 40;

interface Message {
  readonly type: 'play' | 'end' | 'clear' | 'close';
  readonly item?: string;
  readonly pcm?: Uint8Array;
}

registerProcessor(
  'parlance-player',
  class extends AudioWorkletProcessor {
    #queue = makePlayQueue();
    #resampler = makeResampler(wireHz, sampleRate);
    #item = '';
    #loudest = silentDb;
    #reportedAt = 0;
    #playing = false;
    #closed = false;

    constructor() {
      super();
      this.port.onmessage = ({ data }: MessageEvent<Message>) => this.#take(data);
    }

    #take({ type, item = '', pcm }: Message): void {
      if (type === 'play' && pcm) {
        if (item !== this.#item) this.#begin(item);
        this.#queue.add(item, this.#resampler.push(samplesOf(pcm)));
      }
      if (type === 'end' && item === this.#item) this.#begin('');
      if (type === 'clear') {
        this.#item = '';
        this.port.postMessage({ cleared: inMs(this.#queue.clear()) });
      }
      if (type === 'close') this.#closed = true;
    }

    /** Begins another item, behind the end of the one before. */
    #begin(item: string): void {
      if (this.#item) this.#queue.add(this.#item, this.#resampler.flush());
      this.#item = item;
      this.#resampler = makeResampler(wireHz, sampleRate);
    }

    process(_: Float32Array[][], [output]: Float32Array[][]): boolean {
      const buffer = output?.[0];
      if (this.#closed || !buffer) return false;
      const playing = this.#queue.take(buffer) > 0;
      this.#loudest = Math.max(this.#loudest, loudnessDb(buffer));
      const due = (currentTime - this.#reportedAt) * 1000 >= reportMs;
      if (playing !== this.#playing || (playing && due)) {
        this.port.postMessage({
          playing,
          loudnessDb: playing ? this.#loudest : silentDb,
          waits: this.#queue.items().some((one) => one.left > 0),
        });
        this.#playing = playing;
        this.#reportedAt = currentTime;
        this.#loudest = silentDb;
      }
      return true;
    }
  },
);

function inMs(items: Played[]): { item: string; playedMs: number; leftMs: number }[] {
  const ms = (samples: number): number => (samples / sampleRate) * 1000;
  return items.map(({ item, played, left }) => ({ item, playedMs: ms(played), leftMs: ms(left) }));
}
