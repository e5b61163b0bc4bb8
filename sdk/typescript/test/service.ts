// A service with the protocol of a session's sockets and a script in place of an agent. It keeps
// what a client missed, as docs/realtime.md describes, and cuts connections where a test says.
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

type Event = { type: string; event_id?: string; [member: string]: unknown };
type Script = (text: string) => Event[];

export interface Service {
  readonly chatUrl: string;
  readonly wsUrl: string;
  /** The client's events, in the order in which they were processed. */
  readonly received: Event[];
  /** The query of each connection. */
  readonly connections: { readonly channel: string; readonly lastEventId: string | null }[];
  /** Cuts the connection once, when so many events were sent in all; Infinity for never. */
  cutAfterSent: number;
  /** Cuts the connection once, before or behind an event of the client, counted from 1. */
  cutAtReceived: { number: number; isProcessed: boolean } | undefined;
  /** The events of an answer behind response.created, without the last one. */
  script: Script;
  /** Answers nothing: a test sends what follows a response.create. */
  isSilent: boolean;
  /** The close codes with which clients have left, in order. */
  readonly closed: number[];
  /** Sends an event to a channel, now or when it comes back. */
  send(event: Event, channel?: string): void;
  /** Closes the sockets. */
  end(code: number, reason: string): void;
  /** Pings the clients, as the service does every 20 s. */
  ping(): void;
  /** Loses the sockets. */
  cut(): void;
  close(): Promise<void>;
  sockets(): number;
}

export const answerOf = (text: string): string => `Answer to ${text}`;

/** An answer of two pieces of text. */
export function textAnswer(text: string, id: string): Event[] {
  const whole = answerOf(text);
  const place = { response_id: `resp_${id}`, item_id: `item_${id}` };
  const item = { id: place.item_id, type: 'message', role: 'assistant', status: 'in_progress', content: [] };
  const done = { ...item, status: 'completed', content: [{ type: 'output_text', text: whole }] };
  return [
    { type: 'response.output_item.added', ...place, item },
    { type: 'conversation.item.added', item },
    { type: 'response.output_text.delta', ...place, delta: whole.slice(0, 6) },
    { type: 'response.output_text.delta', ...place, delta: whole.slice(6) },
    { type: 'response.output_text.done', ...place, text: whole },
    { type: 'conversation.item.done', item: done },
    { type: 'response.output_item.done', ...place, item: done },
  ];
}

export async function serve(): Promise<Service> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await new Promise((resolve) => server.once('listening', resolve));
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const items = new Map<string, Event>();
  const log = new Map<string, Event[]>();
  const open = new Map<string, WebSocket>();
  let ids = 0;
  let sent = 0;
  let taken = 0;
  let unanswered: string[] = [];
  const running = new Set<Promise<void>>();

  const service: Service = {
    chatUrl: `${url}/chat?token=t`,
    wsUrl: `${url}/voice?token=t`,
    received: [],
    connections: [],
    cutAfterSent: Infinity,
    cutAtReceived: undefined,
    script: (text) => textAnswer(text, String(++ids)),
    isSilent: false,
    closed: [],
    send: (event, channel = 'chat') => send(channel, event),
    sockets: () => open.size,
    ping() {
      for (const socket of open.values()) socket.ping();
    },
    cut() {
      for (const [channel, socket] of open) {
        open.delete(channel);
        socket.terminate();
      }
    },
    end(code, reason) {
      for (const socket of open.values()) socket.close(code, reason);
    },
    async close() {
      service.cut();
      await Promise.all(running);
      await new Promise((resolve) => server.close(resolve));
    },
  };

  function deliver(channel: string, event: Event): void {
    const socket = open.get(channel);
    if (!socket) return;
    socket.send(JSON.stringify(event));
    if (++sent !== service.cutAfterSent) return;
    open.delete(channel);
    socket.close(4000, 'cut behind what was sent'); // what was written arrives
  }

  function send(channel: string, event: Event): void {
    const whole = { event_id: `event_${++ids}`, ...event };
    log.set(channel, [...(log.get(channel) ?? []), whole]);
    deliver(channel, whole);
  }

  async function respond(channel: string, metadata: unknown): Promise<void> {
    const text = unanswered.join(' ') || 'nothing';
    unanswered = [];
    const events = service.script(text);
    const id = String(events[0]?.['response_id'] ?? `resp_${++ids}`);
    send(channel, { type: 'response.created', response: { id, status: 'in_progress', metadata } });
    for (const event of events) {
      await new Promise((resolve) => setImmediate(resolve)); // other events come between
      send(channel, event);
    }
    send(channel, { type: 'response.done', response: { id, status: 'completed', output: [], metadata } });
  }

  function create(channel: string, event: Event): void {
    const item = event['item'] as Event & { id: string; content?: { text: string }[]; output?: string };
    if (item.type === 'mcp_approval_response') return;
    if (items.has(item.id)) {
      const error = { code: 'item_create_duplicate_id', message: 'There is one.', event_id: event.event_id };
      return send(channel, { type: 'error', error });
    }
    items.set(item.id, item);
    unanswered.push(item.content?.[0]?.text ?? item.output ?? '');
    for (const kind of ['added', 'done']) send(channel, { type: `conversation.item.${kind}`, item });
  }

  let queue = Promise.resolve();
  function take(channel: string, event: Event): void {
    service.received.push(event);
    if (event.type === 'conversation.item.create') create(channel, event);
    if (event.type === 'conversation.item.retrieve') {
      const item = items.get(String(event['item_id']));
      const error = { code: 'item_retrieve_invalid_item_id', message: 'None.', event_id: event.event_id };
      send(channel, item ? { type: 'conversation.item.retrieved', item } : { type: 'error', error });
    }
    if (event.type === 'response.create' && !service.isSilent) {
      const { metadata } = (event['response'] ?? {}) as { metadata?: unknown };
      queue = queue.then(() => respond(channel, metadata));
      running.add(queue);
    }
  }

  server.on('connection', (socket, request) => {
    const { pathname, searchParams } = new URL(request.url ?? '', url);
    const channel = pathname.slice(1);
    const lastEventId = searchParams.get('last_event_id');
    service.connections.push({ channel, lastEventId });
    open.get(channel)?.close(4409, 'replaced');
    open.set(channel, socket);
    socket.on('close', (code) => service.closed.push(code));
    socket.on('close', () => open.get(channel) === socket && open.delete(channel));
    socket.on('message', (data) => {
      if (open.get(channel) !== socket) return; // it was cut
      const cut = ++taken === service.cutAtReceived?.number ? service.cutAtReceived : undefined;
      if (!cut || cut.isProcessed) take(channel, JSON.parse(String(data)) as Event);
      if (!cut) return;
      open.delete(channel);
      socket.terminate();
    });
    const events = log.get(channel) ?? [];
    const seen = events.findIndex((e) => e.event_id === lastEventId);
    const missed = lastEventId === null ? [] : events.slice(seen + 1);
    send(channel, { type: 'session.created', session: { id: 'ses_1' } });
    for (const event of missed) deliver(channel, event);
  });
  return service;
}
