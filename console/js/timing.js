// The stages of a turn as bars on one time scale.
import { duration, h } from './dom.js';

const stageNames = {
  lease: 'Waiting, beginning',
  history: 'Reading the history',
  memory: 'Remembering the user',
  retrieval: 'Finding passages',
  tool_list: 'Listing tools',
  model_queue: 'Waiting for the model',
  model: 'Model',
  tools: 'Tools',
  persistence: 'Writing it down',
};

/** The bars of a turn: [{ name, from, ms, kind }], from its receipt if there is one. */
export function stagesOf(turn, receipt) {
  const bars = receipt?.stages?.length ? fromReceipt(receipt) : fromTurn(turn);
  const whole = Date.parse(turn.ended_at ?? '') - Date.parse(turn.started_at ?? '');
  const end = Math.max(
    turn.metrics?.total_ms ?? 0,
    Number.isFinite(whole) ? whole : 0,
    ...bars.map((b) => b.from + b.ms),
    0,
  );
  bars.push({ name: 'Whole turn', from: 0, ms: end, kind: 'total' });
  return { bars, end: Math.max(end, 1) };
}

function fromReceipt({ stages, model_calls: models = [], tool_calls: calls = [] }) {
  const bars = [];
  for (const { stage, start_ms: from = 0, duration_ms: ms = 0 } of stages) {
    if (stage === 'tools' && calls.length > 0) continue; // each call has its own bars
    bars.push({ name: stageNames[stage] ?? stage.replaceAll('_', ' '), from, ms, kind: stage });
  }
  for (const m of models)
    if (m.first_token_ms)
      bars.push({ name: 'Model, first token', from: m.start_ms ?? 0, ms: m.first_token_ms, kind: 'model_first_token' });
  for (const c of calls) {
    const from = c.start_ms ?? 0;
    // A call starts when it is approved or refused; its round started with the request for
    // approval.
    const asked = Math.max(
      0,
      ...stages
        .filter((s) => s.stage === 'tools')
        .map((s) => s.start_ms ?? 0)
        .filter((start) => start <= from),
    );
    if (c.approval) bars.push({ name: 'Waiting for approval', from: asked, ms: from - asked, kind: 'approval' });
    bars.push({ name: `Tool ${c.slug}`, from, ms: c.latency_ms ?? 0, kind: 'tools' });
  }
  return bars.sort((a, b) => a.from - b.from || b.ms - a.ms);
}

/** The bars of a turn without a receipt: its stages follow each other. */
function fromTurn(turn) {
  const { retrieval_ms: retrieval = 0, model_first_token_ms: first = 0 } = turn.metrics ?? {};
  const bars = [];
  if (turn.retrieval || retrieval > 0)
    bars.push({ name: stageNames.retrieval, from: 0, ms: retrieval, kind: 'retrieval' });
  bars.push({ name: 'Model, first token', from: retrieval, ms: first, kind: 'model_first_token' });
  const began = Date.parse(turn.started_at ?? '');
  for (const one of turn.tool_calls ?? []) {
    const from = Date.parse(one.started_at ?? '') - began;
    bars.push({
      name: `Tool ${one.slug}`,
      from: Number.isFinite(from) ? Math.max(0, from) : 0,
      ms: one.latency_ms ?? 0,
      kind: 'tools',
    });
  }
  return bars;
}

const width = 640,
  left = 170,
  right = 70,
  row = 22;

/** The bars as a picture, with a text for screen readers. */
export function waterfall(turn, receipt) {
  const { bars, end } = stagesOf(turn, receipt);
  const scale = (width - left - right) / end;
  const words = bars.map((b) => `${b.name}: ${duration(b.ms)}`).join(', ');
  const picture = h('svg', {
    'class': 'waterfall',
    'viewBox': `0 0 ${width} ${bars.length * row + 4}`,
    'role': 'img',
    'aria-label': `Where the time went. ${words}.`,
  });
  bars.forEach((bar, i) => {
    const y = i * row + 2,
      x = left + bar.from * scale,
      w = Math.max(2, bar.ms * scale);
    picture.append(
      h(
        'g',
        { class: `bar ${bar.kind}` },
        h('title', {}, `${bar.name}: from ${duration(bar.from)}, ${duration(bar.ms)}`),
        h(
          'text',
          { 'x': left - 8, 'y': y + 14, 'text-anchor': 'end' },
          bar.name.length > 25 ? `${bar.name.slice(0, 24)}…` : bar.name,
        ),
        h('rect', { x: x.toFixed(1), y: y + 3, width: w.toFixed(1), height: row - 8, rx: 2 }),
        h('text', { x: (x + w + 6).toFixed(1), y: y + 14 }, duration(bar.ms)),
      ),
    );
  });
  return h(
    'div',
    { 'class': 'scroll', 'tabindex': '0', 'role': 'region', 'aria-label': 'Where the time went' },
    picture,
  );
}
