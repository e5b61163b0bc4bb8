// A way to a service that breaks where a test says.
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface Proxy {
  /** The service's base URL, through the proxy. */
  readonly baseUrl: string;
  /** Cuts all connections once, when so many bytes of answers have come. */
  cutBehind(bytes: number): void;
  /** Whether the cut was made. */
  readonly hasCut: boolean;
  close(): Promise<void>;
}

export async function startProxy(serviceUrl: string): Promise<Proxy> {
  const { hostname, port, pathname } = new URL(serviceUrl);
  const sockets = new Set<Socket>();
  let left = 0;
  let hasCut = false;
  const cut = (): void => {
    hasCut = true;
    for (const socket of sockets) socket.destroy();
  };
  const server = createServer((client) => {
    const service = connect(Number(port), hostname);
    for (const socket of [client, service]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        service.destroy();
      });
    }
    client.on('data', (data) => service.write(data));
    service.on('data', (data) => {
      const isLast = left > 0 && left <= data.length;
      client.write(isLast ? data.subarray(0, left) : data, isLast ? cut : undefined);
      left = Math.max(0, left - data.length);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`,
    cutBehind(bytes) {
      left = bytes;
      hasCut = false;
    },
    get hasCut() {
      return hasCut;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
