// What the tests of the session client share.
import { WebSocket } from 'ws';
import { connect, type ConnectOptions, emptyView, reduceView, type Session, type SessionEvent, type View } from '../src/index.js';
import { type Service, serve } from './service.js';

export interface Fixture {
  readonly service: Service;
  readonly session: Session;
  readonly events: SessionEvent[];
  view(): View;
  /** Waits for an event of a type that fits; also one that was there before. */
  until<T extends SessionEvent['type']>(type: T, fits?: (event: Extract<SessionEvent, { type: T }>) => boolean): Promise<void>;
}

/** Waits that are as short as they can be. */
export const quick = { firstMs: 2, maxMs: 4, settleMs: 0 };

/** Runs a test with a service and a client. */
export async function withSession(
  options: Partial<ConnectOptions>,
  test: (fixture: Fixture) => Promise<void>,
  prepare: (service: Service) => void = () => undefined,
): Promise<void> {
  const service = await serve();
  prepare(service);
  const session = connect({
    chatUrl: service.chatUrl,
    wsUrl: service.wsUrl,
    WebSocket,
    retry: quick,
    refusalOf: async () => '',
    ...options,
  });
  const events: SessionEvent[] = [];
  let view = emptyView;
  const waiting: (() => void)[] = [];
  session.onAny((event) => {
    events.push(event);
    view = reduceView(view, event);
    for (const look of [...waiting]) look();
  });
  const until: Fixture['until'] = (type, fits = () => true) =>
    new Promise((resolve) => {
      const look = (): void => {
        if (events.some((e) => e.type === type && fits(e as never))) resolve();
      };
      waiting.push(look);
      look();
    });
  try {
    await test({ service, session, events, view: () => view, until });
  } finally {
    session.close();
    await service.close();
  }
}
