// A turn's receipt: what the answer was made from, under one hash.
import { call, path } from './api.js';
import { copyButton, duration, facts, h, json, notice } from './dom.js';

const receipts = new Map();

/** The receipt of a turn, which is fetched once. Rejects with a Failure. */
export function receiptOf(turn) {
  if (!receipts.has(turn.id)) {
    if (receipts.size > 200) receipts.clear();
    receipts.set(turn.id, call('GET', `sessions/${path(turn.session_id)}/turns/${path(turn.id)}/receipt`));
    receipts.get(turn.id).catch(() => receipts.delete(turn.id));
  }
  return receipts.get(turn.id);
}

const table = (label, names, rows) =>
  h(
    'div',
    { 'class': 'scroll', 'tabindex': '0', 'role': 'region', 'aria-label': label },
    h('h4', {}, label),
    h(
      'table',
      {},
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          names.map((name) => h('th', { scope: 'col' }, name)),
        ),
      ),
      h(
        'tbody',
        {},
        rows.map((cells) =>
          h(
            'tr',
            {},
            cells.map((cell) => h('td', {}, cell)),
          ),
        ),
      ),
    ),
  );

const short = (hash) => (hash ? h('code', { title: hash }, `${hash.slice(0, 12)}…`) : '–');

/** JSON with sorted keys and no spaces (RFC 8785), which the hash is computed from. */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical)}]`;
  if (value && typeof value === 'object')
    return `{${Object.keys(value)
      .sort()
      .map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`)}}`;
  return JSON.stringify(value);
}

/** Checks the hash: against the receipt, and against the hash in its turn. */
async function check({ hash, ...content }, turn) {
  if (!globalThis.crypto?.subtle)
    return ['hint', 'The hash is not checked here: browsers hash on https and localhost only.'];
  const sum = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(canonical(content)));
  const own = [...new Uint8Array(sum)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  if (own !== hash) return ['error', `The receipt was changed: its content has the hash ${own}.`];
  if (turn.receipt_hash && turn.receipt_hash !== hash)
    return ['error', `The turn has the hash of another receipt: ${turn.receipt_hash}.`];
  return ['hint', 'The hash was checked: it is that of the content, and the turn’s.'];
}

/** A receipt. The JSON at its end has all members. */
export function receiptView(receipt, turn) {
  const checked = h('div');
  check(receipt, turn).then(([kind, words]) => notice(checked, words, kind));
  const models = receipt.model_calls ?? [],
    found = receipt.passages ?? [],
    calls = receipt.tool_calls ?? [],
    guards = receipt.guard_verdicts ?? [];
  const { history, cost } = receipt;
  return [
    facts([
      ['Hash', receipt.hash && h('code', {}, receipt.hash)],
      ['Status', [receipt.status, receipt.error_code].filter(Boolean).join(': ')],
      [
        'Tokens',
        receipt.usage && `${receipt.usage.input_tokens ?? 0} read, ${receipt.usage.output_tokens ?? 0} written`,
      ],
      ['Cost', cost ? Object.values(cost).join(' ') : 'not known: the model has no price'],
      [
        'History',
        history &&
          `${history.turns ?? 0} turns whole, about ${history.tokens ?? 0} tokens` +
            (history.summarized_turns ? `, ${history.summarized_turns} in a summary` : ''),
      ],
      ['Memory', `${receipt.memory_read?.length ?? 0} read, ${receipt.memory_written?.length ?? 0} written`],
    ]),
    checked,
    models.length > 0 &&
      table(
        'Calls of the model',
        ['Model', 'Prompt hash', 'Messages', 'Tools', 'First token', 'Whole', 'Ended by', 'Tried before'],
        models.map((m) => [
          [m.provider, m.model].filter(Boolean).join(' '),
          short(m.prompt_hash),
          m.messages ?? 0,
          m.tools ?? 0,
          duration(m.first_token_ms ?? 0),
          duration(m.duration_ms ?? 0),
          m.error_code || m.finish_reason || '–',
          (m.attempts ?? [])
            .filter((a) => a.error_code)
            .map((a) => `${a.provider}: ${a.error_code}`)
            .join(', ') || '–',
        ]),
      ),
    found.length > 0 &&
      table(
        'Passages',
        ['Source', 'Similarity', 'Characters', 'Pages', 'Text hash', ''],
        found.map((p) => [
          p.source_name,
          (p.similarity ?? 0).toFixed(3),
          `${p.char_start ?? 0}–${p.char_end ?? 0}`,
          p.page_start ? `${p.page_start}–${p.page_end}` : '–',
          short(p.text_hash),
          p.quoted ? 'quoted' : '',
        ]),
      ),
    calls.length > 0 &&
      table(
        'Calls of tools',
        ['Tool', 'Status', 'Arguments hash', 'Output hash', 'From', 'Took'],
        calls.map((c) => [
          c.slug,
          [c.status, c.error_code].filter(Boolean).join(': '),
          short(c.arguments_hash),
          short(c.output_hash),
          duration(c.start_ms ?? 0),
          duration(c.latency_ms ?? 0),
        ]),
      ),
    guards.length > 0 &&
      table(
        'Guards',
        ['Guard', 'Verdict', 'About', 'Rule'],
        guards.map((g) => [g.guard, g.verdict, g.subject, g.rule]),
      ),
    h(
      'p',
      { class: 'row' },
      copyButton('Copy the receipt', () => JSON.stringify(receipt)),
    ),
    h('details', {}, h('summary', {}, 'The receipt as JSON'), json(receipt)),
  ];
}
