// A transcriber with OpenAI's API that understands the same whatever is said.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What it understands. */
export const understood = 'How are webhooks signed?';

/** Serves until stop() is called. `url` is for PARLANCE_STT_BASE_URL. */
export async function startTranscriber(): Promise<{ url: string; stop(): void }> {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      if (!request.url?.endsWith('/audio/transcriptions')) return response.writeHead(404).end();
      return response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ text: understood, language: 'english' }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}
