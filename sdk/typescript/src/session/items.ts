// Items of the conversation outside answers: what the user said, and messages that came by another
// way than this socket's answers. Both sockets of a session tell of them; each is reported once.
import type { Answers } from './answers.js';
import type { SessionEvent } from './events.js';
import { type Fields, type Item, textOf } from './wire.js';

export interface Items {
  /** Takes an event of an item. */
  take(event: Fields): void;
  /** Reports a message that is being sent from here. */
  sending(id: string, text: string): void;
  failed(id: string, error: { readonly code: string; readonly message: string }): void;
}

/** `sent` is called when the server has an item of this client. */
export function makeItems(emit: (event: SessionEvent) => void, answers: Answers, sent: (item: Item) => void): Items {
  const users = new Map<string, { text: string; spoken: boolean; status: string }>();
  const agents = new Map<string, string>();

  function user(
    id: string,
    text: string,
    spoken: boolean,
    status: 'sending' | 'sent' | 'failed' | 'unclear',
    error?: { readonly code: string; readonly message: string },
  ): void {
    const known = users.get(id);
    if (known && known.text === text && known.status === status) return;
    users.set(id, { text, spoken, status });
    emit({ type: 'user.message', id, text, spoken, status, ...(error && { error }) });
  }

  function userItem(item: Item): void {
    const spoken = item.content?.[0]?.type === 'input_audio';
    const known = users.get(item.id);
    if (known?.spoken && known.text) return; // its words came with the transcription
    user(item.id, textOf(item), spoken, 'sent');
  }

  function agentItem(item: Item): void {
    if (item.status === 'in_progress' || agents.has(item.id)) return;
    const operator = item.parlance_operator;
    if (operator) {
      agents.set(item.id, textOf(item));
      emit({ type: 'operator.message', id: item.id, text: textOf(item), operator });
    } else if (!answers.complete(item)) {
      agents.set(item.id, textOf(item));
      emit({ type: 'agent.message', id: item.id, text: textOf(item) });
    }
  }

  /** The words of a spoken message that were heard, once the server has told them. */
  function heard(item: Item): void {
    const whole = answers.messageText(item.id) ?? agents.get(item.id);
    if (whole === undefined) return;
    const words = textOf(item);
    const unheard = whole.startsWith(words) ? whole.slice(words.length) : '';
    emit({ type: 'answer.heard', messageId: item.id, heard: words, unheard });
  }

  function added(item: Item): void {
    if (item.type === 'function_call_output' || item.role === 'user') sent(item);
    if (item.role === 'user') userItem(item);
    if (item.role === 'assistant') agentItem(item);
  }

  return {
    take(event) {
      const { item, item_id: id = '' } = event;
      switch (event.type) {
        case 'conversation.item.added':
        case 'conversation.item.done':
          if (item) added(item);
          break;
        case 'conversation.item.retrieved':
          if (item?.role === 'assistant' && item.content?.[0]?.type === 'output_audio') heard(item);
          break;
        case 'conversation.item.deleted':
          emit({ type: 'message.deleted', id });
          break;
        case 'conversation.item.input_audio_transcription.completed':
          user(id, event.transcript ?? '', true, 'sent');
          break;
        case 'conversation.item.input_audio_transcription.failed': {
          const { code = 'failed', message = 'There is no transcript.' } = event.error ?? {};
          user(id, '', true, 'unclear', { code, message });
          break;
        }
      }
    },
    sending: (id, text) => user(id, text, false, 'sending'),
    failed: (id, error) => user(id, users.get(id)?.text ?? '', false, 'failed', error),
  };
}
