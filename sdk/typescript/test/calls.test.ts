import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import type { ConnectRouter } from '@connectrpc/connect';
import { WebSocket } from 'ws';
import { withRetries } from '../src/api/retry.js';
import { AgentService } from '../src/gen/agents_pb.js';
import { SessionService } from '../src/gen/sessions_pb.js';
import { all, isReason, Parlance, ParlanceError, sdkVersion } from '../src/index.js';
import { type Api, keysOf, quick, refuse, withApi } from './api.js';
import { answerOf, serve } from './service.js';

const agent = { workspaceId: 'ws_1', agentId: 'agt_1' };
const getAgent = (api: Api, options?: ConstructorParameters<typeof Parlance>[0]) => api.client(options).agents.getAgent(agent);

/** Runs a test with a service that refuses the first requests. */
const failing = (times: number, fail: Parameters<typeof withApi>[0]['handler'], run: (api: Api) => Promise<void>) =>
  withApi(
    {
      routes: (router) => router.service(AgentService, { getAgent: ({ agentId: id }) => ({ id }) }),
      handler: (request, response, number) => number <= times && (fail?.(request, response, number) ?? false),
    },
    run,
  );

test('a call says who calls, in which version, and has a key of its own', () =>
  failing(0, undefined, async (api) => {
    assert.equal((await getAgent(api)).id, 'agt_1');
    await getAgent(api);
    const { path, headers } = api.requests[0] ?? assert.fail();
    assert.equal(path, '/parlance.v1.AgentService/GetAgent');
    assert.equal(headers.authorization, 'Bearer prl_secret');
    assert.equal(headers['parlance-version'], '2026-11-28');
    assert.equal(headers['user-agent'], `parlance-sdk-typescript/${sdkVersion}`);
    const [first, second] = keysOf(api);
    assert.ok(first && second && first !== second);
  }));

test('a key that the caller gives is kept', () =>
  failing(0, undefined, async (api) => {
    await api.client().agents.getAgent(agent, { headers: { 'Idempotency-Key': 'mine' } });
    assert.deepEqual(keysOf(api), ['mine']);
  }));

test('a call is made two times more, with the same key, when the connection breaks', async () => {
  const cut: Parameters<typeof failing>[1] = (request) => Boolean(request.socket.destroy());
  await failing(2, cut, async (api) => {
    await getAgent(api);
    assert.equal(api.requests.length, 3);
    assert.equal(new Set(keysOf(api)).size, 1);
  });
  await failing(3, cut, async (api) => {
    await assert.rejects(getAgent(api), { name: 'ParlanceError', reason: 'connection-lost', status: 0 });
    assert.equal(api.requests.length, 3);
  });
});

test('a call is made again for reasons that may pass, and not for others', async () => {
  for (const [reason, code, tries] of [
    ['unavailable', 'unavailable', 3],
    ['rate-limited', 'resource_exhausted', 3],
    ['conflict', 'aborted', 3],
    ['canceled', 'canceled', 1],
    ['not-found', 'not_found', 1],
    ['quota-exceeded-sessions', 'resource_exhausted', 1],
    ['a-later-reason', 'failed_precondition', 1],
  ] as const)
    await failing(9, (_, response) => refuse(response, reason, code), async (api) => {
      await assert.rejects(getAgent(api), { reason, code, requestId: 'req_1', message: `Refused: ${reason}.` });
      assert.equal(api.requests.length, tries, reason);
    });
});

test('Retry-After is waited for, and a time that is too long is not', async () => {
  const asks = (seconds: string): Parameters<typeof failing>[1] => (_, response) =>
    refuse(response, 'rate-limited', 'resource_exhausted', { 'retry-after': seconds });
  await failing(1, asks('1'), async (api) => {
    const begun = Date.now();
    await getAgent(api);
    assert.ok(Date.now() - begun >= 990);
  });
  await failing(1, asks('3600'), async (api) => {
    await assert.rejects(getAgent(api), { reason: 'rate-limited', retryAfterMs: 3_600_000 });
    assert.equal(api.requests.length, 1);
  });
});

test('the first request of a key is waited for', () =>
  failing(5, (_, response) => refuse(response, 'idempotency-key-in-flight', 'aborted'), async (api) => {
    await getAgent(api);
    assert.equal(api.requests.length, 6);
    assert.equal(new Set(keysOf(api)).size, 1);
  }));

