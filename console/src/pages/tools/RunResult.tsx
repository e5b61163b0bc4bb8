import type { RunToolResponse, Tool, ToolRequest } from '#gen/tools_pb';

import { CodeBlock } from '../../ui/Code';
import { duration } from '../../ui/format';
import { Badge, Card, Facts } from '../../ui/Page';
import { prettyJson } from './draft';

/** What became of a test run. */
export function RunResult({ result, tool: { assignments } }: { result: RunToolResponse; tool: Tool }) {
  const { statusCode, latencyMs, attempts, error, request, outputJson, outputText } = result;
  const output: unknown = outputJson ? JSON.parse(outputJson) : outputText;
  return (
    <>
      <Card title="Answer">
        <div className="row" role="status">
          {error ? <Badge tone="bad">failed</Badge> : <Badge tone="good">done</Badge>}
          {statusCode > 0 && <span>status {statusCode}</span>}
          <span className="dim">
            {duration(latencyMs)}
            {attempts > 1 && `, ${attempts} attempts`}
          </span>
        </div>
        {error && (
          <p className="note bad" role="alert">
            {error.message} <code>{error.code}</code>
          </p>
        )}
        {(outputJson || outputText) && (
          <CodeBlock code={outputJson ? prettyJson(outputJson) : outputText} label="The answer" />
        )}
        {assignments.length > 0 && !error && (
          <>
            <h3>Kept for the conversation</h3>
            <Facts
              facts={assignments.map(({ dynamicVariable, valuePath }) => [
                dynamicVariable,
                shown(valueAt(valuePath, output)) ?? <span className="dim">nothing at {valuePath}</span>,
              ])}
            />
          </>
        )}
      </Card>
      {request && (
        <Card title="Request, as it was sent">
          <SentRequest request={request} />
        </Card>
      )}
    </>
  );
}

/** A request; secrets are redacted by the service. */
export function SentRequest({ request: { method, url, headers, body } }: { request: ToolRequest }) {
  const lines = [`${method} ${url}`, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)];
  return (
    <CodeBlock code={body ? `${lines.join('\n')}\n\n${prettyJson(body)}` : lines.join('\n')} label="The request" />
  );
}

/** The value at customer.id or items[0].id; $ is all of it. */
function valueAt(path: string, value: unknown): unknown {
  if (path === '$') return value;
  for (const key of path.replace(/^\$\.?/, '').match(/[^.[\]]+/g) ?? []) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

// Only these are kept. Source: ToolAssignment in tools.proto
const shown = (value: unknown) =>
  ['string', 'number', 'boolean'].includes(typeof value) ? <code>{String(value)}</code> : undefined;
