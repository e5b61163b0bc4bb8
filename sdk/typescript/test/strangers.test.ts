// Answers that are not the service's, and faults of the caller's own.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import type { Interceptor } from '@connectrpc/connect';
import { createClient } from '@connectrpc/connect';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { makeTransport } from '../src/api/transport.js';
import { AgentService } from '../src/gen/agents_pb.js';
import { Parlance, ParlanceError, toJson } from '../src/index.js';
import { type Api, quick, withApi } from './api.js';

const agent = { workspaceId: 'ws_1', agentId: 'agt_1' };
const file = { workspaceId: 'ws_1', file: new Blob(['x']), filename: 'x.txt' };

/** A service in whose place somebody else answers. */
const stranger = (status: number, headers: Record<string, string>, run: (api: Api) => Promise<void>, body = '<html>') =>
  withApi({ handler: (_, response) => Boolean(response.writeHead(status, headers).end(body)) }, run);

const ways: Record<string, (api: Api) => Promise<unknown>> = {
  'a call': (api) => api.client().agents.getAgent(agent),
  'a stream': (api) => api.client().sessions.streamTurn({ sessionId: 'ses_1', text: 'x' }).next(),
  'an upload': (api) => api.client().knowledge.upload(file),
};

const html = { 'content-type': 'text/html; charset=utf-8' };

test('an answer of somebody else is an error with its status, the same for every way', async () => {
  for (const [status, reason, tries] of [
    [200, 'not-parlance', 1],
    [204, 'not-parlance', 1],
    [302, 'not-parlance', 1],
    [308, 'not-parlance', 1],
    [400, 'not-parlance', 1],
    [401, 'auth-invalid-key', 1],
    [403, 'auth-scope', 1],
    [404, 'not-found', 1],
    [405, 'not-parlance', 1],
    [408, 'deadline-exceeded', 3],
    [413, 'body-too-large', 1],
    [415, 'unsupported-media-type', 1],
    [429, 'rate-limited', 3],
    [500, 'not-parlance', 1],
    [502, 'unavailable', 3],
    [503, 'unavailable', 3],
    [504, 'unavailable', 3],
    [520, 'not-parlance', 1],
  ] as const)
    for (const [name, call] of Object.entries(ways))
      await stranger(status, { ...html, location: 'http://127.0.0.1:1/' }, async (api) => {
        const error = await call(api).catch((e: unknown) => e);
        assert.ok(error instanceof ParlanceError, `${name}, ${status}: ${inspect(error)}`);
        assert.deepEqual([error.reason, error.status, api.requests.length], [reason, status, tries], `${name}, ${status}`);
        assert.match(error.message, new RegExp(`HTTP ${status}, text/html.*not that of a Parlance service`));
      });
});

test('JSON that is not the service’s, and bytes that are no message, are answers of somebody else', async () => {
  for (const type of ['application/json', 'application/problem+json'])
    for (const call of Object.values(ways))
      await stranger(404, { 'content-type': type }, async (api) => {
        await assert.rejects(call(api), { reason: 'not-found', status: 404 });
        assert.equal(api.requests.length, 1);
      }, '{"message": "no Route matched"}');
  for (const body of ['\xff\xff\xff', '{"a": 1}', '{}'])
    await stranger(200, { 'content-type': 'application/json' }, async (api) => {
      await assert.rejects(api.client().agents.getAgent(agent), { reason: 'not-parlance' });
      assert.equal(api.requests.length, 1);
    }, body);
  await stranger(200, { 'content-type': 'application/json' }, async (api) => {
    await assert.rejects(api.client().knowledge.upload(file), { reason: 'not-parlance' });
  }, 'null and void');
});

test('a page may get an answer whose version is hidden from it', () =>
  stranger(200, { 'content-type': 'application/json' }, async (api) => {
    const client = api.client({
      // What a browser makes of the answer of another origin, whose headers it may not see.
      fetch: async (input, init) => Object.defineProperty(await fetch(input, init), 'type', { value: 'cors' }),
    });
    assert.equal((await client.agents.getAgent(agent)).id, 'agt_1');
  }, '{"id": "agt_1"}'));

test('a problem of the service’s is understood by calls too', () =>
  stranger(404, { 'content-type': 'application/problem+json' }, async (api) => {
    await assert.rejects(api.client().agents.getAgent(agent), { reason: 'route-not-found', status: 404, message: 'No route.' });
  }, JSON.stringify({ code: 'route-not-found', detail: 'No route.', status: 404 })));

test('Retry-After is a number of seconds, also a fraction, or a date', async () => {
  const date = new Date(Date.now() + 3_600_000).toUTCString();
  for (const [given, least, most] of [['60.5', 60_500, 60_500], [date, 3_590_000, 3_600_000], ['soon', NaN, NaN]] as const)
    await stranger(503, { ...html, 'retry-after': given }, async (api) => {
      const error = await api.client().agents.getAgent(agent).catch((e: unknown) => e);
      assert.ok(error instanceof ParlanceError);
      const { retryAfterMs } = error;
      if (Number.isNaN(least)) assert.equal(retryAfterMs, undefined);
      else assert.ok(retryAfterMs !== undefined && retryAfterMs >= least && retryAfterMs <= most, String(retryAfterMs));
    });
});

