import { useState, type ReactNode } from 'react';

/** The parts that are open at first. What somebody opens or closes counts for the next answers, too. */
const opened = new Set(['passages', 'tools']);

/** A part of an answer that can be opened. Its content is made when it is open. */
export function Part({ kind, summary, children }: { kind: string; summary: ReactNode; children: () => ReactNode }) {
  const [isOpen, setOpen] = useState(() => opened.has(kind));
  return (
    <details
      className="part"
      open={isOpen}
      onToggle={(event) => {
        const { open } = event.currentTarget;
        if (open === isOpen) return;
        setOpen(open);
        opened[open ? 'add' : 'delete'](kind);
      }}
    >
      <summary>{summary}</summary>
      {isOpen && <div className="stack">{children()}</div>}
    </details>
  );
}

/** JSON or any other text, as code. Its label is for screen readers. */
export function Json({ text, label }: { text: string; label: string }) {
  return (
    <pre className="json" tabIndex={0} aria-label={label}>
      {pretty(text)}
    </pre>
  );
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** A table in a part, which scrolls by itself where it is too wide. */
export function SmallTable({ label, head, rows }: { label: string; head: string[]; rows: ReactNode[][] }) {
  return (
    <div className="small-table" tabIndex={0} role="region" aria-label={label}>
      <table>
        <caption>{label}</caption>
        <thead>
          <tr>
            {head.map((title, at) => (
              <th key={at} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, at) => (
            <tr key={at}>
              {cells.map((cell, column) => (
                <td key={column}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
