import * as api from '../../api/clients';
import { useMutation } from '../../api/useMutation';
import { useHere } from '../../app/caller';
import { Button } from '../../ui/Button';
import { Checkbox, TextField } from '../../ui/Field';
import { Badge, Card, Loading } from '../../ui/Page';
import { Select } from '../../ui/Select';
import { Pairs } from './Pairs';
import { ToolFailure } from './ToolFailure';
import type { PartProps } from './ToolForm';

const approvals = [
  { id: 'never', text: 'Never' },
  { id: 'always', text: 'Before every call' },
  { id: 'listed', text: 'Before calls of the chosen tools' },
];

/** The server of an MCP tool, and which of its tools may be used. */
export function McpFields({ draft, set, wrong, tool }: PartProps) {
  const { workspaceId } = useHere();
  const { mcpServerUrl, authHeader, secretHeaders, headers } = draft;
  const discover = useMutation({
    mutationFn: () =>
      api.tools.discoverMcpTools({
        workspaceId,
        mcpServerUrl: mcpServerUrl.trim(),
        authHeader: authHeader ?? '',
        headers: Object.fromEntries(
          [...headers, ...(secretHeaders ?? [])]
            .filter(({ name }) => name !== '')
            .map(({ name, value }) => [name, value]),
        ),
        ...(tool && authHeader === undefined && secretHeaders === undefined && mcpServerUrl === tool.mcpServerUrl
          ? { toolId: tool.id, mcpServerUrl: '', headers: {} }
          : {}),
      }),
  });
  return (
    <Card title="The MCP server">
      <TextField
        label="Address of the server"
        code
        type="url"
        isRequired
        value={mcpServerUrl}
        onChange={(next) => set({ mcpServerUrl: next })}
        placeholder="https://crm.example.com/mcp"
        wrong={wrong['mcp_server_url']}
        hint="Choose only servers that you trust: what they answer reaches the model."
      />
      <Pairs
        legend="Headers"
        one="header"
        pairs={headers}
        onChange={(next) => set({ headers: next })}
        wrong={wrong['headers']}
      />
      <div className="row">
        <Button isDisabled={discover.isPending || mcpServerUrl.trim() === ''} onPress={() => discover.mutate()}>
          See which tools it has
        </Button>
      </div>
      {discover.isPending && <Loading what="Asking the server…" />}
      {discover.error && <ToolFailure error={discover.error} />}
      {discover.data && <RemoteTools found={discover.data} draft={draft} set={set} />}
      {!discover.data && (
        <TextField
          label="Only these of its tools"
          code
          value={draft.allowedTools.join(', ')}
          onChange={(text) => set({ allowedTools: text === '' ? [] : text.split(/, ?/) })}
          placeholder="all"
          wrong={wrong['allowed_tools']}
        />
      )}
      <TextField
        label="One tool of it under this name"
        code
        value={draft.mcpToolName}
        onChange={(mcpToolName) => set({ mcpToolName })}
        placeholder="none: each as name__tool"
        wrong={wrong['mcp_tool_name']}
        hint={`With it the agent has this one tool, called ${draft.slug || 'by the name above'}.`}
      />
      <Select
        label="Ask the user's client before a call"
        choices={approvals}
        value={draft.approval || 'never'}
        onChange={(approval) => set({ approval })}
      />
      {draft.approval === 'listed' && (
        <TextField
          label="Before calls of"
          code
          value={draft.approvalTools.join(', ')}
          onChange={(text) => set({ approvalTools: text === '' ? [] : text.split(/, ?/) })}
          wrong={wrong['approval_tools']}
        />
      )}
    </Card>
  );
}

type Found = Awaited<ReturnType<typeof api.tools.discoverMcpTools>>;

function RemoteTools({
  found: { serverName, serverVersion, tools, truncated },
  draft: { allowedTools },
  set,
}: Pick<PartProps, 'draft' | 'set'> & { found: Found }) {
  const isChosen = (name: string) => allowedTools.length === 0 || allowedTools.includes(name);
  const usable = tools.filter(({ usable: isUsable }) => isUsable).map(({ name }) => name);
  const change = (name: string, isOn: boolean) => {
    const before = allowedTools.length === 0 ? usable : allowedTools;
    const after = isOn ? [...before, name] : before.filter((one) => one !== name);
    set({ allowedTools: after.length === usable.length ? [] : after });
  };
  return (
    <fieldset className="plain stack">
      <legend>
        {serverName || 'The server'} {serverVersion} has {truncated && 'more than '}
        {tools.length} {tools.length === 1 ? 'tool' : 'tools'}
      </legend>
      {(truncated || tools.length > usable.length) && (
        <p className="note warn">
          {truncated && `Only the first ${tools.length} tools of the server are read; the others cannot be used. `}
          {tools.length > usable.length &&
            `${usable.length} of those listed can be used together. To use others, name all that you need in “Only these of its tools”.`}
        </p>
      )}
      {tools.length > usable.length && (
        <TextField
          label="Only these of its tools"
          code
          value={allowedTools.join(', ')}
          onChange={(text) => set({ allowedTools: text === '' ? [] : text.split(/, ?/) })}
          placeholder="all that can be used"
        />
      )}
      <div className="remote-tools">
        {tools.map(({ name, title, description, usable: isUsable, reason }, at) => (
          <Checkbox
            key={`${at} ${name}`}
            isSelected={isUsable && isChosen(name)}
            isDisabled={!isUsable || usable.length === 1}
            onChange={(isOn) => change(name, isOn)}
            hint={description.slice(0, 300)}
          >
            <code>{name || 'without a name'}</code> {title && title !== name && <span className="dim">{title}</span>}{' '}
            {!isUsable && <Badge tone="warn">{reason || 'cannot be used'}</Badge>}
          </Checkbox>
        ))}
      </div>
      <p className="dim small">
        {allowedTools.length === 0
          ? 'All of them may be used, also those that the server gets later.'
          : `${allowedTools.length} may be used.`}
      </p>
    </fieldset>
  );
}
