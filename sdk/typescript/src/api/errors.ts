// What calls fail with: one error for every protocol, told apart by its reason.
import { Code, ConnectError } from '@connectrpc/connect';
import { codeToString } from '@connectrpc/connect/protocol-connect';
import { reasons } from './reasons.gen.js';

/** Why the service refused a call: a code of docs/errors.md. */
export type Reason = keyof typeof reasons;

/** Why there is no answer of the service: the connection could not be made, or it was lost. */
export type LocalReason = 'connection-lost';

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
  readonly fields?: readonly FieldError[];
  readonly requestId?: string;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/** A call that failed. Everything that the SDK's calls throw is one, unless it is a misuse. */
export class ParlanceError extends Error {
  override readonly name = 'ParlanceError';
  /** A code of docs/errors.md, or `connection-lost`. Later versions of the service have more. */
  readonly reason: Reason | LocalReason | (string & {});
  /** The code of the Connect protocol, for example `not_found`. */
  readonly code: string;
  /** The HTTP status that docs/errors.md has for the reason; 0 without an answer. */
  readonly status: number;
  /** What is wrong with which fields of the request. */
  readonly fields: readonly FieldError[];
  /** The request's id in the service's logs; empty without an answer. */
  readonly requestId: string;
  /** How long to wait before another try, in milliseconds; undefined if the service did not say. */
  readonly retryAfterMs: number | undefined;

  constructor({ reason, message, code, fields = [], requestId = '', retryAfterMs, cause }: ErrorParams) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
    this.code = code;
    this.status = isKnown(reason) ? reasons[reason].status : 0;
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

/** Makes a ParlanceError of anything that a call of Connect threw. */
export function errorOf(thrown: unknown): ParlanceError {
  if (thrown instanceof ParlanceError) return thrown;
  const error = ConnectError.from(thrown);
  let reason = '';
  const fields: FieldError[] = [];
  for (const detail of error.details) {
    const told = ('debug' in detail ? detail.debug : undefined) as Detail | undefined;
    if (told?.reason) reason = told.reason;
    for (const { field = '', reason: code = '', description: message = '' } of told?.fieldViolations ?? [])
      fields.push({ field, code, message });
  }
  // Connect takes what fetch throws, and what reading an answer throws, for an unknown error.
  if (!reason && error.code === Code.Unknown) return lostConnection(error.cause ?? error);
  return new ParlanceError({
    reason: reason || (reasonsByCode[error.code] ?? 'internal'),
    message: error.rawMessage,
    code: codeToString(error.code),
    fields,
    requestId: error.metadata.get('x-request-id') ?? '',
    retryAfterMs: secondsOf(error.metadata.get('retry-after')),
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
  readonly code?: string;
  readonly detail?: string;
  readonly title?: string;
  readonly request_id?: string;
  readonly errors?: readonly FieldError[];
}

/** Makes a ParlanceError of an answer over REST that is no success. */
export function errorOfAnswer(status: number, header: (name: string) => string | null, body: string): ParlanceError {
  const retryAfterMs = secondsOf(header('retry-after'));
  const problem = problemOf(body);
  if (problem?.code)
    return new ParlanceError({
      reason: problem.code,
      message: problem.detail ?? problem.title ?? problem.code,
      code: codeToString(codeOfStatus(status)),
      fields: problem.errors ?? [],
      requestId: problem.request_id ?? '',
      retryAfterMs,
    });
  // A server on the way has answered in the service's place.
  const tooLarge = status === 413;
  const explanation = tooLarge ? ': what was sent is too large for it' : '';
  return new ParlanceError({
    reason: tooLarge ? 'body-too-large' : status >= 500 ? 'unavailable' : 'internal',
    message: `A server on the way to the service answered ${status}${explanation}.`,
    code: codeToString(codeOfStatus(status)),
    retryAfterMs,
  });
}

function problemOf(body: string): Problem | undefined {
  try {
    return JSON.parse(body) as Problem;
  } catch {
    return undefined;
  }
}

function codeOfStatus(status: number): Code {
  switch (status) {
    case 400:
    case 415:
      return Code.InvalidArgument;
    case 401:
      return Code.Unauthenticated;
    case 403:
      return Code.PermissionDenied;
    case 404:
      return Code.NotFound;
    case 409:
      return Code.Aborted;
    case 402:
    case 413:
    case 429:
      return Code.ResourceExhausted;
    default:
      return status >= 500 ? Code.Unavailable : Code.Unknown;
  }
}

/** Retry-After in milliseconds. The service sends seconds. */
function secondsOf(header: string | null): number | undefined {
  return header !== null && /^\d+$/.test(header) ? Number(header) * 1000 : undefined;
}
