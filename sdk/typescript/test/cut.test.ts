// Answers whose connection ends too early or that cannot be unpacked, and refusals in the middle.
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { create, toBinary } from '@bufbuild/protobuf';
import { encodeEnvelope } from '@connectrpc/connect/protocol';
import { SessionService, StreamTurnResponseSchema } from '../src/gen/sessions_pb.js';
import { all, ParlanceError } from '../src/index.js';
import { type Api, keysOf, quick, withApi } from './api.js';

/**
 * Begins an answer and loses the connection. Fetch takes its end for that of the answer, because of
 * the header.
 */
function cut(response: ServerResponse, type: string, begun: string | Uint8Array, status = 200): true {
  response.writeHead(status, { 'content-type': type, 'parlance-version': '2026-11-28', 'connection': 'close' });
  response.write(begun, () => response.destroy());
  return true;
}

function answer(response: ServerResponse, json: string): true {
  response.writeHead(200, { 'content-type': 'application/json', 'parlance-version': '2026-11-28' }).end(json);
  return true;
}

const agents = '{"agents":[{"id":"agt_1","createdAt":"2026-01-02T03:04:05Z","later":{"a":[1]}},{"id":"agt_2"}],"later":1}';

test('a list whose answer was cut off is asked for again', async () => {
  for (const length of [0, 1, 40, agents.length - 1])
    await withApi(
      {
        handler: (_, response, number) =>
          number === 1 ? cut(response, 'application/json', agents.slice(0, length)) : answer(response, agents),
      },
      async (api) => {
        const found = [];
        for await (const agent of all(api.client().agents.listAgents, { workspaceId: 'ws_1' })) found.push(agent);
        assert.deepEqual(found.map(({ id }) => id), ['agt_1', 'agt_2'], `cut behind ${length}`);
        assert.equal(found[0]?.createdAt?.seconds, 1767323045n);
        assert.deepEqual([api.requests.length, new Set(keysOf(api)).size], [2, 1]);
      },
    );
});

test('an answer that is cut off each time is a lost connection', () =>
  withApi({ handler: (_, response) => cut(response, 'application/json', '{"id":"agt_1"') }, async (api) => {
    await assert.rejects(api.client().agents.getAgent({ agentId: 'agt_1' }), { reason: 'connection-lost' });
    assert.equal(api.requests.length, 3);
  }));

test('an answer of another message is that of somebody else', () =>
  withApi({ handler: (_, response) => answer(response, '{"id":{}}') }, async (api) => {
    const call = api.client().agents.getAgent({ agentId: 'agt_1' });
    await assert.rejects(call, { name: 'ParlanceError', reason: 'not-parlance', status: 200 });
    assert.equal(api.requests.length, 1);
  }));

const upload = (api: Api) => api.client().knowledge.upload({ workspaceId: 'ws_1', file: new Blob(['x']), filename: 'x.txt' });

test('an upload whose answer was cut off is sent again; without a source it has no answer of the service’s', async () => {
  const handler = (_: unknown, response: ServerResponse, number: number) =>
    number === 1 ? cut(response, 'application/json', '{"id":"src_1"', 202) : answer(response, '{"id":"src_1"}');
  await withApi({ handler }, async (api) => {
    assert.equal((await upload(api)).id, 'src_1');
    assert.equal(new Set(keysOf(api)).size, 1);
  });
  for (const other of ['{"ok":true}', '{}', '[]', '{"id":7}'])
    await withApi({ handler: (_, response) => answer(response, other) }, async (api) => {
      await assert.rejects(upload(api), { reason: 'not-parlance', status: 200 }, other);
      assert.equal(api.requests.length, 1);
    });
});

const event = (number: number, type: string) => ({ type, turnId: 'turn_1', eventId: `turn_1.${number}` });
const envelope = (number: number, type: string) =>
  encodeEnvelope(0, toBinary(StreamTurnResponseSchema, create(StreamTurnResponseSchema, event(number, type))));
const turn = { sessionId: 'ses_1', text: 'x' };

/** Runs a turn, and returns the types of its events. */
async function typesOf(api: Api): Promise<string[]> {
  const seen: string[] = [];
  for await (const { type } of api.client({ retries: quick }).sessions.streamTurn(turn)) seen.push(type);
  return seen;
}

test('a turn that is cut in the middle of a message goes on', async () => {
  const first = envelope(0, 'turn.started');
  const second = envelope(1, 'turn.delta');
  for (const length of [1, 4, 5, 6, second.length - 1])
    await withApi(
      {
        handler: (_, response, number) =>
          number === 1 && cut(response, 'application/connect+proto', Buffer.concat([first, second.subarray(0, length)])),
        routes: (router) =>
          router.service(SessionService, {
            getTurn: () => ({ status: 'in_progress' }),
            async *followTurn({ lastEventId }) {
              assert.equal(lastEventId, 'turn_1.0');
              yield* [event(1, 'turn.delta'), event(2, 'turn.done')];
            },
          }),
      },
      async (api) => assert.deepEqual(await typesOf(api), ['turn.started', 'turn.delta', 'turn.done'], `cut behind ${length}`),
    );
});

test('what a proxy says in the middle of a turn is waited out', async () => {
  for (const status of [408, 429, 502, 503, 504])
    await withApi(
      {
        handler(_, response, number) {
          if (number === 1) return cut(response, 'application/connect+proto', envelope(0, 'turn.started'));
          return number < 8 && Boolean(response.writeHead(status, { 'content-type': 'text/html' }).end('<html>'));
        },
        routes: (router) =>
          router.service(SessionService, {
            async *followTurn() {
              yield event(1, 'turn.done');
            },
          }),
      },
      async (api) => assert.deepEqual(await typesOf(api), ['turn.started', 'turn.done']),
    );
});

test('a refusal of a stream in the form of a call’s is a ParlanceError', () =>
  withApi(
    {
      handler: (_, response) =>
        Boolean(response.writeHead(500, { 'content-type': 'application/json' }).end('{"code":"internal","message":"x"}')),
    },
    async (api) => {
      await assert.rejects(typesOf(api), { name: 'ParlanceError', reason: 'internal', message: 'x' });
      await assert.rejects(api.client().agents.getAgent({ agentId: 'agt_1' }), { name: 'ParlanceError', reason: 'internal' });
    },
  ));

test('of a refusal that cannot be unpacked the status counts', async () => {
  const ways = { call: (api: Api) => api.client().agents.getAgent({ agentId: 'agt_1' }), stream: typesOf, upload };
  for (const [status, reason, tries] of [[403, 'auth-scope', 1], [503, 'unavailable', 3]] as const)
    for (const [name, call] of Object.entries(ways))
      await withApi(
        { handler: (_, response) => Boolean(response.writeHead(status, { 'content-encoding': 'gzip' }).end('not packed')) },
        async (api) => {
          const error = await call(api).catch((e: unknown) => e);
          assert.ok(error instanceof ParlanceError, String(error));
          assert.deepEqual([error.reason, error.status, api.requests.length], [reason, status, tries], `${name}, ${status}`);
        },
      );
});
