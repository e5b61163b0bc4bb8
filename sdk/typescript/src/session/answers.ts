// The answers in progress: what the server's events say of them, put together.
import type { Answer, Channel, ClientToolCall, SessionEvent, ToolCall } from './events.js';
import { type Citation, type Fields, type Item, textOf, type WireResponse } from './wire.js';

interface OpenAnswer {
  readonly id: string;
  readonly channel: Channel;
  spoken: boolean;
  readonly messages: Map<string, string>;
  readonly calls: Map<string, ToolCall>;
  readonly clientCalls: ClientToolCall[];
  citations: readonly Citation[];
}

/** The answers of a session. */
export interface Answers {
  /** Takes an event of a response. Returns whether it was one. */
  take(channel: Channel, event: Fields): boolean;
  /** Ends the answers of a channel that is left: nothing more of them will come. */
  abandon(channel: Channel): void;
  /** Whether an answer is in progress, on one channel or on any. */
  inProgress(channel?: Channel): boolean;
  /** Takes a whole message. Returns whether it is one of an answer, which it then completes. */
  complete(item: Item): boolean;
  /** The text of a message of an answer, also the end that was cut off later. */
  messageText(itemId: string): string | undefined;
}

/** What an answer's end, or a call of a client's tool, sets off. */
export interface AnswersHooks {
  emit(event: SessionEvent): void;
  /** The name of the person who has the conversation; empty if nobody has. */
  operator(): string;
  started(channel: Channel, answerId: string, metadata: Readonly<Record<string, string>>): void;
  done(channel: Channel, answer: Answer): void;
  clientTool(call: ClientToolCall): void;
  approval(answerId: string, item: Item): void;
  called(call: ToolCall): void;
}

