// The widget on the page of examples/widget, which is another origin than its Parlance's.
//
//	node widget.mjs
//
// PARLANCE and SITE name programs that are built: parlance, and that of examples/widget. CHROMIUM
// names another browser. SCREENSHOTS=../../docs/images keeps the pictures of the documentation.
// Exits with 1 when a check fails.
import assert from 'node:assert/strict';
import http from 'node:http';
import { answer, browser, findings, open, playService, pressTwice, say, stopTime, withScript, withSession } from './page.mjs';
import { hostile } from './hostile.mjs';
import { cleanUp, parlance, site, until } from './site.mjs';
import { troubles } from './trouble.mjs';

const seen = (words) => console.log(`  ✓ ${words}`);
const question = 'How are webhooks signed?';

const picture = async (page, name, options = {}) => {
  if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/widget-${name}.png`, ...options });
};

/** The focused element within the widget. */
const focused = (page) =>
  page.evaluate(() => {
    const active = document.activeElement?.shadowRoot?.activeElement;
    return active && (active.getAttribute('aria-label') ?? active.tagName.toLowerCase());
  });

/** Moves the focus to the first element of the widget, by keyboard. */
async function toLauncher(page) {
  const first = await until('a key arrives: Chromium drops those before a page was painted', async () => {
    await page.keyboard.press('Tab');
    return focused(page);
  });
  assert.equal(first, 'Open the chat: Ask us');
}

async function byKeyboard(chromium, url) {
  const page = await open(chromium, url);
  await toLauncher(page);
  await page.keyboard.press('Enter');
  await answer(page, 'Hello, I am Ada');
  assert.equal(await focused(page), 'Write a message');
  const told = page.locator('[aria-live=polite]');
  await told.evaluate((region) => {
    window.told = [];
    const options = { childList: true, characterData: true, subtree: true };
    new MutationObserver(() => window.told.push(region.textContent)).observe(region, options);
  });
  await page.keyboard.type(question);
  await page.keyboard.press('Enter');
  await answer(page, 'HMAC-SHA256');
  await page.keyboard.press('Shift+Tab');
  while ((await focused(page)) !== 'summary') await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Enter');
  await page.locator('.sources blockquote', { hasText: 'HMAC-SHA256' }).first().waitFor();
  await until('screen readers are told the whole answer', () => page.evaluate(() => /HMAC-SHA256/.test(window.told.join())));
  await until('nobody reads it a second time', async () => (await told.textContent()) === '');
  assert.deepEqual(await findings(page), []);
  await page.keyboard.press('Escape');
  await page.locator('.panel').waitFor({ state: 'detached' });
  assert.equal(await focused(page), 'Open the chat: Ask us');
  assert.deepEqual(page.complaints, []);
  await page.context().close();
  seen('by keyboard alone: open, ask, the answer with its sources, and close');
}

/** What happens before the browser draws the next frame. */
async function betweenFrames(chromium, url) {
  const place = { response_id: 'resp_1', item_id: 'item_1' };
  const page = await open(chromium, url, {
    async prepare(page) {
      await stopTime(page);
      await playService(page, url, ({ type }, send) => {
        if (type !== 'response.create') return;
        send({ type: 'parlance.handover', status: 'operator', operator: 'Ruth' });
        send({ type: 'response.created', response: { id: 'resp_1' } });
        send({ type: 'response.output_text.done', ...place, text: 'Good morning.' });
        send({ type: 'response.done', response: { id: 'resp_1', status: 'completed', output: [] } });
      });
    },
  });
  await page.evaluate(() => window.Parlance.on('answer', () => (window.isAnswered = true)));
  await toLauncher(page);
  await page.keyboard.press('Enter');
  assert.equal(await focused(page), 'Write a message');
  await page.keyboard.type('Hello');
  assert.equal(await page.locator('.composer textarea').inputValue(), 'Hello', 'the first keys are not lost');
  await page.keyboard.press('Enter');
  await until('the answer', () => page.evaluate(() => window.isAnswered));
  await page.clock.runFor(1_000);
  const told = await page.locator('[aria-live=polite] p').allTextContents();
  assert.equal(told.length, 2, told.join());
  assert.match(told[0], /Ruth/);
  assert.equal(told[1], 'Good morning.');
  await page.keyboard.press('Escape');
  assert.equal(await focused(page), 'Open the chat: Ask us');
  assert.deepEqual(page.complaints, []);
  await page.context().close();

  const early = await open(chromium, url, {
    async prepare(page) {
      await stopTime(page);
      await page.route('**/api/parlance-session', () => {});
      await page.addInitScript(() => document.addEventListener('load', () => window.Parlance?.open(), true));
    },
  });
  await early.locator('.panel').waitFor();
  await early.context().close();
  seen('before the next frame: the panel opens, no key is lost, and screen readers are told everything');
}

async function looks(chromium, url) {
  for (const width of [390, 1280])
    for (const colorScheme of ['light', 'dark']) {
      const viewport = { width, height: width === 390 ? 780 : 800 };
      const page = await open(chromium, url, { viewport, colorScheme });
      await page.locator('.launcher').click();
      await answer(page, 'Hello, I am Ada');
      await say(page, question);
      await answer(page, 'HMAC-SHA256');
      await page.locator('.sources').waitFor();
      assert.deepEqual(await findings(page), [], `${width} px, ${colorScheme}`);
      const small = await page.evaluate(() =>
        [...document.querySelector('[data-mode]').shadowRoot.querySelectorAll('button, summary, textarea')]
          .map((e) => ({ name: e.getAttribute('aria-label') ?? e.textContent, box: e.getBoundingClientRect() }))
          .filter(({ box }) => box.height < 44 || box.width < 44)
          .map(({ name }) => name),
      );
      assert.deepEqual(small, [], 'too small to tap');
      const box = await page.locator('.panel').boundingBox();
      if (width === 390) assert.deepEqual(box, { x: 0, y: 0, width, height: 780 }, 'it covers a small screen');
      else assert.ok(box.width <= 400 && box.x > 700, JSON.stringify(box));
      if ((width === 390) === (colorScheme === 'dark')) await picture(page, width === 390 ? 'phone' : 'page');
      assert.deepEqual(page.complaints, []);
      await page.context().close();
    }
  seen('390 and 1280 px, dark and light: nothing that axe finds, and large enough to tap');
}

async function enlarged(chromium, url) {
  const page = await open(chromium, url, { viewport: { width: 640, height: 400 }, reducedMotion: 'reduce' });
  await page.locator('.launcher').click();
  await answer(page, 'Hello, I am Ada');
  const box = await page.locator('.panel').boundingBox();
  assert.ok(box.y >= 0 && box.y + box.height <= 400, JSON.stringify(box));
  const field = await page.locator('.composer textarea').boundingBox();
  assert.ok(field.y + field.height <= 400, JSON.stringify(field));
  await page.context().close();
  seen('a page at 200%: everything can be reached');
}

async function languages(chromium, url) {
  const page = await open(chromium, url, withScript('data-lang="de-CH" data-position="left" data-dir="rtl" data-color="#ffe08a"'));
  await page.locator('.launcher').click();
  await page.getByRole('dialog', { name: 'Fragen Sie uns' }).waitFor();
  const { x } = await page.locator('.panel').boundingBox();
  assert.ok(x < 40, 'it is on the left');
  const color = await page.locator('header').evaluate((e) => getComputedStyle(e).color);
  assert.equal(color, 'rgb(0, 0, 0)', 'words on a light colour are black');
  assert.deepEqual(await findings(page), []);
  await page.context().close();
  seen('German, from right to left, on the left, in a light colour');
}

async function refusals(chromium, url) {
  const key = `prl_${'a1B2'.repeat(12)}c`;
  for (const [status, body, words, logged] of [
    [200, JSON.stringify({ chat_url: 'wss://example.org/', api_key: key }), 'not set up correctly', /answers with an API key/],
    [200, '{"chat_url": "javascript:alert(1)"}', 'not set up correctly', /must answer/],
    [401, '{}', 'Please sign in', /answers 401/],
    [429, '{}', 'wait a minute', /answers 429/],
    [500, 'oops', 'not available at the moment', /answers 500/],
  ]) {
    const page = await open(chromium, url, withSession(status, body));
    await page.locator('.launcher').click();
    await page.getByRole('alert').filter({ hasText: words }).waitFor();
    assert.ok(page.complaints.some((c) => logged.test(c)), page.complaints.join('\n'));
    assert.ok(!page.complaints.join().includes(key), 'a key is not repeated');
    await page.unroute('**/api/parlance-session');
    await page.getByRole('button', { name: 'Try again' }).click();
    await answer(page, 'Hello, I am Ada');
    await page.context().close();
  }
  seen('a back end that answers a key, nonsense or an error is refused, with what to do');
}

/** A Parlance that refuses the page's origin. */
async function wrongOrigin(chromium, url) {
  const server = http.createServer();
  server.on('upgrade', (_, socket) => {
    socket.end('HTTP/1.1 403 Forbidden\r\nContent-Type: application/problem+json\r\n\r\n{"code": "origin-not-allowed"}');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const chat_url = `ws://127.0.0.1:${server.address().port}/v1/realtime/chat/ses_1`;
  const page = await open(chromium, url, {
    bypassCSP: true, // the page allows connections to its Parlance only
    ...withSession(200, JSON.stringify({ chat_url })),
  });
  await page.locator('.launcher').click();
  await page.getByRole('alert').filter({ hasText: 'Could not connect' }).waitFor();
  assert.ok(page.complaints.some((c) => /allowed_origins/.test(c)), page.complaints.join('\n'));
  await page.context().close();
  server.close();
  seen('a refused origin: it could not connect, and the console says what to check');
}

