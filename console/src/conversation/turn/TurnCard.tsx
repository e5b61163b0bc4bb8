import type { ReactNode } from 'react';

import type { Turn } from '#gen/sessions_pb';

import { count, duration } from '../../ui/format';
import { AnswerCard, UserBubble } from './AnswerCard';
import { messagesOf } from './Answer';
import { lengthOf } from './stages';
import { callOfTrace } from './ToolCalls';

const incomplete: Record<string, string> = {
  max_output_tokens: 'The model stopped at its limit of tokens.',
  content_filter: 'The answer was stopped: its words were in a no-go zone, or the model’s provider refused them.',
  tool_rounds: 'The agent had called tools in 8 rounds and had to answer without more.',
};

/** How long a turn took, and what it used, in a line. */
export function turnFacts(turn: Turn): string {
  const { inputTokens = 0, outputTokens = 0, model = '' } = turn.usage ?? {};
  const ms = lengthOf(turn);
  const tokens = inputTokens || outputTokens ? `${count(inputTokens)} + ${count(outputTokens)} tokens` : '';
  const feedback = { like: 'liked', dislike: 'disliked' }[turn.feedback] ?? '';
  return [
    turn.status === 'in_progress' ? 'in progress' : '',
    ms > 0 ? duration(ms) : '',
    model,
    tokens,
    turn.status === 'cancelled' ? 'stopped' : '',
    feedback,
  ]
    .filter(Boolean)
    .join(' · ');
}

/** Why there is no answer, or not a whole one. */
export function turnTrouble(turn: Turn): string {
  if (turn.error) return `${turn.error.message} (${turn.error.code})`;
  return incomplete[turn.incompleteReason] ?? '';
}

/** A turn of a transcript. `agentName` names the agent; `live` is what it has said so far of a turn in progress. */
export function TurnCard({
  turn,
  agentName,
  live,
  actions,
}: {
  turn: Turn;
  agentName: string;
  live?: string;
  actions?: ReactNode;
}) {
  const text = live ?? turn.agentText;
  const isOperatorOnly = turn.operatorText !== '' && text === '';
  const isEmpty = !turn.userText && !text && !turn.operatorText && turn.toolCalls.length === 0 && !turn.error;
  return (
    <section className="turn" id={turn.id} tabIndex={-1} aria-label={`Turn ${turn.index}`}>
      {turn.userText && (
        <UserBubble
          text={turn.userText}
          note={turn.operator && !turn.operatorText ? `To ${turn.operator}` : undefined}
        />
      )}
      {turn.operatorText && (
        <AnswerCard
          who={turn.operator}
          isOperator
          messages={[{ text: turn.operatorText, unheard: '' }]}
          passages={[]}
          calls={[]}
          question=""
          actions={isOperatorOnly && actions}
          turn={isOperatorOnly ? turn : undefined}
        />
      )}
      {(text ||
        turn.toolCalls.length > 0 ||
        turn.error ||
        turn.status === 'in_progress' ||
        (!turn.operator && !turn.operatorText)) &&
        !isOperatorOnly && (
          <AnswerCard
            who={agentName}
            messages={live === undefined ? messagesOf(text, turn.items) : [{ text, unheard: '' }]}
            isWriting={turn.status === 'in_progress'}
            passages={turn.citations}
            calls={turn.toolCalls.map(callOfTrace)}
            question={turn.userText}
            facts={turnFacts(turn)}
            trouble={
              turnTrouble(turn) || (isEmpty && turn.status !== 'in_progress' ? 'Nothing was said in this turn.' : '')
            }
            actions={actions}
            turn={turn}
          />
        )}
    </section>
  );
}