export function makeAnswers(hooks: AnswersHooks): Answers {
  const { emit } = hooks;
  const open = new Map<string, OpenAnswer>();
  const over = new Set<string>();
  /** By message: its answer, its text, and the longest text that it had. */
  const messages = new Map<string, { answerId: string; text: string; longest: string }>();

  function setText(answerId: string, messageId: string, text: string): void {
    const longest = messages.get(messageId)?.longest ?? '';
    messages.set(messageId, { answerId, text, longest: text.length > longest.length ? text : longest });
  }

  /** The answer of an event, which may be the first that is heard of it. */
  function answerOf(channel: Channel, id: string, response?: WireResponse): OpenAnswer {
    const known = open.get(id);
    if (known) return known;
    const spoken = response?.output_modalities?.includes('audio') ?? false;
    const answer: OpenAnswer = {
      id, channel, spoken, messages: new Map(), calls: new Map(), clientCalls: [], citations: [],
    };
    open.set(id, answer);
    emit({ type: 'answer.started', answerId: id, spoken, operator: hooks.operator() });
    hooks.started(channel, id, response?.metadata ?? {});
    return answer;
  }

  function write(answer: OpenAnswer, messageId: string, delta: string, spoken: boolean): void {
    answer.spoken ||= spoken;
    const text = (answer.messages.get(messageId) ?? '') + delta;
    answer.messages.set(messageId, text);
    setText(answer.id, messageId, text);
    emit({ type: 'answer.delta', answerId: answer.id, messageId, delta });
  }

  function finish(answerId: string, messageId: string, text: string, spoken: boolean): void {
    open.get(answerId)?.messages.set(messageId, text);
    setText(answerId, messageId, text);
    emit({ type: 'answer.message', answerId, messageId, text, spoken });
  }

  /** Takes a whole message of an answer, of which the end was perhaps missed. */
  function complete(answerId: string, item: Item): void {
    const text = textOf(item);
    if (text && text !== messages.get(item.id)?.text)
      finish(answerId, item.id, text, item.content?.[0]?.type === 'output_audio');
  }

  function itemAdded(answer: OpenAnswer, item: Item): void {
    if (item.type === 'message' && !answer.messages.has(item.id)) {
      answer.messages.set(item.id, '');
      setText(answer.id, item.id, '');
    }
    if (item.type !== 'mcp_call') return;
    const call: ToolCall = { id: item.id, name: item.name ?? '', status: 'running', arguments: item.arguments ?? '' };
    answer.calls.set(call.id, call);
    emit({ type: 'tool.started', answerId: answer.id, call });
  }

  function itemDone(answer: OpenAnswer, item: Item): void {
    if (item.type === 'mcp_call') {
      const call = finishedCall(item);
      answer.calls.set(call.id, call);
      hooks.called(call);
      emit({ type: 'tool.done', answerId: answer.id, call });
    }
    if (item.type === 'mcp_approval_request') hooks.approval(answer.id, item);
    if (item.type === 'function_call' && item.call_id) {
      const call: ClientToolCall = {
        callId: item.call_id, answerId: answer.id, name: item.name ?? '', arguments: item.arguments ?? '{}',
      };
      answer.clientCalls.push(call);
      hooks.clientTool(call);
    }
  }

  function done(answer: OpenAnswer, response: WireResponse): void {
    for (const item of response.output ?? []) if (item.type === 'message') complete(answer.id, item);
    open.delete(answer.id);
    over.add(answer.id);
    const details = response.status_details;
    const result: Answer = {
      id: answer.id,
      status: statusOf(response.status),
      reason: details?.reason ?? '',
      text: [...answer.messages.values()].filter(Boolean).join('\n\n'),
      spoken: answer.spoken,
      citations: answer.citations,
      toolCalls: [...answer.calls.values()],
      clientToolCalls: answer.clientCalls,
      response,
      ...(details?.error && { error: { code: details.error.code ?? 'failed', message: details.error.message ?? '' } }),
      ...(response.usage && { usage: response.usage }),
    };
    emit({ type: 'answer.done', answer: result });
    hooks.done(answer.channel, result);
  }

  function inAnswer(answer: OpenAnswer, event: Fields): void {
    const messageId = event.item_id ?? '';
    switch (event.type) {
      case 'response.output_item.added':
        if (event.item) itemAdded(answer, event.item);
        break;
      case 'response.output_item.done':
        if (event.item) itemDone(answer, event.item);
        break;
      case 'response.output_text.delta':
        write(answer, messageId, event.delta ?? '', false);
        break;
      case 'response.output_audio_transcript.delta':
        write(answer, messageId, event.delta ?? '', true);
        break;
      case 'response.output_text.done':
        finish(answer.id, messageId, event.text ?? '', false);
        break;
      case 'response.output_audio_transcript.done':
        finish(answer.id, messageId, event.transcript ?? '', true);
        break;
      case 'parlance.citations':
        answer.citations = event.citations ?? [];
        emit({ type: 'answer.citations', answerId: answer.id, citations: answer.citations });
        break;
      case 'parlance.guard_triggered': {
        const { guard = '', action = '', side = '' } = event;
        emit({ type: 'guard', answerId: answer.id, guard, action, side });
        break;
      }
      case 'response.done':
        if (event.response) done(answer, event.response);
        break;
    }
  }

  return {
    take(channel, event) {
      const id = event.response_id ?? event.response?.id;
      if (!id || event.type === 'parlance.timing' || event.type === 'output_audio_buffer.cleared') return false;
      if (event.response && event.response.conversation_id === null) return true; // out of band: nobody here asks for one
      if (!over.has(id)) inAnswer(answerOf(channel, id, event.response), event);
      return true;
    },
    abandon(channel) {
      for (const answer of [...open.values()].filter((a) => a.channel === channel))
        done(answer, { id: answer.id, status: 'cancelled', status_details: { reason: 'client_cancelled' } });
    },
    inProgress: (channel) => [...open.values()].some((a) => !channel || a.channel === channel),
    complete(item) {
      const known = messages.get(item.id);
      if (known) complete(known.answerId, item);
      return known !== undefined;
    },
    messageText: (itemId) => messages.get(itemId)?.longest,
  };
}

function finishedCall(item: Item): ToolCall {
  return {
    id: item.id,
    name: item.name ?? '',
    status: item.error ? 'failed' : 'completed',
    arguments: item.arguments ?? '',
    ...(item.output != null && { output: item.output }),
    ...(item.error && { error: item.error.message ?? 'The call failed.' }),
  };
}

function statusOf(status: string | undefined): Answer['status'] {
  return status === 'cancelled' || status === 'incomplete' || status === 'failed' ? status : 'completed';
}
