// The calls that the page in view has made, so that each can be shown as a command or a program.

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
}

const most = 20;
let calls: readonly Call[] = [];
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
  const call = { service, method, input: schema, request };
  change([...calls.filter((other) => textOf(other) !== textOf(call)), call].slice(-most));
}

/** Forgets the calls, when another page is shown. */
export const forgetCalls = () => change([]);

/** The calls of the page in view, the oldest first. */
export function useCalls(): readonly Call[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => calls,
  );
}