test('the first request of a key is waited for from when it was told of, for five minutes', async (context) => {
  let now = 0;
  context.mock.method(performance, 'now', () => now);
  context.mock.method(Date, 'now', () => 0);
  const inFlight = new ParlanceError({ reason: 'idempotency-key-in-flight', message: '', code: 'aborted' });
  const tries: number[] = [];
  const lasting = (ms: number) => () => {
    now += ms;
    tries.push(now);
    return Promise.reject(inFlight);
  };
  await assert.rejects(withRetries(lasting(100_000), { ...quick, max: 0 }), { reason: 'idempotency-key-in-flight' });
  assert.deepEqual(tries, [100_000, 200_000, 300_000, 400_000]);
});

test('each try has its time', () =>
  failing(1, () => true, async (api) => {
    assert.equal((await getAgent(api, { timeoutMs: 5_000, retries: { firstMs: 1 } })).id, 'agt_1');
    assert.equal(api.requests.length, 2);
    assert.equal(api.requests[0]?.headers['connect-timeout-ms'], '5000');
  }));

test('a call that is over its time says so', () =>
  failing(9, () => true, async (api) => {
    await assert.rejects(getAgent(api, { timeoutMs: 20, retries: { firstMs: 1 } }), { reason: 'deadline-exceeded' });
  }));

