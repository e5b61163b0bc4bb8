// Talks with the demo agent of a running `parlance dev`: PARLANCE_BASE_URL, PARLANCE_API_KEY and
// PARLANCE_AGENT_ID, as in its dev.env.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WebSocket } from 'ws';
import { connect, type Session } from '../src/index.js';

const { PARLANCE_BASE_URL: base, PARLANCE_API_KEY: key, PARLANCE_AGENT_ID: agent_id } = process.env;

async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  const headers = { 'authorization': `Bearer ${key}`, 'content-type': 'application/json' };
  const response = await fetch(`${base}${path}`, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
  assert.ok(response.ok, `${method} ${path}: ${response.status}`);
  return (await response.json()) as T;
}

async function withReal(test: (session: Session, id: string) => Promise<void>): Promise<void> {
  const body = { agent_id, user_id: 'sdk', modality: 'text' };
  const made = await call<{ id: string; chat_url: string }>('POST', '/sessions', body);
  const session = connect({
    chatUrl: made.chat_url,
    WebSocket,
    retry: { firstMs: 20 },
    tools: [{ name: 'show_map', description: 'Shows a map.', parameters: placeSchema, run: ({ place }) => `map of ${place}` }],
  });
  try {
    await test(session, made.id);
  } finally {
    session.hangUp();
    session.close();
  }
}

/** The same question, and yet another text each time. */
const question = (n: number): string => `How are webhooks signed${'?'.repeat(n)}`;

const placeSchema = { type: 'object', properties: { place: { type: 'string' } } };

const ended = (session: Session, fits: (text: string) => boolean): Promise<void> =>
  new Promise((resolve) => session.on('answer.done', ({ answer }) => fits(answer.text) && resolve()));

if (base && key && agent_id) {
  test('passages, a tool of the service and one of the client', () =>
    withReal(async (session) => {
      const cited = await session.send('How are webhooks signed?').done;
      assert.match(cited.text, /HMAC-SHA256/);
      assert.ok(cited.citations.some((c) => c.source_name && /HMAC-SHA256/.test(c.excerpt)));
      const served = await session.send('/tool order_status {"order_id": "A-1001"}').done;
      assert.equal(served.toolCalls[0]?.name, 'order_status');
      assert.match(served.text, /A-1001/);
      const mapped = ended(session, (text) => /map of Bern/.test(text));
      await session.send('/tool show_map {"place": "Bern"}').done;
      await mapped;
    }));

  test('a message is answered once, wherever the connection is cut', () =>
    withReal(async (session, id) => {
      const cuts = 14;
      for (let n = 1; n <= cuts; n++) {
        let seen = 0;
        const stop = session.on('raw', () => {
          if (++seen === n) session.drop();
        });
        const answer = await session.send(question(n)).done;
        stop();
        assert.match(answer.text, /HMAC-SHA256/, `cut ${n}: ${answer.status}`);
      }
      const { turns } = await call<{ turns: { user_text: string }[] }>('GET', `/sessions/${id}/transcript`);
      const said = turns.map((t) => t.user_text).filter(Boolean);
      assert.deepEqual(said, Array.from({ length: cuts }, (_, i) => question(i + 1)));
      assert.equal(turns.length, cuts + 1, 'with the greeting');
    }));

  test('a session whose token is not taken is over', async () => {
    const made = await call<{ id: string; chat_url: string }>('POST', '/sessions', { agent_id, user_id: 'sdk', modality: 'text' });
    const session = connect({ chatUrl: made.chat_url.slice(0, -4), WebSocket });
    await new Promise<void>((resolve) => session.on('ended', () => resolve()));
    assert.equal(session.state.reason, 'session-token-invalid');
  });
}
