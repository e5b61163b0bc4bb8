import { Button } from '../../ui/Button';
import { TextField } from '../../ui/Field';
import { Badge, Card } from '../../ui/Page';
import { Pairs } from './Pairs';
import type { PartProps } from './ToolForm';

/** What shows the endpoint who calls. It is stored encrypted and never shown again. */
export function Secrets({ draft, set, wrong, tool }: PartProps) {
  const isStored = tool?.authHeaderSet && draft.authHeader === undefined;
  const storedNames = draft.secretHeaders === undefined ? (tool?.secretHeaderNames ?? []) : [];
  return (
    <Card title="Secrets">
      <p className="dim small">Stored encrypted, sent with each request, and never shown again.</p>
      {isStored ? (
        <div className="row">
          <span>
            <code>Authorization</code> <Badge tone="good">set</Badge>
          </span>
          <Button onPress={() => set({ authHeader: '' })}>Replace or remove it</Button>
        </div>
      ) : (
        <TextField
          label="Authorization header"
          type="password"
          autoComplete="off"
          code
          value={draft.authHeader ?? ''}
          onChange={(authHeader) => set({ authHeader })}
          placeholder="Bearer …"
          wrong={wrong['auth_header']}
          hint={tool?.authHeaderSet ? 'Left empty, the stored one is removed.' : undefined}
        />
      )}
      {storedNames.length > 0 ? (
        <div className="row">
          {storedNames.map((name) => (
            <span key={name}>
              <code>{name}</code> <Badge tone="good">set</Badge>
            </span>
          ))}
          <Button onPress={() => set({ secretHeaders: storedNames.map((name) => ({ name, value: '' })) })}>
            Replace or remove them
          </Button>
        </div>
      ) : (
        <Pairs
          legend="Secret headers"
          one="secret header"
          isSecret
          pairs={draft.secretHeaders ?? []}
          onChange={(secretHeaders) => set({ secretHeaders })}
          wrong={wrong['secret_headers']}
          hint={
            tool && tool.secretHeaderNames.length > 0
              ? 'All are replaced: the stored values cannot be read.'
              : undefined
          }
        />
      )}
    </Card>
  );
}
