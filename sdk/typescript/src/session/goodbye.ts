// Hanging up without a connection.
import type { ConnectOptions } from './options.js';
import { defaultRetry } from './retry.js';
import { makeSocket, type WebSocketConstructor } from './socket.js';

/** How long it is tried, in milliseconds. */
const goodbyeMs = 30_000;

/**
 * Ends a session that has no connection: makes one and hangs up. Tried for half a minute; then the
 * service ends the session by itself, 120 s after the last connection, or when its token expires.
 */
export function sayGoodbye(chatUrl: string, options: ConnectOptions): void {
  const retry = { ...defaultRetry, ...options.retry };
  const socket = makeSocket({
    url: chatUrl,
    WebSocket: webSocketOf(options),
    retry: { ...retry, graceMs: Math.min(retry.graceMs, goodbyeMs) },
    random: options.random ?? Math.random,
    refusalOf: async () => '',
    listener: {
      event: () => socket.hangUp(),
      sent: () => undefined,
      state: () => undefined,
      ended: () => undefined,
    },
  });
  socket.connect();
}

/** The constructor of WebSockets that a session uses. */
export const webSocketOf = (options: ConnectOptions): WebSocketConstructor =>
  options.WebSocket ?? (globalThis.WebSocket as unknown as WebSocketConstructor);
