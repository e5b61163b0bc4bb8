// Tests of the console that load its modules in the page and call them, for what the extractive
// responder does not do.
import assert from 'node:assert/strict';

/** Which requests are open after each event, and the bars of a turn's stages. */
export async function requestsAndStages(page) {
  const seen = await page.run(async () => {
    const load = (name) => import(new URL(`js/${name}.js`, document.baseURI.replace(/#.*/, '')));
    const [{ Requests }, { stagesOf }] = await Promise.all([load('requests'), load('timing')]);
    const left = document.querySelector('#theme');
    const requests = new Requests(() => true, { toolSeconds: 7, left });
    document.querySelector('main').append(requests.element);
    const done = (item) => requests.take({ type: 'response.output_item.done', response_id: 'resp_1', item });
    const ask = (id, euro) =>
      done({ type: 'mcp_approval_request', id, name: 'refund', arguments: `{"euro": ${euro}}` });
    const made = (euro) => done({ type: 'mcp_call', name: 'refund', arguments: `{"euro": ${euro}}` });
    const open = () =>
      [...requests.element.querySelectorAll('form')].map((f) =>
        f.querySelector('pre').textContent.replaceAll(/\s/g, ''),
      );
    const steps = {};
    ask('mcpr_1', 1);
    ask('mcpr_2', 2);
    made(2);
    steps.another = open();
    ask('mcpr_3', 1);
    requests.element.querySelector('button').focus();
    requests.element.querySelector('button').click(); // approves the first call
    steps.next = requests.element.contains(document.activeElement);
    made(1);
    steps.alike = open();
    requests.take({ type: 'response.done', response: { id: 'resp_1' } });
    steps.stopped = open();

    const tool = (id) => done({ type: 'function_call', call_id: id, name: 'show_map', arguments: '{}' });
    const late = (id) =>
      requests.take({
        type: 'conversation.item.added',
        item: { type: 'function_call_output', call_id: id, output: '{"error": "timeout"}' },
      });
    tool('call_1');
    steps.limit = requests.element.innerText.includes('waits 7 s');
    late('call_1');
    steps.untouched = open();
    tool('call_2');
    const area = requests.element.querySelector('textarea');
    area.value = 'half writ';
    area.focus();
    late('call_2');
    steps.kept = {
      text: requests.element.querySelector('textarea')?.value,
      locked: area.readOnly,
      told: requests.element.innerText.includes('timeout'),
      said: document.getElementById('status').textContent,
    };
    requests.element.querySelector('button').focus();
    requests.element.querySelector('button').click();
    steps.away = { open: open(), focus: document.activeElement === left, hidden: requests.element.hidden };

    const { bars } = stagesOf(
      {},
      {
        stages: [
          { stage: 'model', start_ms: 5, duration_ms: 10 },
          { stage: 'tools', start_ms: 20, duration_ms: 3000 },
        ],
        tool_calls: [
          { slug: 'refund', start_ms: 2800, latency_ms: 200, approval: { status: 'approved' } },
          { slug: 'look', start_ms: 20, latency_ms: 30 },
        ],
      },
    );
    steps.bars = bars.map((b) => `${b.name} ${b.from}+${b.ms}`);
    return steps;
  });
  assert.deepEqual(seen, {
    another: ['{"euro":1}'],
    alike: ['{"euro":1}'],
    next: true,
    stopped: [],
    limit: true,
    untouched: [],
    kept: {
      text: 'half writ',
      locked: true,
      told: true,
      said: 'Too late for show_map. The agent waits for it no longer.',
    },
    away: { open: [], focus: true, hidden: true },
    bars: [
      'Model 5+10',
      'Waiting for approval 20+2780',
      'Tool look 20+30',
      'Tool refund 2800+200',
      'Whole turn 0+3000',
    ],
  });
}

/** Approves a call. The service's own tests have approvals of real calls over MCP. */
export async function approvals(page) {
  const sent = await page.run(async () => {
    const { Requests } = await import(new URL('js/requests.js', document.baseURI.replace(/#.*/, '')));
    const out = [];
    const requests = new Requests((event) => out.push(event));
    document.querySelector('main').append(requests.element);
    requests.take({
      type: 'response.output_item.done',
      item: { type: 'mcp_approval_request', id: 'mcpr_1', name: 'refund', arguments: '{"euro": 3}' },
    });
    const asked = requests.element.innerText;
    [...requests.element.querySelectorAll('button')].find((b) => b.textContent === 'Approve').click();
    return { asked, out, open: !requests.element.hidden };
  });
  assert.match(sent.asked, /May the agent call refund\?[^]*"euro": 3/);
  assert.deepEqual(sent.out, [
    {
      type: 'conversation.item.create',
      item: { type: 'mcp_approval_response', approval_request_id: 'mcpr_1', approve: true },
    },
  ]);
  assert.equal(sent.open, false);
}
