import assert from 'node:assert/strict';
import { test } from 'node:test';
import { base64Of, bytesOf, lengthMs, loudnessDb, pcmOf, samplesOf, silentDb, wireHz } from '../src/audio/pcm.js';
import { makePlayQueue } from '../src/audio/playqueue.js';
import { makeFrames, makeResampler } from '../src/audio/resample.js';

const tone = (hz: number, rate: number, count: number): Float32Array =>
  Float32Array.from({ length: count }, (_, i) => 0.5 * Math.sin((2 * Math.PI * hz * i) / rate));

test('PCM keeps samples, and is bounded', () => {
  assert.deepEqual([...samplesOf(pcmOf(Float32Array.of(0, -1, 2, -2)))], [0, -1, 0x7fff / 0x8000, -1]);
  assert.deepEqual([...bytesOf(base64Of(Uint8Array.of(0, 255, 7)))], [0, 255, 7]);
  assert.equal(lengthMs(new Uint8Array(960)), 20);
  assert.equal(loudnessDb(new Float32Array(10)), silentDb);
  assert.ok(Math.abs(loudnessDb(tone(440, wireHz, wireHz)) - 20 * Math.log10(0.5 / Math.SQRT2)) < 0.1);
});

for (const rate of [16_000, 24_000, 44_100, 48_000])
  test(`sound at ${rate} Hz has the same loudness and length at 24 kHz, in pieces of any length`, () => {
    const resampler = makeResampler(rate, wireHz);
    const input = tone(440, rate, rate);
    const output: number[] = [];
    for (let at = 0; at < input.length; at += 128) output.push(...resampler.push(input.subarray(at, at + 128)));
    output.push(...resampler.flush());
    assert.ok(Math.abs(output.length - wireHz) <= 2, `${output.length} samples`);
    const inner = Float32Array.from(output.slice(100, -100));
    assert.ok(Math.abs(loudnessDb(inner) - loudnessDb(input)) < 0.1);
  });

test('what is above the new rate’s reach does not fold back', () => {
  const resampler = makeResampler(48_000, wireHz);
  const output = resampler.push(tone(15_000, 48_000, 48_000));
  assert.ok(loudnessDb(output.subarray(100)) < -60);
});

test('frames have one length', () => {
  const lengths: number[] = [];
  const firsts: (number | undefined)[] = [];
  const push = makeFrames(4, (frame) => {
    lengths.push(frame.length);
    firsts.push(frame[0]);
  });
  push(Float32Array.of(0, 1, 2));
  push(Float32Array.of(3, 4, 5, 6, 7, 8));
  assert.deepEqual([lengths, firsts], [[4, 4], [0, 4]]);
});

test('the queue counts what was played of each item', () => {
  const queue = makePlayQueue();
  queue.add('a', new Float32Array(3));
  queue.add('b', new Float32Array(5));
  assert.equal(queue.take(new Float32Array(4)), 4);
  assert.deepEqual(queue.items(), [{ item: 'b', played: 1, left: 4 }]);
  queue.add('b', new Float32Array(1));
  assert.deepEqual(queue.clear(), [{ item: 'b', played: 1, left: 5 }]);
  assert.equal(queue.take(new Float32Array(4)), 0);
});
