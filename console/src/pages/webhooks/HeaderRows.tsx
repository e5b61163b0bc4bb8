import { Button } from '../../ui/Button';
import { TextField } from '../../ui/Field';

export interface HeaderRow {
  name: string;
  value: string;
}

/** Names and values of headers, one in a row. */
export function HeaderRows({
  rows,
  onChange,
  wrong,
}: {
  rows: HeaderRow[];
  onChange(rows: HeaderRow[]): void;
  wrong?: string;
}) {
  const set = (at: number, change: Partial<HeaderRow>) =>
    onChange(rows.map((row, index) => (index === at ? { ...row, ...change } : row)));
  return (
    <div className="stack" role="group" aria-label="Headers">
      {rows.map((row, at) => (
        <div key={at} className="header-row">
          <TextField
            label={`Header ${at + 1}`}
            code
            value={row.name}
            onChange={(name) => set(at, { name })}
            placeholder="Authorization"
          />
          <TextField
            label={`Value ${at + 1}`}
            code
            value={row.value}
            onChange={(value) => set(at, { value })}
            placeholder="Bearer …"
          />
          <Button
            kind="quiet"
            aria-label={`Remove header ${at + 1}`}
            onPress={() => onChange(rows.filter((_, index) => index !== at))}
          >
            Remove
          </Button>
        </div>
      ))}
      {wrong && (
        <p className="small" style={{ color: 'var(--bad)' }}>
          {wrong}
        </p>
      )}
      {rows.length < 20 && (
        <div>
          <Button onPress={() => onChange([...rows, { name: '', value: '' }])}>Add a header</Button>
        </div>
      )}
    </div>
  );
}

/** The rows as the API takes them; rows without a name are left out. */
export const headersOf = (rows: HeaderRow[]) =>
  Object.fromEntries(rows.filter(({ name }) => name.trim()).map(({ name, value }) => [name.trim(), value]));
