import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WebSocket } from 'ws';
import { connect, SessionError } from '../src/index.js';
import { answerOf, textAnswer } from './service.js';
import { quick, withSession } from './talk.js';

test('a message is answered', () =>
  withSession({}, async ({ session, events, view, service }) => {
    const turn = session.send('one');
    const answer = await turn.done;
    assert.equal(answer.text, answerOf('one'));
    assert.equal(answer.status, 'completed');
    const deltas = events.filter((e) => e.type === 'answer.delta').map((e) => e.delta);
    assert.equal(deltas.join(''), answerOf('one'));
    const [user, agent, ...others] = view().entries;
    assert.deepEqual(others, []);
    assert.ok(user?.kind === 'user' && user.id === turn.id && user.status === 'sent' && user.text === 'one');
    assert.ok(agent?.kind === 'answer' && agent.messages[0]?.text === answerOf('one') && agent.result?.id === answer.id);
    assert.deepEqual(service.received.map((e) => e.type), ['conversation.item.create', 'response.create']);
  }));

test('two messages that are sent together have their own answers', () =>
  withSession({}, async ({ session, service }) => {
    service.script = (text) => textAnswer(text, String(service.received.length) + Math.random());
    const turns = [session.send('one'), session.send('two')];
    const answers = await Promise.all(turns.map((t) => t.done));
    assert.notEqual(answers[0]?.id, answers[1]?.id);
  }));

/** How many events go each way in a conversation of one message. */
const sentEvents = 12;
const receivedEvents = 2;

for (let n = 1; n <= sentEvents; n++)
  test(`a connection that is cut behind event ${n} of the server loses and repeats nothing`, () =>
    withSession(
      {},
      async ({ session, service, events, view }) => {
        const answer = await session.send('one').done;
        assert.equal(answer.text, answerOf('one'));
        const next = await session.send('two').done;
        assert.equal(next.text, answerOf('two'));
        assert.deepEqual(
          view().entries.map((e) => (e.kind === 'answer' ? e.messages.map((m) => m.text).join() : e.kind === 'user' && e.text)),
          ['one', answerOf('one'), 'two', answerOf('two')],
        );
        assert.equal(events.filter((e) => e.type === 'answer.started').length, 2);
        assert.ok(service.connections.length >= 2, 'nothing was cut');
      },
      (service) => (service.cutAfterSent = n),
    ));

for (let number = 1; number <= receivedEvents; number++)
  for (const isProcessed of [false, true])
    test(`a connection that is cut ${isProcessed ? 'behind' : 'before'} event ${number} of the client loses nothing`, () =>
      withSession(
        {},
        async ({ session, service, events }) => {
          const answer = await session.send('one').done;
          assert.equal(answer.text, answerOf('one'));
          assert.equal(events.filter((e) => e.type === 'answer.started').length, 1);
          assert.equal(service.connections.length, 2);
        },
        (service) => (service.cutAtReceived = { number, isProcessed }),
      ));

test('a client comes back behind the last event that is no sound', () =>
  withSession({}, async ({ session, service, events, until }) => {
    await until('session');
    service.send({ type: 'response.output_audio.delta', event_id: 'event_x~', response_id: 'r', item_id: 'i', delta: '' });
    service.send({ type: 'parlance.handover', event_id: 'event_y', status: 'requested' });
    service.send({ type: 'response.output_audio.delta', event_id: 'event_y~', response_id: 'r', item_id: 'i', delta: '' });
    await until('handover');
    session.drop();
    await until('state', (e) => e.state.name === 'reconnecting');
    session.send('one');
    await until('answer.done');
    assert.equal(service.connections[1]?.lastEventId, 'event_y');
    assert.ok(events.some((e) => e.type === 'state' && e.state.code === 4000));
  }));

test('what is said without a connection is sent when there is one', () =>
  withSession({ autoConnect: false }, async ({ session, service, view }) => {
    assert.equal(session.state.name, 'idle');
    assert.equal(service.connections.length, 0);
    const turn = session.send('one');
    assert.deepEqual(view().entries.map((e) => e.kind === 'user' && e.status), ['sending']);
    assert.equal((await turn.done).text, answerOf('one'));
  }));

test('a session that ends is closed, and refuses messages', () =>
  withSession({}, async ({ session, service, until, events }) => {
    await session.send('one').done;
    service.script = () => [];
    service.end(1000, 'end_call');
    await until('ended');
    assert.ok(session.hasEnded && !session.state.canReconnect);
    assert.equal(session.state.reason, 'end_call');
    await assert.rejects(session.send('two').done, (e) => e instanceof SessionError && e.code === 'session-closed');
    assert.equal(events.filter((e) => e.type === 'ended').length, 1);
    assert.equal(service.connections.length, 1);
  }));

test('a client that was replaced waits until it is asked to take over', () =>
  withSession({}, async ({ session, service, until }) => {
    await until('session');
    service.end(4409, 'replaced');
    await until('state', (e) => e.state.name === 'closed');
    assert.equal(session.state.canReconnect, true);
    assert.equal(session.hasEnded, false);
    assert.equal(service.connections.length, 1);
    session.reconnect();
    assert.equal((await session.send('one').done).text, answerOf('one'));
  }));

test('a service that cannot be reached is given up after some attempts', () =>
  withSession({ chatUrl: 'ws://127.0.0.1:1/chat', retry: { ...quick, firstAttempts: 3 } }, async ({ session, until, events }) => {
    await until('state', (e) => e.state.name === 'closed');
    assert.equal(session.state.reason, 'unreachable');
    assert.equal(events.filter((e) => e.type === 'state' && e.state.name === 'connecting').length, 3);
  }));

test('a refused handshake says why', () =>
  withSession({ chatUrl: 'ws://127.0.0.1:1/chat', refusalOf: async () => 'session-token-invalid' }, async ({ session, until }) => {
    await until('ended');
    assert.equal(session.state.reason, 'session-token-invalid');
  }));

test('fetchSession gives the URLs, and those of another session', () =>
  withSession({}, async ({ service }) => {
    let calls = 0;
    const fetchSession = async () => ({ chatUrl: `${service.chatUrl}&n=${++calls}` });
    const session = connect({ WebSocket, fetchSession, retry: quick });
    try {
      assert.equal((await session.send('one').done).text, answerOf('one'));
      session.hangUp();
      assert.equal(session.hasEnded, true);
      await session.restart();
      assert.equal((await session.send('two').done).text, answerOf('two'));
      assert.equal(calls, 2);
    } finally {
      session.close();
    }
  }));

test('a session that cannot be had fails what was said', () =>
  withSession(
    { chatUrl: '', autoConnect: false, fetchSession: () => Promise.reject(new Error('no')) },
    async ({ session, until }) => {
      await assert.rejects(session.send('one').done, { code: 'no-session' });
      await until('user.message', (e) => e.status === 'failed');
      assert.equal(session.state.reason, 'no-session');
    },
  ));
