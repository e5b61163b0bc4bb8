// A streamed turn, over as many connections as it takes.
import type { CallOptions, Client } from '@connectrpc/connect';
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { SessionService, StreamTurnRequestSchema, StreamTurnResponse } from '../gen/sessions_pb.js';
import { canceled, errorOf, lostConnection } from './errors.js';
import { pause, type Retries, waitBefore, withRetries } from './retry.js';
import { idempotencyKey, newIdempotencyKey } from './transport.js';

/** How long it is tried to come back to a turn, in milliseconds. */
const comeBackMs = 120_000;

/** The longest wait between two attempts to come back, in milliseconds. */
const longestWaitMs = 3_000;

type Sessions = Client<typeof SessionService>;
type Request = MessageInitShape<typeof StreamTurnRequestSchema>;
type Events = AsyncIterable<StreamTurnResponse>;

/** Where a turn is followed from. */
interface Place {
  readonly sessionId: string;
  turnId: string;
  lastEventId: string;
}

/**
 * Says something, and yields the events of the answer up to `turn.done`, each once. When the
 * connection is lost, it is made again and goes on after the last event. A second `started` says
 * that the events before it are void, and that the answer begins again. Throws ParlanceErrors.
 */
export async function* streamTurn(
  sessions: Sessions,
  retries: Retries,
  request: Request,
  options: CallOptions = {},
): AsyncGenerator<StreamTurnResponse, void, undefined> {
  const headers = new Headers(options.headers);
  // The key makes a repeated request resume the turn that the first one began.
  if (!headers.has(idempotencyKey)) headers.set(idempotencyKey, newIdempotencyKey());
  const place: Place = { sessionId: request.sessionId ?? '', turnId: '', lastEventId: request.lastEventId ?? '' };
  const isOver = place.lastEventId !== ''; // a turn that is over has no event behind its last one
  const begin = (): Promise<Events> => withFirst(sessions.streamTurn(request, { ...options, headers }), isOver);
  let events = await withRetries(begin, retries, options.signal);
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
    events = await comeBack(sessions, place, lost, options);
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

/** Follows a turn whose connection was lost. Throws why it failed, if the turn has failed. */
async function comeBack(sessions: Sessions, place: Place, lost: unknown, options: CallOptions): Promise<Events> {
  const { headers, signal } = options;
  const call = { ...(headers && { headers }), ...(signal && { signal }) };
  const lostAt = Date.now();
  let error = lost === undefined ? lostConnection('The stream ended before the turn did.') : errorOf(lost);
  for (let tries = 0; ; tries++) {
    if (signal?.aborted) throw canceled(signal.reason);
    const wasRefused = error.reason === 'unavailable';
    if (!wasRefused && error.reason !== 'connection-lost') throw error;
    if (Date.now() - lostAt >= comeBackMs) throw error;
    const wait = waitBefore(tries, { firstMs: 100, maxMs: longestWaitMs });
    await pause(Math.max(Math.min(error.retryAfterMs ?? 0, comeBackMs), wait), signal);
    // A server that is stopping and a turn that has failed both say "unavailable".
    if (wasRefused && (await hasFailed(sessions, place, call))) throw error;
    try {
      return await withFirst(sessions.followTurn(place, call));
    } catch (thrown) {
      error = errorOf(thrown);
    }
  }
}

async function hasFailed(sessions: Sessions, { sessionId, turnId }: Place, call: CallOptions): Promise<boolean> {
  try {
    return (await sessions.getTurn({ sessionId, turnId }, call)).status === 'failed';
  } catch {
    return false; // the next attempt tells
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
