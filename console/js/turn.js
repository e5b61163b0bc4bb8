// The card of a turn with all its details, for live and past turns.
import { copyButton, count, duration, facts, fill, h, json, notice, time } from './dom.js';
import { receiptOf, receiptView } from './receipt.js';
import { waterfall } from './timing.js';

/** The card of a turn. */
export function turnCard(turn) {
  const metrics = turn.metrics ?? {};
  const parts = [
    turn.user_text && bubble('user', turn.user_text),
    turn.agent_text && bubble('agent', heardText(turn.agent_text, turn.items)),
    !turn.user_text && !turn.agent_text && h('p', { class: 'help' }, 'Nothing was said in this turn.'),
    turn.error &&
      h(
        'p',
        { class: 'notice error' },
        `${turn.error.message ?? 'The turn failed.'} (${turn.error.code ?? 'unknown'})`,
      ),
  ];
  const head = [
    `Turn ${turn.index ?? 0}`,
    turn.status,
    metrics.total_ms && duration(metrics.total_ms),
    turn.usage?.model,
    turn.usage &&
      (turn.usage.input_tokens || turn.usage.output_tokens) &&
      `${turn.usage.input_tokens ?? 0} → ${turn.usage.output_tokens ?? 0} tokens`,
  ];
  return h(
    'article',
    { 'class': `turn ${turn.status}`, 'data-turn': turn.id, 'aria-label': `Turn ${turn.index ?? 0}` },
    h(
      'p',
      { class: 'head' },
      head.filter(Boolean).map((text) => h('span', {}, text)),
    ),
    parts,
    passages(turn),
    toolCalls(turn),
    items(turn),
    search(turn),
    timing(turn),
    receipt(turn),
    raw(turn),
  );
}

/** A message. */
export function bubble(who, text) {
  const names = { user: 'User', agent: 'Agent' };
  return h(
    'div',
    { class: `said ${who}` },
    h('span', { class: 'sr' }, `${names[who]}: `),
    h('div', { class: 'text', dir: 'auto' }, text),
  );
}

/**
 * A text of the agent with the words marked that were spoken and not heard. Items have their whole
 * `text`, and in `heard` what was heard of it if they were cut off.
 */
export function heardText(text, items = []) {
  const pieces = [];
  let done = 0;
  for (const { text: said, heard } of items) {
    const words = heard?.text ?? '';
    const begin = heard && said?.startsWith(words) ? text.indexOf(said, done) : -1;
    if (begin < 0) continue;
    const from = begin + words.length;
    const unheard = h('span', { class: 'unheard', title: 'Nobody heard this: the agent was interrupted.' });
    unheard.append(h('span', { class: 'sr' }, ' Not heard: '), text.slice(from, begin + said.length));
    pieces.push(text.slice(done, from), unheard);
    done = begin + said.length;
  }
  pieces.push(text.slice(done));
  return pieces;
}

/** The kinds of parts that the user has open; new cards open them too. */
const opened = new Set(['passages', 'tools']);

/** A part of the card, whose content is made when the part is opened. */
function part(kind, summary, make) {
  const body = h('div', { class: 'part' });
  let made = false;
  const show = () => {
    if (made || !details.open) return;
    made = true;
    fill(body, make(body));
  };
  const toggled = () => {
    opened[details.open ? 'add' : 'delete'](kind);
    show();
  };
  const details = h(
    'details',
    { class: kind, open: opened.has(kind) },
    h('summary', { onclick: () => setTimeout(toggled) }, summary),
    body,
  );
  show();
  return details;
}

function passages(turn) {
  const found = turn.citations ?? [];
  if (found.length === 0) return null;
  const quoted = found.filter((c) => c.quoted).length;
  return part('passages', `${count(found.length, 'passage')}${quoted ? `, ${quoted} quoted` : ''}`, () =>
    h(
      'ol',
      {},
      found.map((c) => passage(c, turn)),
    ),
  );
}