test('a call can be stopped, also while it waits', async () => {
  const stopped = { name: 'ParlanceError', reason: 'canceled' };
  const silent: Parameters<typeof failing>[1] = () => true;
  const refusing: typeof silent = (_, response) => refuse(response, 'unavailable', 'unavailable');
  for (const handler of [silent, refusing])
    await failing(9, handler, async (api) => {
      const stop = new AbortController();
      const client = api.client({ retries: { firstMs: 60_000 } });
      const call = client.agents.getAgent(agent, { signal: stop.signal });
      while (api.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
      stop.abort();
      await assert.rejects(call, stopped);
      assert.equal(api.requests.length, 1);
    });
});

test('a page of a server on the way is unavailable', () =>
  failing(9, (_, response) => Boolean(response.writeHead(502, { 'content-type': 'text/html' }).end('<html>')), async (api) => {
    await assert.rejects(getAgent(api), { reason: 'unavailable' });
    assert.equal(api.requests.length, 3);
  }));

test('fields that are wrong are named', () =>
  failing(1, (_, response) => {
    const fieldViolations = [{ field: 'name', reason: 'min_len', description: 'Is required.' }];
    const details = [
      { type: 'google.rpc.ErrorInfo', value: '', debug: { reason: 'invalid-request' } },
      { type: 'google.rpc.BadRequest', value: '', debug: { fieldViolations } },
    ];
    response.writeHead(400, { 'content-type': 'application/json' });
    return Boolean(response.end(JSON.stringify({ code: 'invalid_argument', message: 'No.', details })));
  }, async (api) => {
    const error = await getAgent(api).catch((e: unknown) => e);
    assert.ok(isReason(error, 'not-found', 'invalid-request') && !isReason(error, 'not-found'));
    assert.deepEqual(error.fields, [{ field: 'name', code: 'min_len', message: 'Is required.' }]);
    assert.equal(error.status, 400);
  }));

test('an error does not show the key', () =>
  failing(9, (request) => Boolean(request.socket.destroy()), async (api) => {
    const error = await getAgent(api).catch((e: unknown) => e);
    assert.ok(error instanceof ParlanceError);
    assert.doesNotMatch(inspect(error, { depth: 9 }), /prl_secret/);
  }));

test('a list is read page after page, and not further than is looked at', () =>
  withApi(
    {
      routes: (router) =>
        router.service(AgentService, {
          listAgents({ pageToken, pageSize, workspaceId }) {
            assert.deepEqual([pageSize, workspaceId], [2, 'ws_1']);
            const at = Number(pageToken);
            return { agents: [{ id: `agt_${at}` }, { id: `agt_${at + 1}` }], nextPageToken: at < 4 ? String(at + 2) : '' };
          },
        }),
    },
    async (api) => {
      const list = () => all(api.client().agents.listAgents, { workspaceId: 'ws_1', pageSize: 2 });
      const ids: string[] = [];
      for await (const { id } of list()) ids.push(id);
      assert.deepEqual(ids, ['agt_0', 'agt_1', 'agt_2', 'agt_3', 'agt_4', 'agt_5']);
      assert.equal(api.requests.length, 3);
      for await (const { id } of list()) if (id === 'agt_1') break;
      assert.equal(api.requests.length, 4);
    },
  ));

test('a redirect is not followed: it could carry the key to somebody else', () =>
  withApi({}, (elsewhere) =>
    failing(9, (_, response) => Boolean(response.writeHead(307, { location: elsewhere.baseUrl }).end()), async (api) => {
      await assert.rejects(getAgent(api), { name: 'ParlanceError' });
      const file = { workspaceId: 'ws_1', file: new Blob(['x']), filename: 'x.txt' };
      await assert.rejects(api.client().knowledge.upload(file), { name: 'ParlanceError' });
      assert.equal(elsewhere.requests.length, 0);
    }),
  ));

test('a session needs a WebSocket, and says so before it creates one', () =>
  withApi({}, async (api) => {
    const { WebSocket } = globalThis;
    Reflect.deleteProperty(globalThis, 'WebSocket');
    try {
      const connected = api.client().sessions.connect({ agentId: 'agt_1', userId: 'u' });
      await assert.rejects(connected, { name: 'TypeError', message: /WebSocket/ });
      assert.equal(api.requests.length, 0);
    } finally {
      if (WebSocket) globalThis.WebSocket = WebSocket;
    }
  }));

test('a client without a base URL or a key cannot be made', () => {
  const { PARLANCE_BASE_URL, PARLANCE_API_KEY } = process.env;
  delete process.env['PARLANCE_BASE_URL'];
  delete process.env['PARLANCE_API_KEY'];
  try {
    assert.throws(() => new Parlance({ apiKey: 'k' }), /PARLANCE_BASE_URL/);
    assert.throws(() => new Parlance({ baseUrl: 'http://x' }), /PARLANCE_API_KEY/);
    process.env['PARLANCE_BASE_URL'] = 'http://127.0.0.1:1/v1/';
    process.env['PARLANCE_API_KEY'] = 'k';
    assert.ok(new Parlance());
  } finally {
    Object.assign(process.env, { PARLANCE_BASE_URL, PARLANCE_API_KEY });
  }
});

/** What must not compile. */
export function typesOf(parlance: Parlance): void {
  // @ts-expect-error: it lists nothing
  all(parlance.agents.getAgent, agent);
  // @ts-expect-error: there is no such field
  void parlance.agents.getAgent({ agent: 'agt_1' });
  // @ts-expect-error: files are sent by upload()
  void parlance.knowledge.uploadSource;
  const agents: AsyncIterable<{ id: string; name: string }> = all(parlance.agents.listAgents, {});
  const deliveries: AsyncIterable<{ attempt: number }> = all(parlance.webhooks.listWebhookDeliveries, { limit: 10 });
  void [agents, deliveries];
}

test('a signal stops the creation of a session, and closes one that is not connected yet', async () => {
  const about = { agentId: 'agt_1', userId: 'u', modality: 'text' };
  await failing(9, () => true, async (api) => {
    const stop = new AbortController();
    const connected = api.client().sessions.connect(about, { WebSocket, signal: stop.signal });
    stop.abort();
    await assert.rejects(connected, { name: 'ParlanceError', reason: 'canceled' });
  });
  const service = await serve();
  const createSession = () => ({ id: 'ses_1', chatUrl: service.chatUrl });
  const created = { routes: (router: ConnectRouter) => router.service(SessionService, { createSession }) };
  const test = async (api: Api): Promise<void> => {
    const early = new AbortController();
    const options = { WebSocket, retry: { settleMs: 0 }, autoConnect: false };
    const unopened = await api.client().sessions.connect(about, { ...options, signal: early.signal });
    early.abort();
    await assert.rejects(unopened.send('Hello').done, { name: 'SessionError', code: 'closed' });
    assert.equal(service.connections.length, 0);

    const late = new AbortController();
    const session = await api.client().sessions.connect(about, { ...options, signal: late.signal });
    assert.equal((await session.send('Hello').done).text, answerOf('Hello'));
    late.abort();
    assert.equal((await session.send('Again').done).text, answerOf('Again'));
    session.close();
  };
  await withApi(created, test).finally(() => service.close());
});
