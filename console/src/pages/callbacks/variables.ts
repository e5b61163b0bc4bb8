/** Variables as lines of a field: "name=Ada". Lines without "=" are left out. */
export function variablesOf(lines: string): Record<string, string> {
  const pairs = lines
    .split('\n')
    .filter((line) => line.indexOf('=') > 0)
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
