// A conversation with an imported agent ends, and its post_call_transcription is delivered: the
// package standardwebhooks verifies it, and the package @elevenlabs/elevenlabs-js reads it, at run
// time and by its types. So it does with the example of …/test, which has feedback and calls of
// tools.
//
//   AGENT=agt_… node payload.mjs
//
// PARLANCE_* name a running `parlance dev`, DATA its data directory, AGENT the imported agent.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Webhook } from 'standardwebhooks';

const { PARLANCE_BASE_URL: base, PARLANCE_API_KEY: key, PARLANCE_WORKSPACE_ID: workspace, DATA, AGENT: agent } = process.env;
const require = createRequire(import.meta.url);
const { ElevenLabsClient } = require('@elevenlabs/elevenlabs-js');
const { GetConversationResponseModel } = require('@elevenlabs/elevenlabs-js/serialization');
const modules = fileURLToPath(new URL('node_modules', import.meta.url));
/** How long a request may take, and a delivery may be waited for, in milliseconds. */
const patienceMs = 120_000;

async function api(method, path, body) {
  const answer = await fetch(base + path, {
    method,
    signal: AbortSignal.timeout(patienceMs),
    headers: { 'Authorization': `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: body && JSON.stringify(body),
  });
  const text = await answer.text();
  assert(answer.ok, `${method} ${path}: ${answer.status} ${text}`);
  return text && JSON.parse(text);
}

/** An HTTPS server; next() is the next request that it gets. */
async function receiver() {
  const waiting = [];
  const got = [];
  const server = https.createServer(
    { cert: readFileSync(join(DATA, 'tls', 'localhost.pem')), key: readFileSync(join(DATA, 'tls', 'localhost-key.pem')) },
    async (request, response) => {
      const parts = [];
      for await (const part of request) parts.push(part);
      response.writeHead(204).end();
      const one = { headers: request.headers, body: Buffer.concat(parts).toString() };
      const taker = waiting.shift();
      if (taker) taker(one);
      else got.push(one);
    },
  );
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `https://127.0.0.1:${server.address().port}/hook`,
    next: () =>
      got.length
        ? got.shift()
        : new Promise((resolve, reject) => {
            waiting.push(resolve);
            AbortSignal.timeout(patienceMs).addEventListener('abort', () => reject(new Error('nothing was delivered within two minutes')));
          }),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

const work = mkdtempSync(join(tmpdir(), 'parlance-migrate-'));
symlinkSync(modules, join(work, 'node_modules'));

/** Fails unless the package reads the data, and its types accept it but for the level that docs/migrate/elevenlabs.md names. */
async function judge(what, data) {
  const read = await GetConversationResponseModel.parse(data, { unrecognizedObjectKeys: 'strip' });
  assert(read.ok, `${what}: ${JSON.stringify(read.errors)}`);
  assert.equal(read.value.conversationId, data.conversation_id);
  assert.equal(read.value.analysis?.callSuccessful, data.analysis?.call_successful);
  assert.deepEqual(
    read.value.transcript.map((entry) => entry.message),
    data.transcript.map((entry) => entry.message),
  );
  assert.deepEqual(
    read.value.transcript.map((entry) => entry.feedback?.score ?? null),
    data.transcript.map((entry) => entry.feedback?.score ?? null),
  );
  const transcript = data.transcript.map(({ conversation_turn_metrics: metrics, ...entry }) => ({
    ...entry,
    conversation_turn_metrics: { metrics },
  }));
  writeFileSync(
    join(work, 'typed.ts'),
    `import type { GetConversationResponseModel } from '@elevenlabs/elevenlabs-js/serialization';
type Fixed<T> = T extends object ? { readonly [K in keyof T]: Fixed<T[K]> } : T;
const data = ${JSON.stringify({ ...data, transcript })} as const; // members that the types do not have are allowed
export const typed: Fixed<GetConversationResponseModel.Raw> = data;
`,
  );
  const resolution = ['--module', 'nodenext', '--moduleResolution', 'nodenext'];
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2022', ...resolution];
  const tsc = spawnSync(process.execPath, [join(modules, 'typescript', 'bin', 'tsc'), ...options, 'typed.ts'], {
    cwd: work,
    encoding: 'utf8',
  });
  assert.equal(tsc.status, 0, `${what}: ${tsc.stdout}`);
}

const hook = await receiver();
let endpoint;
try {
  endpoint = await api('POST', `/workspaces/${workspace}/webhooks`, { url: hook.url, events: ['post_call_transcription'] });
  const session = await api('POST', '/sessions', { agent_id: agent, user_id: 'ci', modality: 'text' });
  await api('POST', `/sessions/${session.id}/turns`, { text: 'Hello, who is there?' });
  await api('POST', `/sessions/${session.id}/end`, { status: 'completed' });
  const delivered = await hook.next();
  const sent = await api('POST', `/workspaces/${workspace}/webhooks/${endpoint.id}/test`, { event: 'post_call_transcription' });
  assert.equal(sent.status, 'succeeded');
  for (const [what, { headers, body }] of Object.entries({ delivery: delivered, example: await hook.next() })) {
    const event = new Webhook(endpoint.secret).verify(body, headers);
    const { webhooks } = new ElevenLabsClient({ apiKey: 'none' });
    await assert.rejects(
      webhooks.constructEvent(body, headers['webhook-signature'], endpoint.secret),
      /scheme v0/,
      'constructEvent verifies Standard Webhooks now: docs/migrate/elevenlabs.md says that it does not',
    );
    if (what === 'delivery') assert.equal(event.data.conversation_id, session.id);
    assert.equal(event.event_timestamp, Math.floor(Date.parse(event.created_at) / 1000));
    await judge(what, event.data);
  }
  console.log('A delivery and the example are verified by standardwebhooks, and read by @elevenlabs/elevenlabs-js and its types.');
} finally {
  if (endpoint) await api('DELETE', `/workspaces/${workspace}/webhooks/${endpoint.id}`);
  hook.close();
  rmSync(work, { recursive: true, force: true });
}
