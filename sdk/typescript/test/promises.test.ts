// What a conversation promises: one message at a time, the right answer for each, and an end of
// waiting whatever happens.
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { WebSocket, WebSocketServer } from 'ws';
import { connect, type Retry, SessionError, type Turn } from '../src/index.js';
import { type Fixture, quick, withSession } from './talk.js';

const created = (f: Fixture): number => f.service.received.filter((e) => e.type === 'conversation.item.create').length;
const requested = (f: Fixture): number => f.service.received.filter((e) => e.type === 'response.create').length;

/** Lets what is on its way arrive, until something is so. */
async function wait(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}

const response = (id: string, members: object) => ({ response: { id, output: [], ...members } });
const begin = ({ service }: Fixture, id: string, turn?: Turn) =>
  service.send({ type: 'response.created', ...response(id, { metadata: turn ? { parlance_request: turn.id } : null }) });
const finish = ({ service }: Fixture, id: string) => service.send({ type: 'response.done', ...response(id, { status: 'completed' }) });
const lose = ({ service }: Fixture, id: string) => {
  const error = { type: 'server_error', code: 'unavailable', message: 'The server was lost.' };
  service.send({ type: 'response.done', ...response(id, { status: 'failed', status_details: { type: 'failed', error } }) });
};

/** A service that answers only what the test sends. */
const silently = (run: (f: Fixture) => Promise<void>, retry: Partial<Retry> = quick): Promise<void> =>
  withSession({ retry }, async (f) => {
    f.service.isSilent = true;
    await run(f);
  });

test('messages are sent one at a time, in order', () =>
  silently(async (f) => {
    const turns = ['one', 'two', 'three'].map((text) => f.session.send(text));
    for (const [n, turn] of turns.entries()) {
      await wait(() => requested(f) === n + 1);
      assert.equal(created(f), n + 1, 'a message was sent before the one before was answered');
      begin(f, `resp_${n}`, turn);
      finish(f, `resp_${n}`);
      assert.equal((await turn.done).id, `resp_${n}`);
    }
  }));

test('a message whose connection was lost is sent again also when the next one is what connects', () => {
  let lost: () => void = () => undefined;
  const wasLost = new Promise<void>((resolve) => (lost = resolve));
  const refusalOf = () => {
    lost();
    return new Promise<string>(() => undefined); // the loss is not reported before it is answered
  };
  return withSession({ refusalOf }, async (f) => {
    f.service.isSilent = true;
    const first = f.session.send('one');
    await wait(() => requested(f) === 1);
    f.service.cut();
    await wasLost;
    f.service.isSilent = false;
    const second = f.session.send('two');
    assert.match((await first.done).text, /one/);
    assert.match((await second.done).text, /two/);
  });
});

test('a refused message lets the next one be sent', () =>
  silently(async (f) => {
    const [first, second] = [f.session.send('one'), f.session.send('two')];
    await wait(() => requested(f) === 1);
    f.service.send({ type: 'error', error: { code: 'rate-limited', message: 'No.', event_id: `${first.id}.item` } });
    await assert.rejects(first.done, { code: 'rate-limited' });
    await wait(() => requested(f) === 2);
    begin(f, 'resp_2', second);
    finish(f, 'resp_2');
    assert.equal((await second.done).id, 'resp_2');
  }));

test('an answer that names no message is that of none', () =>
  silently(async (f) => {
    const turn = f.session.send('one');
    await wait(() => requested(f) === 1);
    begin(f, 'resp_greeting');
    finish(f, 'resp_greeting');
    begin(f, 'resp_1', turn);
    finish(f, 'resp_1');
    assert.equal((await turn.done).id, 'resp_1');
  }));

/** A message whose answer has begun when the server is lost, and one said meanwhile. */
async function lostInAnswer(f: Fixture, run: (first: Turn, second: Turn) => Promise<void>): Promise<void> {
  const first = f.session.send('one');
  await wait(() => requested(f) === 1);
  begin(f, 'resp_1', first);
  await f.until('answer.started');
  f.service.cut();
  await f.until('state', (e) => e.state.name === 'reconnecting');
  const second = f.session.send('two');
  await wait(() => f.session.state.name === 'open');
  lose(f, 'resp_1');
  await run(first, second);
}

