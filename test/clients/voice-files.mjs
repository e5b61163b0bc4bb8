// Sound for the clients that speak: mono 16-bit PCM at 24 kHz.
import { readFileSync } from 'node:fs';

/** What must be answered to the question of .ci/voice. */
export const ANSWER = /1893/;

const bytesPerMS = 48,
  chunkMS = 40;

/** The samples of a WAV file as bytes. */
export function samplesOf(path) {
  const file = readFileSync(path);
  return file.subarray(file.indexOf('data') + 8);
}

/** Sends sound as a microphone does, at real-time pace, and a little silence behind it. */
export async function play(samples, send) {
  const whole = Buffer.concat([samples, Buffer.alloc(300 * bytesPerMS)]);
  const begun = performance.now();
  for (let at = 0; at < whole.length; at += chunkMS * bytesPerMS) {
    const due = begun + at / bytesPerMS;
    const wait = due - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    send(Buffer.from(whole.subarray(at, at + chunkMS * bytesPerMS)));
  }
}

/** The loudness of sound in dB of full scale. */
export function loudness(sound) {
  let power = 0;
  for (let at = 0; at + 1 < sound.length; at += 2) power += (sound.readInt16LE(at) / 32768) ** 2;
  return 10 * Math.log10(power / Math.max(1, sound.length / 2) + 1e-10);
}
