import { Button as AriaButton } from 'react-aria-components/Button';
import { Tooltip, TooltipTrigger } from 'react-aria-components/Tooltip';

import type { Citation, TurnItem } from '#gen/sessions_pb';

import { excerptAround, piecesOf } from './highlight';

/** A message of the agent: what was heard of it, and the end that nobody heard. */
export interface Message {
  text: string;
  unheard: string;
}

/** The agent's text of a turn, with the words apart that were spoken and not heard. */
export function messagesOf(text: string, items: readonly TurnItem[]): Message[] {
  const messages: Message[] = [];
  let done = 0;
  for (const { text: said, heard } of items) {
    const words = heard?.text ?? '';
    const begin = heard && said.startsWith(words) ? text.indexOf(said, done) : -1;
    if (begin < 0) continue;
    const from = begin + words.length;
    messages.push({ text: text.slice(done, from), unheard: text.slice(from, begin + said.length) });
    done = begin + said.length;
  }
  const rest = text.slice(done);
  return rest.trim() ? [...messages, { text: rest, unheard: '' }] : messages;
}

/** What the agent said. Words of a passage are marked, with its number. */
export function Answer({
  messages,
  passages,
  idOf,
}: {
  messages: readonly Message[];
  passages: readonly Citation[];
  idOf(passage: number): string;
}) {
  return (
    <div className="said-text" dir="auto">
      {messages.map(({ text, unheard }, at) => (
        <p key={at}>
          {piecesOf(text, passages).map((piece, place) => {
            const passage = piece.passage === undefined ? undefined : passages[piece.passage];
            if (!passage) return piece.text;
            return (
              <span key={place}>
                <mark className={piece.isQuote ? undefined : 'alike'}>{piece.text}</mark>
                <Footnote
                  number={(piece.passage ?? 0) + 1}
                  words={piece.text}
                  passage={passage}
                  target={idOf(piece.passage ?? 0)}
                />
              </span>
            );
          })}
          {unheard && (
            <span className="unheard" title="Nobody heard this: the agent was interrupted.">
              <span className="visually-hidden"> Not heard: </span>
              {unheard}
            </span>
          )}
        </p>
      ))}
    </div>
  );
}

/** The number of a passage: hovered or focused it shows the passage, pressed it goes to it. */
function Footnote({
  number,
  words,
  passage,
  target,
}: {
  number: number;
  words: string;
  passage: Citation;
  target: string;
}) {
  const show = () => {
    const element = document.getElementById(target);
    element?.scrollIntoView({ block: 'nearest' });
    element?.focus();
  };
  return (
    <TooltipTrigger delay={150}>
      <AriaButton className="footnote" onPress={show} aria-label={`Passage ${number}: ${passage.sourceName}`}>
        {number}
      </AriaButton>
      <Tooltip className="popover passage-tip" placement="top">
        <strong>{passage.sourceName}</strong>
        <p>{excerptAround(passage.excerpt, words).replaceAll(/\n{2,}/g, '\n')}</p>
      </Tooltip>
    </TooltipTrigger>
  );
}
