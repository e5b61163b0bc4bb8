// What was said, and what happened between.
import type {
  AnswerEntry, Citation, Entry, NoticeEntry, ToolCall, UserEntry,
} from '../../../typescript/src/session/index.js';
import { fill, type Strings } from '../strings.js';
import { Markdown } from './markdown.js';

interface Words {
  readonly strings: Strings;
}

/** The name of a tool in words: order_status is “order status”. */
export const inWords = (name: string): string => name.replaceAll(/[_-]+/g, ' ').trim();

export function Message({ entry, strings }: Words & { readonly entry: Entry }) {
  switch (entry.kind) {
    case 'user':
      return <UserMessage entry={entry} strings={strings} />;
    case 'answer':
      return <AnswerMessages entry={entry} strings={strings} />;
    default:
      return <Notice entry={entry} strings={strings} />;
  }
}

function UserMessage({ entry, strings }: Words & { readonly entry: UserEntry }) {
  if (entry.status === 'unclear') return <p class="notice">{strings.unclear}</p>;
  return (
    <div class={`message user ${entry.status}`}>
      <span class="hidden">{strings.you}: </span>
      <div class="bubble" dir="auto">
        {entry.text || '…'}
      </div>
      {entry.status === 'failed' && <p class="trouble">{strings.failedMessage}</p>}
    </div>
  );
}

function AnswerMessages({ entry, strings }: Words & { readonly entry: AnswerEntry }) {
  const messages = entry.messages.filter((m) => m.text || m.unheard);
  const isWriting = !entry.result && !messages.some((m) => m.isComplete);
  const runs = entry.toolCalls.some((c) => c.status === 'running');
  return (
    <div class={`message agent${entry.operator ? ' person' : ''}`}>
      <span class="hidden">{entry.operator || strings.assistant}: </span>
      {entry.operator && <p class="name" dir="auto">{entry.operator}</p>}
      {entry.toolCalls.map((call) => <Progress call={call} strings={strings} />)}
      {messages.map((m) => (
        <div class="bubble" dir="auto">
          <Markdown text={m.text} />
          {m.unheard && (
            <span class="unheard">
              <span class="hidden">{strings.unheard} </span>
              {m.unheard}
            </span>
          )}
        </div>
      ))}
      {isWriting && !runs && messages.length === 0 && <Typing strings={strings} />}
      <Outcome entry={entry} strings={strings} />
      {entry.citations.length > 0 && <Sources citations={entry.citations} strings={strings} />}
    </div>
  );
}

export function Typing({ strings }: Words) {
  return (
    <div class="bubble typing">
      <span class="hidden">{strings.writing}</span>
      <i aria-hidden="true" />
      <i aria-hidden="true" />
      <i aria-hidden="true" />
    </div>
  );
}

function Progress({ call, strings }: Words & { readonly call: ToolCall }) {
  const words = { running: strings.toolRunning, completed: strings.toolDone, failed: strings.toolFailed }[call.status];
  return <p class={`tool ${call.status}`}>{fill(words, inWords(call.name))}</p>;
}

/** How an answer ended, unless it is complete. */
function Outcome({ entry: { result }, strings }: Words & { readonly entry: AnswerEntry }) {
  if (result?.status === 'failed') return <p class="trouble">{strings.failedAnswer}</p>;
  if (result?.status === 'cancelled' && result.reason === 'client_cancelled') return <p class="tool">{strings.stopped}</p>;
  if (result?.status === 'incomplete' && result.reason === 'max_output_tokens') return <p class="tool">{strings.cut}</p>;
  return null;
}

function pagesOf({ page_start: first, page_end: last }: Citation): string {
  if (!first) return '';
  return last && last !== first ? `${first}–${last}` : String(first);
}

function Sources({ citations, strings }: Words & { readonly citations: readonly Citation[] }) {
  return (
    <details class="sources">
      <summary>{fill(strings.sources, citations.length)}</summary>
      <ol>
        {citations.map((citation) => {
          const pages = pagesOf(citation);
          const place = [citation.heading, pages && fill(strings.page, pages)].filter(Boolean).join(', ');
          return (
            <li dir="auto">
              <strong>{citation.source_name}</strong>
              {place && ` – ${place}`}
              <blockquote>{citation.excerpt}</blockquote>
            </li>
          );
        })}
      </ol>
    </details>
  );
}

function Notice({ entry: { notice }, strings }: Words & { readonly entry: NoticeEntry }) {
  switch (notice.type) {
    case 'handover':
      return (
        <p class="notice" dir="auto">
          {notice.status === 'operator' ? fill(strings.operator, notice.operator || strings.person) : strings[notice.status]}
        </p>
      );
    case 'ended':
      return <p class="notice">{notice.reason === 'idle_timeout' ? strings.idle : strings.ended}</p>;
    default:
      return null; // the reply of a no-go zone says what there is to say
  }
}
