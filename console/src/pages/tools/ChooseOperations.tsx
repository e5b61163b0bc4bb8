import { useState } from 'react';

import type { OpenApiOperation, ReadOpenApiResponse } from '#gen/tools_pb';

import { AgentSelect } from '../../ui/AgentSelect';
import { Button } from '../../ui/Button';
import { DataTable, type Column } from '../../ui/DataTable';
import { Checkbox, TextField } from '../../ui/Field';
import { Badge, Card, Empty } from '../../ui/Page';
import { Progress } from '../../ui/Progress';
import { Select } from '../../ui/Select';
import { useImport, type Auth, type Outcome } from './useImport';

const ways = [
  { id: 'none', text: 'Not at all' },
  { id: 'authorization', text: 'By an Authorization header' },
  { id: 'header', text: 'By another secret header' },
];

/** Chooses operations, and makes tools of them. */
export function ChooseOperations({ found: { title, server, operations } }: { found: ReadOpenApiResponse }) {
  const usable = operations.filter(({ tool }) => tool);
  const [chosen, setChosen] = useState(
    () => new Set(usable.filter(({ deprecated, toolId }) => !deprecated && !toolId).map(({ operation }) => operation)),
  );
  const [auth, setAuth] = useState<Auth>({ way: 'none', name: '', value: '' });
  const [agentId, setAgentId] = useState('');
  const { outcomes, isRunning, run } = useImport();
  const choose = (operation: string, isOn: boolean) =>
    setChosen((before) => {
      const after = new Set(before);
      if (isOn) after.add(operation);
      else after.delete(operation);
      return after;
    });
  if (operations.length === 0) return <Empty title="No operations">The document describes none.</Empty>;
  const toDo = usable.filter(({ operation }) => chosen.has(operation) && outcomes.get(operation)?.state !== 'made');
  const done = [...outcomes.values()].filter(({ state }) => state !== 'running').length;
  const said = [...new Set(operations.map(({ authentication }) => authentication).filter(Boolean))];
  return (
    <>
      <section className="stack">
        <h2>{title || 'Operations'}</h2>
        <div className="row between">
          <p className="dim small">{server}</p>
          <Checkbox
            isSelected={chosen.size === usable.length && usable.length > 0}
            isIndeterminate={chosen.size > 0 && chosen.size < usable.length}
            onChange={(isOn) => setChosen(new Set(isOn ? usable.map(({ operation }) => operation) : []))}
          >
            All {usable.length} that can be tools
          </Checkbox>
        </div>
        <DataTable
          label="Operations"
          rows={operations}
          rowKey={({ operation }) => operation}
          columns={columnsOf(chosen, choose, outcomes)}
        />
      </section>
      <Card title="Make the tools">
        {said.length > 0 && <p className="note">The document says how callers show who they are: {said.join('; ')}.</p>}
        <div className="grid-3">
          <Select
            label="How the tools show who calls"
            choices={ways}
            value={auth.way}
            onChange={(way) => setAuth({ ...auth, way: way as Auth['way'] })}
          />
          {auth.way === 'header' && (
            <TextField
              label="Header"
              code
              value={auth.name}
              onChange={(name) => setAuth({ ...auth, name })}
              placeholder="X-Api-Key"
            />
          )}
          {auth.way !== 'none' && (
            <TextField
              label="Secret"
              code
              type="password"
              autoComplete="off"
              value={auth.value}
              onChange={(value) => setAuth({ ...auth, value })}
              placeholder={auth.way === 'authorization' ? 'Bearer …' : ''}
            />
          )}
          <AgentSelect label="Attach them to" empty="No agent yet" value={agentId} onChange={setAgentId} />
        </div>
        {isRunning && (
          <Progress label={`${done} of ${outcomes.size}`} value={(100 * done) / Math.max(1, outcomes.size)} />
        )}
        {!isRunning && outcomes.size > 0 && <Summary outcomes={[...outcomes.values()]} />}
        <div className="row end">
          <Button
            kind="primary"
            isDisabled={isRunning || toDo.length === 0}
            onPress={() => void run(toDo, auth, agentId)}
          >
            {toDo.length === 1 ? 'Make 1 tool' : `Make ${toDo.length} tools`}
          </Button>
        </div>
      </Card>
    </>
  );
}

function Summary({ outcomes }: { outcomes: Outcome[] }) {
  const made = outcomes.filter(({ state }) => state === 'made').length;
  const failed = outcomes.filter(({ state }) => state === 'failed');
  return (
    <div className={`note ${failed.length > 0 ? 'warn' : 'good'}`} role="status">
      {made} {made === 1 ? 'tool is' : 'tools are'} there now.
      {failed.length > 0 &&
        ` ${failed.length} failed: see their rows. Mend what they say, and press the button again.`}{' '}
      <a href="#/tools?of=custom">Show the tools</a>
    </div>
  );
}

function columnsOf(
  chosen: Set<string>,
  choose: (operation: string, isOn: boolean) => void,
  outcomes: Map<string, Outcome>,
): Column<OpenApiOperation>[] {
  return [
    {
      id: 'operation',
      title: 'Operation',
      cell: ({ operation, tool }) => (
        <Checkbox
          isSelected={chosen.has(operation)}
          isDisabled={!tool || outcomes.get(operation)?.state === 'made'}
          onChange={(isOn) => choose(operation, isOn)}
        >
          <code>{operation}</code>
        </Checkbox>
      ),
    },
    { id: 'tool', title: 'Tool', cell: ({ tool }) => (tool ? <code>{tool.slug}</code> : '–') },
    {
      id: 'summary',
      title: 'What it does',
      cell: ({ summary, tool, notes }) => (
        <>
          {summary || tool?.description.slice(0, 160)}
          <Notes notes={notes} />
        </>
      ),
    },
    {
      id: 'state',
      title: 'State',
      cell: (operation) => <State operation={operation} outcome={outcomes.get(operation.operation)} />,
    },
  ];
}

/** What the tool leaves out of the operation. */
function Notes({ notes }: { notes: string[] }) {
  if (notes.length === 0) return null;
  return (
    <details className="small">
      <summary>{notes.length === 1 ? '1 note' : `${notes.length} notes`}</summary>
      <ul>
        {notes.map((note) => (
          <li key={note}>{note}</li>
        ))}
      </ul>
    </details>
  );
}

function State({
  operation: { reason, toolId, changedFields, deprecated },
  outcome,
}: {
  operation: OpenApiOperation;
  outcome?: Outcome;
}) {
  if (outcome?.state === 'running') return <Badge>making it…</Badge>;
  if (outcome?.state === 'made') return <a href={`#/tools/${outcome.toolId}`}>made</a>;
  if (outcome?.state === 'failed')
    return (
      <span className="small bad-text" role="alert">
        {outcome.message}
      </span>
    );
  if (reason) return <span className="small">Cannot be a tool: {reason}</span>;
  if (toolId)
    return (
      <span className="small">
        <a href={`#/tools/${toolId}`}>here already</a>
        {changedFields.length > 0 ? `; it would change: ${changedFields.join(', ')}` : ', as it is'}
      </span>
    );
  return deprecated ? <Badge tone="warn">deprecated</Badge> : <Badge>new</Badge>;
}
