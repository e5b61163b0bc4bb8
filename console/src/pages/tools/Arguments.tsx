import { useState } from 'react';

import { NumberField, TextArea, TextField } from '../../ui/Field';
import { Select } from '../../ui/Select';
import type { Property } from './schema';

/** Arguments by their names. */
export type Values = Record<string, unknown>;

/** A form of the arguments that a schema has. */
export function Arguments({
  rows,
  values,
  onChange,
}: {
  rows: Property[];
  values: Values;
  onChange(values: Values): void;
}) {
  const set = (name: string, value: unknown) => {
    const { [name]: _, ...others } = values;
    onChange(value === undefined ? others : { ...others, [name]: value });
  };
  return (
    <div className="grid-2">
      {rows.map((row) => (
        <Argument key={row.name} row={row} value={values[row.name]} onChange={(value) => set(row.name, value)} />
      ))}
    </div>
  );
}

function Argument({
  row: { name, type, description, choices, isRequired },
  value,
  onChange,
}: {
  row: Property;
  value: unknown;
  onChange(value: unknown): void;
}) {
  const label = isRequired ? `${name} (required)` : name;
  if (choices.length > 0) {
    const typed = (id: string) => (type === 'string' ? id : Number(id));
    return (
      <Select
        label={label}
        hint={description}
        choices={[{ id: '', text: 'Not sent' }, ...choices.map((id) => ({ id, text: id }))]}
        value={value === undefined ? '' : String(value)}
        onChange={(id) => onChange(id === '' ? undefined : typed(id))}
      />
    );
  }
  if (type === 'boolean')
    return (
      <Select
        label={label}
        hint={description}
        choices={[
          { id: '', text: 'Not sent' },
          { id: 'true', text: 'Yes' },
          { id: 'false', text: 'No' },
        ]}
        value={value === undefined ? '' : String(value)}
        onChange={(id) => onChange(id === '' ? undefined : id === 'true')}
      />
    );
  if (type === 'number' || type === 'integer')
    return (
      <NumberField
        label={label}
        hint={description}
        value={typeof value === 'number' ? value : NaN}
        onChange={(number) => onChange(Number.isNaN(number) ? undefined : number)}
        step={type === 'integer' ? 1 : undefined}
      />
    );
  if (type === 'string')
    return (
      <TextField
        label={label}
        hint={description}
        value={typeof value === 'string' ? value : ''}
        onChange={(text) => onChange(text === '' && !isRequired ? undefined : text)}
      />
    );
  return <JsonArgument label={label} hint={description} value={value} onChange={onChange} />;
}

/** An argument of any other type, as JSON. */
function JsonArgument({
  label,
  hint,
  value,
  onChange,
}: {
  label: string;
  hint: string;
  value: unknown;
  onChange(value: unknown): void;
}) {
  const [text, setText] = useState(value === undefined ? '' : JSON.stringify(value));
  const [wrong, setWrong] = useState('');
  const change = (next: string) => {
    setText(next);
    try {
      onChange(next.trim() === '' ? undefined : JSON.parse(next));
      setWrong('');
    } catch {
      setWrong('Not valid JSON yet.');
    }
  };
  return (
    <TextArea label={label} hint={hint} code rows={3} value={text} onChange={change} wrong={wrong} placeholder="JSON" />
  );
}
