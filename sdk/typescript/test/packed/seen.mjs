// What use.mjs must have seen.
import assert from 'node:assert/strict';

const { PARLANCE_BASE_URL, PARLANCE_API_KEY, PARLANCE_WORKSPACE_ID, PARLANCE_AGENT_ID } = process.env;
assert.ok(PARLANCE_BASE_URL && PARLANCE_API_KEY && PARLANCE_WORKSPACE_ID && PARLANCE_AGENT_ID, 'the variables of dev.env are not set');

export const settings = {
  baseUrl: PARLANCE_BASE_URL,
  apiKey: PARLANCE_API_KEY,
  workspaceId: PARLANCE_WORKSPACE_ID,
  agentId: PARLANCE_AGENT_ID,
};

export function check(seen, { withSession }) {
  assert.ok(seen.agents.includes(PARLANCE_AGENT_ID), JSON.stringify(seen.agents));
  assert.match(seen.text, /HMAC-SHA256/);
  assert.deepEqual(seen.progress.at(-1), [seen.size, seen.size]);
  assert.equal(seen.refused, '415 kb-unsupported-media-type');
  assert.equal(seen.missing, '404 not-found');
  assert.equal(seen.nowhere, 'connection-lost');
  assert.equal(seen.webhook, 'signature-wrong');
  if (withSession) assert.match(seen.spoken, /HMAC-SHA256/);
}
