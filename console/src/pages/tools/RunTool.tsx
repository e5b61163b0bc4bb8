import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Form } from 'react-aria-components/Form';

import type { Tool } from '#gen/tools_pb';

import * as api from '../../api/clients';
import { useMutation } from '../../api/useMutation';
import { useHere } from '../../app/caller';
import { Button } from '../../ui/Button';
import { TextArea, TextField } from '../../ui/Field';
import { Card, Loading } from '../../ui/Page';
import { Tabs } from '../../ui/Tabs';
import { Arguments, type Values } from './Arguments';
import type { Pair } from './draft';
import { Pairs } from './Pairs';
import { RunResult } from './RunResult';
import { schemaFromText } from './schema';
import { ToolFailure } from './ToolFailure';

function valuesOf(text: string): Values | undefined {
  try {
    const value: unknown = JSON.parse(text || '{}');
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Values) : undefined;
  } catch {
    return undefined;
  }
}

/** Calls the tool's real endpoint with arguments that are typed in. */
export function RunTool({ tool }: { tool: Tool }) {
  const { workspaceId } = useHere();
  const client = useQueryClient();
  const [text, setText] = useState('{}');
  const [variables, setVariables] = useState<Pair[]>([]);
  const [remoteTool, setRemoteTool] = useState(tool.mcpToolName || (tool.allowedTools[0] ?? ''));
  const rows = schemaFromText(tool.inputSchemaJson || '{"type":"object"}').rows ?? [];
  const values = valuesOf(text);
  const run = useMutation({
    mutationFn: () =>
      api.tools.runTool({
        workspaceId,
        toolId: tool.id,
        argsJson: text || '{}',
        remoteTool: tool.kind === 'mcp' ? remoteTool : '',
        dynamicVariables: Object.fromEntries(
          variables.filter(({ name }) => name !== '').map(({ name, value }) => [name, value]),
        ),
      }),
    onSettled: () => client.invalidateQueries({ queryKey: ['tool calls'] }),
  });
  const json = (
    <TextArea
      label="Arguments as JSON"
      code
      rows={6}
      value={text}
      onChange={setText}
      wrong={values ? undefined : 'It must be a JSON object.'}
    />
  );
  return (
    <div className="stack loose">
      <Card title="Arguments">
        <p className="dim small">This calls the real endpoint, outside any conversation.</p>
        <Form
          className="stack"
          onSubmit={(event) => {
            event.preventDefault();
            run.mutate();
          }}
        >
          {tool.kind === 'mcp' && (
            <TextField
              label="Tool of the server"
              code
              value={remoteTool}
              onChange={setRemoteTool}
              hint="Needed when the tool stands for several."
            />
          )}
          {rows.length === 0 ? (
            json
          ) : (
            <Tabs
              label="Arguments as"
              tabs={[
                {
                  id: 'form',
                  title: 'Form',
                  content: values ? (
                    <Arguments
                      rows={rows}
                      values={values}
                      onChange={(next) => setText(JSON.stringify(next, null, 2))}
                    />
                  ) : (
                    <p className="note bad">The JSON is not valid. Mend it there first.</p>
                  ),
                },
                { id: 'json', title: 'JSON', content: json },
              ]}
            />
          )}
          {tool.allowDynamicVars && (
            <Pairs
              legend="Variables of the session"
              one="variable"
              pairs={variables}
              onChange={setVariables}
              hint="Example values for the {{placeholders}}."
            />
          )}
          <div className="row end">
            <Button kind="primary" type="submit" isDisabled={run.isPending || !values}>
              {run.isPending ? 'Calling…' : 'Call it'}
            </Button>
          </div>
        </Form>
      </Card>
      {run.isPending && <Loading what="Waiting for the answer…" />}
      {run.error && <ToolFailure error={run.error} />}
      {run.data && !run.isPending && <RunResult result={run.data} tool={tool} />}
    </div>
  );
}
