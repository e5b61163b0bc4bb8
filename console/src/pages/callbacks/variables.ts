/** What is wrong with lines of variables. */
export function wrongVariables(lines: string): string | undefined {
  const wrong = lines.split('\n').find((line) => line.trim() !== '' && line.trim().indexOf('=') < 1);
  return wrong === undefined ? undefined : `“${wrong.trim()}” is no variable. Write name=value, one in a line.`;
}

/** Variables as lines of a field: "name=Ada". */
export function variablesOf(lines: string): Record<string, string> {
  const pairs = lines
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line): [string, string] => {
      const at = line.indexOf('=');
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    });
  return Object.fromEntries(pairs);
}

export const linesOf = (variables: Record<string, string>) =>
  Object.entries(variables)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n');
