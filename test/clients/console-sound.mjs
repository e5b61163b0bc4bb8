// Tests of the console's sound that load its modules in the page and call them: resampling, frames,
// loudness, and the queue of what is played.
import assert from 'node:assert/strict';

export async function soundParts(page) {
  const seen = await page.run(async () => {
    const load = (name) => import(new URL(`js/${name}.js`, document.baseURI.replace(/#.*/, '')));
    const [pcm, { PlayQueue }] = await Promise.all([load('pcm'), load('playqueue')]);
    const steps = {};

    /** A tone through a Resampler in uneven pieces: the worst error of its middle, and its length. */
    const through = (fromHz, toHz, toneHz, cut) => {
      const tone = (rate, n) => Math.sin((2 * Math.PI * toneHz * n) / rate);
      const resampler = new pcm.Resampler(fromHz, toHz);
      const input = Float32Array.from({ length: fromHz / 2 }, (_, n) => tone(fromHz, n));
      const output = [];
      for (let at = 0; at < input.length; at += cut) output.push(...resampler.push(input.subarray(at, at + cut)));
      output.push(...resampler.flush());
      const middle = output.slice(200, -200);
      const error = Math.max(...middle.map((s, n) => Math.abs(s - tone(toHz, n + 200))));
      const loud = pcm.loudnessDB(Float32Array.from(middle));
      return { length: output.length, error: Math.round(error * 1000) / 1000, loud: Math.round(loud) };
    };
    steps.rates = [
      [48_000, 24_000],
      [44_100, 24_000],
      [16_000, 24_000],
      [24_000, 48_000],
      [24_000, 44_100],
      [24_000, 24_000],
    ].map(([from, to]) => ({ from, to, ...through(from, to, 1000, 128) }));
    steps.uneven = through(44_100, 24_000, 1000, 77);
    steps.aliased = through(48_000, 24_000, 15_000, 128).loud;

    const frames = [];
    const cutter = new pcm.Frames(4);
    for (const piece of [[1, 2], [3], [4, 5, 6, 7, 8, 9, 10, 11, 12], [13]])
      cutter.push(Float32Array.from(piece), (frame) => frames.push([...frame]));
    steps.frames = frames;

    const samples = Float32Array.of(0, 0.5, -1, 1, 2, -2);
    const bytes = pcm.pcmOf(samples);
    steps.pcm = [...bytes];
    steps.back = [...pcm.samplesOf(pcm.bytesOf(pcm.base64Of(bytes)))].map((s) => Math.round(s * 100) / 100);
    steps.loudness = [
      pcm.loudnessDB(new Float32Array(10)),
      Math.round(pcm.loudnessDB(Float32Array.of(1, -1))),
      Math.round(pcm.loudnessDB(Float32Array.of(0.1, -0.1))),
    ];
    steps.length = pcm.lengthMS(new Uint8Array(960));

    const queue = new PlayQueue();
    const take = (n) => {
      const buffer = new Float32Array(n).fill(9);
      return [queue.take(buffer), ...buffer];
    };
    steps.silent = take(2);
    queue.add('a', Float32Array.of(1, 2, 3));
    queue.add('b', Float32Array.of(4, 5));
    queue.add('b', Float32Array.of(6));
    steps.across = take(4);
    steps.counted = queue.items;
    steps.short = take(4);
    queue.add('b', Float32Array.of(7, 8));
    queue.add('c', Float32Array.of(9));
    steps.more = take(1);
    steps.cleared = queue.clear();
    steps.after = [take(2), queue.items];
    queue.add('c', Float32Array.of(1));
    steps.again = [take(1), queue.items];
    return steps;
  });
  for (const { from, to, error, length, loud } of [...seen.rates, { from: 44_100, to: 24_000, ...seen.uneven }]) {
    assert.ok(error <= 0.005, `${from} → ${to} Hz: an error of ${error}`);
    assert.equal(loud, -3, `${from} → ${to} Hz`);
    assert.ok(Math.abs(length - to / 2) <= 2, `${from} → ${to} Hz: ${length} samples of ${to / 2}`);
  }
  assert.ok(seen.aliased < -60, `15 kHz is ${seen.aliased} dB at a rate of 24 kHz`);
  assert.deepEqual(seen.frames, [
    [1, 2, 3, 4],
    [5, 6, 7, 8],
    [9, 10, 11, 12],
  ]);
  assert.deepEqual(seen.pcm, [0, 0, 0, 64, 0, 128, 255, 127, 255, 127, 0, 128]);
  assert.deepEqual(seen.back, [0, 0.5, -1, 1, 1, -1]);
  assert.deepEqual(seen.loudness, [-100, 0, -20]);
  assert.equal(seen.length, 20);
  assert.deepEqual(seen.silent, [0, 0, 0]);
  assert.deepEqual(seen.across, [4, 1, 2, 3, 4]);
  assert.deepEqual(seen.counted, [{ item: 'b', played: 1, left: 2 }]);
  assert.deepEqual(seen.short, [2, 5, 6, 0, 0]);
  assert.deepEqual(seen.more, [1, 7]);
  assert.deepEqual(seen.cleared, [
    { item: 'b', played: 4, left: 1 },
    { item: 'c', played: 0, left: 1 },
  ]);
  assert.deepEqual(seen.after, [[0, 0, 0], []]);
  assert.deepEqual(seen.again, [[1, 1], [{ item: 'c', played: 1, left: 0 }]]);
}
