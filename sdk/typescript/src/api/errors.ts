// What calls fail with: one error for every protocol, told apart by its reason.
import type { JsonValue } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { codeFromString, codeToString, errorFromJson } from '@connectrpc/connect/protocol-connect';
import { reasons } from './reasons.gen.js';

/** Why the service refused a call: a code of docs/errors.md. */
export type Reason = keyof typeof reasons;

/**
 * Why there is no answer of the service. `connection-lost`: the connection could not be made, or it
 * was lost. `not-parlance`: somebody else answered, such as a proxy or another server.
 */
export type LocalReason = 'connection-lost' | 'not-parlance';

/** What is wrong with a field of the request. */
export interface FieldError {
  /** The field's path in the contract, for example `agent.name`. */
  readonly field: string;
  /** The rule that it breaks, for example `min_len`. */
  readonly code: string;
  readonly message: string;
}

/** What a ParlanceError is made of. */
export interface ErrorParams {
  readonly reason: string;
  readonly message: string;
  readonly code: string;
  /** By default the status that docs/errors.md has for the reason. */
  readonly status?: number;
  readonly fields?: readonly FieldError[];
  readonly requestId?: string;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/**
 * A call that failed. Everything that the SDK's calls throw is one, but for the caller's own
 * faults: a request that cannot be sent is a TypeError, and what an interceptor, a callback or a
 * file throws comes out as it is.
 */
export class ParlanceError extends Error {
  override readonly name = 'ParlanceError';
  /** A code of docs/errors.md, or a LocalReason. Later versions of the service have more. */
  readonly reason: Reason | LocalReason | (string & {});
  /** The code of the Connect protocol, for example `not_found`. */
  readonly code: string;
  /**
   * The HTTP status that docs/errors.md has for the reason, or the one of an answer that is not the
   * service's; 0 without an answer.
   */
  readonly status: number;
  /** What is wrong with which fields of the request. */
  readonly fields: readonly FieldError[];
  /** The request's id in the service's logs; empty without an answer. */
  readonly requestId: string;
  /** How long to wait before another try, in milliseconds; undefined if the service did not say. */
  readonly retryAfterMs: number | undefined;

  constructor({ reason, message, code, status, fields = [], requestId = '', retryAfterMs, cause }: ErrorParams) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
    this.code = code;
    this.status = status ?? (isKnown(reason) ? reasons[reason].status : 0);
    this.fields = fields;
    this.requestId = requestId;
    this.retryAfterMs = retryAfterMs;
  }

  /** Whether the same call may succeed later without being changed. */
  get isRetryable(): boolean {
    if (this.reason === 'canceled') return false;
    return this.reason === 'connection-lost' || (isKnown(this.reason) && reasons[this.reason].retryable);
  }
}

function isKnown(reason: string): reason is Reason {
  return Object.hasOwn(reasons, reason);
}

/** Whether something thrown is a ParlanceError for one of these reasons. */
export function isReason<R extends Reason | LocalReason>(
  error: unknown,
  ...wanted: readonly R[]
): error is ParlanceError & { readonly reason: R } {
  return error instanceof ParlanceError && (wanted as readonly string[]).includes(error.reason);
}

/** The reasons of errors in which the service or something before it gave none, by their code. */
const reasonsByCode: Partial<Record<Code, Reason>> = {
  [Code.Canceled]: 'canceled',
  [Code.DeadlineExceeded]: 'deadline-exceeded',
  [Code.InvalidArgument]: 'invalid-request',
  [Code.OutOfRange]: 'invalid-request',
  [Code.AlreadyExists]: 'conflict',
  [Code.Aborted]: 'conflict',
  [Code.FailedPrecondition]: 'conflict',
  [Code.ResourceExhausted]: 'rate-limited',
  [Code.NotFound]: 'not-found',
  [Code.PermissionDenied]: 'auth-scope',
  [Code.Unauthenticated]: 'auth-invalid-key',
  [Code.Unimplemented]: 'not-implemented',
  [Code.Unavailable]: 'unavailable',
};

/** The details of an error as the service sends them in JSON, beside their encoded form. */
interface Detail {
  readonly reason?: string;
  readonly fieldViolations?: readonly { readonly field?: string; readonly reason?: string; readonly description?: string }[];
}

/**
 * What a caller is to get for anything that a call of Connect threw: a ParlanceError, or what the
 * caller's own code has thrown.
 */
export function errorOf(thrown: unknown): unknown {
  if (thrown instanceof ParlanceError) return thrown;
  const error = ConnectError.from(thrown);
  if (error.cause instanceof ParlanceError) return error.cause;
  if (!error.isWireError && error.code === Code.Unknown) return error.cause ?? error;
  let reason = '';
  const fields: FieldError[] = [];
  for (const detail of error.details) {
    const told = ('debug' in detail ? detail.debug : undefined) as Detail | undefined;
    if (told?.reason) reason = told.reason;
    for (const { field = '', reason: code = '', description: message = '' } of told?.fieldViolations ?? [])
      fields.push({ field, code, message });
  }
  return new ParlanceError({
    reason: reason || (reasonsByCode[error.code] ?? 'internal'),
    message: error.rawMessage,
    code: codeToString(error.code),
    fields,
    requestId: error.metadata.get('x-request-id') ?? '',
    retryAfterMs: retryAfterOf(error.metadata.get('retry-after')),
    cause: error,
  });
}

/**
 * What a call is to fail with when Connect could not read its answer, for which Connect has errors
 * of many kinds. A stream or a JSON text that has no proper end was cut off.
 */
