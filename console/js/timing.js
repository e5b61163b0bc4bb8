// Where a turn's time went, as bars on one scale.
import { duration, h } from './dom.js';

const stageNames = {
  queue: 'Waiting for its turn', lease: 'Waiting for its turn', prepare: 'Preparing', retrieval: 'Finding passages', prompt: 'Prompt',
  model_first_token: 'Model, first token', model: 'Model', model_total: 'Model', tools: 'Tools', persistence: 'Writing it down',
};

/** The bars of a turn: [{ name, from, ms, kind }], from the receipt's stages where there are some. */
export function stagesOf(turn, receipt) {
  const listed = receipt?.stages ?? receipt?.latency?.stages ?? [];
  const total = turn.metrics?.total_ms ?? 0;
  const bars = [];
  if (Array.isArray(listed) && listed.length > 0) {
    for (const stage of listed) {
      const name = stage.name ?? stage.stage ?? 'stage';
      bars.push({ name: stageNames[name] ?? name.replaceAll('_', ' '), from: stage.start_ms ?? stage.offset_ms ?? 0, ms: stage.duration_ms ?? stage.ms ?? 0, kind: name });
    }
  } else if (turn.metrics) {
    const { retrieval_ms: retrieval = 0, model_first_token_ms: first = 0 } = turn.metrics;
    if (turn.retrieval || retrieval > 0) bars.push({ name: stageNames.retrieval, from: 0, ms: retrieval, kind: 'retrieval' });
    bars.push({ name: stageNames.model_first_token, from: retrieval, ms: first, kind: 'model_first_token' });
  }
  const began = Date.parse(turn.started_at ?? '');
  for (const one of turn.tool_calls ?? []) {
    const from = Date.parse(one.started_at ?? '') - began;
    bars.push({ name: `Tool ${one.slug}`, from: Number.isFinite(from) ? Math.max(0, from) : 0, ms: one.latency_ms ?? 0, kind: 'tools' });
  }
  const end = Math.max(total, ...bars.map((b) => b.from + b.ms), 0);
  bars.push({ name: 'Whole turn', from: 0, ms: total || end, kind: 'total' });
  return { bars, end: Math.max(end, 1) };
}

const width = 640, left = 170, right = 70, row = 22;

/** The waterfall as a picture, and as a sentence for those who cannot see it. */
export function waterfall(turn, receipt) {
  const { bars, end } = stagesOf(turn, receipt);
  const scale = (width - left - right) / end;
  const words = bars.map((b) => `${b.name}: ${duration(b.ms)}`).join(', ');
  const picture = h('svg', { class: 'waterfall', viewBox: `0 0 ${width} ${bars.length * row + 4}`, role: 'img', 'aria-label': `Where the time went. ${words}.` });
  bars.forEach((bar, i) => {
    const y = i * row + 2, x = left + bar.from * scale, w = Math.max(2, bar.ms * scale);
    picture.append(h('g', { class: `bar ${bar.kind}` },
      h('title', {}, `${bar.name}: from ${duration(bar.from)}, ${duration(bar.ms)}`),
      h('text', { x: left - 8, y: y + 14, 'text-anchor': 'end' }, bar.name.length > 25 ? `${bar.name.slice(0, 24)}…` : bar.name),
      h('rect', { x: x.toFixed(1), y: y + 3, width: w.toFixed(1), height: row - 8, rx: 2 }),
      h('text', { x: (x + w + 6).toFixed(1), y: y + 14 }, duration(bar.ms))));
  });
  return picture;
}
