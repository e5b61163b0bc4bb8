// A service that sends what an attacker would have it send: everything is text.
import assert from 'node:assert/strict';
import { findings, open, playService, say } from './page.mjs';
import { until } from './site.mjs';

const image = '<img src=x onerror="window.owned = 1">';
const script = '<script>window.owned = 2</script>';
const text = [
  `${image} ${script}`,
  '[one](javascript:window.owned=3) [two](data:text/html,<b>x</b>) [three](JaVaScRiPt:alert) [four](//evil.example/)',
  '[good](https://example.org/a?b=c) https://example.org/bare. <a href="javascript:1">five</a>',
  `- **${image}**`,
  '- `' + script + '`',
  '```',
  script,
  '```',
].join('\n');

/** The events of an answer to a message. */
function events() {
  const place = { response_id: 'resp_1', item_id: 'item_1' };
  const call = { id: 'item_c', type: 'mcp_call', name: `refund${image}`, arguments: '' };
  const approval = { id: 'item_a', type: 'mcp_approval_request', name: `pay_${script}`, arguments: JSON.stringify({ [image]: script }) };
  const citation = { source_id: 's', source_name: image, heading: script, chunk_id: 'c', similarity: 1, excerpt: `${image}${script}` };
  return [
    { type: 'parlance.handover', status: 'operator', operator: `Ruth ${image}` },
    { type: 'response.created', response: { id: 'resp_1' } },
    { type: 'response.output_item.added', ...place, item: call },
    { type: 'response.output_item.done', ...place, item: { ...call, error: { message: script } } },
    { type: 'response.output_text.delta', ...place, delta: text },
    { type: 'parlance.citations', response_id: 'resp_1', citations: [citation] },
    { type: 'response.output_item.done', ...place, item: approval },
  ];
}

/** Checks that a page shows it all, and runs none of it. */
export async function hostile(chromium, url) {
  const decisions = [];
  const page = await open(chromium, url, {
    prepare: (page) =>
      playService(page, url, (event, send) => {
        if (event.item?.type === 'mcp_approval_response') {
          decisions.push(event.item);
          return send({ type: 'response.done', response: { id: 'resp_1', status: 'completed', output: [] } });
        }
        if (event.item) send({ type: 'conversation.item.added', item: event.item });
        if (event.type === 'response.create') for (const one of events()) send(one);
      }),
  });
  await page.locator('.launcher').click();
  await say(page, image);
  await page.locator('.sources summary').click();
  await page.locator('.approval').waitFor();
  assert.equal(await page.evaluate(() => window.owned), undefined);
  const inside = page.locator('.panel');
  assert.equal(await inside.locator('img, script, iframe, b').count(), 0);
  const links = await inside.locator('a').evaluateAll((all) => all.map((a) => [a.getAttribute('href'), a.rel]));
  assert.deepEqual(links, [
    ['https://example.org/a?b=c', 'noopener'],
    ['https://example.org/bare', 'noopener'],
  ]);
  const words = await inside.textContent();
  for (const part of [image, script, '[one](javascript:window.owned=3)', `Ruth ${image}`]) assert.ok(words.includes(part), part);
  assert.deepEqual(await findings(page), []);
  await page.getByRole('button', { name: 'Do not allow' }).click();
  await page.locator('.approval').waitFor({ state: 'detached' });
  await until('the decision', () => decisions.length > 0);
  assert.deepEqual(decisions.map((d) => [d.approval_request_id, d.approve]), [['item_a', false]]);
  assert.deepEqual(page.complaints, []);
  await page.context().close();
}
