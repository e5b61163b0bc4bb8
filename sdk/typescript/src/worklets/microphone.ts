// Turns what the microphone hears into frames for the wire. Runs on the audio thread.
import { loudnessDb, pcmOf, wireHz } from '../audio/pcm.js';
import { makeFrames, makeResampler } from '../audio/resample.js';

const frameMs = 20;

/** The length of what the browser hands over at once. */
const quantum = 128;

registerProcessor(
  'parlance-microphone',
  class extends AudioWorkletProcessor {
    #resampler = makeResampler(sampleRate, wireHz);
    #closed = false;
    #frames = makeFrames((wireHz * frameMs) / 1000, (frame) => {
      const pcm = pcmOf(frame);
      this.port.postMessage({ pcm, loudnessDb: loudnessDb(frame) }, [pcm.buffer]);
    });

    constructor() {
      super();
      this.port.onmessage = () => {
        this.#closed = true;
      };
    }

    process([input]: Float32Array[][]): boolean {
      if (this.#closed) return false;
      // An input without channels is a microphone that gives nothing: that is silence.
      this.#frames(this.#resampler.push(input?.[0] ?? new Float32Array(quantum)));
      return true;
    }
  },
);