export function readingErrorOf(error: unknown, isStream: boolean): unknown {
  if (error instanceof ParlanceError) return error;
  if (isStream) return error instanceof ConnectError && error.isWireError ? error : lostConnection(error);
  if (error instanceof ConnectError) return error;
  if (error instanceof SyntaxError) return lostConnection(error);
  return new ParlanceError({
    reason: 'not-parlance',
    message: `The answer is not that of a Parlance service: ${error instanceof Error ? error.message : String(error)}.`,
    code: 'unknown',
    status: 200,
    cause: error,
  });
}

/** The error of a connection that could not be made, or was lost. */
export function lostConnection(cause: unknown): ParlanceError {
  return new ParlanceError({
    reason: 'connection-lost',
    message: 'There is no connection to the service, or it was lost.',
    code: 'unavailable',
    cause,
  });
}

/** The error of a call that its caller has stopped. */
export function canceled(cause?: unknown): ParlanceError {
  return new ParlanceError({ reason: 'canceled', message: 'The call was stopped by its caller.', code: 'canceled', cause });
}

/** A problem as REST answers it. Source: docs/errors.md. */
interface Problem {
  readonly code: string;
  readonly detail?: string;
  readonly title?: string;
  readonly request_id?: string;
  readonly errors?: readonly FieldError[];
}

/** What a status means when somebody else has answered in the service's place. */
const strangers: Readonly<Record<number, readonly [reason: Reason, code: Code]>> = {
  401: ['auth-invalid-key', Code.Unauthenticated],
  403: ['auth-scope', Code.PermissionDenied],
  404: ['not-found', Code.Unimplemented],
  408: ['deadline-exceeded', Code.DeadlineExceeded],
  413: ['body-too-large', Code.ResourceExhausted],
  415: ['unsupported-media-type', Code.InvalidArgument],
  429: ['rate-limited', Code.Unavailable],
  502: ['unavailable', Code.Unavailable],
  503: ['unavailable', Code.Unavailable],
  504: ['unavailable', Code.Unavailable],
};

/** Gives a header of an answer. */
export type HeaderOf = (name: string) => string | null;

/** The media type of an answer, without parameters; empty if it has none. */
export function mediaTypeOf(header: HeaderOf): string {
  return (header('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase().slice(0, 80) ?? '';
}

/**
 * Makes a ParlanceError of an answer that is neither a success nor an error of Connect: a problem
 * of the service's, or what a proxy or another server says in its place. For calls and for uploads.
 */
export function errorOfAnswer(status: number, header: HeaderOf, body: string): ParlanceError {
  const retryAfterMs = retryAfterOf(header('retry-after'));
  const type = mediaTypeOf(header);
  const problem = type === 'application/problem+json' && status >= 400 ? problemOf(body) : undefined;
  if (problem)
    return new ParlanceError({
      reason: problem.code,
      message: problem.detail ?? problem.title ?? problem.code,
      code: codeToString(codeOfStatus(status)),
      fields: problem.errors ?? [],
      requestId: problem.request_id ?? '',
      retryAfterMs,
    });
  const [reason, code] = strangers[status] ?? ['not-parlance', Code.Unknown];
  const seen = status > 0 ? `HTTP ${status}` : 'a redirect'; // browsers do not show its status
  const what = [seen, type].filter(Boolean).join(', ');
  return new ParlanceError({
    reason,
    message: `The answer (${what}) is not that of a Parlance service: look at the base URL and what is in between.`,
    code: codeToString(code),
    status,
    requestId: header('x-request-id') ?? '',
    retryAfterMs,
  });
}

/** The error of a refusal of the Connect protocol, for a stream: Connect reads only those of calls. */
export function errorOfRefusal(status: number, headers: Headers, body: string): unknown {
  try {
    return errorOf(errorFromJson(JSON.parse(body) as JsonValue, headers, new ConnectError(`HTTP ${status}`)));
  } catch {
    return errorOfAnswer(status, (name) => headers.get(name), body);
  }
}

/** Whether a text may be the beginning of an answer in JSON, which is an object. */
export const mayBeAnswer = (text: string): boolean => text === '' || text.startsWith('{');

/** Whether an answer that is no success is an error of the Connect protocol. */
export function isConnectError(header: HeaderOf, body: string): boolean {
  const { code } = mediaTypeOf(header) === 'application/json' ? objectOf(body) : {};
  return typeof code === 'string' && codeFromString(code) !== undefined;
}

function problemOf(body: string): Problem | undefined {
  const problem = objectOf(body);
  return typeof problem['code'] === 'string' ? (problem as unknown as Problem) : undefined;
}

function objectOf(json: string): Readonly<Record<string, unknown>> {
  try {
    return (JSON.parse(json) as Record<string, unknown> | null) ?? {};
  } catch {
    return {};
  }
}

function codeOfStatus(status: number): Code {
  switch (status) {
    case 400:
      return Code.InvalidArgument;
    case 404:
      return Code.NotFound;
    case 409:
      return Code.Aborted;
    case 402:
    case 429:
      return Code.ResourceExhausted;
    default:
      return strangers[status]?.[1] ?? (status >= 500 ? Code.Unavailable : Code.Unknown);
  }
}

/** Retry-After in milliseconds: seconds, or a date of HTTP. */
function retryAfterOf(header: string | null): number | undefined {
  if (header === null) return undefined;
  if (/^\s*\d+(\.\d+)?\s*$/.test(header)) return Math.ceil(Number(header) * 1000);
  const at = /^\s*[a-z]{3},? /i.test(header) ? Date.parse(header) : NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}
