import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import { type CallOptions, Code, ConnectError, createClient, type ServiceImpl } from '@connectrpc/connect';
import { makeTransport } from '../src/api/transport.js';
import { streamTurn, type TurnParams } from '../src/api/turns.js';
import { type SessionService as Service, SessionService, StreamTurnResponseSchema } from '../src/gen/sessions_pb.js';
import { type Api, keysOf, quick, refuse, withApi } from './api.js';

type Event = Parameters<typeof create<typeof StreamTurnResponseSchema>>[1] & object;
const call = { id: 'call_1', slug: 'map' };
const approval = { callId: 'call_2', slug: 'pay' };

/** The events of a turn. */
const script: Event[] = [
  { type: 'turn.started', event: { case: 'started', value: {} } },
  { type: 'turn.delta', event: { case: 'textDelta', value: { text: 'One ' } } },
  { type: 'turn.approval_requested', event: { case: 'approvalRequested', value: { approval } } },
  { type: 'turn.delta', event: { case: 'textDelta', value: { text: 'two ' } } },
  { type: 'turn.client_tool_call', event: { case: 'clientToolCalled', value: { call } } },
  { type: 'turn.delta', event: { case: 'textDelta', value: { text: 'three.' } } },
  { type: 'turn.done', event: { case: 'done', value: { turn: { text: 'One two three.', status: 'completed' } } } },
];

const at = (number: number): Event => ({ ...script[number], turnId: 'turn_1', eventId: `turn_1.${number}` });

/** Lets what was yielded be written. */
const breath = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A service whose connections are cut behind so many events, each time. */
function cutting(cutBehind: number, turns: Set<string>): Partial<ServiceImpl<typeof Service>> & { api?: Api } {
  async function* send(from: number): AsyncGenerator<Event> {
    for (let number = from; number < script.length; number++) {
      if (number - from === cutBehind) {
        await breath();
        own.api?.cut();
      }
      yield at(number);
    }
  }
  const own: ReturnType<typeof cutting> = {
    async *streamTurn(_, { requestHeader }) {
      const key = requestHeader.get('idempotency-key') ?? assert.fail('there is no key');
      const isFirst = !turns.has(key);
      turns.add(key);
      if (isFirst && cutBehind === 0) {
        own.api?.cut();
        await breath();
      }
      yield* cutBehind === 0 ? script.map((_, number) => at(number)) : send(0);
    },
    async *followTurn({ turnId, lastEventId }) {
      assert.equal(turnId, 'turn_1');
      const from = Number(lastEventId.split('.')[1]) + 1;
      for (const waiting of [2, 4]) if (waiting < from) yield { ...at(waiting), eventId: lastEventId };
      yield* send(from);
    },
  };
  return own;
}

const request = { sessionId: 'ses_1', text: 'Count.' };

for (let cutBehind = 0; cutBehind <= script.length; cutBehind++)
  test(`a turn whose connections are cut behind ${cutBehind} events has each event once`, () => {
    const turns = new Set<string>();
    const service = cutting(cutBehind, turns);
    return withApi(
      {
        routes: (router, api) => {
          service.api = api;
          router.service(SessionService, service);
        },
      },
      async (api) => {
        const seen: string[] = [];
        let text = '';
        for await (const { type, event } of api.client().sessions.streamTurn(request)) {
          seen.push(type);
          if (event.case === 'textDelta') text += event.value.text;
        }
        assert.deepEqual(seen, script.map(({ type }) => type));
        assert.equal(text, 'One two three.');
        assert.equal(turns.size, 1);
        if (cutBehind < script.length) assert.ok(api.requests.length > 1, 'nothing was cut');
      },
    );
  });

/** Runs a turn with a service, and returns what was seen and thrown. */
async function run(service: Partial<ServiceImpl<typeof Service>>, look: (api: Api, seen: string[], error: unknown) => void): Promise<void> {
  await withApi({ routes: (router) => router.service(SessionService, service) }, async (api) => {
    const seen: string[] = [];
    let error: unknown;
    try {
      for await (const { type } of api.client().sessions.streamTurn(request)) seen.push(type);
    } catch (thrown) {
      error = thrown;
    }
    look(api, seen, error);
  });
}

const unavailable = (): ConnectError => new ConnectError('No.', Code.Unavailable);

test('a turn goes on when its server is being stopped', () =>
  run(
    {
      async *streamTurn() {
        yield at(0);
        throw unavailable();
      },
      getTurn: () => ({ status: 'in_progress' }),
      async *followTurn() {
        yield at(6);
      },
    },
    (_, seen, error) => {
      assert.equal(error, undefined);
      assert.deepEqual(seen, ['turn.started', 'turn.done']);
    },
  ));

test('a turn that has failed is not followed', () =>
  run(
    {
      async *streamTurn() {
        yield at(0);
        throw unavailable();
      },
      getTurn: () => ({ status: 'failed' }),
    },
    (api, _, error) => {
      assert.equal((error as { reason?: string }).reason, 'unavailable');
      assert.deepEqual(api.requests.map(({ path }) => path.split('/').at(-1)), ['StreamTurn', 'GetTurn']);
    },
  ));

test('a second beginning is told, and calls of the first are told again', () =>
  run(
    {
      async *streamTurn() {
        yield* [at(0), at(4), at(0), at(4), at(6)];
      },
    },
    (_, seen) => assert.deepEqual(seen, [0, 4, 0, 4, 6].map((number) => script[number]?.type)),
  ));

