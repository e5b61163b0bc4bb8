// The connection to the service: who calls, in which version, and again when it failed.
import { create, type DescMessage, type MessageInitShape, toBinary, toJson } from '@bufbuild/protobuf';
import { createContextValues, type Interceptor, type Transport } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-web';
import { newId } from '../session/ids.js';
import {
  errorOf,
  errorOfAnswer,
  errorOfRefusal,
  type HeaderOf,
  isConnectError,
  lostConnection,
  mayBeAnswer,
  mediaTypeOf,
  ParlanceError,
  readingErrorOf,
} from './errors.js';
import { type Retries, withRetries } from './retry.js';
import { apiVersion, sdkVersion } from './version.js';

/** What every call needs. */
export interface Connection {
  /** Where the service is, without a slash at the end and without /v1. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** How long a try of a call may take, in milliseconds. Streams are not limited. */
  readonly timeoutMs: number;
  readonly retries: Retries;
  readonly fetch: typeof fetch;
  readonly interceptors: readonly Interceptor[];
}

/** The name of the header that makes repetitions of a request one request. */
export const idempotencyKey = 'Idempotency-Key';

/** The name of the header with the version of the contract. */
const versionHeader = 'Parlance-Version';

/** A new idempotency key. */
export const newIdempotencyKey = (): string => newId('sdk');

/** Puts on a request who calls, and with what. */
export function addHeaders(header: Headers, apiKey: string): void {
  header.set('Authorization', `Bearer ${apiKey}`);
  header.set(versionHeader, apiVersion);
  // Browsers have a user agent of their own.
  if (globalThis.location === undefined) header.set('User-Agent', `parlance-sdk-typescript/${sdkVersion}`);
}

/** Makes the transport of all services. Its calls fail with ParlanceErrors. */
export function makeTransport({ baseUrl, apiKey, timeoutMs, retries, fetch, interceptors }: Connection): Transport {
  // The last one, nearest to the wire.
  const authorized: Interceptor = (next) => async (request) => {
    addHeaders(request.header, apiKey);
    const failure = (error: unknown): unknown => (request.signal.aborted ? error : readingErrorOf(error, request.stream));
    const response = await next(request).catch((error: unknown) => {
      throw request.stream ? error : failure(error);
    });
    return response.stream ? { ...response, message: withErrors(response.message, failure) } : response;
  };
  // Connect stops the clock of a call that rejects, and not of one that throws.
  const rejecting: Interceptor = (next) => async (request) => next(request);
  const options = {
    baseUrl,
    fetch: (input: RequestInfo | URL, init?: RequestInit) => fetchAnswer(fetch, input, init),
    interceptors: [rejecting, ...interceptors, authorized],
  };
  // Fetch does not always tell that an answer was cut off. JSON and the envelopes of a stream do; a
  // message in the binary format can lack its end.
  const calls = createConnectTransport({ ...options, useBinaryFormat: false });
  const streams = createConnectTransport({ ...options, useBinaryFormat: true });
  return {
    async unary(method, signal, perTryMs, header, message, context = createContextValues()) {
      checkRequest(method.input, message);
      const headers = new Headers(header);
      if (!headers.has(idempotencyKey)) headers.set(idempotencyKey, newIdempotencyKey());
      const call = () => calls.unary(method, signal, perTryMs ?? timeoutMs, headers, message, context);
      return withRetries(call, retries, signal);
    },
    async stream(method, signal, perTryMs, header, messages, context) {
      try {
        const checked = eachChecked(method.input, messages);
        const response = await streams.stream(method, signal, perTryMs, header, checked, context);
        return { ...response, message: withErrors(response.message, errorOf) };
      } catch (error) {
        throw errorOf(error);
      }
    },
  };
}

/** Throws a TypeError when a request has a field of a wrong type. */
function checkRequest<I extends DescMessage>(schema: I, message: MessageInitShape<I>): void {
  try {
    const made = create(schema, message);
    toJson(schema, made); // calls are sent so; the binary format takes anything for a text
    toBinary(schema, made); // and streams so
  } catch (error) {
    throw new TypeError(`The request is no ${schema.name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function* eachChecked<I extends DescMessage>(
  schema: I,
  messages: AsyncIterable<MessageInitShape<I>>,
): AsyncGenerator<MessageInitShape<I>> {
  for await (const message of messages) {
    checkRequest(schema, message);
    yield message;
  }
}

/**
 * Makes a request of Connect. Rejects with a ParlanceError when the connection could not be made or
 * was lost, and when somebody else than the service has answered.
 */
async function fetchAnswer(fetch: Connection['fetch'], input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  const stopped = (): boolean => init.signal?.aborted ?? false; // the signal says why
  const lost = (error: unknown): unknown => (stopped() ? error : lostConnection(error));
  try {
    const response = await fetch(input, init);
    const header: HeaderOf = (name) => response.headers.get(name);
    const { status, headers } = response;
    const expected = new Headers(init.headers).get('content-type');
    const isAnswer = status === 200 && mediaTypeOf(header) === expected && (expected === streamType || hasVersion(response));
    if (isAnswer && expected === streamType) {
      if (!response.body) throw lostConnection('The stream has no body.');
      return new Response(withLost(response.body, lost), { headers });
    }
    const text = await textOf(response, () => isAnswer || stopped());
    const isRefusal = status >= 400 && isConnectError(header, text);
    if (isRefusal && expected === streamType) throw errorOfRefusal(status, headers, text);
    if (isAnswer ? !mayBeAnswer(text) : !isRefusal) throw errorOfAnswer(status, header, text);
    return new Response(text, { status, headers });
  } catch (error) {
    throw error instanceof ParlanceError ? error : lost(error);
  }
}

/**
 * Whether an answer has the version of the contract, which every answer of the service has. An answer
 * to a page of another origin may hide it: something in front of the service decides what it shows.
 */
const hasVersion = ({ type, headers }: Response): boolean => type === 'cors' || headers.has(versionHeader);

/** The text of an answer; empty when it cannot be read and the status, of a refusal, says enough. */
export function textOf(response: Response, isNeeded: () => boolean): Promise<string> {
  return response.text().catch((error: unknown) => {
    if (isNeeded()) throw error;
    return '';
  });
}

/** The media type of a stream of Connect. */
const streamType = 'application/connect+proto';

type Body = ReadableStream<Uint8Array<ArrayBuffer>>;

/** The body of an answer, whose failure is a lost connection. */
function withLost(body: Body, lost: (error: unknown) => unknown): Body {
  const reader = body.getReader();
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        controller.error(lost(error));
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** The messages of a stream, with other errors. */
async function* withErrors<T>(messages: AsyncIterable<T>, errorOf: (thrown: unknown) => unknown): AsyncGenerator<T> {
  try {
    yield* messages;
  } catch (error) {
    throw errorOf(error);
  }
}
