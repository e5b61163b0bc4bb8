// Runs the example worker/ in workerd: the report of a conversation arrives and is kept.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { freePort, listen, run, seen } from './programs.mjs';

const load = (name) => import(createRequire(new URL('../worker/package.json', import.meta.url)).resolve(name));
const { Miniflare } = await load('miniflare');
const { Parlance } = await import(new URL('../worker/node_modules/@parlance/sdk/dist/index.js', import.meta.url));

await run(async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/webhooks`;
  const { secret, find } = await listen(url);
  const worker = new Miniflare({
    modules: true,
    script: readFileSync(new URL('../worker/dist/worker.js', import.meta.url), 'utf8'),
    compatibilityDate: '2026-01-01',
    bindings: { PARLANCE_WEBHOOK_SECRET: secret },
    kvNamespaces: ['EVENTS'],
    port,
  });
  try {
    await worker.ready;
    assert.equal((await fetch(url, { method: 'POST', body: '{}' })).status, 400);
    seen('a delivery without a signature is refused');
    const { sessions } = new Parlance();
    const { id: sessionId } = await sessions.createSession({ agentId: process.env.PARLANCE_AGENT_ID, userId: 'worker', modality: 'text' });
    await sessions.createTurn({ sessionId, text: 'How are webhooks signed?' });
    await sessions.endSession({ sessionId, status: 'completed' });
    await find(/"status":\s*204/);
    const events = await worker.getKVNamespace('EVENTS');
    const { keys } = await events.list();
    const kept = await Promise.all(keys.map(({ name }) => events.get(name, 'json')));
    assert.ok(kept.some(({ data }) => data.session_id === sessionId), JSON.stringify(kept));
    seen('the webhook of a conversation is verified and kept, in workerd');
  } finally {
    await worker.dispose();
  }
});
