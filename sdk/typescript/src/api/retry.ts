// Calls that failed are made again.
import { canceled, errorOf, ParlanceError } from './errors.js';

/** How failed calls are made again. All times are in milliseconds. */
export interface Retries {
  /** How often a call is made again, after the first try; 2 by default. */
  readonly max: number;
  /** The longest wait before the second try; it doubles with each further one. 500 by default. */
  readonly firstMs: number;
  /**
   * The longest wait; 30,000 by default. A call is not made again when the service asks for more
   * time: its error then has the time in `retryAfterMs`.
   */
  readonly maxMs: number;
}

export const defaultRetries: Retries = { max: 2, firstMs: 500, maxMs: 30_000 };

/**
 * How long it is waited for the first request of an idempotency key, in milliseconds: as long as the
 * service goes on with one whose caller was lost.
 */
const inFlightMs = 300_000;

/** Waits. Rejects with the reason `canceled` as soon as the signal is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(canceled(signal.reason));
    const stop = (): void => {
      clearTimeout(timer);
      reject(canceled(signal?.reason));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/** A wait between half of a bound and the bound, which doubles with each try up to maxMs. */
export function waitBefore(tries: number, { firstMs, maxMs }: Pick<Retries, 'firstMs' | 'maxMs'>): number {
  return Math.min(firstMs * 2 ** tries, maxMs) * (0.5 + Math.random() / 2);
}

/**
 * Makes a call until it succeeds, cannot succeed, or was tried often enough, and rejects with the
 * last ParlanceError. Waiting for the first request of the same idempotency key is no try. What the
 * caller's own code has thrown is not tried again.
 */
export async function withRetries<T>(call: () => Promise<T>, retries: Retries, signal?: AbortSignal): Promise<T> {
  let inFlightSince: number | undefined;
  for (let failures = 0, waits = 0; ; ) {
    let error: unknown;
    try {
      return await call();
    } catch (thrown) {
      error = signal?.aborted ? canceled(thrown) : errorOf(thrown);
    }
    if (!(error instanceof ParlanceError)) throw error;
    const now = performance.now();
    if (error.reason === 'idempotency-key-in-flight') inFlightSince ??= now;
    const isInFlight = error.reason === 'idempotency-key-in-flight' && now - (inFlightSince ?? now) < inFlightMs;
    const asked = error.retryAfterMs ?? 0;
    if (!isInFlight && (!error.isRetryable || failures >= retries.max)) throw error;
    if (asked > retries.maxMs) throw error;
    const wait = isInFlight ? waitBefore(waits++, { ...retries, maxMs: 2_000 }) : waitBefore(failures++, retries);
    await pause(Math.max(asked, wait), signal);
  }
}
