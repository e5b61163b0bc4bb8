// When a lost connection is made again.

/** How a lost connection is made again. All times are in milliseconds. */
export interface Retry {
  /** The longest wait before the first attempt; each further attempt doubles it. */
  readonly firstMs: number;
  /** The longest wait before any attempt. */
  readonly maxMs: number;
  /** How long it is tried. The service keeps a session for 120 s without a client. */
  readonly graceMs: number;
  /** How often a connection is tried that was never made. */
  readonly firstAttempts: number;
  /**
   * After a reconnect, how long an answer that may have been asked for is waited for before it is
   * asked for again.
   */
  readonly settleMs: number;
  /** How long a new connection may take until its first event. */
  readonly openMs: number;
  /**
   * How long a connection may be silent: three times the service's pings. Only the package ws shows
   * them. Browsers and Node's own WebSocket do not, so there a connection that breaks without a
   * sign is lost when the system gives it up.
   */
  readonly silentMs: number;
  /** How long another answer is waited for after one was lost together with its server. */
  readonly resumedMs: number;
}

/** The waits that suit a page. */
export const defaultRetry: Retry = {
  firstMs: 500,
  maxMs: 8_000,
  graceMs: 120_000,
  firstAttempts: 5,
  settleMs: 1_500,
  openMs: 15_000,
  silentMs: 60_000,
  resumedMs: 30_000,
};

/** How long a client waits that sent too much (close code 4429), in milliseconds. */
const floodMs = 5_000;

/**
 * The wait before an attempt, counted from 0. It lies between half of its bound and its bound, so
 * that clients that were cut off together do not come back together. random is from 0 to 1.
 */
export function waitBefore(attempt: number, code: number, retry: Retry, random: () => number): number {
  const bound = Math.min(retry.firstMs * 2 ** attempt, retry.maxMs);
  const wait = Math.round(bound * (0.5 + random() / 2));
  return code === 4429 ? Math.max(wait, Math.min(floodMs, retry.maxMs)) : wait;
}
