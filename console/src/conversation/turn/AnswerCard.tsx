import { useId, type ReactNode } from 'react';

import type { Citation, Turn } from '#gen/sessions_pb';

import { Badge } from '../../ui/Page';
import { Answer, type Message } from './Answer';
import { Part } from './Part';
import { Passages } from './Passages';
import { ToolCalls, type Call } from './ToolCalls';
import { TurnDetails } from './TurnDetails';

interface Props {
  /** Who answers: the agent's name, or that of a person. */
  who: string;
  isOperator?: boolean;
  messages: readonly Message[];
  isWriting?: boolean;
  passages: readonly Citation[];
  calls: readonly Call[];
  question: string;
  /** Shown beside the name: time, tokens. */
  facts?: ReactNode;
  /** Why there is no whole answer. */
  trouble?: string;
  /** Buttons beside the name. */
  actions?: ReactNode;
  /** The turn of the transcript, once it is known. */
  turn?: Turn;
}

const counted = (n: number, noun: string) => `${n} ${noun}${n === 1 ? '' : 's'}`;

/** An answer with what it was made of. */
export function AnswerCard({
  who,
  isOperator,
  messages,
  isWriting,
  passages,
  calls,
  question,
  facts,
  trouble,
  actions,
  turn,
}: Props) {
  const id = useId();
  const idOf = (passage: number) => `${id}passage${passage}`;
  const failed = calls.filter(({ error }) => error).length;
  const quoted = passages.filter((passage) => passage.quoted).length;
  return (
    <article className={`said agent ${isOperator ? 'operator' : ''}`} aria-label={`${who} says`}>
      <div className="row said-head">
        <strong>{who}</strong>
        {isOperator && <Badge tone="accent">a person</Badge>}
        {facts && <span className="dim small">{facts}</span>}
        {actions && (
          <>
            <span className="grow" />
            {actions}
          </>
        )}
      </div>
      {messages.length > 0 && <Answer messages={messages} passages={passages} idOf={idOf} />}
      {isWriting && (
        <p className="writing" aria-hidden="true">
          <span />
          <span />
          <span />
        </p>
      )}
      {trouble && <p className="note bad">{trouble}</p>}
      {calls.length > 0 && (
        <Part kind="tools" summary={`${counted(calls.length, 'tool call')}${failed ? `, ${failed} failed` : ''}`}>
          {() => <ToolCalls calls={calls} />}
        </Part>
      )}
      {passages.length > 0 && (
        <Part kind="passages" summary={`${counted(passages.length, 'passage')}${quoted ? `, ${quoted} quoted` : ''}`}>
          {() => (
            <Passages
              passages={passages}
              answer={messages.map(({ text, unheard }) => text + unheard).join('\n')}
              question={question}
              idOf={idOf}
            />
          )}
        </Part>
      )}
      {turn && <TurnDetails turn={turn} />}
    </article>
  );
}

/** What the user said. */
export function UserBubble({ text, note, children }: { text: string; note?: string; children?: ReactNode }) {
  return (
    <article className="said user" aria-label="The user says">
      <div className="said-text" dir="auto">
        {text || <span className="dim">…</span>}
      </div>
      {note && <p className="small dim">{note}</p>}
      {children}
    </article>
  );
}