test('what an interceptor throws comes out as it is, once, and leaves no clock behind', () =>
  withApi({}, async (api) => {
    const bug = new RangeError('A bug.');
    const clock = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    for (const throwing of [() => () => assert.fail(bug), () => async () => assert.fail(bug)] as Interceptor[]) {
      let times = 0;
      const counting: Interceptor = (next) => (times++, throwing(next));
      const client = api.client({ interceptors: [counting] });
      await assert.rejects(client.agents.getAgent(agent), bug);
      await assert.rejects(client.sessions.streamTurn({ sessionId: 'ses_1', text: 'x' }).next(), bug);
      assert.equal(times, 2);
    }
    assert.equal(api.requests.length, 0);
    assert.equal(process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length, clock);
  }));

test('a field of a wrong type is a TypeError, and nothing is sent', () =>
  withApi({}, async (api) => {
    const list = api.client().agents.listAgents({ workspaceId: 'ws_1', pageSize: 'many' } as never);
    await assert.rejects(list, { name: 'TypeError', message: /ListAgentsRequest.*page_size/ });
    const untext = api.client().agents.getAgent({ ...agent, workspaceId: 5 } as never);
    await assert.rejects(untext, { name: 'TypeError', message: /GetAgentRequest.*workspace_id/ });
    const unstreamed = api.client().sessions.streamTurn({ sessionId: 'ses_1', text: 5 } as never);
    await assert.rejects(unstreamed.next(), { name: 'TypeError', message: /StreamTurnRequest.*text/ });
    const broken = Object.defineProperty({ sessionId: 'ses_1' }, 'text', { enumerable: true, get: () => assert.fail('no text') });
    const turn = api.client().sessions.streamTurn(broken);
    await assert.rejects(turn.next(), { name: 'TypeError', message: /StreamTurnRequest/ });
    assert.equal(api.requests.length, 0);
  }));

test('a base URL or a key that cannot be one is refused at once, and is not shown', () => {
  const refused = (options: { baseUrl?: string; apiKey?: string }, message: RegExp) =>
    assert.throws(
      () => new Parlance({ baseUrl: 'https://example.org', apiKey: 'prl_k', ...options }),
      (e) => e instanceof TypeError && message.test(e.message) && !/secret/.test(inspect(e)),
    );
  for (const baseUrl of ['localhost:8080', 'example', 'ftp://example.org', 'http://', 'https://exa mple.org', '/v1'])
    refused({ baseUrl }, /http:\/\//);
  for (const baseUrl of ['https://user:secret@example.org', 'https://example.org/?secret', 'https://example.org/#secret'])
    refused({ baseUrl }, /no name, password/);
  for (const apiKey of ['prl_secret\nfoo', '“prl_secret”', 'prl secret', 'prl_secret\u0000']) refused({ apiKey }, /no key has/);
  refused({ apiKey: '   ' }, /PARLANCE_API_KEY/);
  refused({ baseUrl: ' \n' }, /PARLANCE_BASE_URL/);
});

test('white space around a base URL and a key is cut off', () =>
  withApi({ routes: (router) => router.service(AgentService, { getAgent: ({ agentId: id }) => ({ id }) }) }, async (api) => {
    const client = api.client({ baseUrl: ` ${api.baseUrl}/v1/\n`, apiKey: 'prl_k\r\n' });
    assert.equal((await client.agents.getAgent(agent)).id, 'agt_1');
    assert.equal(api.requests[0]?.headers.authorization, 'Bearer prl_k');
  }));

test('answers become JSON, with their times and large numbers as texts', () =>
  withApi(
    {
      routes: (router) =>
        router.service(AgentService, {
          getAgent: () => ({ id: 'agt_1', createdAt: timestampFromDate(new Date('2026-01-02T03:04:05Z')) }),
        }),
    },
    async (api) => {
      const found = await api.client().agents.getAgent(agent);
      assert.throws(() => JSON.stringify(found));
      const told = JSON.parse(JSON.stringify(toJson(found))) as Record<string, unknown>;
      assert.deepEqual([told['id'], told['createdAt']], ['agt_1', '2026-01-02T03:04:05Z']);
      assert.throws(() => toJson({ $typeName: 'some.Other' }), TypeError);
    },
  ));

test('a fetch of the caller’s own is used', async () => {
  let asked = '';
  const own: typeof fetch = (input) => {
    asked = String(input);
    return Promise.reject(new Error('No network.'));
  };
  const transport = makeTransport({
    baseUrl: 'https://example.org', apiKey: 'k', timeoutMs: 1_000, retries: { ...quick, max: 0 }, fetch: own, interceptors: [],
  });
  await assert.rejects(createClient(AgentService, transport).getAgent(agent), { reason: 'connection-lost' });
  assert.equal(asked, 'https://example.org/parlance.v1.AgentService/GetAgent');
});