function passage(citation, turn) {
  const similarity = citation.similarity ?? 0;
  const pages = citation.page_start
    ? `page ${citation.page_start}${citation.page_end > citation.page_start ? `–${citation.page_end}` : ''}`
    : '';
  return h(
    'li',
    { class: citation.quoted ? 'quoted' : '' },
    h(
      'p',
      { class: 'source' },
      h('strong', {}, citation.source_name ?? citation.source_id),
      [citation.heading, pages].filter(Boolean).map((text) => h('span', {}, ` · ${text}`)),
      citation.quoted && h('span', { class: 'tag' }, 'quoted'),
    ),
    h(
      'p',
      { class: 'score' },
      h('meter', { 'min': 0, 'max': 1, 'value': similarity, 'aria-label': 'Similarity' }),
      ` similarity ${similarity.toFixed(3)} `,
      h('code', {}, citation.chunk_id),
    ),
    h('blockquote', { dir: 'auto' }, highlighted((citation.excerpt ?? '').replaceAll(/\n{2,}/g, '\n'), turn)),
  );
}

/** How many characters must be equal for a quote. */
const leastQuote = 24;

/** The range of the excerpt that has a sentence of the answer, or its beginning. */
function quoteIn(excerpt, sentence) {
  const from = excerpt.indexOf(sentence.slice(0, leastQuote));
  if (from < 0) return null;
  let length = leastQuote;
  while (length < sentence.length && excerpt[from + length] === sentence[length]) length++;
  return [from, from + length];
}

/**
 * The excerpt with the answer's quotes marked, or with the question's words when there are none.
 */
export function highlighted(excerpt, turn) {
  const said = turn.agent_text ?? '';
  const sentences = [...said.matchAll(/“([^”]+)/g)]
    .map((m) => m[1])
    .concat(said.split(/(?<=[.!?])\s+|\n+/))
    .flatMap((s) => s.split(/ ?… ?/))
    .filter((s) => s.length >= leastQuote);
  let ranges = sentences.map((s) => quoteIn(excerpt, s)).filter(Boolean);
  if (ranges.length === 0) {
    const words = new Set((turn.user_text ?? '').toLowerCase().match(/[\p{L}\p{N}]{4,}/gu) ?? []);
    ranges = [...excerpt.matchAll(/[\p{L}\p{N}]+/gu)]
      .filter((m) => words.has(m[0].toLowerCase()))
      .map((m) => [m.index, m.index + m[0].length]);
  }
  ranges.sort((a, b) => a[0] - b[0]);
  const pieces = [];
  let done = 0;
  for (const [from, to] of ranges) {
    if (to <= done) continue;
    pieces.push(excerpt.slice(done, Math.max(from, done)), h('mark', {}, excerpt.slice(Math.max(from, done), to)));
    done = to;
  }
  pieces.push(excerpt.slice(done));
  return pieces;
}

function toolCalls(turn) {
  const calls = turn.tool_calls ?? [];
  if (calls.length === 0) return null;
  const failed = calls.filter((c) => c.error).length;
  return part('tools', `${count(calls.length, 'tool call')}${failed ? `, ${failed} failed` : ''}`, () =>
    calls.map((c) =>
      h(
        'div',
        { class: `call ${c.error ? 'failed' : ''}` },
        h(
          'p',
          {},
          h('strong', {}, c.slug),
          ` · ${duration(c.latency_ms ?? 0)}`,
          c.status_code ? ` · HTTP ${c.status_code}` : '',
          c.attempts > 1 ? ` · ${c.attempts} attempts` : '',
        ),
        h('h4', {}, 'Arguments'),
        json(c.input ?? {}),
        c.error ? h('p', { class: 'notice error' }, `${c.error.message ?? ''} (${c.error.code ?? 'failed'})`) : null,
        c.output ? [h('h4', {}, 'Output'), json(c.output)] : null,
        c.assigned_variables?.length ? h('p', {}, `Set: ${c.assigned_variables.join(', ')}`) : null,
      ),
    ),
  );
}

const uses = {
  passage: 'given to the model',
  merged: 'part of its neighbour',
  duplicate: 'a better one says the same',
  over_budget: 'the prompt was full',
  crowded_out: 'others rank higher',
  below_floor: 'under the floor',
};

