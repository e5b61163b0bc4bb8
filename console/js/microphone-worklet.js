// Turns what the microphone hears into frames for the wire. Runs on the audio thread.
import { Frames, loudnessDB, pcmOf, Resampler, wireHz } from './pcm.js';

const frameMS = 20;
/** The length of what the browser hands over at once. */
const quantum = 128;

registerProcessor(
  'microphone',
  class extends AudioWorkletProcessor {
    #resampler = new Resampler(sampleRate, wireHz);
    #frames = new Frames((wireHz * frameMS) / 1000);
    #closed = false;

    constructor() {
      super();
      this.port.onmessage = () => {
        this.#closed = true;
      };
    }

    process([[heard]]) {
      if (this.#closed) return false;
      // An input without channels is a microphone that gives nothing: that is silence.
      this.#frames.push(this.#resampler.push(heard ?? new Float32Array(quantum)), (frame) => {
        const pcm = pcmOf(frame);
        this.port.postMessage({ pcm, loudnessDB: loudnessDB(frame) }, [pcm.buffer]);
      });
      return true;
    }
  },
);
