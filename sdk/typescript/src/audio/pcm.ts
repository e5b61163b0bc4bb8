// Samples: their form on the wire and their loudness. Used by the page and by the worklets.

/** The rate of sound on the wire. */
export const wireHz = 24_000;

/** Samples from -1 to 1 as 16-bit little-endian PCM. */
export function pcmOf(samples: Float32Array): Uint8Array<ArrayBuffer> {
  const view = new DataView(new ArrayBuffer(samples.length * 2));
  samples.forEach((sample, i) => {
    const bounded = Math.max(-1, Math.min(1, sample));
    view.setInt16(i * 2, Math.round(bounded * (bounded < 0 ? 0x8000 : 0x7fff)), true);
  });
  return new Uint8Array(view.buffer);
}

/** 16-bit little-endian PCM as samples from -1 to 1. */
export function samplesOf(pcm: Uint8Array): Float32Array<ArrayBuffer> {
  const view = new DataView(pcm.buffer, pcm.byteOffset, pcm.byteLength);
  return Float32Array.from({ length: Math.floor(pcm.byteLength / 2) }, (_, i) => view.getInt16(i * 2, true) / 0x8000);
}

/** How long PCM at the wire's rate is, in milliseconds. */
export const lengthMs = (pcm: Uint8Array): number => (pcm.byteLength / 2 / wireHz) * 1000;

/** The loudness of silence. */
export const silentDb = -100;

/** The loudness of samples in decibels below full scale, from -100 to 0. */
export function loudnessDb(samples: Float32Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return sum === 0 ? silentDb : Math.max(silentDb, 10 * Math.log10(sum / samples.length));
}

/** Bytes in Base64. The scope of worklets has no btoa. */
export const base64Of = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes));

/** The bytes of a text in Base64. */
export const bytesOf = (text: string): Uint8Array => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