test('an answer that was lost with its server goes on with the next one', () =>
  silently((f) =>
    lostInAnswer(f, async (first, second) => {
      begin(f, 'resp_again');
      finish(f, 'resp_again');
      assert.deepEqual([(await first.done).id, (await first.done).status], ['resp_again', 'completed']);
      await wait(() => requested(f) === 2);
      begin(f, 'resp_2', second);
      finish(f, 'resp_2');
      assert.equal((await second.done).id, 'resp_2');
    }),
  ));

test('an answer is stopped also without a connection', () =>
  silently(async (f) => {
    const cancelled = () => f.service.received.filter((e) => e.type === 'response.cancel').length;
    const cut = async () => {
      const before = f.events.length;
      f.service.cut();
      await f.until('state', (e) => e.state.name === 'reconnecting' && f.events.indexOf(e) >= before);
    };
    const turn = f.session.send('one');
    await wait(() => requested(f) === 1);
    begin(f, 'resp_1', turn);
    await f.until('answer.started');
    await cut();
    f.session.cancel();
    await wait(() => cancelled() === 1);
    await cut(); // nobody knows whether it arrived
    await wait(() => cancelled() === 2);
    f.service.send({ type: 'response.done', ...response('resp_1', { status: 'cancelled' }) });
    assert.equal((await turn.done).status, 'cancelled');
    await cut();
    const next = f.session.send('two');
    await wait(() => requested(f) === 2);
    begin(f, 'resp_2', next);
    finish(f, 'resp_2');
    assert.equal((await next.done).status, 'completed');
    assert.equal(cancelled(), 2, 'another answer was stopped');
  }));

test('an answer that was lost twice has failed', () =>
  silently((f) =>
    lostInAnswer(f, async (first) => {
      begin(f, 'resp_again');
      lose(f, 'resp_again');
      assert.deepEqual([(await first.done).id, (await first.done).status], ['resp_again', 'failed']);
    }),
  ));

test('a lost answer that nothing follows has failed', () =>
  silently(
    (f) => lostInAnswer(f, async (first) => assert.equal((await first.done).status, 'failed')),
    { ...quick, resumedMs: 5 },
  ));

test('an answer that fails on a connection that holds has failed at once', () =>
  silently(async (f) => {
    const turn = f.session.send('one');
    await wait(() => requested(f) === 1);
    begin(f, 'resp_1', turn);
    lose(f, 'resp_1');
    assert.equal((await turn.done).status, 'failed');
  }));

test('a text that the service would not take is refused here, and is not sent', () =>
  withSession({}, async (f) => {
    await f.until('session');
    for (const text of ['a'.repeat(32_001), 'é'.repeat(2_000_000)])
      await assert.rejects(f.session.send(text).done, { code: 'invalid_value' });
    await assert.rejects(f.session.send(' ').done, { code: 'missing_required_parameter' });
    assert.equal((await f.session.send('😀'.repeat(32_000)).done).status, 'completed');
    assert.equal(created(f), 1);
    assert.equal(f.service.connections.length, 1);
  }));

test('a connection that is closed for a frame that is too large is not made again', () =>
  silently(async (f) => {
    const turn = f.session.send('one');
    await wait(() => requested(f) === 1);
    f.service.end(1009, 'frame_too_large');
    await assert.rejects(turn.done, { code: 'frame_too_large' });
    assert.deepEqual([f.session.state.name, f.session.state.canReconnect], ['closed', true]);
    assert.equal(f.service.connections.length, 1);
  }));

test('the result of a tool that is too large is told to the model in its place', () =>
  withSession({ tools: [{ name: 'all', description: 'All.', run: () => 'x'.repeat(300_000) }] }, async (f) => {
    const item = { id: 'item_1', type: 'function_call', call_id: 'call_1', name: 'all', arguments: '{}' };
    f.service.script = (text) => (text === 'go' ? [{ type: 'response.output_item.done', response_id: 'resp_1', item }] : []);
    await f.session.send('go').done;
    await f.until('client-tool.closed', (e) => /larger than 256 KiB/.test(e.output));
  }));

