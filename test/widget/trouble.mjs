// Pages and back ends that have something wrong, and pages that change around the widget.
import assert from 'node:assert/strict';
import { answer, open, pressTwice, say, withPolicy, withScript, withSession } from './page.mjs';
import { until } from './site.mjs';

const question = 'How are webhooks signed?';
const ownColor = 'rgb(10, 95, 79)';
const path = '**/api/parlance-session';

const alert = (page, words) => page.getByRole('alert').filter({ hasText: words }).waitFor();

/** A page whose policy does not name the host of chat_url. */
async function blocked(chromium, url) {
  const page = await open(chromium, url, withPolicy((policy) => policy.replace(/connect-src [^;]*/, "connect-src 'self'")));
  await page.locator('.launcher').click();
  await say(page, question);
  await alert(page, 'Could not connect');
  assert.ok(page.complaints.some((c) => /has the server in connect-src/.test(c)), page.complaints.join('\n'));
  await page.context().close();
}

/** A URL that a browser makes no socket of. */
async function impossible(chromium, url) {
  const page = await open(chromium, url, {
    bypassCSP: true, // the page allows connections to its Parlance only
    ...withSession(200, '{"chat_url": "ws://127.0.0.1:1/chat#fragment"}'),
  });
  await page.evaluate(() => {
    // Newer browsers leave the fragment out.
    const Native = window.WebSocket;
    window.WebSocket = function (address) {
      if (address.includes('#')) throw new SyntaxError('The URL contains a fragment.');
      return new Native(address);
    };
  });
  await page.locator('.launcher').click();
  await alert(page, 'Could not connect');
  assert.ok(page.complaints.every((c) => /^Parlance widget: .*fragment/.test(c)), page.complaints.join('\n'));
  await say(page, question);
  await alert(page, 'Could not connect');
  await page.unroute(path);
  await page.getByRole('button', { name: 'Try again' }).click();
  await answer(page, 'HMAC-SHA256');
  assert.equal(await page.locator('.message.user').count(), 1);
  await page.context().close();
}

/** A back end that never answers. */
async function unanswered(chromium, url) {
  const page = await open(chromium, url, {
    prepare: async (page) => {
      await page.clock.install();
      await page.route(path, () => {});
    },
  });
  await page.evaluate(() => {
    window.ended = 0;
    window.Parlance.on('ended', () => window.ended++);
  });
  await page.locator('.launcher').click();
  await say(page, question);
  await page.getByText('Connecting …').waitFor();
  await page.clock.fastForward(20_000);
  await alert(page, 'not available at the moment');
  await page.getByText('Connecting …').waitFor({ state: 'detached' });
  assert.ok(page.complaints.some((c) => /has not answered for 20 s/.test(c)), page.complaints.join('\n'));
  await page.unroute(path);
  await pressTwice(page, 'Try again');
  await answer(page, 'HMAC-SHA256');
  assert.equal(await page.locator('.message.user').count(), 1);
  assert.equal(await page.evaluate(() => window.ended), 1, 'only the conversation that had not begun was ended');
  await page.context().close();
}

/** A page that is reloaded, first with the URLs that it had, then with those of a new session. */
async function reloaded(chromium, url, env) {
  let first;
  const page = await open(chromium, url, {
    prepare: (page) =>
      page.route(path, async (route) => {
        first ??= await (await route.fetch()).text();
        await route.fulfill({ contentType: 'application/json', body: first });
      }),
  });
  await page.locator('.launcher').click();
  await say(page, question);
  await answer(page, 'HMAC-SHA256');
  await page.reload();
  const [id] = first.match(/ses_\w+/);
  await until('the session has ended', async () => {
    const headers = { authorization: `Bearer ${env.PARLANCE_API_KEY}` };
    const { status } = await (await fetch(`${env.PARLANCE_BASE_URL}/sessions/${id}`, { headers })).json();
    return status === 'completed';
  });
  await page.locator('.launcher').click();
  await alert(page, 'Could not connect');
  await page.unroute(path);
  await page.getByRole('button', { name: 'Try again' }).click();
  await answer(page, 'Hello, I am Ada');
  assert.equal(await page.locator('.message.user').count(), 0);
  await page.context().close();
}

/** Settings with which there can be no conversation. */
async function refused(chromium, url) {
  const key = `prl_${'a1B2'.repeat(12)}c`;
  for (const [attribute, logged] of [
    ['data-session="https://example.org/session"', /own origin/],
    ['data-session="javascript:alert(1)"', /own origin/],
    ['data-session="http://"', /own origin/],
    ['data-session=""', /data-session is “”/],
    [`data-session="/session?key=${key}"`, /contains an API key/],
    [`data-session="/session" data-title="${key}"`, /contains an API key/],
  ]) {
    const page = await open(chromium, url, {
      isHidden: true,
      ...withScript(attribute, /data-session="[^"]*"\s*data-title="[^"]*"/),
    });
    await until(`the hint for ${attribute}`, () => page.complaints.some((c) => logged.test(c)));
    assert.equal(await page.locator('[data-mode]').count(), 0, attribute);
    assert.equal(page.complaints.length, 1, page.complaints.join('\n'));
    assert.ok(!page.complaints.join().includes(key), 'a key is not repeated');
    await page.context().close();
  }
}

