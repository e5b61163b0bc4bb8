import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withSession } from './talk.js';

const answer = (id: string, ...events: { type: string; [member: string]: unknown }[]) =>
  events.map((event) => ({ response_id: id, ...event }));

test('a tool of the service is reported with its progress', () =>
  withSession({}, async ({ session, service, view }) => {
    const item = { id: 'item_t', type: 'mcp_call', name: 'order_status', arguments: '' };
    service.script = () =>
      answer(
        'resp_t',
        { type: 'response.output_item.added', item },
        { type: 'response.output_item.done', item: { ...item, arguments: '{"id":1}', output: '{"status":"shipped"}' } },
        { type: 'parlance.citations', citations: [{ source_name: 'Manual', similarity: 0.5, excerpt: 'x' }] },
      );
    const { toolCalls, citations } = await session.send('where?').done;
    assert.equal(toolCalls[0]?.status, 'completed');
    assert.equal(toolCalls[0]?.output, '{"status":"shipped"}');
    assert.equal(citations[0]?.source_name, 'Manual');
    const shown = view().entries.at(-1);
    assert.ok(shown?.kind === 'answer' && shown.toolCalls[0]?.name === 'order_status');
  }));

const call = (name: string) => ({
  type: 'response.output_item.done',
  item: { id: `item_${name}`, type: 'function_call', call_id: `call_${name}`, name, arguments: '{"place":"Bern"}' },
});

test('a client tool with a handler is run, and its result is sent once', () =>
  withSession(
    { tools: [{ name: 'show_map', description: 'Shows a map.', run: ({ place }) => ({ shown: place }) }] },
    async ({ session, service, until, view }) => {
      service.script = (text) => (text === 'map' ? answer('resp_1', call('show_map')) : answer('resp_2'));
      service.cutAfterSent = 5; // behind the call
      await session.send('map').done;
      await until('answer.done', (e) => e.answer.id !== 'resp_1');
      const outputs = service.received.filter((e) => (e['item'] as { type?: string } | undefined)?.type === 'function_call_output');
      assert.equal(new Set(outputs.map((e) => (e['item'] as { id: string }).id)).size, 1);
      assert.equal((outputs[0]?.['item'] as { output: string }).output, '{"shown":"Bern"}');
      const declared = service.received.filter((e) => e.type === 'session.update');
      assert.equal(declared.length, service.connections.length, 'each connection declares the tools');
      assert.deepEqual(view().clientTools, []);
    },
  ));

test('a client tool without a handler is the caller’s, and one that takes too long is closed', () =>
  withSession({ tools: [{ name: 'pick', description: 'Picks.' }] }, async ({ session, service, until, view }) => {
    service.script = (text) => (text === 'go' ? answer('resp_1', call('pick'), call('wait')) : answer('resp_2'));
    await session.send('go').done;
    assert.deepEqual(view().clientTools.map((c) => c.callId), ['call_pick', 'call_wait']);
    assert.equal(session.answerTool('call_pick', 'the left one'), true);
    assert.equal(session.answerTool('call_pick', 'the right one'), false);
    const item = { id: 'out_1', type: 'function_call_output', call_id: 'call_wait', output: 'too late' };
    service.send({ type: 'conversation.item.added', item });
    await until('client-tool.closed', (e) => e.expired && e.output === 'too late');
    assert.deepEqual(view().clientTools, []);
  }));

test('a handler that throws tells the model why', () =>
  withSession(
    { tools: [{ name: 'bad', description: 'Fails.', run: () => Promise.reject(new Error('no map')) }] },
    async ({ session, service, until }) => {
      service.script = (text) => (text === 'go' ? answer('resp_1', call('bad')) : answer('resp_2'));
      session.send('go');
      await until('client-tool.closed', (e) => e.output === '{"error":"no map"}');
    },
  ));

test('an approval is asked for, decided once, and closed with its call', () =>
  withSession({}, async ({ session, service, until, view }) => {
    const request = { id: 'item_a', type: 'mcp_approval_request', name: 'refund', arguments: '{"eur":5}' };
    await until('session');
    service.send({ type: 'response.created', response: { id: 'resp_a' } });
    service.send({ type: 'response.output_item.done', response_id: 'resp_a', item: request });
    service.send({ type: 'response.output_item.done', response_id: 'resp_a', item: { ...request, id: 'item_b' } });
    await until('approval.requested', (e) => e.approval.id === 'item_b');
    assert.equal(session.approve('item_a', true), true);
    assert.equal(session.approve('item_a', false), false);
    assert.deepEqual(view().approvals.map((a) => a.id), ['item_b']);
    service.send({ type: 'response.done', response: { id: 'resp_a', status: 'completed' } });
    await until('approval.closed', (e) => e.id === 'item_b');
    await session.send('one').done;
    const decision = service.received.find((e) => (e['item'] as { type?: string } | undefined)?.type === 'mcp_approval_response');
    assert.deepEqual(decision?.['item'], { type: 'mcp_approval_response', approval_request_id: 'item_a', approve: true });
  }));