const unreachable = { chatUrl: 'ws://127.0.0.1:1/chat', wsUrl: undefined, retry: { ...quick, firstAttempts: 2 } };

test('messages of a conversation that is given up fail with why', async () => {
  await withSession(unreachable, async ({ session, until }) => {
    const turns = [session.send('one'), session.send('two')];
    for (const { done } of turns) await assert.rejects(done, (e) => e instanceof SessionError && e.code === 'unreachable');
    await until('user.message', (e) => e.status === 'failed' && e.text === 'two');
  });
  await withSession({ ...unreachable, refusalOf: async () => 'session-modality' }, async ({ session }) => {
    await assert.rejects(session.send('one').done, { code: 'session-modality' });
  });
  await withSession({ ...unreachable, refusalOf: async () => 'session-token-invalid' }, async ({ session }) => {
    await assert.rejects(session.send('one').done, { code: 'session-closed', message: /token/ });
  });
});

test('messages fail when nobody came back in time', () =>
  withSession({ retry: { ...quick, graceMs: 20 } }, async (f) => {
    f.service.isSilent = true;
    const turn = f.session.send('one');
    await wait(() => requested(f) === 1);
    await f.service.close();
    await assert.rejects(turn.done, (e) => e instanceof SessionError);
    assert.equal(f.session.state.name, 'closed');
  }));

test('close() ends the waiting, and refuses what is said until the conversation is opened again', () =>
  silently(async (f) => {
    const turns = [f.session.send('one'), f.session.send('two')];
    await wait(() => requested(f) === 1);
    f.session.close();
    for (const { done } of turns) await assert.rejects(done, { code: 'closed' });
    await assert.rejects(f.session.send('three').done, { code: 'closed' });
    await wait(() => f.service.closed.length === 1);
    assert.deepEqual([f.service.connections.length, f.service.closed], [1, [4001]]);
    f.service.isSilent = false;
    f.session.open();
    assert.match((await f.session.send('four').done).text, /four/);
  }));

test('a client that was replaced refuses messages until it takes the session back', () =>
  withSession({}, async (f) => {
    await f.until('session');
    f.service.isSilent = true;
    const waiting = f.session.send('one');
    await wait(() => requested(f) === 1);
    f.service.end(4409, 'replaced');
    await assert.rejects(waiting.done, { code: 'replaced' });
    await assert.rejects(f.session.send('two').done, { code: 'replaced', message: /reconnect\(\)/ });
    assert.equal(f.service.connections.length, 1);
    f.service.isSilent = false;
    f.session.reconnect();
    assert.match((await f.session.send('three').done).text, /three/);
  }));

test('a URL that is none is refused at once, and is not shown', () => {
  for (const urls of [{ chatUrl: 'nonsense?token=secret' }, { chatUrl: 'wss://x/chat', wsUrl: 'secret' }])
    assert.throws(() => connect({ ...urls, WebSocket }), (e) => e instanceof SessionError && !/secret/.test(e.message));
});

test('the events of a session that is over end', async () => {
  for (const end of ['hangUp', 'close'] as const)
    await withSession({}, async ({ session, until, service }) => {
      await until('session');
      const seen: string[] = [];
      const loop = (async () => {
        for await (const { type } of session.events()) seen.push(type);
      })();
      session[end]();
      await loop;
      assert.equal(seen.includes('ended'), end === 'hangUp');
      for await (const { type } of session.events()) assert.fail(type);
      assert.equal(service.connections.length, 1);
    });
  await withSession({}, async ({ session, until, service }) => {
    await until('session');
    setImmediate(() => service.end(1000, 'end_call'));
    for await (const event of session.events()) if (event.type === 'ended') assert.equal(event.reason, 'end_call');
  });
});

