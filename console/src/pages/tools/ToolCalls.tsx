import type { Tool, ToolCall } from '#gen/tools_pb';

import * as api from '../../api/clients';
import { useList } from '../../api/useList';
import { useHere } from '../../app/caller';
import { useFilters } from '../../app/location';
import { AgentName } from '../../ui/AgentName';
import { Button } from '../../ui/Button';
import { CodeBlock } from '../../ui/Code';
import type { Column } from '../../ui/DataTable';
import { Dialog } from '../../ui/Dialog';
import { duration } from '../../ui/format';
import { List } from '../../ui/List';
import { Badge, Empty, Facts } from '../../ui/Page';
import { Select } from '../../ui/Select';
import { Time } from '../../ui/Time';
import { prettyJson } from './draft';

const results = [
  { id: '', text: 'All calls' },
  { id: 'succeeded', text: 'Succeeded' },
  { id: 'failed', text: 'Failed or refused' },
];

/** The calls and test runs of a tool. */
export function ToolCalls({ tool: { id: toolId } }: { tool: Tool }) {
  const { workspaceId } = useHere();
  const [filters, change] = useFilters(['result', 'call']);
  const status = filters.result;
  const list = useList(['tool calls', workspaceId, toolId, status], async (pageToken, signal) => {
    const { toolCalls, nextPageToken } = await api.tools.listToolCalls(
      { workspaceId, toolId, status, pageSize: 200, pageToken },
      { signal },
    );
    return { rows: toolCalls, nextPageToken };
  });
  const open = list.rows?.find(({ id }) => id === filters.call);
  const columns: Column<ToolCall>[] = [
    { id: 'when', title: 'When', cell: ({ startedAt }) => <Time at={startedAt} /> },
    { id: 'result', title: 'Result', cell: (call) => <Result call={call} /> },
    { id: 'input', title: 'Arguments', cell: ({ inputJson }) => <code>{shorten(inputJson)}</code> },
    { id: 'output', title: 'Answer', cell: ({ output, error }) => shorten(error?.message ?? output) },
    {
      id: 'latency',
      title: 'Time',
      number: true,
      cell: ({ latencyMs }) => <span className="nowrap">{duration(latencyMs)}</span>,
    },
    {
      id: 'from',
      title: 'From',
      cell: ({ sessionId }) => (sessionId ? <a href={`#/sessions/${sessionId}`}>a conversation</a> : 'a test run'),
    },
    { id: 'more', title: '', cell: ({ id }) => <Button onPress={() => change({ call: id })}>Details</Button> },
  ];
  return (
    <div className="stack">
      <div style={{ maxWidth: 260 }}>
        <Select label="Result" hideLabel choices={results} value={status} onChange={(result) => change({ result })} />
      </div>
      <List
        label="Calls"
        list={list}
        rowKey={({ id }) => id}
        columns={columns}
        empty={
          <Empty title="No calls">
            Test runs and the calls of agents are listed here, for 90 days unless the service keeps them for another
            time.
          </Empty>
        }
      />
      {open && <CallDetails call={open} onClose={() => change({ call: '' })} />}
    </div>
  );
}

const shorten = (text: string) => (text.length > 100 ? `${text.slice(0, 100)}…` : text);

function Result({ call: { error, statusCode } }: { call: ToolCall }) {
  return (
    <span className="row nowrap">
      {error ? <Badge tone="bad">{error.code}</Badge> : <Badge tone="good">done</Badge>}
      {statusCode > 0 && <span className="dim small">{statusCode}</span>}
    </span>
  );
}

function CallDetails({ call, onClose }: { call: ToolCall; onClose(): void }) {
  const { slug, error, inputJson, output, latencyMs, attempts, agentId, sessionId, startedAt, id } = call;
  return (
    <Dialog title={`Call of ${slug}`} shape="side" onClose={onClose}>
      {error && <p className="note bad">{error.message}</p>}
      <Facts
        facts={[
          ['Result', <Result call={call} />],
          ['When', <Time at={startedAt} exact />],
          ['Time', duration(latencyMs)],
          ['Attempts', attempts],
          [
            'Agent',
            agentId && (
              <a href={`#/agents/${agentId}`}>
                <AgentName id={agentId} />
              </a>
            ),
          ],
          ['Conversation', sessionId && <a href={`#/sessions/${sessionId}`}>{sessionId}</a>],
          ['Id', <code>{id}</code>],
        ]}
      />
      <h3>Arguments</h3>
      <CodeBlock code={prettyJson(inputJson) || 'none'} label="The arguments" />
      <h3>Answer, as the model got it</h3>
      <CodeBlock code={prettyJson(output) || 'none'} label="The answer" />
    </Dialog>
  );
}
