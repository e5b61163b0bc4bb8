// A streamed turn, over as many connections as it takes.
import type { CallOptions, Client } from '@connectrpc/connect';
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { SessionService, StreamTurnRequestSchema, StreamTurnResponse } from '../gen/sessions_pb.js';
import { canceled, errorOf, isReason, lostConnection } from './errors.js';
import { pause, waitBefore, withRetries } from './retry.js';
import { type Connection, idempotencyKey, newIdempotencyKey } from './transport.js';

/** How long it is tried to come back to a turn, in milliseconds. */
const comeBackMs = 120_000;

/** The longest wait between two attempts to come back, in milliseconds. */
const longestWaitMs = 3_000;

/** How long it is waited for an answer about a turn, in milliseconds. */
const askMs = 5_000;

/**
 * After how much silence a turn is followed anew, in milliseconds. The service sends nothing on a
 * stream while an agent thinks or a call waits, so silence does not say that the connection is
 * lost. But nobody else may say it: a browser never gives up a connection by itself. Below the 30 s
 * for which a turn goes on without its caller.
 */
const silenceMs = 20_000;

type Sessions = Client<typeof SessionService>;
type Request = MessageInitShape<typeof StreamTurnRequestSchema>;
type Events = AsyncIterable<StreamTurnResponse>;

/** Where a turn is followed from. */
interface Place {
  readonly sessionId: string;
  turnId: string;
  lastEventId: string;
}

/** How a turn is begun and come back to. */
export interface TurnParams extends Pick<Connection, 'retries' | 'timeoutMs'> {
  /** In place of comeBackMs. */
  readonly comeBackMs?: number;
  /** In place of silenceMs. */
  readonly silenceMs?: number;
}

/**
 * Says something, and yields the events of the answer up to `turn.done`, each once. When the
 * connection is lost, it is made again and goes on after the last event. A second `started` says
 * that the events before it are void, and that the answer begins again. Throws ParlanceErrors.
 */
export async function* streamTurn(
  sessions: Sessions,
  params: TurnParams,
  request: Request,
  { timeoutMs = params.timeoutMs, ...options }: CallOptions = {},
): AsyncGenerator<StreamTurnResponse, void, undefined> {
  const headers = new Headers(options.headers);
  // The key makes a repeated request resume the turn that the first one began.
  if (!headers.has(idempotencyKey)) headers.set(idempotencyKey, newIdempotencyKey());
  const place: Place = { sessionId: request.sessionId ?? '', turnId: '', lastEventId: request.lastEventId ?? '' };
  const isOver = place.lastEventId !== ''; // a turn that is over has no event behind its last one
  // Connect takes 0 and less for no limit.
  const quietMs = { firstMs: timeoutMs > 0 ? timeoutMs : undefined, nextMs: params.silenceMs ?? silenceMs };
  const begin = (): Promise<Events> =>
    withFirst(watched((signal) => sessions.streamTurn(request, { ...options, headers, signal }), quietMs, options.signal), isOver);
  let events = await withRetries(begin, params.retries, options.signal);
  const isNew = makeFilter();
  for (;;) {
    let lost: unknown;
    try {
      for await (const event of events) {
        place.turnId = event.turnId;
        place.lastEventId = event.eventId;
        if (isNew(event)) yield event;
        if (event.type === 'turn.done') return;
      }
      if (!place.turnId) return;
    } catch (error) {
      lost = error;
    }
    events = await comeBack(sessions, place, lost ?? lostConnection('The stream ended before the turn did.'), options, params);
  }
}

/** Waits for the first event of a stream. Rejects when the stream has none but should. */
async function withFirst(stream: Events, mayBeEmpty = false): Promise<Events> {
  const events = stream[Symbol.asyncIterator]();
  let next = await events.next();
  if (next.done && !mayBeEmpty) throw lostConnection('The stream had no event.');
  async function* all(): AsyncGenerator<StreamTurnResponse> {
    try {
      for (; !next.done; next = await events.next()) yield next.value;
    } finally {
      await events.return?.(); // ends the request when the caller has seen enough
    }
  }
  return all();
}

