/**
 * JSON text with line breaks and indents. Every digit and escape stays as it is; what is no JSON is
 * returned as it came.
 */
export function prettyJSON(text: string): string {
  try {
    JSON.parse(text);
  } catch {
    return text;
  }
  let depth = 0;
  let out = '';
  const line = () => `\n${'  '.repeat(depth)}`;
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g) ?? [];
  tokens.forEach((token, at) => {
    const isEmpty = (token === '{' && tokens[at + 1] === '}') || (token === '[' && tokens[at + 1] === ']');
    const closesEmpty = /[}\]]/.test(token) && token.length === 1 && /^[{[]$/.test(tokens[at - 1] ?? '');
    if (token === '{' || token === '[') {
      depth++;
      out += token + (isEmpty ? '' : line());
    } else if (token === '}' || token === ']') {
      depth--;
      out += (closesEmpty ? '' : line()) + token;
    } else if (token === ',') out += token + line();
    else out += token === ':' ? ': ' : token;
  });
  return out;
}
