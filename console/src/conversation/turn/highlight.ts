// Which words of an answer are in which passage, and where in the passage they are.

import type { Citation } from '#gen/sessions_pb';

/** A piece of a text. `passage` counts from 0. */
export interface Piece {
  text: string;
  passage?: number;
  /** Whether the words are the passage's own, and not only alike. */
  isQuote?: boolean;
}

interface Range {
  from: number;
  to: number;
  passage: number;
  isQuote: boolean;
}

/** How many characters must be the same for a quote. */
const leastQuote = 24;

/** Which part of a sentence's longer words must be in a passage for it to be its source. */
const leastShare = 0.7;
const leastWords = 5;

const wordsOf = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu) ?? [];

/** The sentences and quotes of a text, with their places. */
function sentences(text: string): { from: number; text: string }[] {
  return [...text.matchAll(/[^.!?\n“”…]+(?:[.!?](?!\s|$)[^.!?\n“”…]*)*[.!?]*/gu)]
    .map((match) => ({ from: match.index + (match[0].length - match[0].trimStart().length), text: match[0].trim() }))
    .filter((sentence) => sentence.text.length >= leastQuote);
}

/** How many characters of a sentence stand at a place of a passage. */
function equalLength(sentence: string, passage: string, at: number): number {
  let length = 0;
  while (length < sentence.length && passage[at + length] === sentence[length]) length++;
  return length;
}

function quoteOf(
  sentence: string,
  passages: readonly Citation[],
): { passage: number; at: number; length: number } | undefined {
  for (const [passage, { excerpt }] of passages.entries()) {
    const at = excerpt.indexOf(sentence.slice(0, leastQuote));
    if (at < 0) continue;
    const length = equalLength(sentence, excerpt, at);
    return { passage, at, length: at + length === excerpt.length ? sentence.length : length }; // the excerpt is cut there
  }
  return undefined;
}

/** The passage that has most of a sentence's words, or -1. */
function likeliest(sentence: string, passages: readonly Citation[]): number {
  const words = wordsOf(sentence);
  if (words.length < leastWords) return -1;
  const shares = passages.map(({ excerpt }) => {
    const known = new Set(wordsOf(excerpt));
    return words.filter((word) => known.has(word)).length / words.length;
  });
  const best = Math.max(0, ...shares);
  return best >= leastShare ? shares.indexOf(best) : -1;
}

function rangesIn(answer: string, passages: readonly Citation[]): Range[] {
  return sentences(answer).flatMap(({ from, text }): Range[] => {
    const quote = quoteOf(text, passages);
    if (quote) return [{ from, to: from + quote.length, passage: quote.passage, isQuote: true }];
    const passage = likeliest(text, passages);
    return passage < 0 ? [] : [{ from, to: from + text.length, passage, isQuote: false }];
  });
}

/** An answer, cut where passages begin and end. */
export function piecesOf(answer: string, passages: readonly Citation[]): Piece[] {
  const pieces: Piece[] = [];
  let done = 0;
  for (const { from, to, passage, isQuote } of rangesIn(answer, passages)) {
    if (from > done) pieces.push({ text: answer.slice(done, from) });
    pieces.push({ text: answer.slice(from, to), passage, isQuote });
    done = to;
  }
  if (done < answer.length) pieces.push({ text: answer.slice(done) });
  return pieces;
}

/** How many characters of a passage stand before the words that it is shown for. */
const lead = 80;

/** The first words of the answer that are a passage's own; empty when there are none. */
export const firstQuote = (excerpt: string, answer: string) =>
  sentences(answer).find(({ text }) => excerpt.includes(text.slice(0, leastQuote)))?.text ?? '';

/** A passage from where it has the beginning of some words. */
export function excerptAround(excerpt: string, words: string): string {
  const at = excerpt.indexOf(words.slice(0, leastQuote));
  if (words === '' || at <= lead) return excerpt;
  const begin = excerpt.indexOf(' ', at - lead) + 1;
  return `… ${excerpt.slice(begin)}`;
}

/** A passage, cut where the answer quotes it; of one that is not quoted, where the question's words are. */
export function excerptPieces(excerpt: string, answer: string, question: string): Piece[] {
  const quotes = sentences(answer).flatMap(({ text }) => {
    const at = excerpt.indexOf(text.slice(0, leastQuote));
    return at < 0 ? [] : [{ from: at, to: at + equalLength(text, excerpt, at) }];
  });
  const asked = new Set(wordsOf(question));
  const words = [...excerpt.matchAll(/[\p{L}\p{N}]{4,}/gu)]
    .filter(([word]) => asked.has(word.toLowerCase()))
    .map((match) => ({ from: match.index, to: match.index + match[0].length }));
  const pieces: Piece[] = [];
  let done = 0;
  for (const { from, to } of (quotes.length > 0 ? quotes : words).sort((a, b) => a.from - b.from)) {
    if (from < done) continue;
    pieces.push(
      { text: excerpt.slice(done, from) },
      { text: excerpt.slice(from, to), passage: 0, isQuote: quotes.length > 0 },
    );
    done = to;
  }
  return [...pieces, { text: excerpt.slice(done) }].filter(({ text }) => text !== '');
}
