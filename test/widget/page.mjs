// A page with the widget in a headless Chromium.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** How long a machine that is busy may take for a step. */
const patienceMS = 180_000;

/** Starts the browser, with more arguments. */
export const browser = (...args) =>
  chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    timeout: patienceMS,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      // A page that the test has changed counts as one of the internet, which may not reach
      // loopback.
      '--disable-features=LocalNetworkAccessChecks',
      ...args,
    ],
  });

/**
 * Opens a page of its own. Its shadow roots are open, so that the test and axe see into them.
 * `complaints` are the errors of the browser's console, and of the page. `isHidden`: nothing of the
 * widget is expected.
 */
export async function open(browser, url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-US', ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(patienceMS);
  page.complaints = [];
  page.on('console', (message) => message.type() === 'error' && page.complaints.push(message.text()));
  page.on('pageerror', (error) => page.complaints.push(String(error)));
  await page.addInitScript(() => {
    const attach = Element.prototype.attachShadow;
    Element.prototype.attachShadow = function (init) {
      return attach.call(this, { ...init, mode: 'open' });
    };
    addEventListener('securitypolicyviolation', (e) => console.error(`policy: ${e.violatedDirective} ${e.blockedURI}`));
  });
  await options.prepare?.(page);
  await page.goto(url);
  if (!options.isHidden) await page.locator('.launcher').waitFor();
  return page;
}

/** Changes the page of the site, and its headers, before the browser gets them. */
const withPage = (change) => ({
  prepare: (page) =>
    page.route('**/', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, ...change(await response.text(), response.headers()) });
    }),
});

/** Changes the attributes of the script before it runs. */
export const withScript = (attributes, old = 'data-title="Ask us"') =>
  withPage((body) => ({ body: body.replace(old, () => attributes) }));

/** Changes the page's policy. */
export const withPolicy = (change) =>
  withPage((body, headers) => ({
    body,
    headers: { ...headers, 'content-security-policy': change(headers['content-security-policy']) },
  }));

/** Answers the page's request for a session with something else. */
export const withSession = (status, body) => ({
  prepare: (page) =>
    page.route('**/api/parlance-session', (route) => route.fulfill({ status, contentType: 'application/json', body })),
});

/**
 * Has `take(event, send)` play the service of the page's conversation: it gets the client's events,
 * and may send its own.
 */
export async function playService(page, url, take) {
  await page.route('**/api/parlance-session', (route) =>
    route.fulfill({ json: { chat_url: `${url.replace('http', 'ws')}/socket` } }),
  );
  await page.routeWebSocket(/\/socket/, (socket) => {
    let ids = 0;
    const send = (event) => socket.send(JSON.stringify({ event_id: `event_${++ids}`, ...event }));
    send({ type: 'session.created', session: { id: 'ses_1' } });
    socket.onMessage((data) => take(JSON.parse(data), send));
  });
}

/** Stops the time of a page that is opened next, also its frames: page.clock.runFor() goes on. */
export async function stopTime(page) {
  await page.clock.install({ time: '2026-01-05T08:00:00Z' });
  await page.clock.pauseAt('2026-01-05T09:00:00Z');
}

/** The serious findings of axe. */
export async function findings(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  return violations
    .filter((v) => v.impact === 'serious' || v.impact === 'critical')
    .map((v) => `${v.id}: ${v.nodes.map((n) => `${n.target} ${n.failureSummary}`).join('; ')}`);
}

/** Says something in the open panel. */
export async function say(page, text) {
  await page.locator('.composer textarea').fill(text);
  await page.keyboard.press('Enter');
}

/** Presses a button twice before anything is drawn. */
export const pressTwice = (page, name) =>
  page.getByRole('button', { name, exact: true }).evaluate((button) => {
    button.click();
    button.click();
  });

/** Waits for the last answer to match. */
export const answer = (page, text) => page.locator('.agent .bubble', { hasText: text }).last().waitFor();
