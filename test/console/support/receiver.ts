// A small HTTPS server that webhooks are sent to.

import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

import { service } from './test.js';

export interface Received {
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** Starts a server that answers with `status`, and keeps what it got. */
export async function startReceiver() {
  const received: Received[] = [];
  const receiver = { status: 204, received, url: '', stop: async () => {} };
  const pem = (name: string) => readFileSync(`${service.dataDir}/tls/${name}`);
  const server = createServer({ cert: pem('localhost.pem'), key: pem('localhost-key.pem') }, (request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      received.push({ headers: request.headers, body: Buffer.concat(parts) });
      response
        .writeHead(receiver.status, { 'Content-Type': 'text/plain' })
        .end(receiver.status === 204 ? undefined : 'No <b>thanks</b>');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  receiver.url = `https://localhost:${(server.address() as AddressInfo).port}/hook`;
  receiver.stop = () =>
    new Promise((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  return receiver;
}
