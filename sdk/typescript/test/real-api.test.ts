// The API of a running `parlance dev`: PARLANCE_BASE_URL, PARLANCE_API_KEY, PARLANCE_WORKSPACE_ID
// and PARLANCE_AGENT_ID, as in its dev.env.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { createClient } from '@connectrpc/connect';
import { WebSocket } from 'ws';
import { defaultRetries } from '../src/api/retry.js';
import { makeTransport } from '../src/api/transport.js';
import type { AgentService } from '../src/gen/agents_pb.js';
import type { SessionService } from '../src/gen/sessions_pb.js';
import { all, Parlance } from '../src/index.js';
import { startProxy } from './proxy.js';

const { PARLANCE_BASE_URL: baseUrl, PARLANCE_API_KEY: apiKey } = process.env;
const { PARLANCE_AGENT_ID: agentId, PARLANCE_WORKSPACE_ID: workspaceId } = process.env;

/** The same question, and yet another text each time. */
const question = (n: number): string => `How are webhooks signed${'?'.repeat(n)}`;

if (baseUrl && apiKey && agentId && workspaceId) {
  const parlance = new Parlance();
  const about = { agentId, userId: 'sdk', modality: 'text' };

  test('a list is read over its pages', async () => {
    const made = await Promise.all([1, 2, 3].map((n) => parlance.agents.createAgent({ workspaceId, name: `Page ${n}` })));
    const found = new Set<string>();
    for await (const { id } of all(parlance.agents.listAgents, { workspaceId, pageSize: 1 })) found.add(id);
    assert.ok(made.every(({ id }) => found.has(id)));
    for (const { id } of made) await parlance.agents.deleteAgent({ workspaceId, agentId: id });
  });

  test('a call that is repeated with its key is done once', async () => {
    const headers = { 'Idempotency-Key': `sdk-${Math.random()}` };
    const create = () => parlance.agents.createAgent({ workspaceId, name: 'Once' }, { headers });
    const [first, second] = [await create(), await create()];
    assert.equal(first.id, second.id);
    await assert.rejects(parlance.agents.createAgent({ workspaceId, name: 'Another' }, { headers }), { reason: 'idempotency-key-reused' });
    await parlance.agents.deleteAgent({ workspaceId, agentId: first.id });
  });

  test('a streamed turn is whole and said once, wherever the connection is cut', async () => {
    const proxy = await startProxy(baseUrl);
    try {
      const { sessions } = new Parlance({ baseUrl: proxy.baseUrl });
      const { id: sessionId } = await parlance.sessions.createSession(about);
      let turns = 0;
      for (let bytes = 1; bytes === 1 || proxy.hasCut; bytes += 150) {
        proxy.cutBehind(bytes);
        let text = '';
        let whole = '';
        const types: string[] = [];
        for await (const { type, event } of sessions.streamTurn({ sessionId, text: question(++turns) })) {
          if (type === 'turn.started') text = '';
          types.push(type);
          if (event.case === 'textDelta') text += event.value.text;
          if (event.case === 'done') whole = event.value.turn?.text ?? '';
        }
        assert.equal(text, whole, `cut behind ${bytes} bytes: ${types.join()}`);
        assert.match(whole, /HMAC-SHA256/);
      }
      const said: string[] = [];
      for await (const { userText } of all(parlance.sessions.getTranscript, { sessionId })) if (userText) said.push(userText);
      assert.deepEqual(said, Array.from({ length: turns }, (_, n) => question(n + 1)));
      assert.ok(turns > 10, `only ${turns - 1} places were cut`);
    } finally {
      await proxy.close();
    }
  });

  test('a session is created and connected to', async () => {
    const session = await parlance.sessions.connect(about, { WebSocket });
    try {
      assert.match((await session.send(question(1)).done).text, /HMAC-SHA256/);
      session.drop();
      assert.match((await session.send(question(2)).done).text, /HMAC-SHA256/);
    } finally {
      session.hangUp();
      session.close();
    }
    const { userId, modality } = await parlance.sessions.getSession({ sessionId: session.id });
    assert.deepEqual([userId, modality], ['sdk', 'text']);
  });

  test('a token of a session is a key for its turns, and for nothing else', async () => {
    const { id: sessionId, token } = await parlance.sessions.createSession(about);
    const client = new Parlance({ apiKey: token });
    let last = '';
    for await (const { type } of client.sessions.streamTurn({ sessionId, text: question(1) })) last = type;
    assert.equal(last, 'turn.done');
    await assert.rejects(client.agents.listAgents({ workspaceId }), { reason: 'auth-invalid-key' });
  });

  test('a file is uploaded once, replaced, and refused', async () => {
    const file = new File([`# Opening hours\n\nWe open at ${Math.random()}.\n`.repeat(20_000)], 'hours.md');
    const options = { idempotencyKey: `sdk-${Math.random()}` };
    const [first, second] = [
      await parlance.knowledge.upload({ workspaceId, file, tags: ['sdk'] }, options),
      await parlance.knowledge.upload({ workspaceId, file, tags: ['sdk'] }, options),
    ];
    assert.equal(first.id, second.id);
    assert.deepEqual(first.tags, ['sdk']);
    const stream = new Blob(['# Another text']).stream();
    const toReplace = { workspaceId, sourceId: first.id, file: stream, filename: 'other.md' };
    const replaced = await parlance.knowledge.replaceContent(toReplace);
    assert.deepEqual([replaced.id, replaced.tags], [first.id, ['sdk']]);
    const program = { workspaceId, file: new Blob(['MZ', ...Array<string>(80).fill('x'.repeat(1 << 20))]), filename: 'a.exe' };
    await assert.rejects(parlance.knowledge.upload(program), { reason: 'kb-unsupported-media-type', status: 415 });
    await parlance.knowledge.deleteSource({ workspaceId, sourceId: first.id });
  });

  test('a client of the contract before works', async () => {
    const dir = mkdtempSync('node_modules/.released-');
    try {
      const version = readdirSync('../../proto/released').sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1);
      const opt = ['target=js', 'import_extension=js'];
      const plugin = { local: '../../proto/node_modules/.bin/protoc-gen-es', out: dir, opt, include_imports: true };
      const template = JSON.stringify({ version: 'v2', plugins: [plugin] });
      execFileSync('../../proto/node_modules/.bin/buf', ['generate', `../../proto/released/${version}`, '--template', template]);
      writeFileSync(`${dir}/package.json`, '{"type": "module"}');
      const load = (name: string): Promise<unknown> => import(`${process.cwd()}/${dir}/parlance/v1/${name}_pb.js`);
      const old = { ...(await load('agents') as object), ...(await load('sessions') as object) } as {
        AgentService: typeof AgentService;
        SessionService: typeof SessionService;
      };
      const service = baseUrl.replace(/\/v1$/, '');
      const transport = makeTransport({
        baseUrl: service, apiKey, timeoutMs: 60_000, retries: defaultRetries, fetch: globalThis.fetch, interceptors: [],
      });
      const agents = createClient(old.AgentService, transport);
      const sessions = createClient(old.SessionService, transport);
      const agent = await agents.createAgent({ workspaceId, name: 'Before', instructions: 'Be brief.', firstMessage: 'Hello.' });
      assert.deepEqual([agent.name, agent.instructions, agent.firstMessage], ['Before', 'Be brief.', 'Hello.']);
      const { id: sessionId } = await sessions.createSession({ ...about, agentId: agent.id });
      const { turnId, text } = await sessions.createTurn({ sessionId, text: 'Hello?' });
      const { turns } = await sessions.getTranscript({ sessionId });
      const turn = turns.find(({ id }) => id === turnId);
      assert.deepEqual([turn?.userText, turn?.agentText, turn?.status], ['Hello?', text, 'completed']);
      assert.equal((await agents.getAgent({ workspaceId, agentId: agent.id })).name, 'Before');
      await agents.deleteAgent({ workspaceId, agentId: agent.id });
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });
}