test('a refused turn is not said again; one that may pass is, with its key', async () => {
  for (const [reason, tries] of [['session-closed', 1], ['rate-limited', 3]] as const)
    await withApi({ handler: (_, response) => refuse(response, reason, 'aborted') }, async (api) => {
      const turn = api.client().sessions.streamTurn(request);
      await assert.rejects(turn.next(), { reason });
      assert.equal(api.requests.length, tries, reason);
      assert.equal(new Set(keysOf(api)).size, 1);
    });
});

test('who stops reading ends the request', async () => {
  let isOver: () => void = () => undefined;
  const over = new Promise<void>((resolve) => (isOver = resolve));
  const service: Partial<ServiceImpl<typeof Service>> = {
    async *streamTurn(_, { signal }) {
      signal.addEventListener('abort', () => isOver());
      yield at(0);
      await over;
    },
  };
  await withApi({ routes: (router) => router.service(SessionService, service) }, async (api) => {
    for await (const { type } of api.client().sessions.streamTurn(request)) if (type === 'turn.started') break;
    await over;
  });
});

/** A turn on a service whose streams fall silent, with times that are short. */
async function runSilent(
  service: Partial<ServiceImpl<typeof Service>>,
  times: Partial<TurnParams>,
  options: CallOptions = {},
): Promise<{ seen: string[]; error: unknown; paths: string[] }> {
  const seen: string[] = [];
  let error: unknown;
  let paths: string[] = [];
  await withApi({ routes: (router) => router.service(SessionService, service) }, async (api) => {
    const retries = { ...quick, max: 1 };
    const connection = { baseUrl: api.baseUrl, apiKey: 'k', timeoutMs: 30_000, retries, fetch: globalThis.fetch, interceptors: [] };
    const sessions = createClient(SessionService, makeTransport(connection));
    try {
      const params = { retries, timeoutMs: 30_000, silenceMs: 300, ...times };
      for await (const { type } of streamTurn(sessions, params, request, options)) seen.push(type);
    } catch (thrown) {
      error = thrown;
    }
    paths = api.requests.map(({ path }) => path.split('/').at(-1) ?? '');
  });
  return { seen, error, paths };
}

/** Waits until the caller goes away. */
const silence = (signal: AbortSignal): Promise<void> => new Promise((resolve) => signal.addEventListener('abort', () => resolve()));

async function* thenSilent(events: Event[], signal: AbortSignal): AsyncGenerator<Event> {
  yield* events;
  await silence(signal);
}

test('a stream that falls silent is left, and the turn is followed', async () => {
  const { seen, error } = await runSilent(
    {
      streamTurn: (_, { signal }) => thenSilent([at(0), at(1)], signal),
      getTurn: () => ({ status: 'in_progress' }),
      async *followTurn({ lastEventId }) {
        assert.equal(lastEventId, 'turn_1.1');
        yield at(6);
      },
    },
    { silenceMs: 3_000 },
  );
  assert.equal(error, undefined);
  assert.deepEqual(seen, ['turn.started', 'turn.delta', 'turn.done']);
});

test('a turn that is only silent is waited for as long as it is in progress', async () => {
  const comeBackMs = 3_000;
  const begun = Date.now();
  const { seen, error } = await runSilent(
    {
      streamTurn: (_, { signal }) => thenSilent([at(0)], signal),
      getTurn: () => ({ status: 'in_progress' }),
      followTurn: (_, { signal }) => thenSilent(Date.now() < begun + 1.5 * comeBackMs ? [] : [at(6)], signal),
    },
    { comeBackMs },
  );
  assert.equal(error, undefined);
  assert.deepEqual(seen, ['turn.started', 'turn.done']);
});

test('a turn that nobody tells of any more is given up', async () => {
  type Context = { readonly signal: AbortSignal };
  const streamTurn = (_: unknown, { signal }: Context) => thenSilent([at(0)], signal);
  const followTurn = (_: unknown, { signal }: Context) => thenSilent([], signal);
  const isOver = () => ({ status: 'completed' });
  const isSilent = (_: unknown, { signal }: Context) => silence(signal).then(() => ({}));
  for (const getTurn of [isOver, isSilent]) {
    const { error } = await runSilent({ streamTurn, followTurn, getTurn }, { comeBackMs: 100 });
    assert.equal((error as { reason?: string }).reason, 'connection-lost');
  }
});

test('a turn whose beginning is not answered is begun again with its key, and given up', async () => {
  for (const [times, options] of [[{ timeoutMs: 2_000 }, {}], [{ timeoutMs: 600_000 }, { timeoutMs: 2_000 }]] as const) {
    const { error, paths } = await runSilent({ streamTurn: (_, { signal }) => thenSilent([], signal) }, times, options);
    assert.equal((error as { reason?: string }).reason, 'connection-lost');
    assert.deepEqual(paths, ['StreamTurn', 'StreamTurn']);
  }
});

test('the time of a call is that of the beginning of a turn, not of the whole', async () => {
  const service: Partial<ServiceImpl<typeof Service>> = {
    async *streamTurn(_, { signal }) {
      yield at(0);
      await new Promise((resolve) => setTimeout(resolve, 3_000, signal));
      yield at(6);
    },
  };
  const { seen, error, paths } = await runSilent(service, { silenceMs: 60_000 }, { timeoutMs: 2_000 });
  assert.equal(error, undefined);
  assert.deepEqual(seen, ['turn.started', 'turn.done']);
  assert.deepEqual(paths, ['StreamTurn']);
});