async function restarted(chromium, url, service) {
  const page = await open(chromium, url);
  await page.locator('.launcher').click();
  await say(page, question);
  await answer(page, 'HMAC-SHA256');
  await service.stop();
  await page.getByText('The connection was lost.').waitFor();
  await page.locator('.composer textarea').fill('/tool order_status {"order_id": "A-1001"}');
  await page.keyboard.press('Enter');
  await service.start();
  await answer(page, 'Northwind Express');
  await page.getByText('The connection was lost.').waitFor({ state: 'detached' });
  await page.getByText('Done: order status').waitFor();
  assert.equal(await page.locator('.message.user').count(), 2);
  await page.context().close();
  seen('a restarted server: what was said meanwhile is answered, once');
}

async function api(chromium, url) {
  const page = await open(chromium, url);
  await page.evaluate(() => {
    window.heard = [];
    try {
      window.Parlance.on('open');
    } catch (error) {
      window.refused = String(error);
    }
    for (const type of ['open', 'close', 'answer', 'ended']) window.Parlance.on(type, (detail) => window.heard.push([type, detail]));
    window.Parlance.setContext({ page: 'lamps' });
  });
  assert.match(await page.evaluate(() => window.refused), /^TypeError: Parlance.on\('open', listener\) needs a function/);
  const asked = page.waitForRequest('**/api/parlance-session');
  await page.evaluate(() => window.Parlance.open());
  assert.deepEqual((await asked).postDataJSON(), { page: 'lamps' });
  await answer(page, 'Hello, I am Ada');
  await pressTwice(page, 'New conversation');
  await say(page, question);
  await answer(page, 'HMAC-SHA256');
  await until('the page is told the answer', () =>
    page.evaluate(() => window.heard.some(([type, { text }]) => type === 'answer' && /HMAC-SHA256/.test(text))),
  );
  await page.evaluate(() => window.Parlance.close());
  const types = (await page.evaluate(() => window.heard)).map(([type]) => type);
  assert.deepEqual([types[0], types.at(-1)], ['open', 'close']);
  assert.equal(types.filter((type) => type === 'ended').length, 1, types.join());
  await page.evaluate(() => {
    window.Parlance.destroy();
    const place = document.createElement('section');
    document.querySelector('main').append(place);
    window.Parlance.mount(place);
  });
  await page.getByRole('region', { name: 'Ask us' }).getByRole('textbox').focus();
  await answer(page, 'Hello, I am Ada');
  assert.equal(await page.locator('.launcher').count(), 0);
  assert.deepEqual(page.complaints, []);
  await page.context().close();
  seen('the API: open, context, events, a new conversation, and a panel within the page');
}

const chromium = await browser();
try {
  const service = await parlance();
  const url = await site(service.env);
  await byKeyboard(chromium, url);
  await betweenFrames(chromium, url);
  await looks(chromium, url);
  await enlarged(chromium, url);
  await languages(chromium, url);
  await api(chromium, url);
  await hostile(chromium, url, picture).then(() => seen('hostile names, texts, passages and URLs are text'));
  await refusals(chromium, url);
  await wrongOrigin(chromium, url);
  await troubles(chromium, await site(service.env), service.env, seen); // another site, because each counts its sessions
  await restarted(chromium, url, service);
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await chromium.close();
  await cleanUp();
}
