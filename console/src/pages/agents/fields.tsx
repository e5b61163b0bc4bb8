// Fields of the editor that are not in ui/.

import { useState, type ReactNode } from 'react';

import { Button } from '../../ui/Button';
import { useConfirm } from '../../ui/Dialog';
import { NumberField, TextArea } from '../../ui/Field';
import { Select } from '../../ui/Select';

interface LinesProps {
  label: string;
  hint?: ReactNode;
  wrong?: string;
  placeholder?: string;
  value: string[];
  onChange(value: string[]): void;
  code?: boolean;
  rows?: number;
}

/** A list of texts, one a line. */
export function Lines({ value, onChange, code, rows = 3, ...props }: LinesProps) {
  const read = (text: string) =>
    text
      .split('\n')
      .map((line) => (code ? line : line.trim()))
      .filter((line) => line !== '');
  const [text, setText] = useState(() => value.join('\n'));
  const isSame = JSON.stringify(read(text)) === JSON.stringify(value);
  return (
    <TextArea
      {...props}
      code={code}
      rows={rows}
      value={isSame ? text : value.join('\n')}
      onChange={(next) => {
        setText(next);
        onChange(read(next));
      }}
    />
  );
}

interface AmountProps {
  label: string;
  hint?: ReactNode;
  wrong?: string;
  placeholder?: string;
  value: number | undefined;
  /** What an empty field is: 0, or undefined where 0 means something. */
  onChange(value: number | undefined): void;
  minValue?: number;
  maxValue?: number;
  step?: number;
}

/** A number that may be left out: the field is then empty. */
export function OptionalNumber({ value, onChange, ...props }: AmountProps) {
  return (
    <NumberField {...props} value={value ?? NaN} onChange={(next) => onChange(Number.isNaN(next) ? undefined : next)} />
  );
}

/** A whole number of which 0 means the default: the field is then empty. */
export function Amount({
  value,
  onChange,
  ...props
}: Omit<AmountProps, 'onChange' | 'value'> & { value: number; onChange(value: number): void }) {
  return <OptionalNumber minValue={0} {...props} value={value || undefined} onChange={(next) => onChange(next ?? 0)} />;
}

const answers = [
  { id: '', text: 'Default' },
  { id: 'true', text: 'Yes' },
  { id: 'false', text: 'No' },
];

/** Yes, no, or whatever is usual. */
export function YesNo({
  label,
  hint,
  value,
  onChange,
}: {
  label: string;
  hint?: string;
  value: boolean | undefined;
  onChange(value: boolean | undefined): void;
}) {
  return (
    <Select
      label={label}
      hint={hint}
      choices={answers}
      value={value === undefined ? '' : String(value)}
      onChange={(next) => onChange(next === '' ? undefined : next === 'true')}
    />
  );
}

/** A JSON object as text. What is no JSON yet is not taken over. */
export function JsonField<T extends object>({
  label,
  hint,
  value,
  onChange,
  rows = 6,
}: {
  label: string;
  hint?: ReactNode;
  value: T | undefined;
  onChange(value: T | undefined): void;
  rows?: number;
}) {
  const print = (of: T | undefined) => (of === undefined ? '' : JSON.stringify(of, null, 2));
  const [edited, setEdited] = useState<{ text: string; of: string; wrong?: string }>();
  const isMine = edited !== undefined && (edited.wrong !== undefined || edited.of === print(value));
  return (
    <TextArea
      code
      label={label}
      hint={hint}
      rows={rows}
      wrong={isMine ? edited.wrong : undefined}
      value={isMine ? edited.text : print(value)}
      onChange={(text) => {
        try {
          const next = text.trim() === '' ? undefined : (JSON.parse(text) as T);
          if (next !== undefined && (typeof next !== 'object' || Array.isArray(next)))
            throw new Error('It must be an object: { … }');
          setEdited({ text, of: print(next) });
          onChange(next);
        } catch (error) {
          setEdited({ text, of: '', wrong: (error as Error).message });
        }
      }}
    />
  );
}

interface ItemsProps<T> {
  /** What one of them is called: "guard". */
  what: string;
  items: T[];
  onChange(items: T[]): void;
  /** A new one. */
  make(): T;
  /** What a folded one is called; without it they are not folded. */
  title?(item: T): ReactNode;
  /** The most that there may be. */
  most: number;
  children(item: T, change: (patch: Partial<T>) => void, index: number): ReactNode;
}

/** A list of things that are edited, added and removed. */
export function Items<T>({ what, items, onChange, make, title, most, children }: ItemsProps<T>) {
  const confirm = useConfirm();
  const [added, setAdded] = useState(-1);
  const remove = async (index: number) => {
    const isSure =
      !title ||
      (await confirm({
        title: `Remove this ${what}?`,
        text: 'It is removed from the draft. Conversations go on with it until the draft is published.',
        action: 'Remove',
      }));
    if (isSure) onChange(items.filter((_, at) => at !== index));
  };
  return (
    <div className="stack">
      {items.map((item, index) => {
        const fields = children(
          item,
          (patch) => onChange(items.map((other, at) => (at === index ? { ...other, ...patch } : other))),
          index,
        );
        const button = (
          <Button kind="quiet" onPress={() => void remove(index)} aria-label={`Remove ${what} ${index + 1}`}>
            Remove
          </Button>
        );
        if (!title)
          return (
            <div key={index} className="item-row">
              {fields}
              {button}
            </div>
          );
        return (
          <details key={index} className="item" open={index === added || undefined}>
            <summary>{title(item)}</summary>
            <div className="stack">
              {fields}
              <div className="row end">{button}</div>
            </div>
          </details>
        );
      })}
      {items.length < most && (
        <div>
          <Button
            onPress={() => {
              setAdded(items.length);
              onChange([...items, make()]);
            }}
          >
            Add a {what}
          </Button>
        </div>
      )}
    </div>
  );
}
