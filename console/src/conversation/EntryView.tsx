import { fromJson, type JsonObject } from '@bufbuild/protobuf';
import { memo } from 'react';

import { CitationSchema, type Citation, type Turn } from '#gen/sessions_pb';
import type { AnswerEntry, Citation as Told, Entry, NoticeEntry, UserEntry } from '#sdk/session/index';

import { AnswerCard, UserBubble } from './turn/AnswerCard';
import { turnFacts, turnTrouble } from './turn/TurnCard';
import { callOfTold, callOfTrace } from './turn/ToolCalls';

/** A message, an answer or a line of a conversation that goes on. */
export const EntryView = memo(function EntryView({
  entry,
  agentName,
  question,
  turn,
}: {
  entry: Entry;
  agentName: string;
  question: string;
  turn?: Turn;
}) {
  if (entry.kind === 'user') return <Said entry={entry} />;
  if (entry.kind === 'notice') return <Notice notice={entry.notice} />;
  return <Answered entry={entry} agentName={agentName} question={question} turn={turn} />;
});

function Said({ entry: { text, status, spoken, error } }: { entry: UserEntry }) {
  const notes = { sending: 'Sending …', sent: spoken ? 'spoken' : '', failed: '', unclear: '' };
  return (
    <UserBubble text={text} note={notes[status]}>
      {status === 'failed' && (
        <p className="note bad" role="alert">
          Not sent: {error?.message ?? 'it was refused.'}
        </p>
      )}
      {status === 'unclear' && <p className="note warn">Not understood: {error?.message ?? 'there are no words.'}</p>}
    </UserBubble>
  );
}

const reasons: Record<string, string> = {
  max_output_tokens: 'The model stopped at its limit of tokens.',
  content_filter: 'The answer was stopped: its words were in a no-go zone, or the model’s provider refused them.',
  tool_rounds: 'The agent had called tools in 8 rounds and had to answer without more.',
};

function troubleOf({ result }: AnswerEntry): string {
  if (result?.status === 'failed')
    return result.error ? `${result.error.message} (${result.error.code})` : 'The answer failed.';
  return result?.status === 'incomplete' ? (reasons[result.reason] ?? 'The answer is not whole.') : '';
}

const citationOf = (told: Told): Citation =>
  fromJson(CitationSchema, told as unknown as JsonObject, { ignoreUnknownFields: true });

function Answered({
  entry,
  agentName,
  question,
  turn,
}: {
  entry: AnswerEntry;
  agentName: string;
  question: string;
  turn?: Turn;
}) {
  const isWhole = entry.messages.length > 0 && entry.messages.every(({ isComplete }) => isComplete);
  return (
    <AnswerCard
      who={entry.operator || agentName}
      isOperator={entry.operator !== ''}
      messages={entry.messages.filter(({ text, unheard }) => text || unheard)}
      isWriting={!entry.result && !isWhole}
      passages={turn?.citations ?? entry.citations.map(citationOf)}
      calls={turn ? turn.toolCalls.map(callOfTrace) : entry.toolCalls.map(callOfTold)}
      question={question}
      facts={turn ? turnFacts(turn) : entry.result?.status === 'cancelled' ? 'stopped' : ''}
      trouble={turn ? turnTrouble(turn) : troubleOf(entry)}
      turn={turn}
    />
  );
}

const handovers = {
  requested: () => 'A person was asked for.',
  operator: (who: string) => `${who || 'A person'} has the conversation.`,
  released: () => 'The agent has the conversation again.',
};

function Notice({ notice }: { notice: NoticeEntry['notice'] }) {
  switch (notice.type) {
    case 'guard':
      return (
        <p className="line">
          No-go zone “{notice.guard}”: the words of the {notice.side === 'user' ? 'user' : 'agent'} are in it (
          {notice.action}).
        </p>
      );
    case 'handover':
      return <p className="line">{handovers[notice.status](notice.operator)}</p>;
    case 'ended':
      return <p className={`line ${notice.failed ? 'bad' : ''}`}>{notice.text}</p>;
  }
}
