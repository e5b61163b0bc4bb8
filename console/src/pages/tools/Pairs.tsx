import { Button } from '../../ui/Button';
import { TextField } from '../../ui/Field';
import type { Pair } from './draft';

interface Props {
  legend: string;
  /** What one of them is called: header */
  one: string;
  hint?: string;
  pairs: Pair[];
  onChange(pairs: Pair[]): void;
  valueLabel?: string;
  nameLabel?: string;
  isSecret?: boolean;
  wrong?: string;
}

/** Names with their values. */
export function Pairs({
  legend,
  one,
  hint,
  pairs,
  onChange,
  nameLabel = 'Name',
  valueLabel = 'Value',
  isSecret,
  wrong,
}: Props) {
  const set = (at: number, changes: Partial<Pair>) =>
    onChange(pairs.map((pair, n) => (n === at ? { ...pair, ...changes } : pair)));
  return (
    <fieldset className="plain stack">
      <legend>{legend}</legend>
      {hint && <p className="dim small">{hint}</p>}
      {pairs.map(({ name, value }, at) => (
        <div key={at} className="pair" role="group" aria-label={`${one} ${at + 1}`}>
          <TextField label={nameLabel} code value={name} onChange={(next) => set(at, { name: next })} />
          <TextField
            label={valueLabel}
            code
            value={value}
            type={isSecret ? 'password' : 'text'}
            autoComplete="off"
            onChange={(next) => set(at, { value: next })}
          />
          <Button
            icon
            aria-label={`Remove ${one} ${name || at + 1}`}
            onPress={() => onChange(pairs.filter((_, n) => n !== at))}
          >
            ✕
          </Button>
        </div>
      ))}
      {wrong && (
        <p className="small bad-text" role="alert">
          {wrong}
        </p>
      )}
      <div>
        <Button onPress={() => onChange([...pairs, { name: '', value: '' }])}>Add a {one}</Button>
      </div>
    </fieldset>
  );
}
