// The voice, with a microphone and a loudspeaker that are silent.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SessionUrls } from '../src/index.js';
import { withSession } from './talk.js';

class SilentNode {
  readonly port = { postMessage: () => undefined, onmessage: null };
  connect(): void {}
}

class SilentContext {
  readonly state = 'running';
  readonly destination = {};
  readonly audioWorklet = { addModule: () => Promise.resolve() };
  readonly resume = () => Promise.resolve();
  readonly close = () => Promise.resolve();
  readonly createMediaStreamSource = () => new SilentNode();
}

const mediaDevices = { getUserMedia: () => Promise.resolve({ getTracks: () => [] }) };
for (const [name, value] of Object.entries({ navigator: { mediaDevices }, AudioContext: SilentContext, AudioWorkletNode: SilentNode }))
  Object.defineProperty(globalThis, name, { value, configurable: true });

const worklets = { microphone: '/microphone.js', player: '/player.js' };

test('the voice can be started at once, and start() resolves when it is on', () =>
  withSession({ worklets, autoConnect: false }, async ({ session, service }) => {
    assert.equal(session.voice.isAvailable, true);
    await session.voice.start();
    assert.equal(session.voice.state.phase, 'on');
    assert.deepEqual(service.connections.map(({ channel }) => channel), ['voice']);
  }));

test('the voice waits for a session that is being created', () =>
  withSession({}, async ({ service }) => {
    let give: (urls: SessionUrls) => void = () => undefined;
    const fetchSession = () => new Promise<SessionUrls>((resolve) => (give = resolve));
    await withSession({ chatUrl: '', wsUrl: undefined, worklets, autoConnect: false, fetchSession }, async ({ session }) => {
      const started = session.voice.start();
      for (let n = 0; n < 10; n++) await new Promise((resolve) => setImmediate(resolve)); // the microphone is there
      give({ chatUrl: service.chatUrl, wsUrl: service.wsUrl });
      await started;
      assert.equal(session.voice.state.phase, 'on');
      assert.match((await session.send('one').done).text, /one/);
    });
  }));

test('a voice that cannot be had says so', async () => {
  const says = async (options: Parameters<typeof withSession>[0]): Promise<void> =>
    withSession(options, async ({ session }) => {
      await session.voice.start();
      assert.deepEqual([session.voice.state.phase, session.voice.state.troubleCode], ['off', 'unavailable']);
      assert.ok(session.voice.state.trouble);
    });
  await says({ worklets, wsUrl: undefined });
  await says({});
  await withSession({}, ({ service }) =>
    says({ chatUrl: '', wsUrl: undefined, worklets, fetchSession: async () => ({ chatUrl: service.chatUrl }) }),
  );
  await says({ chatUrl: '', wsUrl: undefined, worklets, fetchSession: () => Promise.reject(new Error('no')) });
});

test('a voice whose connection is given up is off, and start() resolves', () =>
  withSession(
    { worklets, wsUrl: 'ws://127.0.0.1:1/voice', retry: { firstMs: 1, maxMs: 1, firstAttempts: 2 } },
    async ({ session }) => {
      await session.voice.start();
      assert.deepEqual([session.voice.state.phase, session.voice.state.troubleCode], ['off', 'closed']);
    },
  ));
