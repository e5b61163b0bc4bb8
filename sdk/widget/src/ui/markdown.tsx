// Shows texts of agents, tools and sources. They are never HTML.
import { type Block, type Inline, parseMarkdown } from '../markdown.js';

const pieces = (inline: readonly Inline[]) =>
  inline.map((piece) => {
    switch (piece.kind) {
      case 'bold':
        return <strong>{piece.text}</strong>;
      case 'code':
        return <code>{piece.text}</code>;
      case 'link':
        return (
          <a href={piece.url} target="_blank" rel="noopener">
            {piece.text}
          </a>
        );
      default:
        return piece.text;
    }
  });

function block(part: Block) {
  switch (part.kind) {
    case 'code':
      return (
        <pre tabIndex={0}>
          <code>{part.text}</code>
        </pre>
      );
    case 'list': {
      const items = part.items.map((item) => <li>{pieces(item)}</li>);
      return part.isOrdered ? <ol start={part.start}>{items}</ol> : <ul>{items}</ul>;
    }
    default:
      return <p>{part.lines.flatMap((line, i) => (i === 0 ? pieces(line) : [<br />, ...pieces(line)]))}</p>;
  }
}

export function Markdown({ text }: { readonly text: string }) {
  return <>{parseMarkdown(text).map(block)}</>;
}
