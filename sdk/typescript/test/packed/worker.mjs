// The worker runtime of Cloudflare, workerd, without its compatibility with Node.
import assert from 'node:assert/strict';
import { Miniflare } from 'miniflare';
import { check, settings } from './seen.mjs';

/** Runs a program that has globalThis.run. */
export async function inWorker(program) {
  const script = `${program}
    export default { fetch: async (request) => Response.json(await globalThis.run(await request.json())) };`;
  const worker = new Miniflare({ modules: true, script, compatibilityDate: '2026-01-01' });
  try {
    const body = JSON.stringify({ ...settings, withSession: false });
    const response = await worker.dispatchFetch('http://worker/', { method: 'POST', body });
    const text = await response.text();
    assert.equal(response.status, 200, text);
    check(JSON.parse(text), { withSession: false });
  } finally {
    await worker.dispose();
  }
}
