// Calls that the user has to allow.
import type { SessionEvent, ToolCall } from './events.js';
import type { Item } from './wire.js';

interface Open {
  readonly id: string;
  readonly answerId: string;
  readonly name: string;
  readonly arguments: string;
  decision?: Readonly<Record<string, unknown>>;
}

export interface Approvals {
  requested(answerId: string, item: Item): void;
  /** Sends a decision. False when it is not waited for. */
  decide(id: string, approve: boolean, reason: string): boolean;
  /** A call was made or refused. */
  called(call: ToolCall): void;
  answerDone(answerId: string): void;
  /** Sends the decisions again that may not have arrived. */
  opened(): void;
  clear(): void;
}

/** send(item) sends an item, if there is a connection. */
export function makeApprovals(
  emit: (event: SessionEvent) => void,
  send: (item: Readonly<Record<string, unknown>>) => void,
): Approvals {
  const open: Open[] = [];

  function close(one: Open): void {
    open.splice(open.indexOf(one), 1);
    if (!one.decision) emit({ type: 'approval.closed', id: one.id });
  }

  return {
    requested(answerId, item) {
      if (open.some((o) => o.id === item.id)) return; // it was sent again after a reconnect
      const approval = { id: item.id, answerId, name: item.name ?? '', arguments: item.arguments ?? '' };
      open.push({ ...approval });
      emit({ type: 'approval.requested', approval });
    },
    decide(id, approve, reason) {
      const one = open.find((o) => o.id === id);
      if (!one || one.decision) return false;
      const item = { type: 'mcp_approval_response', approval_request_id: id, approve, ...(reason && { reason }) };
      one.decision = item;
      emit({ type: 'approval.closed', id });
      send(item);
      return true;
    },
    called(call) {
      // The call does not name its request. Calls come in the order of their requests, so of
      // several
      // equal requests it is the first.
      const one = open.find((o) => o.name === call.name && o.arguments === call.arguments);
      if (one) close(one);
    },
    answerDone(answerId) {
      for (const one of open.filter((o) => o.answerId === answerId)) close(one);
    },
    opened() {
      for (const { decision } of open) if (decision) send(decision);
    },
    clear() {
      for (const one of [...open]) close(one);
    },
  };
}