/** A stream that fails as a lost connection when nothing comes for too long. */
async function* watched(
  open: (signal: AbortSignal) => Events,
  { firstMs, nextMs }: { readonly firstMs: number | undefined; readonly nextMs: number },
  signal: AbortSignal | undefined,
): AsyncGenerator<StreamTurnResponse> {
  const request = new AbortController();
  const stop = (): void => request.abort(signal?.reason);
  let isSilent = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const watch = (ms: number): void => {
    timer = setTimeout(() => {
      isSilent = true;
      request.abort();
    }, ms);
  };
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted) stop();
  try {
    if (firstMs !== undefined) watch(firstMs);
    for await (const event of open(request.signal)) {
      clearTimeout(timer); // the caller may take its time
      yield event;
      watch(nextMs);
    }
  } catch (error) {
    throw isSilent ? lostConnection('Nothing came for too long.') : error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}

/** Follows a turn whose connection was lost. Throws why it failed, if the turn has failed. */
async function comeBack(
  sessions: Sessions,
  place: Place,
  lost: unknown,
  { headers, signal }: CallOptions,
  params: TurnParams,
): Promise<Events> {
  const own = { ...(headers && { headers }) };
  const limitMs = params.comeBackMs ?? comeBackMs;
  let lastLife = performance.now();
  let error = errorOf(lost);
  for (let tries = 0; ; tries++) {
    if (signal?.aborted) throw canceled(signal.reason);
    const leftMs = lastLife + limitMs - performance.now();
    // The last two are those of a proxy behind which the service is starting.
    if (!isReason(error, 'connection-lost', 'unavailable', 'rate-limited', 'deadline-exceeded') || leftMs <= 0) throw error;
    const isRefused = error.reason !== 'connection-lost';
    const wait = waitBefore(tries, { firstMs: 100, maxMs: longestWaitMs });
    await pause(Math.min(Math.max(error.retryAfterMs ?? 0, wait), leftMs), signal);
    const timeoutMs = Math.ceil(Math.min(askMs, leftMs)); // the protocol has whole ones only
    const status = await statusOf(sessions, place, { ...own, ...(signal && { signal }), timeoutMs });
    // A server that is stopping and a turn that has failed both say "unavailable".
    if (isRefused && status === 'failed') throw error;
    if (status === 'in_progress') lastLife = performance.now(); // the turn is only silent
    const quietMs = Math.min(params.silenceMs ?? silenceMs, lastLife + limitMs - performance.now());
    try {
      const follow = (signal: AbortSignal): Events => sessions.followTurn(place, { ...own, signal });
      return await withFirst(watched(follow, { firstMs: quietMs, nextMs: params.silenceMs ?? silenceMs }, signal));
    } catch (thrown) {
      error = errorOf(thrown);
    }
  }
}

/** The status of a turn; undefined if it cannot be had. */
async function statusOf(sessions: Sessions, { sessionId, turnId }: Place, options: CallOptions): Promise<string | undefined> {
  try {
    return (await sessions.getTurn({ sessionId, turnId }, options)).status;
  } catch {
    return undefined; // the next attempt tells
  }
}

/**
 * Makes a filter for what a server tells again to a caller that has come back: calls that still
 * wait for a result or an approval.
 */
function makeFilter(): (event: StreamTurnResponse) => boolean {
  const waiting = new Set<string>();
  return ({ type, event }) => {
    if (type === 'turn.started') waiting.clear();
    let id = '';
    if (event.case === 'clientToolCalled') id = `call ${event.value.call?.id}`;
    if (event.case === 'approvalRequested') id = `approval ${event.value.approval?.callId}`;
    const isNew = !waiting.has(id);
    if (id) waiting.add(id);
    return isNew;
  };
}
