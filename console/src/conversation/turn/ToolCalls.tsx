import type { ToolCall as Trace } from '#gen/tools_pb';
import type { ToolCall as Told } from '#sdk/session/index';

import { Badge } from '../../ui/Page';
import { duration } from '../../ui/format';
import { Json } from './Part';

/** A call of a tool, from a transcript or as a socket tells of it. */
export interface Call {
  id: string;
  name: string;
  isRunning: boolean;
  input: string;
  output: string;
  error: string;
  /** Time, HTTP status and so on, in words. */
  facts: string[];
  approval?: { status: string; reason: string };
  assigned: string[];
}

const times = (n: number) => (n === 1 ? '' : `${n} attempts`);

/** A call of a transcript. */
export function callOfTrace(trace: Trace): Call {
  return {
    id: trace.id,
    name: trace.slug,
    isRunning: false,
    input: trace.inputJson || '{}',
    output: trace.output,
    error: trace.error ? `${trace.error.message} (${trace.error.code})` : '',
    facts: [
      duration(trace.latencyMs),
      trace.statusCode ? `HTTP ${trace.statusCode}` : '',
      trace.attempts > 1 ? times(trace.attempts) : '',
    ].filter(Boolean),
    approval: trace.approval && { status: trace.approval.status, reason: trace.approval.reason },
    assigned: trace.assignedVariables,
  };
}

/** A call that a socket has told of. */
export const callOfTold = ({ id, name, status, arguments: input, output = '', error = '' }: Told): Call => ({
  id,
  name,
  isRunning: status === 'running',
  input: input || '{}',
  output,
  error,
  facts: [],
  assigned: [],
});

/** Calls of tools, with what went in and what came out. */
export function ToolCalls({ calls }: { calls: readonly Call[] }) {
  return (
    <ul className="calls">
      {calls.map((call) => (
        <li key={call.id} className="stack">
          <div className="row">
            <strong className="mono">{call.name}</strong>
            {call.isRunning ? (
              <Badge>runs</Badge>
            ) : call.error ? (
              <Badge tone="bad">failed</Badge>
            ) : (
              <Badge tone="good">done</Badge>
            )}
            {call.approval && (
              <Badge tone={call.approval.status === 'approved' ? 'good' : 'warn'}>{call.approval.status}</Badge>
            )}
            <span className="dim small">{call.facts.join(' · ')}</span>
          </div>
          {call.approval?.reason && <p className="small">Reason: {call.approval.reason}</p>}
          <div className="grid-2">
            <div className="stack tight">
              <span className="label">Input</span>
              <Json text={call.input} label={`Input of ${call.name}`} />
            </div>
            {call.output && (
              <div className="stack tight">
                <span className="label">Output</span>
                <Json text={call.output} label={`Output of ${call.name}`} />
              </div>
            )}
          </div>
          {call.error && <p className="note bad">{call.error}</p>}
          {call.assigned.length > 0 && <p className="small">Variables set: {call.assigned.join(', ')}</p>}
        </li>
      ))}
    </ul>
  );
}
