// The calls behind the page in view, so that each can be shown as a command or a program.

import { toJson, type DescMessage, type Message } from '@bufbuild/protobuf';
import { useSyncExternalStore } from 'react';

/** A call of the API. */
export interface Call {
  /** AgentService */
  service: string;
  /** ListAgents */
  method: string;
  /** What the contract says of the request. */
  input: DescMessage;
  /** The request as JSON, with the names of the contract. */
  request: Record<string, unknown>;
  /** Whether the page in view made it since it was opened. */
  isNew: boolean;
}

const mostPages = 50;
const most = 20;
let calls: readonly Call[] = [];
let page = '';
const callsOf = new Map<string, readonly Call[]>();
const listeners = new Set<() => void>();

function change(next: readonly Call[]) {
  calls = next;
  for (const listener of listeners) listener();
}

const textOf = ({ service, method, request }: Call) => JSON.stringify([service, method, request]);

/** Notes a call; a repeated one moves to the end. */
export function noteCall(service: string, method: string, schema: DescMessage, message: Message): void {
  const request = toJson(schema, message, { useProtoFieldName: true }) as Record<string, unknown>;
  delete request['page_token'];
  change(added(calls, [{ service, method, input: schema, request, isNew: true }]));
}

/** Calls, and others behind them, each once. */
function added(before: readonly Call[], more: readonly Call[]): Call[] {
  const texts = more.map(textOf);
  return [...before.filter((call) => !texts.includes(textOf(call))), ...more].slice(-most);
}

const asks = /^(Get|List|Query|Compare|Check)/;

/**
 * Says which page is shown. It begins with the calls of its last visit, whose answers it may still have, and with
 * those of the page before that changed something: they may be what led here.
 */
export function showCallsOf(next: string): void {
  if (next === page) return;
  callsOf.delete(page);
  callsOf.set(page, calls);
  for (const oldest of [...callsOf.keys()].slice(0, -mostPages)) callsOf.delete(oldest);
  const done = calls.filter(({ method, isNew }) => isNew && !asks.test(method));
  page = next;
  change(added(callsOf.get(next) ?? [], done).map((call) => ({ ...call, isNew: false })));
}

/** Forgets all calls, of a caller who has signed out. */
export function forgetCalls(): void {
  callsOf.clear();
  change([]);
}

/** The calls behind the page in view, the oldest first. */
export function useCalls(): readonly Call[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => calls,
  );
}
