// A little of Markdown, as data: paragraphs, lists, code, bold, links. Everything else is text, and
// nothing is HTML.

/** A piece of a line. */
export type Inline =
  | { readonly kind: 'text' | 'bold' | 'code'; readonly text: string }
  | { readonly kind: 'link'; readonly text: string; readonly url: string };

/** A part of a text. */
export type Block =
  | { readonly kind: 'paragraph'; readonly lines: readonly (readonly Inline[])[] }
  | { readonly kind: 'list'; readonly isOrdered: boolean; readonly start: number; readonly items: readonly (readonly Inline[])[] }
  | { readonly kind: 'code'; readonly text: string };

const item = /^\s*(?:[-*•]|(\d{1,4})[.)])\s+(.*)$/;
const fence = /^\s*```+[^`]*$/;
const heading = /^#{1,6}\s+(\S.*)$/;

/** The parts of a text. */
export function parseMarkdown(text: string): Block[] {
  const blocks: Block[] = [];
  const lines = text.split(/\r?\n/);
  for (let at = 0; at < lines.length;) {
    const line = lines[at] ?? '';
    if (!line.trim()) {
      at++;
    } else if (fence.test(line)) {
      const end = lines.findIndex((l, i) => i > at && fence.test(l));
      const stop = end < 0 ? lines.length : end;
      const code = lines.slice(at + 1, stop).join('\n');
      // Without code there would be nothing to see of the text.
      if (code.trim()) blocks.push({ kind: 'code', text: code });
      else blocks.push({ kind: 'paragraph', lines: lines.slice(at, stop + 1).map((text) => [{ kind: 'text', text }]) });
      at = stop + 1;
    } else if (item.test(line)) {
      const stop = endOf(lines, at, (l) => item.test(l));
      const matches = lines.slice(at, stop).map((l) => item.exec(l));
      const number = matches[0]?.[1];
      const items = matches.map((m) => parseInline(m?.[2] ?? ''));
      blocks.push({ kind: 'list', isOrdered: number !== undefined, start: Number(number ?? 1), items });
      at = stop;
    } else {
      const stop = endOf(lines, at, (l) => Boolean(l.trim()) && !fence.test(l) && !item.test(l));
      blocks.push({ kind: 'paragraph', lines: lines.slice(at, stop).map(parseLine) });
      at = stop;
    }
  }
  return blocks;
}

function endOf(lines: readonly string[], from: number, fits: (line: string) => boolean): number {
  const end = lines.findIndex((line, i) => i > from && !fits(line));
  return end < 0 ? lines.length : end;
}

function parseLine(line: string): readonly Inline[] {
  const title = heading.exec(line)?.[1];
  return title === undefined ? parseInline(line) : [{ kind: 'bold', text: title }];
}

/**
 * Bold, code, links with a name, and bare addresses. Their lengths are bounded, so that the time
 * grows with the length of a text and not with its square.
 */
const inline =
  /\*\*([^*]{1,1000})\*\*|`([^`]{1,1000})`|\[([^\]]{1,500})\]\(([^)\s]{1,2000})\)|(https?:\/\/[^\s<>"']{1,2000}[^\s<>"'.,;:!?)\]])/g;

function parseInline(line: string): Inline[] {
  const pieces: Inline[] = [];
  let at = 0;
  for (const match of line.matchAll(inline)) {
    const [whole, bold, code, name, target, bare] = match;
    const address = target ?? bare;
    const url = address === undefined ? undefined : safeUrl(address);
    if (address !== undefined && url === undefined) continue; // it stays text
    if (match.index > at) pieces.push({ kind: 'text', text: line.slice(at, match.index) });
    if (bold !== undefined) pieces.push({ kind: 'bold', text: bold });
    else if (code !== undefined) pieces.push({ kind: 'code', text: code });
    else if (url !== undefined) pieces.push({ kind: 'link', text: name ?? bare ?? url, url });
    at = match.index + whole.length;
  }
  if (at < line.length) pieces.push({ kind: 'text', text: line.slice(at) });
  return pieces;
}

const schemes = ['http:', 'https:', 'mailto:'];

/** A URL that may be a link: absolute, and http, https or mailto. */
export function safeUrl(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  return schemes.includes(url.protocol) ? url.href : undefined;
}

/** The words of a text without its marks, for screen readers. */
export function plainText(text: string): string {
  const words = (pieces: readonly Inline[]): string => pieces.map((p) => p.text).join('');
  return parseMarkdown(text)
    .map((block) => (block.kind === 'code' ? block.text : (block.kind === 'list' ? block.items : block.lines).map(words).join('\n')))
    .join('\n');
}
