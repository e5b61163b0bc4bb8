/** A line of a text, and whether it was added or removed. */
export interface Line {
  kind: 'same' | 'added' | 'removed';
  text: string;
}

/** Above this many cells the comparison would take too long: everything is removed and added. */
const mostCells = 4_000_000;

/** How one text became another, line by line, by their longest common subsequence. */
export function compareLines(before: string, after: string): Line[] {
  const a = before.split('\n');
  const b = after.split('\n');
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const of = (kind: Line['kind'], texts: string[]) => texts.map((text) => ({ kind, text }));
  return [
    ...of('same', a.slice(0, start)),
    ...between(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...of('same', a.slice(a.length - end)),
  ];
}

function between(a: string[], b: string[]): Line[] {
  const removed = (text: string): Line => ({ kind: 'removed', text });
  const added = (text: string): Line => ({ kind: 'added', text });
  if (a.length * b.length > mostCells) return [...a.map(removed), ...b.map(added)];
  const width = b.length + 1;
  const common = new Uint32Array((a.length + 1) * width); // of the rest from a[i] and b[j] on
  const at = (i: number, j: number) => common[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      common[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const lines: Line[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    const [x, y] = [a[i], b[j]];
    if (x !== undefined && y !== undefined && x === y) {
      lines.push({ kind: 'same', text: x });
      i++;
      j++;
    } else if (x !== undefined && (y === undefined || at(i + 1, j) >= at(i, j + 1))) {
      lines.push(removed(x));
      i++;
    } else if (y !== undefined) {
      lines.push(added(y));
      j++;
    }
  }
  return lines;
}