test('a session is hung up also without a connection', async () => {
  const hangsUp = (name: string, options: Parameters<typeof withSession>[0], before: (f: Fixture) => Promise<void> | void) =>
    withSession(options, async (f) => {
      await before(f);
      const turn = f.session.send('one');
      f.session.hangUp();
      assert.ok(f.session.hasEnded, name);
      await assert.rejects(turn.done, { code: name === 'closed' ? 'closed' : 'session-closed' });
      await wait(() => f.service.closed.includes(1000));
      f.session.open();
      f.session.reconnect();
      assert.equal(f.session.state.name, 'closed', name);
    });
  await hangsUp('at once', {}, () => undefined);
  await hangsUp('never opened', { autoConnect: false }, () => undefined);
  await hangsUp('connecting', {}, ({ until }) => until('state', (e) => e.state.name === 'connecting'));
  await hangsUp('reconnecting', {}, async ({ until, session }) => {
    await until('session');
    session.drop();
    await until('state', (e) => e.state.name === 'reconnecting');
  });
  await hangsUp('closed', {}, async ({ until, session }) => {
    await until('session');
    session.close();
  });
});

test('a session that is hung up while it is created is hung up when it is there', () =>
  withSession({}, async ({ service }) => {
    let give: (urls: { chatUrl: string }) => void = () => undefined;
    const session = connect({ WebSocket, retry: quick, fetchSession: () => new Promise((resolve) => (give = resolve)) });
    const turn = session.send('one');
    session.hangUp();
    assert.ok(session.hasEnded);
    await assert.rejects(turn.done, { code: 'session-closed' });
    const before = service.closed.length;
    give({ chatUrl: service.chatUrl });
    await wait(() => service.closed.slice(before).includes(1000));
    assert.equal(session.state.name, 'idle');
  }));

/** Runs a test with the address of a server that was begun. */
async function listening(server: Server, run: (chatUrl: string) => Promise<void>): Promise<void> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await run(`ws://127.0.0.1:${(server.address() as AddressInfo).port}/chat`);
  } finally {
    server.close();
  }
}

test('something that accepts connections and closes them at once is given up', async () => {
  const server = createServer();
  let connections = 0;
  new WebSocketServer({ server }).on('connection', (socket) => {
    connections++;
    socket.close(1012, 'reconnect');
  });
  await listening(server, (chatUrl) =>
    withSession({ chatUrl, retry: { ...quick, firstAttempts: 3 } }, async ({ session }) => {
      await assert.rejects(session.send('one').done, SessionError);
      assert.equal(connections, 3);
    }),
  );
});

test('a connection on which nothing comes is lost', async () => {
  const server = createServer();
  server.on('upgrade', (_, socket) => socket.on('end', () => socket.destroy()));
  await listening(server, (chatUrl) =>
    withSession({ chatUrl, retry: { ...quick, openMs: 5, firstAttempts: 2 } }, async ({ session, events }) => {
      await assert.rejects(session.send('one').done, { code: 'unreachable' });
      assert.equal(events.filter((e) => e.type === 'state' && e.state.name === 'connecting').length, 2);
    }),
  );
});

test('a connection that has been silent for too long is lost, and pings are no silence', () =>
  withSession({ retry: { ...quick, silentMs: 3_000 } }, async ({ service, until, events }) => {
    await until('session');
    for (let n = 0; n < 20; n++) {
      service.ping();
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    assert.equal(service.connections.length, 1);
    const before = events.length;
    await until('state', (e) => e.state.name === 'reconnecting' && events.indexOf(e) >= before);
    await until('state', (e) => e.state.name === 'open' && events.indexOf(e) >= before);
  }));

test('errors of a socket do not show the token', () => {
  class Refused {
    constructor(url: string) {
      throw new SyntaxError(`The URL '${url}' is invalid.`);
    }
  }
  const options = { chatUrl: 'wss://example.org/chat?token=secret&x=1', WebSocket: Refused as never };
  return withSession(options, async ({ session }) => {
    const error = await session.send('one').done.catch((e: unknown) => e);
    assert.ok(error instanceof SessionError);
    assert.match(error.message, /token=….*invalid/);
    assert.doesNotMatch(error.message, /secret/);
  });
});
