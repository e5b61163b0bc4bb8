const stopWords = new Set(
  (
    'a an and are as at be by can do does for from has have how i in is it its my not of on or our so that the their this to was what ' +
    'when where which who will with you your der die das und ist ein eine'
  ).split(' '),
);

/** The word without the ends that most inflected forms differ in. */
const stem = (word: string) => (word.length > 4 ? word.replace(/(?:ings?|ed|es|s|e)$/, '') : word);

/** The words of a question that can be looked for, shortened to what their forms share. */
export const wordsOf = (text: string) =>
  (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])
    .filter((word) => word.length > 1 && !stopWords.has(word))
    .map(stem);

/** A text in which the words that begin like one of these are marked. */
export function Marked({ text, words }: { text: string; words: string[] }) {
  if (words.length === 0) return <>{text}</>;
  return (
    <>
      {text
        .split(/([\p{L}\p{N}]+)/u)
        .map((part, at) => (isMatch(part.toLowerCase(), words) ? <mark key={at}>{part}</mark> : part))}
    </>
  );
}

const isMatch = (word: string, words: string[]) =>
  words.some((wanted) => word.startsWith(wanted) && word.length <= wanted.length + 4);
