// Sockets that do not behave as most do.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect, type SessionEvent, type WebSocketLike } from '../src/index.js';
import { withSession } from './talk.js';

/** A socket that does nothing by itself. */
class Socket implements WebSocketLike {
  static last: Socket;
  readyState = 0;
  onopen: WebSocketLike['onopen'] = null;
  onmessage: WebSocketLike['onmessage'] = null;
  onclose: WebSocketLike['onclose'] = null;
  onerror: WebSocketLike['onerror'] = null;

  constructor() {
    Socket.last = this;
  }

  send(): void {}
  close(): void {}

  tell(text: string): void {
    this.onmessage?.({ data: text } as never);
  }
}

/** A socket that a page's policy blocks, as Chromium has it: an error, and no close event. */
class Blocked extends Socket {
  constructor() {
    super();
    setImmediate(() => {
      this.readyState = 3;
      this.onerror?.({} as never);
    });
  }
}

/** A socket that the browser does not make: the URL has a fragment, or is ws: in a page of https:. */
class Impossible extends Socket {
  constructor() {
    super();
    throw new SyntaxError('The URL has a fragment.');
  }
}

test('a socket with an error and without a close event is lost', () =>
  withSession({ WebSocket: Blocked, retry: { firstMs: 1, maxMs: 1, firstAttempts: 2 } }, async ({ session, until, events }) => {
    await until('state', (e) => e.state.name === 'closed');
    assert.equal(session.state.reason, 'unreachable');
    assert.equal(events.filter((e) => e.type === 'state' && e.state.name === 'connecting').length, 2);
  }));

test('an error before a close event leaves the close event its code', () =>
  withSession({ WebSocket: Socket }, async ({ session, until }) => {
    await until('state', (e) => e.state.name === 'connecting');
    const socket = Socket.last;
    socket.readyState = 3;
    socket.onerror?.({} as never);
    socket.onclose?.({ code: 1000, reason: 'end_call' } as never);
    await until('ended', (e) => e.reason === 'end_call');
    assert.equal(session.state.code, 1000);
  }));

test('a socket that cannot be made is refused in words, and can be tried again', () =>
  withSession({ WebSocket: Impossible }, async ({ session, until, events }) => {
    const { id } = session.send('one');
    await until('state', (e) => e.state.name === 'closed');
    assert.equal(session.state.reason, 'unreachable');
    assert.match(session.state.text, /The URL has a fragment/);
    assert.ok(session.state.canReconnect);
    assert.ok(events.some((e) => e.type === 'user.message' && e.id === id && e.text === 'one'));
    const closed = () => events.filter((e) => e.type === 'state' && e.state.name === 'closed').length;
    const before = closed();
    session.reconnect();
    assert.equal(closed(), before + 1);
  }));

test('what is no event is ignored', () =>
  withSession({ WebSocket: Socket }, async ({ session, until, events }) => {
    await until('state', (e) => e.state.name === 'connecting');
    const socket = Socket.last;
    socket.onopen?.({} as never);
    for (const text of ['null', '7', '"text"', 'no JSON', '{"type":"from.tomorrow"}']) socket.tell(text);
    assert.deepEqual(events.flatMap((e) => (e.type === 'raw' ? [e.event.type] : [])), ['from.tomorrow']);
    assert.equal(session.state.name, 'open');
  }));

test('a conversation that is closed while its URLs are being fetched makes no connection', async () => {
  let answer: (urls: { chatUrl: string }) => void = () => undefined;
  const urls = new Promise<{ chatUrl: string }>((resolve) => (answer = resolve));
  let made = 0;
  class Counted extends Socket {
    constructor() {
      super();
      made++;
    }
  }
  const session = connect({ WebSocket: Counted, fetchSession: () => urls });
  const events: SessionEvent[] = [];
  session.onAny((event) => events.push(event));
  const { done } = session.send('one');
  session.close();
  answer({ chatUrl: 'ws://example.org/chat' });
  await assert.rejects(done, { code: 'closed' });
  assert.equal(made, 0);
  assert.ok(events.some((e) => e.type === 'user.message' && e.status === 'failed'));
});
