// Deliveries of webhooks: whether they come from the service. Needs Web Crypto and nothing else.
import { fromJson, type JsonObject, type JsonValue } from '@bufbuild/protobuf';
import { type Event, EventSchema } from '../gen/webhooks_pb.js';

/**
 * Why a delivery is refused.
 *
 * - `header-missing`: webhook-id, webhook-timestamp or webhook-signature is not there.
 * - `timestamp-invalid`: webhook-timestamp is no number of seconds.
 * - `timestamp-too-old`, `timestamp-too-new`: it is too far from now; an old one may be a replay.
 * - `secret-invalid`: there is no secret, or one is not `whsec_` and base64. Correct your settings.
 * - `signature-wrong`: no secret has made a signature of the delivery.
 * - `body-invalid`: the signature is right, and the body is not an event.
 * - `id-mismatch`: the body is another event than webhook-id names.
 */
export type WebhookFailure =
  | 'header-missing'
  | 'timestamp-invalid'
  | 'timestamp-too-old'
  | 'timestamp-too-new'
  | 'secret-invalid'
  | 'signature-wrong'
  | 'body-invalid'
  | 'id-mismatch';

/** A delivery that is refused. Answer it with 400, and `secret-invalid` with 500. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError';

  constructor(
    readonly failure: WebhookFailure,
    message: string,
  ) {
    super(message);
  }
}

/** The headers of a request: of fetch, of Node, or of any map. Names are in any case. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyOptions {
  /** How far a delivery's time may be from now, both ways, at least 0; 300 by default. */
  readonly toleranceSeconds?: number;
  /** The time now, in milliseconds since 1970; Date.now by default. */
  readonly now?: () => number;
}

/**
 * Verifies a delivery and returns its event: `payload` is the typed data, by `payload.case`, and is
 * empty for an event that this version of the SDK does not know; `data` is always there.
 *
 * The body must be the raw body as it came. While a secret is rotated, pass both; empty ones are
 * ignored, so that the old one may be a variable that is not always set. Rejects with a
 * WebhookError, and with a TypeError for a tolerance that is none.
 */
export async function verify(
  headers: WebhookHeaders,
  body: string | ArrayBufferView | ArrayBuffer,
  secrets: string | readonly (string | undefined)[],
  { toleranceSeconds = 300, now = Date.now }: VerifyOptions = {},
): Promise<Event> {
  if (!(toleranceSeconds >= 0)) throw new TypeError('toleranceSeconds must be a number of seconds, at least 0.');
  const id = headerOf(headers, 'webhook-id');
  const stamp = headerOf(headers, 'webhook-timestamp');
  const signatures = headerOf(headers, 'webhook-signature');
  if (!/^\d{1,12}$/.test(stamp)) throw new WebhookError('timestamp-invalid', 'webhook-timestamp is no number of seconds.');
  const age = now() / 1000 - Number(stamp);
  if (age > toleranceSeconds) throw new WebhookError('timestamp-too-old', `The delivery is ${Math.round(age)} s old.`);
  if (-age > toleranceSeconds) throw new WebhookError('timestamp-too-new', `The delivery is ${Math.round(-age)} s in the future.`);
  const raw = bytesOfBody(body);
  const signed = concat(new TextEncoder().encode(`${id}.${stamp}.`), raw);
  const keys = await Promise.all(listOf(secrets).map(keyOf));
  if (!(await isSigned(signed, signatures, keys)))
    throw new WebhookError('signature-wrong', 'No secret has made a signature of the delivery.');
  return eventOf(id, raw);
}

function headerOf(headers: WebhookHeaders, name: string): string {
  // What is passed may be nothing, in spite of its type.
  const given: WebhookHeaders = (headers as WebhookHeaders | null | undefined) ?? {};
  const value = isHeaders(given) ? given.get(name) : Object.entries(given).find(([key]) => key.toLowerCase() === name)?.[1];
  const text = typeof value === 'string' ? value : value?.join(' ');
  if (!text) throw new WebhookError('header-missing', `The header ${name} is missing.`);
  return text;
}

const isHeaders = (headers: WebhookHeaders): headers is Headers => typeof headers['get'] === 'function';

function listOf(secrets: string | readonly (string | undefined)[]): readonly string[] {
  const list = (typeof secrets === 'string' ? [secrets] : (secrets ?? [])).filter((secret) => typeof secret === 'string' && secret.trim());
  if (list.length === 0) throw new WebhookError('secret-invalid', 'There is no secret.');
  return list as string[];
}

async function keyOf(secret: string): Promise<CryptoKey> {
  const text = secret.trim();
  const bytes = text.startsWith('whsec_') ? bytesOf(text.slice('whsec_'.length)) : undefined;
  if (!bytes?.length) throw new WebhookError('secret-invalid', 'A secret is not whsec_ and base64.');
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
}

function bytesOfBody(body: string | ArrayBufferView | ArrayBuffer): Uint8Array {
  if (typeof body === 'string') return new TextEncoder().encode(body);
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  if (Object.prototype.toString.call(body) === '[object ArrayBuffer]') return new Uint8Array(body);
  throw new WebhookError('body-invalid', 'verify() needs the raw body: a text or bytes, not what was parsed from it.');
}

/** Whether one of the keys has made one of the signatures. The comparison takes constant time. */
async function isSigned(signed: Uint8Array<ArrayBuffer>, signatures: string, keys: readonly CryptoKey[]): Promise<boolean> {
  const given = signatures.split(' ').flatMap((one) => (one.startsWith('v1,') ? (bytesOf(one.slice(3)) ?? []) : []));
  const results = keys.flatMap((key) => given.map((signature) => crypto.subtle.verify('HMAC', key, signature, signed)));
  return (await Promise.all(results)).includes(true);
}

/** The bytes of a base64 text; undefined if it is none. */
function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function concat(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

function eventOf(id: string, raw: Uint8Array): Event {
  let event: Event;
  try {
    const body = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(raw)) as JsonValue;
    if (typeof body !== 'object' || body === null || Array.isArray(body)) throw new TypeError('it is no object.');
    const { data = {}, ...about } = body;
    event = fromJson(EventSchema, { ...about, data }, { ignoreUnknownFields: true });
    event.payload = payloadOf(event.type, data as JsonObject);
  } catch (error) {
    throw new WebhookError('body-invalid', `The body is not an event: ${error instanceof Error ? error.message : ''}`);
  }
  if (event.eventId !== id) throw new WebhookError('id-mismatch', 'The body is another event than webhook-id names.');
  return event;
}

/** The member of `payload` for each event. */
const payloads: Readonly<Record<string, NonNullable<Event['payload']['case']>>> = {
  'dsar.ready': 'dsarReady',
  'escalation.triggered': 'escalationTriggered',
  'fatigue.alert': 'fatigueAlert',
  'invoice.failed': 'invoiceFailed',
  'invoice.paid': 'invoicePaid',
  'kb.source_ingested': 'kbSourceIngested',
  'post_call_transcription': 'postCallTranscription',
  'subscription.changed': 'subscriptionChanged',
  'turn.persistence_failed': 'turnPersistenceFailed',
  'usage.threshold': 'usageThresholdCrossed',
  'webhook.disabled': 'webhookDisabled',
};

/** The typed data of an event, which the delivery has as `data` only. */
function payloadOf(type: string, data: JsonObject): Event['payload'] {
  const field = EventSchema.fields.find(({ localName }) => localName === payloads[type]);
  if (!field?.message) return { case: undefined };
  return { case: field.localName, value: fromJson(field.message, data, { ignoreUnknownFields: true }) } as Event['payload'];
}
