import { create, type JsonObject } from '@bufbuild/protobuf';

import { AgentClientToolSchema, type ToolsConfig } from '#gen/agents_pb';

import { TextArea, TextField } from '../../ui/Field';
import { Card } from '../../ui/Page';
import { useEditor } from './editor';
import { Amount, Items, JsonField } from './fields';

/** Tools that run at the user's: in a page or an app. */
export function ClientTools() {
  const {
    settings: { toolsConfig },
    edit,
    wrong,
  } = useEditor();
  const set = (patch: Partial<ToolsConfig>) => edit({ toolsConfig: { ...toolsConfig, ...patch } });
  return (
    <Card title="Tools that the client runs">
      <p className="dim small">
        A page or an app runs these itself. Only clients that cannot declare their own tools need them here: those that
        speak the ElevenLabs protocol.
      </p>
      <Items
        what="client tool"
        most={128}
        items={toolsConfig.clientTools}
        onChange={(clientTools) => set({ clientTools })}
        title={({ name }) => <code>{name || 'no name yet'}</code>}
        make={() => create(AgentClientToolSchema, { name: `client_tool_${toolsConfig.clientTools.length + 1}` })}
      >
        {(item, change, index) => (
          <>
            <TextField
              code
              label="Name"
              value={item.name}
              onChange={(name) => change({ name })}
              wrong={wrong(`tools_config.client_tools[${index}].name`)}
            />
            <TextArea
              label="When to call it"
              rows={2}
              value={item.description}
              onChange={(description) => change({ description })}
              wrong={wrong(`tools_config.client_tools[${index}].description`)}
              placeholder="Shows the user a map of a place."
            />
            <JsonField<JsonObject>
              label="Parameters"
              hint="JSON Schema of an object. Empty: any."
              value={item.parameters}
              onChange={(parameters) => change({ parameters, parametersJson: '' })}
            />
          </>
        )}
      </Items>
      <Amount
        label="Longest wait for a client's answer, seconds"
        maxValue={120}
        value={toolsConfig.clientToolTimeoutSeconds}
        onChange={(clientToolTimeoutSeconds) => set({ clientToolTimeoutSeconds })}
        placeholder="20"
        wrong={wrong('tools_config.client_tool_timeout_seconds')}
      />
    </Card>
  );
}
