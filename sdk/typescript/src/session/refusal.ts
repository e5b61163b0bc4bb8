// Why a handshake was refused: a WebSocket does not tell.

/**
 * Asks the socket's URL over HTTP, and returns the code of the problem (docs/errors.md). Empty when
 * nothing is known: the URL is good, the server does not answer, or the page may not read it. Pages
 * of other origins than the server's may not, and do not ask.
 */
export async function askRefusal(socketUrl: string): Promise<string> {
  const url = new URL(socketUrl);
  url.protocol = url.protocol === 'wss:' ? 'https:' : 'http:';
  const page = globalThis.location?.origin;
  if (page !== undefined && page !== url.origin) return '';
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(3_000), cache: 'no-store' });
    const problem = (await response.json()) as { code?: unknown };
    return typeof problem.code === 'string' ? problem.code : '';
  } catch {
    return '';
  }
}
