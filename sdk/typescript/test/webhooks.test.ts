import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { EventSchema } from '../src/gen/webhooks_pb.js';
import { type WebhookFailure, verify, type WebhookHeaders } from '../src/webhooks/index.js';

const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const other = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;
const nowMs = 1_800_000_000_000;
const now = () => nowMs;
const stamp = String(nowMs / 1000);

const body = (type: string, data: unknown, id = 'evt_1'): string =>
  JSON.stringify({ type, event_id: id, tenant_id: 'ten_1', workspace_id: 'ws_1', created_at: '2026-01-02T03:04:05Z', data, later: 1 });

function sign(raw: string | Uint8Array, key = secret, id = 'evt_1', time = stamp): string {
  const mac = createHmac('sha256', Buffer.from(key.slice(6), 'base64'));
  return `v1,${mac.update(`${id}.${time}.`).update(raw).digest('base64')}`;
}

const headersOf = (raw: string, changes: Record<string, string | undefined> = {}): Record<string, string> => {
  const headers = { 'webhook-id': 'evt_1', 'webhook-timestamp': stamp, 'webhook-signature': sign(raw), ...changes };
  return Object.fromEntries(Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined));
};

const disabled = body('webhook.disabled', { endpoint_id: 'we_1', reason: 'gone', a_later_field: true });

test('each event that the service documents is typed', async () => {
  const examples = JSON.parse(readFileSync('../../events/examples.json', 'utf8')) as Record<string, object>;
  const cases = new Set<string>();
  for (const [type, data] of Object.entries(examples)) {
    const raw = body(type, data);
    const { payload, ...event } = await verify(headersOf(raw), raw, secret, { now });
    assert.equal(event.type, type);
    assert.deepEqual(event.data, data);
    assert.ok(payload.case, `${type} has no member in payloads of verify.ts`);
    cases.add(payload.case);
  }
  assert.equal(cases.size, EventSchema.oneofs[0]?.fields.length);
});

test('headers of fetch and of Node, and bodies of each kind', async () => {
  const headers = headersOf(disabled);
  const upper = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]]));
  const bytes = new TextEncoder().encode(disabled);
  for (const given of [headers, new Headers(headers), upper] satisfies WebhookHeaders[])
    for (const raw of [disabled, bytes, bytes.buffer, Buffer.from(disabled), new DataView(bytes.buffer)]) {
      const { payload } = await verify(given, raw, secret, { now });
      assert.ok(payload.case === 'webhookDisabled' && payload.value.reason === 'gone');
    }
});

test('an event of a later version has data and no payload', async () => {
  const raw = body('moon.rose', { height: 7 });
  const event = await verify(headersOf(raw), raw, secret, { now });
  assert.equal(event.payload.case, undefined);
  assert.deepEqual(event.data, { height: 7 });
});

test('while a secret is rotated either secret and either signature will do', async () => {
  const both = { 'webhook-signature': `${sign(disabled, other)} ${sign(disabled)}` };
  for (const secrets of [secret, other, [secret, other], [other, secret]]) {
    await verify(headersOf(disabled, both), disabled, secrets, { now });
  }
  await verify(headersOf(disabled), disabled, [other, secret], { now });
  for (const none of ['', ' ', undefined]) await verify(headersOf(disabled), disabled, [none, `${secret}\n`, none], { now });
});

type Changes = Record<string, string | undefined>;

const failures: [name: string, failure: WebhookFailure, changes: Changes, raw?: unknown, secrets?: string | string[]][] = [
  ['no id', 'header-missing', { 'webhook-id': undefined }],
  ['no time', 'header-missing', { 'webhook-timestamp': undefined }],
  ['no signature', 'header-missing', { 'webhook-signature': undefined }],
  ['a time that is none', 'timestamp-invalid', { 'webhook-timestamp': '1e9' }],
  ['a time that is too old', 'timestamp-too-old', { 'webhook-timestamp': String(nowMs / 1000 - 301) }],
  ['a time in the future', 'timestamp-too-new', { 'webhook-timestamp': String(nowMs / 1000 + 301) }],
  ['another time than was signed', 'signature-wrong', { 'webhook-timestamp': String(nowMs / 1000 - 1) }],
  ['another id than was signed', 'signature-wrong', { 'webhook-id': 'evt_2' }],
  ['another body than was signed', 'signature-wrong', {}, `${disabled} `],
  ['a signature of nobody', 'signature-wrong', { 'webhook-signature': sign(disabled, other) }],
  ['a shorter signature', 'signature-wrong', { 'webhook-signature': sign(disabled).slice(0, 20) }],
  ['a signature that is no base64', 'signature-wrong', { 'webhook-signature': 'v1,%%%' }],
  ['a signature of another scheme', 'signature-wrong', { 'webhook-signature': sign(disabled).replace('v1,', 'v2,') }],
  ['no secret', 'secret-invalid', {}, disabled, []],
  ['only empty secrets', 'secret-invalid', {}, disabled, ['', ' ']],
  ['an empty secret', 'secret-invalid', {}, disabled, 'whsec_'],
  ['a secret that is none', 'secret-invalid', {}, disabled, 'whsec_%'],
  ['a body that was parsed', 'body-invalid', {}, JSON.parse(disabled)],
  ['a body that is no JSON', 'body-invalid', { 'webhook-signature': sign('{') }, '{'],
  ['a body that is another event', 'id-mismatch', { 'webhook-signature': sign(body('x', {}, 'evt_2')) }, body('x', {}, 'evt_2')],
];

for (const [name, failure, changes, raw = disabled, secrets = secret] of failures)
  test(`refused: ${name}`, async () => {
    const headers = headersOf(disabled, changes);
    await assert.rejects(verify(headers, raw as string, secrets, { now }), { name: 'WebhookError', failure });
  });

test('a signed body that is no object is refused in plain words', async () => {
  for (const raw of ['null', '[]', '7'])
    await assert.rejects(verify(headersOf(raw), raw, secret, { now }), {
      failure: 'body-invalid',
      message: 'The body is not an event: it is no object.',
    });
});

test('the tolerance reaches five minutes both ways', async () => {
  for (const seconds of [-300, 300]) {
    const time = String(nowMs / 1000 + seconds);
    const headers = headersOf(disabled, { 'webhook-timestamp': time, 'webhook-signature': sign(disabled, secret, 'evt_1', time) });
    await verify(headers, disabled, secret, { now });
    await assert.rejects(verify(headers, disabled, secret, { now, toleranceSeconds: 299 }));
  }
});

test('errors do not show a secret', async () => {
  const error = await verify(headersOf(disabled), disabled, 'whsec_nonsense!', { now }).catch((e: unknown) => e as Error);
  assert.ok(error instanceof Error && !error.message.includes('nonsense'));
});

test('no headers are missing headers, and a tolerance that is none is a TypeError', async () => {
  for (const headers of [null, undefined]) {
    const verified = verify(headers as never, disabled, secret, { now });
    await assert.rejects(verified, { name: 'WebhookError', failure: 'header-missing' });
  }
  for (const toleranceSeconds of [NaN, -1]) {
    const verified = verify(headersOf(disabled), disabled, secret, { now, toleranceSeconds });
    await assert.rejects(verified, { name: 'TypeError', message: /toleranceSeconds/ });
  }
});
