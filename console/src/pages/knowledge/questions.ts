/** A question of an evaluation, and the source that answers it: by id, or by name when it was pasted. */
export interface Question {
  q: string;
  sourceId: string;
  sourceName: string;
}

/** The cells of a line of CSV: commas or tabs between them, quotes around those that hold one. */
function cells(line: string): string[] {
  const found = [...line.matchAll(/(?:^|[,\t])\s*(?:"((?:[^"]|"")*)"|([^,\t]*))/g)];
  return found.map(([, quoted, bare]) => (quoted !== undefined ? quoted.replaceAll('""', '"') : (bare ?? '').trim()));
}

/** Questions of lines "question,source". A line of headings is left out. */
export function parseQuestions(text: string): Question[] {
  return text
    .split('\n')
    .map(cells)
    .filter(
      ([q = '', source = '']) => q !== '' && source !== '' && !(/^question$/i.test(q) && /^sources?$/i.test(source)),
    )
    .map(([q = '', sourceName = '']) => ({ q, sourceId: '', sourceName }));
}
