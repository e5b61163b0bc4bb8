// Which turn of the transcript an answer of the sockets is. The sockets do not name turns, so it is
// found by its words; both are in the order of time.

import type { Turn } from '#gen/sessions_pb';
import type { AnswerEntry, Entry } from '#sdk/session/index';

const textOf = ({ messages }: AnswerEntry) => messages.map(({ text, unheard }) => text + unheard).join('\n\n');

/** Whether one is the other, or its beginning: an answer that was stopped has fewer words in one of them. */
const isSame = (one: string, other: string) =>
  one === other || (one !== '' && other !== '' && (one.startsWith(other) || other.startsWith(one)));

/** The turns of answers that have ended, by the id of the answer. Turns of before `first` are left out. */
export function turnsOfAnswers(entries: readonly Entry[], turns: readonly Turn[], first: number): Map<string, Turn> {
  const found = new Map<string, Turn>();
  let at = turns.findIndex(({ index }) => index >= first);
  if (at < 0) return found;
  let question = '';
  for (const entry of entries) {
    if (entry.kind === 'user') question = entry.text;
    if (entry.kind !== 'answer') continue;
    const said = textOf(entry);
    const place = turns.findIndex(
      ({ agentText, operatorText, userText, status }, index) =>
        index >= at &&
        status !== 'in_progress' &&
        (said === '' ? agentText === '' && userText === question : isSame(agentText, said) || operatorText === said),
    );
    const turn = turns[place];
    if (!turn) continue;
    found.set(entry.id, turn);
    at = place + 1;
  }
  return found;
}