async function colors(chromium, url) {
  const refused = ['transparent', 'rgba(0,0,0,.1)', 'rgb(255 255 255 / 90%)', 'currentColor', 'nonsense', 'red}', 'var(--none)', 'initial'];
  for (const color of [...refused, '#ffe08a', 'rebeccapurple']) {
    const page = await open(chromium, url, withScript(`data-color="${color}"`, /data-color="[^"]*"/));
    const look = await page.locator('.launcher').evaluate((e) => {
      const { backgroundColor, color } = getComputedStyle(e);
      return [backgroundColor, color];
    });
    const good = { '#ffe08a': ['rgb(255, 224, 138)', 'rgb(0, 0, 0)'], 'rebeccapurple': ['rgb(102, 51, 153)', 'rgb(255, 255, 255)'] }[color];
    assert.deepEqual(look, good ?? [ownColor, 'rgb(255, 255, 255)'], color);
    assert.deepEqual(page.complaints.map((c) => /cannot be the colour/.test(c)), good ? [] : [true], color);
    await page.context().close();
  }
}

/** Puts a panel into a new element of the page with this id. */
const mount = (page, id) =>
  page.evaluate((id) => {
    const place = document.createElement('section');
    place.id = id;
    document.querySelector('main').append(place);
    window.Parlance.mount(place);
  }, id);

async function mounted(chromium, url) {
  const page = await open(chromium, url);
  let sessions = 0;
  page.on('request', (request) => (sessions += new URL(request.url()).pathname === '/api/parlance-session'));
  await page.evaluate(() => {
    window.ended = [];
    window.Parlance.on('ended', ({ reason }) => window.ended.push(reason));
  });
  for (const id of ['one', 'two', 'three']) await mount(page, id);
  const socket = page.waitForEvent('websocket');
  await page.locator('#two textarea').focus();
  await answer(page, 'Hello, I am Ada');
  assert.equal(sessions, 1, 'a panel that nobody has touched has no session');

  await page.evaluate(() => document.querySelector('body').prepend(document.querySelector('#two')));
  await page.locator('#two textarea').fill(question);
  await page.locator('#two textarea').press('Enter');
  await answer(page, 'HMAC-SHA256');
  assert.deepEqual(await page.evaluate(() => window.ended), [], 'an element that is moved stays');

  const closed = (await socket).waitForEvent('close');
  await page.evaluate(() => document.querySelector('#two').remove());
  await closed;
  assert.deepEqual(await page.evaluate(() => window.ended), ['hang_up']);
  assert.equal(sessions, 1);
  assert.deepEqual(page.complaints, []);
  await page.context().close();
}

/** A widget that was destroyed, or removed by the page, and what brings it back. */
async function returned(chromium, url) {
  // The page of the example has Trusted Types, and no policy that takes addresses of scripts.
  const page = await open(chromium, url, withPolicy((policy) => policy.replace(/require-trusted-types-for [^;]*/, '')));
  const again = () =>
    page.evaluate(() => {
      const old = document.querySelector('script[data-session]');
      const script = document.createElement('script');
      Object.assign(script.dataset, old.dataset);
      script.src = old.src;
      return new Promise((resolve) => {
        script.addEventListener('load', resolve);
        document.body.append(script);
      });
    });
  const complained = (what) => until(`the console says ${what}`, () => page.complaints.splice(0).some((c) => what.test(c)));
  await again();
  await complained(/in this page twice/);
  await page.evaluate(() => window.Parlance.destroy());
  assert.equal(await page.locator('.launcher').count(), 0);
  await page.evaluate(() => window.Parlance.open());
  await complained(/open\(\) has nothing to open.*Insert the script again/);
  await again();
  await page.locator('.launcher').waitFor();

  await page.evaluate(() => (window.removed = document.querySelector('[data-mode]')).remove());
  await page.evaluate(() => document.body.append(window.removed));
  await complained(/removed from the page stays empty.*Insert the script again/);
  await page.evaluate(() => window.removed.remove());
  await again();
  await page.locator('.launcher').waitFor();
  await page.evaluate(() => window.Parlance.open());
  await page.locator('.panel').waitFor();

  const refusal = await page.evaluate(() => {
    try {
      return window.Parlance.mount(null);
    } catch (error) {
      return String(error);
    }
  });
  assert.match(refusal, /^TypeError: .*needs an element/);
  assert.deepEqual(page.complaints, []);
  await page.context().close();
}

/** Checks all of it, on a site of its own. `env` is that of its Parlance. */
export async function troubles(chromium, url, env, seen) {
  await blocked(chromium, url);
  await impossible(chromium, url);
  seen('sockets that the policy blocks or the browser does not make: what to do, and no message is lost');
  await unanswered(chromium, url);
  seen('a back end that never answers: connecting, given up, tried again with what was said');
  await reloaded(chromium, url, env);
  seen('a reload ends the session, and the next one is another conversation');
  await refused(chromium, url);
  seen('a refused data-session: nothing is shown, and the console says why');
  await colors(chromium, url);
  seen('colours on which no words can be read are refused');
  await mounted(chromium, url);
  seen('panels in a page: no session before they are used, and its end when the page removes them');
  await returned(chromium, url);
  seen('a widget that was destroyed or removed comes back with its script, and says so');
}
