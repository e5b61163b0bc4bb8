// The connection to the service: who calls, in which version, and again when it failed.
import { createContextValues, type Interceptor, type Transport } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-web';
import { newId } from '../session/ids.js';
import { errorOf } from './errors.js';
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

/** A new idempotency key. */
export const newIdempotencyKey = (): string => newId('sdk');

/** Puts on a request who calls, and with what. */
export function addHeaders(header: Headers, apiKey: string): void {
  header.set('Authorization', `Bearer ${apiKey}`);
  header.set('Parlance-Version', apiVersion);
  // Browsers have a user agent of their own.
  if (globalThis.location === undefined) header.set('User-Agent', `parlance-sdk-typescript/${sdkVersion}`);
}

/** Makes the transport of all services. Its calls fail with ParlanceErrors. */
export function makeTransport({ baseUrl, apiKey, timeoutMs, retries, fetch, interceptors }: Connection): Transport {
  const authorized: Interceptor = (next) => (request) => {
    addHeaders(request.header, apiKey);
    return next(request);
  };
  const inner = createConnectTransport({ baseUrl, useBinaryFormat: true, fetch, interceptors: [...interceptors, authorized] });
  return {
    unary(method, signal, perTryMs, header, message, context = createContextValues()) {
      const headers = new Headers(header);
      if (!headers.has(idempotencyKey)) headers.set(idempotencyKey, newIdempotencyKey());
      const call = () => inner.unary(method, signal, perTryMs ?? timeoutMs, headers, message, context);
      return withRetries(call, retries, signal);
    },
    async stream(method, signal, perTryMs, header, messages, context) {
      try {
        const response = await inner.stream(method, signal, perTryMs, header, messages, context);
        return { ...response, message: withOurErrors(response.message) };
      } catch (error) {
        throw errorOf(error);
      }
    },
  };
}

async function* withOurErrors<T>(messages: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* messages;
  } catch (error) {
    throw errorOf(error);
  }
}
