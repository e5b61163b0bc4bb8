// Samples: their rate, their form on the wire, their loudness. Used by the page and by its
// worklets.

/** The rate of sound on the wire. */
export const wireHz = 24_000;

/** How many zero crossings of the filter are used on each side. */
const crossings = 12;

/** Which part of what both rates can carry is kept, so that nothing above it folds back. */
const passband = 0.92;

/**
 * Changes the rate of a stream of samples. It is a windowed sinc with one set of weights for each
 * phase between two input samples. Rates are whole numbers of Hz.
 */
export class Resampler {
  #up;
  #down;
  #half;
  #phases;
  #kept;
  #at; // the next output's place in #kept, in units of 1/#up samples

  constructor(fromHz, toHz) {
    const common = divisor(fromHz, toHz);
    this.#up = toHz / common;
    this.#down = fromHz / common;
    const cutoff = passband * Math.min(1, toHz / fromHz);
    this.#half = fromHz === toHz ? 0 : Math.ceil(crossings / cutoff);
    this.#phases = this.#half === 0 ? [] : weights(this.#up, this.#half, cutoff);
    this.#kept = new Float32Array(Math.max(0, this.#half - 1));
    this.#at = this.#kept.length * this.#up;
  }

  /** The samples at the new rate. The last ones come with the next call. */
  push(samples) {
    if (this.#half === 0) return samples.slice();
    const up = this.#up,
      half = this.#half,
      input = new Float32Array(this.#kept.length + samples.length);
    input.set(this.#kept);
    input.set(samples, this.#kept.length);
    const end = (input.length - half) * up; // from here on, samples are missing
    const output = new Float32Array(Math.max(0, Math.ceil((end - this.#at) / this.#down)));
    for (let n = 0; n < output.length; n++) {
      const phase = this.#phases[this.#at % up];
      const first = Math.floor(this.#at / up) - half + 1;
      let sum = 0;
      for (let k = 0; k < phase.length; k++) sum += phase[k] * input[first + k];
      output[n] = sum;
      this.#at += this.#down;
    }
    const used = Math.floor(this.#at / up) - half + 1;
    this.#kept = input.slice(used);
    this.#at -= used * up;
    return output;
  }

  /** The last samples of the stream. */
  flush() {
    return this.push(new Float32Array(this.#half));
  }
}

/** The weights of each of `up` phases; the sum of a phase's weights is 1. */
function weights(up, half, cutoff) {
  return Array.from({ length: up }, (_, p) => {
    const phase = Float32Array.from({ length: 2 * half }, (_, k) => {
      const t = k - half + 1 - p / up;
      return sinc(cutoff * t) * blackman(t / half);
    });
    const sum = phase.reduce((a, b) => a + b, 0);
    return phase.map((weight) => weight / sum);
  });
}

const sinc = (x) => (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x));

/** The Blackman window, from -1 to 1. */
const blackman = (x) => (Math.abs(x) > 1 ? 0 : 0.42 + 0.5 * Math.cos(Math.PI * x) + 0.08 * Math.cos(2 * Math.PI * x));

const divisor = (a, b) => (b === 0 ? a : divisor(b, a % b));

/** Cuts a stream of samples into frames of one length. */
export class Frames {
  #frame;
  #filled = 0;

  constructor(length) {
    this.#frame = new Float32Array(length);
  }

  /** Calls take with each frame that the samples fill. The frame is only valid during the call. */
  push(samples, take) {
    for (let at = 0; at < samples.length;) {
      const piece = samples.subarray(at, at + this.#frame.length - this.#filled);
      this.#frame.set(piece, this.#filled);
      this.#filled += piece.length;
      at += piece.length;
      if (this.#filled < this.#frame.length) return;
      this.#filled = 0;
      take(this.#frame);
    }
  }
}

/** Samples from -1 to 1 as 16-bit little-endian PCM. */
export function pcmOf(samples) {
  const view = new DataView(new ArrayBuffer(samples.length * 2));
  samples.forEach((s, i) => {
    const bounded = Math.max(-1, Math.min(1, s));
    view.setInt16(i * 2, Math.round(bounded * (bounded < 0 ? 0x8000 : 0x7fff)), true);
  });
  return new Uint8Array(view.buffer);
}

/** 16-bit little-endian PCM as samples from -1 to 1. */
export function samplesOf(pcm) {
  const view = new DataView(pcm.buffer, pcm.byteOffset, pcm.byteLength);
  return Float32Array.from({ length: Math.floor(pcm.byteLength / 2) }, (_, i) => view.getInt16(i * 2, true) / 0x8000);
}

/** How long PCM at the wire's rate is, in milliseconds. */
export const lengthMS = (pcm) => (pcm.byteLength / 2 / wireHz) * 1000;

/** The loudness of silence. */
export const silentDB = -100;

/** The loudness of samples in decibels below full scale, from -100 to 0. */
export function loudnessDB(samples) {
  let sum = 0;
  for (const s of samples) sum += s * s;
  return sum === 0 ? silentDB : Math.max(silentDB, 10 * Math.log10(sum / samples.length));
}

/** Bytes in Base64. The scope of worklets has no btoa. */
export const base64Of = (bytes) => btoa(String.fromCharCode(...bytes));

/** The bytes of a text in Base64. */
export const bytesOf = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
