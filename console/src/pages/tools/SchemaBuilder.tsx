import { Button } from '../../ui/Button';
import { Checkbox, TextArea, TextField } from '../../ui/Field';
import { Select } from '../../ui/Select';
import { Tabs } from '../../ui/Tabs';
import { newProperty, schemaFromRows, schemaFromText, type Property, type Schema } from './schema';

const types = [
  { id: 'string', text: 'Text' },
  { id: 'number', text: 'Number' },
  { id: 'integer', text: 'Whole number' },
  { id: 'boolean', text: 'Yes or no' },
  { id: 'object', text: 'Object' },
  { id: 'array', text: 'List' },
  { id: '', text: 'Any value' },
];

/** Edits a schema of arguments, as rows or as JSON; both stay in step. */
export function SchemaBuilder({
  schema,
  onChange,
  wrong,
}: {
  schema: Schema;
  onChange(schema: Schema): void;
  wrong?: string;
}) {
  const problem = schema.wrong || wrong;
  return (
    <div className="stack">
      <h3>Arguments</h3>
      <p className="dim small">What the model fills in. Say of each what it is, in words that the model understands.</p>
      <Tabs
        label="Arguments as"
        tabs={[
          {
            id: 'rows',
            title: 'Rows',
            content: schema.rows ? (
              <Members path="" rows={schema.rows} onChange={(rows) => onChange(schemaFromRows(rows, schema))} />
            ) : (
              <p className="note warn">This schema cannot be shown as rows. Edit it as JSON.</p>
            ),
          },
          {
            id: 'json',
            title: 'JSON',
            content: (
              <TextArea
                label="JSON Schema"
                code
                rows={14}
                value={schema.text}
                onChange={(text) => onChange(schemaFromText(text, schema))}
              />
            ),
          },
        ]}
      />
      {problem && (
        <p className="small bad-text" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

function Members({ path, rows, onChange }: { path: string; rows: Property[]; onChange(rows: Property[]): void }) {
  return (
    <div className="stack">
      {rows.length === 0 && <p className="dim small">No arguments yet.</p>}
      {rows.map((row, at) => (
        <Row
          key={at}
          path={`${path}${row.name || at + 1}`}
          row={row}
          onChange={(next) => onChange(rows.map((one, n) => (n === at ? next : one)))}
          onRemove={() => onChange(rows.filter((_, n) => n !== at))}
        />
      ))}
      <div>
        <Button onPress={() => onChange([...rows, newProperty()])}>
          {path === '' ? 'Add an argument' : `Add a member of ${path.replace(/\.$/, '')}`}
        </Button>
      </div>
    </div>
  );
}

interface RowProps {
  /** Where the row is, for labels: address.city */
  path: string;
  row: Property;
  onChange(row: Property): void;
  onRemove(): void;
}

function Row({ path, row, onChange, onRemove }: RowProps) {
  const set = (changes: Partial<Property>) => onChange({ ...row, ...changes });
  const kept = Object.keys(row.rest);
  return (
    <div className="argument" role="group" aria-label={`Argument ${path}`}>
      <div className="argument-line">
        <TextField label="Name" code value={row.name} onChange={(name) => set({ name })} />
        <Select
          label="Type"
          choices={types}
          value={row.type}
          onChange={(type) => set({ type, items: type === 'array' ? (row.items ?? newProperty()) : undefined })}
        />
        <Checkbox isSelected={row.isRequired} onChange={(isRequired) => set({ isRequired })}>
          Required
        </Checkbox>
        <Button icon aria-label={`Remove ${path}`} onPress={onRemove}>
          ✕
        </Button>
      </div>
      <TextField
        label="Description"
        value={row.description}
        onChange={(description) => set({ description })}
        placeholder="The order's number, such as A-1007"
      />
      {['string', 'number', 'integer'].includes(row.type) && (
        <Choices choices={row.choices} onChange={(choices) => set({ choices })} />
      )}
      {row.type === 'array' && (
        <Items path={path} items={row.items ?? newProperty()} onChange={(items) => set({ items })} />
      )}
      {row.type === 'object' && (
        <div className="nested">
          <Members path={`${path}.`} rows={row.properties} onChange={(properties) => set({ properties })} />
        </div>
      )}
      {kept.length > 0 && <p className="dim small">Also in the JSON: {kept.join(', ')}</p>}
    </div>
  );
}

function Choices({ choices, onChange }: { choices: string[]; onChange(choices: string[]): void }) {
  return (
    <TextField
      label="Only these values"
      value={choices.join(', ')}
      placeholder="all values"
      onChange={(text) => onChange(text === '' ? [] : text.split(/, ?/))}
    />
  );
}

function Items({ path, items, onChange }: { path: string; items: Property; onChange(items: Property): void }) {
  return (
    <div className="nested stack">
      <Select
        label="Each of the list is"
        choices={types.filter(({ id }) => id !== 'array')}
        value={items.type}
        onChange={(type) => onChange({ ...items, type })}
      />
      {items.type === 'object' && (
        <Members
          path={`${path}[].`}
          rows={items.properties}
          onChange={(properties) => onChange({ ...items, properties })}
        />
      )}
      {items.type === 'string' && (
        <Choices choices={items.choices} onChange={(choices) => onChange({ ...items, choices })} />
      )}
    </div>
  );
}