test('a person takes over: who it is, what they say, and no answer of the agent', () =>
  withSession({}, async ({ session, service, until, view }) => {
    await until('session');
    service.send({ type: 'parlance.handover', status: 'operator', operator: 'Ruth' });
    const content = [{ type: 'output_text', text: 'Ruth here.' }];
    const item = { id: 'item_o', type: 'message', role: 'assistant', status: 'completed', content, parlance_operator: 'Ruth' };
    service.send({ type: 'conversation.item.added', item });
    service.send({ type: 'conversation.item.done', item });
    await until('operator.message');
    assert.deepEqual(session.handover, { status: 'operator', operator: 'Ruth' });
    const shown = view().entries.at(-1);
    assert.ok(shown?.kind === 'answer' && shown.operator === 'Ruth' && shown.messages[0]?.text === 'Ruth here.');
    assert.equal(view().entries.length, 2);
    const turn = session.send('hello');
    await until('user.message', (e) => e.status === 'sent');
    const error = { code: 'session-taken-over', message: 'Ruth has it.', event_id: `${turn.id}.answer` };
    service.send({ type: 'error', error });
    assert.equal((await turn.done).status, 'operator');
  }));

test('the words that were heard of an interrupted message', () =>
  withSession({}, async ({ service, until, view }) => {
    await until('session');
    const place = { response_id: 'resp_h', item_id: 'item_h' };
    const created = { id: 'resp_h', output_modalities: ['audio'] };
    service.send({ type: 'response.created', response: created });
    service.send({ type: 'response.output_audio_transcript.delta', ...place, delta: 'We open at nine ' });
    service.send({ type: 'response.output_audio_transcript.delta', ...place, delta: 'and close at six.' });
    service.send({ type: 'response.done', response: { ...created, status: 'cancelled', status_details: { reason: 'turn_detected' } } });
    service.send({ type: 'conversation.item.truncated', item_id: 'item_h', content_index: 0, audio_end_ms: 700 });
    await until('raw', (e) => e.direction === 'out' && e.event.type === 'conversation.item.retrieve');
    const content = [{ type: 'output_audio', transcript: 'We open at nine ' }];
    service.send({ type: 'conversation.item.retrieved', item: { id: 'item_h', type: 'message', role: 'assistant', content } });
    await until('answer.heard');
    const shown = view().entries.at(-1);
    assert.ok(shown?.kind === 'answer' && shown.result?.reason === 'turn_detected');
    assert.deepEqual(shown.messages.map((m) => [m.text, m.unheard]), [['We open at nine ', 'and close at six.']]);
  }));

test('a message whose end was missed is completed by its item', () =>
  withSession({}, async ({ service, until, view }) => {
    await until('session');
    service.send({ type: 'response.output_text.delta', response_id: 'resp_p', item_id: 'item_p', delta: 'We op' });
    const content = [{ type: 'output_text', text: 'We open at nine.' }];
    const item = { id: 'item_p', type: 'message', role: 'assistant', status: 'completed', content };
    service.send({ type: 'conversation.item.added', item });
    await until('answer.message');
    const shown = view().entries.at(-1);
    assert.ok(shown?.kind === 'answer' && shown.messages[0]?.text === 'We open at nine.');
    assert.equal(view().entries.length, 1);
  }));

test('an error of the service names its event; errors of the client’s own events are quiet', () =>
  withSession({}, async ({ session, service, until, events }) => {
    await until('session');
    service.send({ type: 'error', error: { code: 'response_cancel_not_active', message: 'None.', event_id: 'own_1' } });
    service.send({ type: 'error', error: { code: 'rate-limited', message: 'Too much.', event_id: 'mine' } });
    await until('error');
    assert.deepEqual(events.filter((e) => e.type === 'error').map((e) => e.code), ['rate-limited']);
    const turn = session.send('x');
    await until('user.message', (e) => e.status === 'sent');
    service.send({ type: 'error', error: { code: 'rate-limited', message: 'Too many wait.', event_id: `${turn.id}.answer` } });
    await assert.rejects(turn.done, { code: 'rate-limited' });
  }));

test('events are an async iterator too', () =>
  withSession({}, async ({ session }) => {
    const seen: string[] = [];
    session.send('one');
    for await (const event of session.events()) {
      seen.push(event.type);
      if (event.type === 'answer.done') break;
    }
    assert.ok(seen.includes('session') && seen.at(-1) === 'answer.done');
  }));
