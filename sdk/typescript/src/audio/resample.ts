// Changes the rate of samples, and cuts them into frames.

/** How many zero crossings of the filter are used on each side. */
const crossings = 12;

/** Which part of what both rates can carry is kept, so that nothing above it folds back. */
const passband = 0.92;

/** A stream of samples whose rate is changed. */
export interface Resampler {
  /** The samples at the new rate. The last ones come with the next call. */
  push(samples: Float32Array): Float32Array;
  /** The last samples of the stream. */
  flush(): Float32Array;
}

/**
 * A windowed sinc with one set of weights for each phase between two input samples. Rates are whole
 * numbers of Hz.
 */
export function makeResampler(fromHz: number, toHz: number): Resampler {
  if (fromHz === toHz) return { push: (samples) => samples.slice(), flush: () => new Float32Array(0) };
  const common = divisor(fromHz, toHz);
  const up = toHz / common;
  const down = fromHz / common;
  const cutoff = passband * Math.min(1, toHz / fromHz);
  const half = Math.ceil(crossings / cutoff);
  const phases = weights(up, half, cutoff);
  let kept = new Float32Array(half - 1);
  let at = kept.length * up; // the next output's place in kept, in units of 1/up samples

  function push(samples: Float32Array): Float32Array {
    const input = new Float32Array(kept.length + samples.length);
    input.set(kept);
    input.set(samples, kept.length);
    const end = (input.length - half) * up; // from here on, samples are missing
    const output = new Float32Array(Math.max(0, Math.ceil((end - at) / down)));
    for (let n = 0; n < output.length; n++) {
      const phase = phases[at % up] as Float32Array;
      const first = Math.floor(at / up) - half + 1;
      let sum = 0;
      for (let k = 0; k < phase.length; k++) sum += (phase[k] as number) * (input[first + k] as number);
      output[n] = sum;
      at += down;
    }
    const used = Math.floor(at / up) - half + 1;
    kept = input.slice(used);
    at -= used * up;
    return output;
  }
  return { push, flush: () => push(new Float32Array(half)) };
}

/** The weights of each of `up` phases; the sum of a phase's weights is 1. */
function weights(up: number, half: number, cutoff: number): Float32Array[] {
  return Array.from({ length: up }, (_, p) => {
    const phase = Float32Array.from({ length: 2 * half }, (_, k) => {
      const t = k - half + 1 - p / up;
      return sinc(cutoff * t) * blackman(t / half);
    });
    const sum = phase.reduce((a, b) => a + b, 0);
    return phase.map((weight) => weight / sum);
  });
}

const sinc = (x: number): number => (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x));

/** The Blackman window, from -1 to 1. */
function blackman(x: number): number {
  return Math.abs(x) > 1 ? 0 : 0.42 + 0.5 * Math.cos(Math.PI * x) + 0.08 * Math.cos(2 * Math.PI * x);
}

const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));

/**
 * Cuts a stream of samples into frames of one length. take gets each frame that the samples fill,
 * which is only valid during the call.
 */
export function makeFrames(length: number, take: (frame: Float32Array) => void): (samples: Float32Array) => void {
  const frame = new Float32Array(length);
  let filled = 0;
  return (samples) => {
    for (let at = 0; at < samples.length;) {
      const piece = samples.subarray(at, at + length - filled);
      frame.set(piece, filled);
      filled += piece.length;
      at += piece.length;
      if (filled < length) return;
      filled = 0;
      take(frame);
    }
  };
}
