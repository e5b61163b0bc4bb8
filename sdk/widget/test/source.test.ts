import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { fetchSession } from '../src/source.js';

const url = 'https://shop.example/api/parlance-session';

/** Rejects when a request is given up, as fetch does. */
const givenUp = (init: RequestInit | undefined): Promise<never> =>
  new Promise((_, reject) => {
    init?.signal?.addEventListener('abort', () => reject(new DOMException('It was aborted.', 'AbortError')));
  });

for (const [name, answer] of [
  ['never answers', (init?: RequestInit) => givenUp(init)],
  ['never ends its answer', async (init?: RequestInit) => ({ status: 200, ok: true, text: () => givenUp(init) })],
] as const)
  test(`a back end that ${name} is given up after 20 s`, async (t) => {
    t.mock.method(globalThis, 'fetch', (_: string, init?: RequestInit) => answer(init));
    const logged: string[] = [];
    t.mock.method(console, 'error', (text: string) => logged.push(text));
    mock.timers.enable({ apis: ['setTimeout'] });
    t.after(() => mock.timers.reset());
    const codes: string[] = [];
    const over = fetchSession(url, {}).catch((error: { code: string }) => codes.push(error.code));
    mock.timers.tick(19_999);
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(codes, []);
    mock.timers.tick(1);
    await over;
    assert.deepEqual(codes, ['unavailable']);
    assert.match(logged.join('\n'), /has not answered for 20 s/);
  });
