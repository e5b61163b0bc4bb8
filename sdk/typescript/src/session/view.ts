// The conversation as a list, for pages that show it.
import type { Answer, Approval, ClientToolCall, SessionEvent, ToolCall } from './events.js';
import type { Citation } from './wire.js';

/** A message of the user. */
export interface UserEntry {
  readonly kind: 'user';
  readonly id: string;
  readonly text: string;
  readonly spoken: boolean;
  readonly status: 'sending' | 'sent' | 'failed' | 'unclear';
  readonly error?: { readonly code: string; readonly message: string };
}

/** A message of an answer. `unheard` is the end of its text that nobody has heard. */
export interface AnswerMessage {
  readonly id: string;
  readonly text: string;
  readonly unheard: string;
  readonly isComplete: boolean;
}

/** An answer, also one in progress. */
export interface AnswerEntry {
  readonly kind: 'answer';
  readonly id: string;
  /** The name of the person who answers; empty for the agent. */
  readonly operator: string;
  readonly spoken: boolean;
  readonly messages: readonly AnswerMessage[];
  readonly citations: readonly Citation[];
  readonly toolCalls: readonly ToolCall[];
  /** Once it has ended. */
  readonly result?: Answer;
}

/** A line between messages. */
export interface NoticeEntry {
  readonly kind: 'notice';
  readonly id: string;
  readonly notice:
    | { readonly type: 'guard'; readonly guard: string; readonly action: string; readonly side: string }
    | { readonly type: 'handover'; readonly status: 'requested' | 'operator' | 'released'; readonly operator: string }
    | { readonly type: 'ended'; readonly reason: string; readonly text: string; readonly failed: boolean };
}

/** Something that is shown, in the order in which it is shown. Ids are unique among one kind. */
export type Entry = UserEntry | AnswerEntry | NoticeEntry;

/** A conversation. Every change makes a new object; what has not changed stays the same object. */
export interface View {
  readonly sessionId: string;
  readonly entries: readonly Entry[];
  readonly approvals: readonly Approval[];
  /** Calls of client tools that have no handler and wait for session.answerTool(). */
  readonly clientTools: readonly ClientToolCall[];
}

/** A conversation in which nothing was said. */
export const emptyView: View = { sessionId: '', entries: [], approvals: [], clientTools: [] };

/** The conversation after an event of the session. */
export function reduceView(view: View, event: SessionEvent): View {
  switch (event.type) {
    case 'session':
      return view.sessionId && view.sessionId !== event.id
        ? { ...emptyView, sessionId: event.id, entries: view.entries.filter((e) => e.kind === 'user' && e.status === 'sending') }
        : { ...view, sessionId: event.id };
    case 'user.message': {
      const { type: _, ...message } = event;
      return put(view, { kind: 'user', ...message });
    }
    case 'answer.started':
      return put(view, { ...newAnswer(event.answerId), spoken: event.spoken, operator: event.operator });
    case 'answer.delta':
      return message(view, event.answerId, event.messageId, (m) => ({ ...m, text: m.text + event.delta }));
    case 'answer.message':
      return message(view, event.answerId, event.messageId, (m) => ({ ...m, text: event.text, isComplete: true }));
    case 'answer.heard':
      return heard(view, event.messageId, event.heard, event.unheard);
    case 'answer.citations':
      return answer(view, event.answerId, (a) => ({ ...a, citations: event.citations }));
    case 'answer.done':
      return answer(view, event.answer.id, (a) => ended(a, event.answer));
    case 'agent.message':
      return put(view, whole(event.id, event.text, ''));
    case 'operator.message':
      return put(view, whole(event.id, event.text, event.operator));
    case 'tool.started':
    case 'tool.done':
      return answer(view, event.answerId, (a) => ({ ...a, toolCalls: replaced(a.toolCalls, event.call) }));
    case 'approval.requested':
      return { ...view, approvals: replaced(view.approvals, event.approval) };
    case 'approval.closed':
      return { ...view, approvals: view.approvals.filter((a) => a.id !== event.id) };
    case 'client-tool.called':
      return event.handled ? view : { ...view, clientTools: [...view.clientTools, event.call] };
    case 'client-tool.closed':
      return { ...view, clientTools: view.clientTools.filter((c) => c.callId !== event.callId) };
    case 'message.deleted':
      return { ...view, entries: view.entries.filter((e) => e.id !== event.id) };
    case 'guard': {
      const { guard, action, side } = event;
      return put(view, { kind: 'notice', id: `guard ${event.answerId}`, notice: { type: 'guard', guard, action, side } });
    }
    case 'handover': {
      const { status, operator } = event.handover;
      if (status === 'none') return view;
      const last = view.entries.filter((e) => e.kind === 'notice' && e.notice.type === 'handover').at(-1);
      if (last?.kind === 'notice' && last.notice.type === 'handover' && last.notice.status === status) return view;
      return notice(view, { type: 'handover', status, operator });
    }
    case 'ended': {
      const { reason, text, failed } = event;
      return notice(view, { type: 'ended', reason, text, failed });
    }
    default:
      return view;
  }
}

const newAnswer = (id: string): AnswerEntry => ({
  kind: 'answer', id, operator: '', spoken: false, messages: [], citations: [], toolCalls: [],
});

/** A message that came without its answer. */
const whole = (id: string, text: string, operator: string): AnswerEntry => ({
  ...newAnswer(id),
  operator,
  messages: [{ id, text, unheard: '', isComplete: true }],
});

function notice(view: View, notice: NoticeEntry['notice']): View {
  return put(view, { kind: 'notice', id: `${notice.type} ${view.entries.length}`, notice });
}

function replaced<T extends { readonly id: string }>(list: readonly T[], one: T): readonly T[] {
  return list.some((o) => o.id === one.id) ? list.map((o) => (o.id === one.id ? one : o)) : [...list, one];
}

function put(view: View, entry: Entry): View {
  const isSame = (e: Entry): boolean => e.kind === entry.kind && e.id === entry.id;
  const entries = view.entries.some(isSame)
    ? view.entries.map((e) => (isSame(e) ? entry : e))
    : [...view.entries, entry];
  return { ...view, entries };
}

function answer(view: View, id: string, change: (entry: AnswerEntry) => AnswerEntry): View {
  const found = view.entries.find((e): e is AnswerEntry => e.kind === 'answer' && e.id === id);
  return put(view, change(found ?? newAnswer(id)));
}

function message(view: View, answerId: string, id: string, change: (m: AnswerMessage) => AnswerMessage): View {
  return answer(view, answerId, (a) => {
    const known = a.messages.find((m) => m.id === id) ?? { id, text: '', unheard: '', isComplete: false };
    return { ...a, messages: replaced(a.messages, change(known)) };
  });
}

function heard(view: View, id: string, words: string, unheard: string): View {
  const found = view.entries.find((e) => e.kind === 'answer' && e.messages.some((m) => m.id === id));
  return found ? message(view, found.id, id, (m) => ({ ...m, text: words, unheard, isComplete: true })) : view;
}

/** An answer that has ended. The text of the result is whole, also after a lost connection. */
function ended(entry: AnswerEntry, result: Answer): AnswerEntry {
  const messages = entry.messages.map((m) => ({ ...m, isComplete: true }));
  const hasText = messages.some((m) => m.text || m.unheard);
  const id = result.id;
  return {
    ...entry,
    messages: hasText || !result.text ? messages : [{ id, text: result.text, unheard: '', isComplete: true }],
    citations: result.citations,
    toolCalls: result.toolCalls,
    result,
  };
}
