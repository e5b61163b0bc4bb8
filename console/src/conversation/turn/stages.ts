// Where the time of a turn went.

import { timestampMs, type Timestamp } from '@bufbuild/protobuf/wkt';

import type { Turn, TurnReceipt } from '#gen/sessions_pb';

/** A stretch of time, in milliseconds from the turn's beginning. */
export interface Stage {
  name: string;
  from: number;
  ms: number;
  tone: 'model' | 'tool' | 'search' | 'wait' | 'total' | 'other';
}

const names: Record<string, [string, Stage['tone']]> = {
  endpointing: ['Hearing the end of the speech', 'wait'],
  transcript: ['Understanding the speech', 'search'],
  lease: ['Waiting, beginning', 'wait'],
  history: ['Reading the history', 'other'],
  memory: ['Remembering the user', 'search'],
  retrieval: ['Finding passages', 'search'],
  tool_list: ['Listing tools', 'other'],
  model_queue: ['Waiting for the model', 'wait'],
  model: ['Model', 'model'],
  judge: ['Judge of guards', 'model'],
  tools: ['Tools', 'tool'],
  persistence: ['Writing it down', 'other'],
};

function ofReceipt({ stages, modelCalls, toolCalls }: TurnReceipt): Stage[] {
  const rounds = stages.filter(({ stage }) => stage === 'tools').map(({ startMs }) => startMs);
  const bars = stages
    .filter(({ stage }) => stage !== 'tools' || toolCalls.length === 0) // each call has its own bar
    .map(({ stage, startMs, durationMs }): Stage => {
      const [name, tone] = names[stage] ?? [stage.replaceAll('_', ' '), 'other'];
      return { name, from: startMs, ms: durationMs, tone };
    });
  for (const { firstTokenMs, startMs } of modelCalls)
    if (firstTokenMs > 0) bars.push({ name: 'Model, first token', from: startMs, ms: firstTokenMs, tone: 'model' });
  for (const { slug, startMs, latencyMs, approval } of toolCalls) {
    // A call starts when it is allowed or refused; its round started with the question.
    const asked = Math.max(0, ...rounds.filter((start) => start <= startMs));
    if (approval) bars.push({ name: 'Waiting for approval', from: asked, ms: startMs - asked, tone: 'wait' });
    bars.push({ name: `Tool ${slug}`, from: startMs, ms: latencyMs, tone: 'tool' });
  }
  return bars;
}

/** Milliseconds from one time to another; 0 when one of them is not known. */
export const between = (from: Timestamp | undefined, to: Timestamp | undefined) =>
  from && to ? Math.max(0, timestampMs(to) - timestampMs(from)) : 0;

/** Without a receipt the stages follow each other. */
function ofTurn({ metrics, toolCalls, startedAt }: Turn): Stage[] {
  const searched = metrics?.retrievalMs ?? 0;
  const bars: Stage[] = [];
  if (searched > 0) bars.push({ name: 'Finding passages', from: 0, ms: searched, tone: 'search' });
  if (metrics?.modelFirstTokenMs)
    bars.push({ name: 'Model, first token', from: searched, ms: metrics.modelFirstTokenMs, tone: 'model' });
  for (const call of toolCalls)
    bars.push({
      name: `Tool ${call.slug}`,
      from: between(startedAt, call.startedAt),
      ms: call.latencyMs,
      tone: 'tool',
    });
  return bars;
}

/** How long a turn took, in milliseconds. */
export const lengthOf = (turn: Turn) => Math.max(turn.metrics?.totalMs ?? 0, between(turn.startedAt, turn.endedAt));

/** The stages of a turn in the order in which they begin, and the turn as a whole. */
export function stagesOf(turn: Turn, receipt?: TurnReceipt): Stage[] {
  const bars = receipt?.stages.length ? ofReceipt(receipt) : ofTurn(turn);
  const end = Math.max(lengthOf(turn), ...bars.map(({ from, ms }) => from + ms));
  return [
    ...bars.sort((a, b) => a.from - b.from || b.ms - a.ms),
    { name: 'Whole turn', from: 0, ms: end, tone: 'total' },
  ];
}