function search(turn) {
  const chunks = turn.retrieval?.chunks ?? [];
  if (!turn.retrieval) return null;
  const { ranking, embedding_model: model, min_similarity: floor = 0, rerank } = turn.retrieval;
  const cell = (value, digits) => h('td', {}, value ? value.toFixed(digits) : '–');
  return part('search', `Search: ${count(chunks.length, 'chunk')} considered`, () => [
    facts([
      ['Ranking', ranking],
      ['Embedding model', model],
      ['Least similarity', floor.toFixed(2)],
      ['Reranked', rerank],
    ]),
    chunks.length === 0
      ? h(
          'p',
          { class: 'help' },
          'Nothing was found. Are sources attached to the agent, and ready? parlance kb query shows what a question finds.',
        )
      : h(
          'div',
          { 'class': 'scroll', 'tabindex': '0', 'role': 'region', 'aria-label': 'Chunks considered' },
          h(
            'table',
            {},
            h(
              'thead',
              {},
              h(
                'tr',
                {},
                ['Chunk', 'Use', 'Similarity', 'Words', 'Fused', 'Rerank'].map((name) =>
                  h('th', { scope: 'col' }, name),
                ),
              ),
            ),
            h(
              'tbody',
              {},
              chunks.map((c) =>
                h(
                  'tr',
                  {},
                  h('td', {}, h('code', {}, c.chunk_id)),
                  h('td', {}, uses[c.use] ?? c.use),
                  cell(c.similarity, 3),
                  cell(c.word_score, 2),
                  cell(c.fused_score, 4),
                  cell(c.rerank_score, 3),
                ),
              ),
            ),
          ),
        ),
  ]);
}

function timing(turn) {
  if (!turn.metrics || turn.status === 'in_progress') return null; // all are 0 until the turn has ended
  return part('timing', 'Timing', (body) => {
    // The receipt has more stages than the transcript, which is shown when there is no receipt.
    receiptOf(turn)
      .then((found) => fill(body, waterfall(turn, found), rounds(turn)))
      .catch(() => {});
    return [waterfall(turn), rounds(turn)];
  });
}

const rounds = ({ metrics }) =>
  metrics?.tool_rounds
    ? h(
        'p',
        { class: 'help' },
        `${count(metrics.tool_rounds, 'round')} of tool calls${metrics.tool_rounds_exhausted ? ', as many as there may be' : ''}.`,
      )
    : null;

function receipt(turn) {
  if (turn.status === 'in_progress') return null; // a turn gets its receipt when it ends
  return part('receipt', 'Receipt', (body) => {
    receiptOf(turn).then(
      (found) => fill(body, receiptView(found, turn)),
      (failure) =>
        failure.status === 404
          ? fill(body, h('p', { class: 'help' }, 'No receipt: this turn has none.'))
          : notice(body, failure.message),
    );
    return h('p', { class: 'help' }, 'Fetching …');
  });
}

const itemNames = {
  user: 'User',
  assistant: 'Agent',
  system: 'Note of the application',
  function_call: 'Call',
  function_call_output: 'Result',
};

/** The items that clients inserted, moved, removed or spoke. */
function items(turn) {
  const found = turn.items ?? [];
  if (found.length === 0) return null;
  return part('items', `${count(found.length, 'item')} that clients put in, moved, removed or spoke`, () =>
    h(
      'ul',
      {},
      found.map((i) =>
        h(
          'li',
          {},
          h('strong', {}, itemNames[i.kind] ?? i.kind),
          i.name ? ` ${i.name}` : '',
          i.put_in && h('span', { class: 'tag' }, 'put in'),
          i.removed && h('span', { class: 'tag failed' }, 'removed'),
          i.spoken && h('span', { class: 'tag' }, 'spoken'),
          i.heard && h('span', { class: 'tag' }, 'cut off'),
          ' ',
          h('code', {}, i.id),
          i.text ? h('blockquote', { dir: 'auto' }, i.text) : null,
        ),
      ),
    ),
  );
}

function raw(turn) {
  return part('raw', 'As JSON', () => [
    h(
      'p',
      { class: 'row' },
      h('code', {}, turn.id),
      ' ',
      time(turn.started_at),
      copyButton('Copy', () => JSON.stringify(turn, null, 2)),
    ),
    json(turn),
  ]);
}
