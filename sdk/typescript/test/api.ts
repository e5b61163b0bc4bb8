// A service with the API's protocol and a script, for what a real one does rarely: it fails, cuts
// connections, and is slow.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { ConnectRouter } from '@connectrpc/connect';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import { Parlance, type ParlanceOptions } from '../src/index.js';

export interface Request {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
}

export interface Api {
  readonly baseUrl: string;
  /** What came, in order. */
  readonly requests: Request[];
  client(options?: ParlanceOptions): Parlance;
  /** Cuts all connections, behind what was written. */
  cut(): void;
}

/** Answers a request in place of the routes. Returns whether it did. */
type Handler = (request: IncomingMessage, response: ServerResponse, number: number) => boolean;

/** Waits that are as short as they can be. */
export const quick = { firstMs: 1, maxMs: 60_000 };

/** Runs a test with a service. */
export async function withApi(
  parts: { readonly routes?: (router: ConnectRouter, api: Api) => void; readonly handler?: Handler },
  test: (api: Api) => Promise<void>,
): Promise<void> {
  const requests: Request[] = [];
  const sockets = new Set<Socket>();
  let routed: ReturnType<typeof connectNodeAdapter> | undefined;
  const server = createServer((request, response) => {
    requests.push({ path: request.url ?? '', headers: request.headers });
    if (parts.handler?.(request, response, requests.length)) return;
    response.setHeader('Parlance-Version', '2026-11-28');
    routed?.(request, response);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const api: Api = {
    baseUrl,
    requests,
    client: (options) => new Parlance({ baseUrl: `${baseUrl}/v1`, apiKey: 'prl_secret', retries: quick, ...options }),
    cut() {
      for (const socket of sockets) socket.destroySoon();
    },
  };
  routed = connectNodeAdapter({ routes: (router) => parts.routes?.(router, api) });
  try {
    await test(api);
  } finally {
    api.cut();
    await new Promise((resolve) => server.close(resolve));
  }
}

/** Refuses a call as the service does, with a status or at the end of a stream. */
export function refuse(response: ServerResponse, reason: string, code: string, headers: Record<string, string> = {}): true {
  const details = [{ type: 'google.rpc.ErrorInfo', value: '', debug: { reason, domain: 'parlance.dev' } }];
  const error = { code, message: `Refused: ${reason}.`, details };
  const type = response.req.headers['content-type'];
  if (type !== 'application/connect+proto') {
    response.writeHead(429, { 'content-type': 'application/json', 'x-request-id': 'req_1', ...headers });
    response.end(JSON.stringify(error));
    return true;
  }
  const end = Buffer.from(JSON.stringify({ error }));
  const head = Buffer.alloc(5, 2); // the flag of a stream's end, and the length
  head.writeUInt32BE(end.length, 1);
  response.writeHead(200, { 'content-type': type, ...headers }).end(Buffer.concat([head, end]));
  return true;
}

/** Keys of the requests, in order. */
export const keysOf = (api: Api): unknown[] => api.requests.map(({ headers }) => headers['idempotency-key']);

