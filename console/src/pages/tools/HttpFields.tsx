import { Button } from '../../ui/Button';
import { Checkbox, TextArea, TextField } from '../../ui/Field';
import { Badge, Card } from '../../ui/Page';
import { Select } from '../../ui/Select';
import { hasBody, placeholdersOf } from './draft';
import { Pairs } from './Pairs';
import { newProperty, schemaFromRows } from './schema';
import type { PartProps } from './ToolForm';

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map((id) => ({ id, text: id }));

/** The request of an HTTP tool. */
export function HttpFields({ draft, set, wrong }: PartProps) {
  const { url, method, headers, fixedQuery, fixedBody } = draft;
  return (
    <Card title="The request">
      <div className="url-line">
        <Select label="Method" choices={methods} value={method} onChange={(next) => set({ method: next })} />
        <TextField
          label="Address"
          code
          type="url"
          isRequired
          value={url}
          onChange={(next) => set({ url: next })}
          placeholder="https://shop.example.com/orders/{id}"
          wrong={wrong['webhook_url']}
          hint="{name} is filled in by the argument of that name."
        />
      </div>
      <Placeholders draft={draft} set={set} />
      <Arguments draft={draft} set={set} />
      <Pairs
        legend="Headers"
        one="header"
        pairs={headers}
        onChange={(next) => set({ headers: next })}
        wrong={wrong['headers']}
        hint="They are shown here. Keys and passwords belong to the secrets below."
      />
      <Pairs
        legend="Fixed query"
        one="parameter"
        pairs={fixedQuery}
        onChange={(next) => set({ fixedQuery: next })}
        wrong={wrong['hardcoded_query_params']}
        hint="Sent with every call; the model does not see it."
      />
      {hasBody(method) && (
        <TextArea
          label="Fixed body"
          code
          rows={4}
          value={fixedBody}
          onChange={(next) => set({ fixedBody: next })}
          placeholder={'{ "channel": "agent" }'}
          wrong={wrong['hardcoded_body_params'] ?? wrong['hardcoded_body_params_json']}
          hint="A JSON object, laid over the arguments."
        />
      )}
    </Card>
  );
}

/** The {name}s of the address, and whether there are arguments for them. */
function Placeholders({ draft: { url, schema }, set }: Pick<PartProps, 'draft' | 'set'>) {
  const names = placeholdersOf(url);
  const rows = schema.rows;
  if (names.length === 0 || !rows) return null;
  const missing = names.filter((name) => !rows.some((row) => row.name === name));
  const add = () =>
    set({
      schema: schemaFromRows(
        [...rows, ...missing.map((name) => ({ ...newProperty(), name, isRequired: true }))],
        schema,
      ),
    });
  return (
    <div className="row" role="status">
      <span className="small">In the address:</span>
      {names.map((name) => (
        <Badge key={name} tone={missing.includes(name) ? 'warn' : 'good'}>
          {name}
          {missing.includes(name) && ': no such argument'}
        </Badge>
      ))}
      {missing.length > 0 && (
        <Button onPress={add}>Add {missing.length === 1 ? `the argument ${missing[0]}` : 'these arguments'}</Button>
      )}
    </div>
  );
}

/** Where the arguments go that are not in the address. */
function Arguments({ draft: { method, url, schema, queryParams }, set }: Pick<PartProps, 'draft' | 'set'>) {
  const inPath = placeholdersOf(url);
  const others = (schema.rows ?? []).map(({ name }) => name).filter((name) => name !== '' && !inPath.includes(name));
  if (others.length === 0) return null;
  if (!hasBody(method)) return <p className="dim small">{others.join(', ')}: sent in the query.</p>;
  return (
    <fieldset className="plain">
      <legend>Sent in the query; the others in the body, as JSON</legend>
      <div className="row">
        {others.map((name) => (
          <Checkbox
            key={name}
            isSelected={queryParams.includes(name)}
            onChange={(isIn) =>
              set({ queryParams: isIn ? [...queryParams, name] : queryParams.filter((one) => one !== name) })
            }
          >
            {name}
          </Checkbox>
        ))}
      </div>
    </fieldset>
  );
}
