// Uses the console in a headless Chromium, through a proxy that serves the installation under a
// path prefix: a conversation with passages, a tool of the server and a client tool, texts with
// HTML in them, a dropped connection, a slow answer, past sessions, narrow and low screens, the
// dark theme.
//
//   PARLANCE_BASE_URL=… PARLANCE_API_KEY=… PARLANCE_WORKSPACE_ID=… node console.mjs
//
// The agent is the demo agent of `parlance dev` with the extractive responder. SCREENSHOT=file.png
// keeps a picture of the conversation. Exits with 1 when a check fails.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { open } from './browser.mjs';
import { approvals, requestsAndStages } from './console-requests.mjs';
import { patience } from './talk.mjs';

const { PARLANCE_BASE_URL: api, PARLANCE_API_KEY: key } = process.env;
const service = new URL(api);
const prefix = '/talk';
const attack = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';

/** A proxy that removes a path prefix, for HTTP and WebSockets. */
const proxy = http.createServer((request, response) => {
  if (!request.url.startsWith(prefix)) return response.writeHead(404).end();
  const onwards = http.request(
    {
      host: service.hostname,
      port: service.port,
      method: request.method,
      path: request.url.slice(prefix.length) || '/',
      headers: request.headers,
    },
    (answer) => answer.pipe(response.writeHead(answer.statusCode, answer.headers)),
  );
  request.pipe(onwards.on('error', () => response.destroy()));
});
proxy.on('upgrade', (request, socket, head) => {
  const onwards = net.connect(Number(service.port), service.hostname, () => {
    onwards.write(
      `GET ${request.url.slice(prefix.length)} HTTP/1.1\r\n${Object.entries(request.headers)
        .map(([name, value]) => `${name}: ${value}\r\n`)
        .join('')}\r\n`,
    );
    onwards.write(head);
    socket.pipe(onwards).pipe(socket);
  });
  for (const end of [socket, onwards])
    end.on('error', () => {
      socket.destroy();
      onwards.destroy();
    });
});
await new Promise((resolve) => proxy.listen(0, '127.0.0.1', resolve));
const origin = `127.0.0.1:${proxy.address().port}`;
const url = `http://${origin}${prefix}/console/`;

/** A tool's endpoint, which answers when a function of `held` is called. */
const held = [];
const endpoint = http.createServer((request, response) => {
  request.resume();
  held.push(() => response.writeHead(200, { 'content-type': 'application/json' }).end('{"held": "no more"}'));
});
await new Promise((resolve) => endpoint.listen(0, '127.0.0.1', resolve));

async function call(method, path, body) {
  const response = await fetch(`${api}${path}`, {
    method,
    headers: { 'authorization': `Bearer ${key}`, 'content-type': 'application/json' },
    body: body && JSON.stringify(body),
  });
  assert.ok(response.ok, `${method} ${path}: ${response.status} ${await response.clone().text()}`);
  return response.status === 204 ? {} : response.json();
}

async function talk(page) {
  const seen = (words) => console.log(`  ✓ ${words}`);
  await page.resize(1360, 900);
  await page.go(url);
  await page.type('API key', 'prl_ключ');
  await page.key('Enter');
  await page.sees('This is no API key');
  await page.type('API key', 'prl_wrong');
  await page.key('Enter');
  await page.sees('This key is not known here');
  assert.equal(await page.run(() => sessionStorage.getItem('parlance.key')), null, 'a key that is none is kept');
  page.complaints.length = 0; // the browser logs the 401
  await page.type('API key', key);
  await page.key('Enter');
  await page.sees('Start a session');
  const kept = await page.run(() => ({
    url: location.href,
    cookie: document.cookie,
    local: JSON.stringify(localStorage),
    session: sessionStorage.getItem('parlance.key'),
  }));
  assert.equal(kept.session, key);
  assert.ok(
    !kept.url.includes('prl_') && kept.cookie === '' && !kept.local.includes('prl_'),
    `the key is elsewhere, too: ${kept.url} ${kept.local}`,
  );
  assert.equal(await page.run(() => document.activeElement.id), 'main', 'the focus is lost with the form');
  seen('the key is tried, and stays in the tab');

  await page.until(() => /Ada: version \d+, /.test(document.body.innerText)); // with its tools and sources
  const empty = await call('POST', '/workspaces', { name: attack });
  await page.press('Forget key');
  await page.type('API key', key);
  await page.key('Enter');
  await page.until((name) => {
    const option = [...document.querySelectorAll('select option')].find((o) => o.textContent.includes(name));
    if (!option) return false;
    option.parentElement.value = option.value;
    return option.parentElement.dispatchEvent(new Event('change')); // before the other workspace's answers arrive
  }, empty.id);
  await page.sees('This workspace has no agents yet');
  await page.type('Name', `${attack} Eve`);
  await page.press('Make the agent');
  await page.sees('onerror="window.hacked=1"><script>window.hacked=1</script> Eve: version 1');
  seen('an empty workspace says how to make an agent, and makes one');

  await page.run((id) => {
    const select = document.querySelector('select');
    select.value = id;
    select.dispatchEvent(new Event('change'));
  }, process.env.PARLANCE_WORKSPACE_ID);
  await page.sees('Ada: version');
  await page.press('Variables, overrides');
  await page.type('Client tools', 'no JSON');
  await page.press('Start a session');
  await page.sees('Client tools: this is no JSON');
  await page.press('Fill in an example');
  await page.type('Overrides', '{"temperature": 99}');
  await page.press('Start a session');
  await page.sees('temperature must be');
  assert.equal(
    await page.run(() => document.querySelector('.setup .notice').textContent.split('temperature must be').length),
    2,
    'what is wrong is said twice',
  );
  page.complaints.length = 0; // the browser logs the 400
  await page.type('Overrides', ' ');
  await page.press('Add a variable');
  await page.type('Name of the variable', 'city');
  await page.type('Value of the variable', attack);
  await page.press('Start a session');
  await connected(page);
  await page.sees('Hello, I am Ada');
  seen('a session begins, with variables and client tools, and greets');

  const say = async (text) => {
    await page.type('What you say', text);
    await page.key('Enter');
  };
  await say('How are webhooks signed?');
  const passage = await page.until(() => {
    const quoted = document.querySelector('.passages li.quoted');
    return quoted && { text: quoted.innerText, marked: quoted.querySelector('mark')?.textContent };
  });
  assert.match(passage.text, /similarity 0\.\d{3}/);
  assert.match(passage.marked, /HMAC-SHA256/, `what is quoted is not marked: ${JSON.stringify(passage)}`);
  await page.press('Timing');
  assert.match(
    await page.until(() => document.querySelector('.turn:last-child .waterfall')?.getAttribute('aria-label')),
    /Finding passages: \d+ ms.*Whole turn: \d/,
  );
  await page.press('Receipt');
  await page.sees('The hash was checked: it is that of the content');
  await page.press('Receipt');
  await page.press('Search:');
  await page.sees('given to the model');
  await page.press('Search:');
  seen('passages with their scores, what is quoted marked, the time it took, and a receipt that holds');

  await say('/tool order_status {"order_id": "A-1001"}');
  await page.until(() => document.querySelector('.call')?.innerText.includes('A-1001'));
  await say(`/tool show_map ${JSON.stringify({ place: attack })}`);
  await page.sees('Your tool is called: show_map');
  await page.type('Result of show_map', `shown ${attack}`);
  await page.press('Send the result');
  await page.until(
    (text) => [...document.querySelectorAll('.turn .said.agent .text')].some((e) => e.textContent.includes(text)),
    `shown ${attack}`,
  );
  seen('a tool of the server, and one that is answered by hand');

  if (process.env.SCREENSHOT) await picture(page, say);
  await say(attack);
  await page.until(
    (text) => [...document.querySelectorAll('.turn .said.user .text')].some((e) => e.textContent === text),
    attack,
  );
  const harm = await page.run(() => ({
    hacked: window.hacked,
    images: document.querySelectorAll('main img').length,
    scripts: document.querySelectorAll('script').length,
  }));
  assert.deepEqual(harm, { images: 0, scripts: 1 }, 'a text became HTML');
  seen('texts of users, agents and tools stay text');

  await slowAnswers(page, say);
  seen('an answer that takes long: dropped, stopped, with another question behind it, and the reader elsewhere');
  await screens(page, say);
  seen('narrow and low screens keep what is typed and the events in reach');

  const sockets = () => page.requests.filter((r) => r.startsWith('ws:'));
  const before = sockets().length;
  await page.press('Drop the connection');
  await page.sees('dropped on purpose');
  await page.press('Reconnect');
  await connected(page);
  assert.equal(sockets().length, before + 1);
  assert.match(sockets().at(-1), /[?&]last_event_id=[^&]+/);
  await say('And how are tools called?');
  await page.until(() =>
    [...document.querySelectorAll('.turn .said.user .text')].some((e) => e.textContent === 'And how are tools called?'),
  );
  assert.equal(
    await page.run(
      () =>
        [...document.querySelectorAll('.said.agent')].filter((e) => e.textContent.includes('Hello, I am Ada')).length,
    ),
    1,
    'the greeting came again',
  );
  await page.type('Filter the events', 'last_event');
  await page.type('Filter the events', '← conversation.item.added');
  assert.ok((await page.run(() => document.querySelectorAll('.events li').length)) > 2);
  seen('a dropped connection comes back behind the last event');

  const asks = () => page.run(() => !window.dispatchEvent(new Event('beforeunload', { cancelable: true })));
  assert.ok(await asks(), 'a reload ends the session without a question');
  await page.press('End the session');
  await page.sees('Close code 1000');
  assert.ok(!(await asks()), 'a session that is over is left with a question');
  assert.ok(
    !(await page.run(() =>
      [...document.querySelectorAll('button')].find((b) => b.textContent === 'Reconnect').checkVisibility(),
    )),
    'a session that is over can be reconnected to',
  );
  const id = await page.run(() => document.querySelector('.live aside dd code').textContent);
  const unnamed = await page.run(() =>
    [...document.querySelectorAll('input, select, textarea, button')]
      .filter((e) => !(e.labels?.length || e.getAttribute('aria-label') || e.textContent.trim()))
      .map((e) => e.outerHTML),
  );
  assert.deepEqual(unnamed, [], 'controls without a name');
  await page.press('Sessions');
  await page.until((wanted) => [...document.querySelectorAll('td a')].some((a) => a.textContent === wanted), id);
  await page.run(() => {
    const [status] = document.querySelectorAll('.filters select');
    status.value = 'failed';
    status.dispatchEvent(new Event('change', { bubbles: true }));
  });
  await page.until((wanted) => ![...document.querySelectorAll('td a')].some((a) => a.textContent === wanted), id);
  await page.run(() => {
    const [status] = document.querySelectorAll('.filters select');
    status.value = 'completed';
    status.dispatchEvent(new Event('change', { bubbles: true }));
  });
  await page.press(id);
  await page.sees('ended in the console');
  await page.until(
    (text) => [...document.querySelectorAll('.turn .said.user .text')].some((e) => e.textContent === text),
    attack,
  );
  assert.equal(await page.run(() => document.querySelectorAll('main img').length + (window.hacked ?? 0)), 0);
  seen('the session is found among the past ones, with its transcript');

  await page.run(() => {
    location.hash = '#session/%';
  });
  await page.sees('No session');
  assert.ok(!page.complaints.some((c) => c.includes('URIError')), page.complaints.join('\n'));
  page.complaints.length = 0; // the browser logs the 404
  await approvals(page);
  await requestsAndStages(page);
  seen('an approval is asked for and sent, and what is waited for is closed when it should be');

  const bright = await page.run(() => getComputedStyle(document.body).backgroundColor);
  await page.scheme('dark');
  assert.notEqual(await page.run(() => getComputedStyle(document.body).backgroundColor), bright);
  await page.resize(360, 740);
  for (const view of ['#sessions', `#session/${id}`, '#talk']) {
    await page.run((hash) => {
      location.hash = hash;
    }, view);
    await page.until(() => document.querySelector('main').childElementCount > 0);
    if (view === '#talk')
      assert.ok(
        (await page.run(() =>
          Math.min(...[...document.querySelectorAll('.waterfall')].map((e) => e.getBoundingClientRect().width)),
        )) >= 500,
        'the waterfall is too small to be read',
      );
    const { wide, inner } = await page.run(() => ({
      wide: document.documentElement.scrollWidth,
      inner: window.innerWidth,
    }));
    assert.ok(wide <= inner, `${view} is ${wide} wide on a screen of ${inner}`);
  }
  seen('dark, and narrow without scrolling sideways');

  await page.run(() =>
    [...document.querySelectorAll('button')].find((b) => b.textContent === 'Another session').focus(),
  );
  await page.key('Enter');
  await page.sees('Start a session');
  assert.equal(await page.run(() => document.activeElement.id), 'main', 'the focus is lost with the session');

  const elsewhere = page.requests.filter((r) => new URL(r).host !== origin || !new URL(r).pathname.startsWith(prefix));
  assert.deepEqual(elsewhere, [], 'the page asks elsewhere');
  assert.deepEqual(page.complaints, []);
}

/** Waits for the connection. */
const connected = (page) => page.until(() => document.querySelector('.state')?.textContent === 'Connected.');

/** Waits until changes are drawn. */
const drawn = (page) =>
  page.run(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));

/** Answers that wait for a tool, so that tests can act in the middle of one. */
async function slowAnswers(page, say) {
  const { PARLANCE_WORKSPACE_ID: workspace, PARLANCE_AGENT_ID: agent } = process.env;
  const tool = await call('POST', `/workspaces/${workspace}/tools`, {
    slug: 'hold',
    description: 'Takes its time.',
    kind: 'http',
    method: 'POST',
    webhook_url: `http://127.0.0.1:${endpoint.address().port}/`,
    input_schema: { type: 'object', properties: { n: { type: 'integer' } } },
  });
  await call('POST', `/workspaces/${workspace}/agents/${agent}/tools/attach`, { tool_id: tool.id, enabled: true });
  const hold = (n) => `/tool hold {"n": ${n}}`;
  const shown = () =>
    page.run(() => ({
      said: [...document.querySelectorAll('.said.user .text')]
        .map((e) => e.textContent)
        .filter((text) => text.startsWith('/tool hold')),
      now: [...document.querySelectorAll('.now .said.user .text')].map((e) => e.textContent),
      stop: ![...document.querySelectorAll('button')].find((b) => b.textContent === 'Stop the answer').disabled,
      unfinished: document.querySelectorAll('.turn.in_progress').length,
    }));
  const top = () => page.run(() => window.scrollY);
  const called = async (n) => {
    await page.until(
      (wanted) =>
        document.querySelectorAll('.now p.help').length === 1 &&
        document.querySelector('.now').textContent.includes(wanted),
      hold(n),
    );
    if (held.length === 0) await once(endpoint, 'request');
  };
  const carded = (n) =>
    page.until(
      (wanted) => [...document.querySelectorAll('.turn .said.user .text')].some((e) => e.textContent === wanted),
      hold(n),
    );
  const transcripts = () => page.requests.filter((r) => r.includes('/transcript')).length;

  await say(hold(1));
  await called(1);
  const read = transcripts();
  await page.press('Drop the connection');
  await page.sees('dropped on purpose');
  await page.press('Reconnect');
  await connected(page);
  while (transcripts() === read) await drawn(page);
  await page.run(
    (id) =>
      import(new URL('js/api.js', document.baseURI.replace(/#.*/, ''))).then(({ call }) =>
        call('GET', `sessions/${id}/transcript`),
      ),
    await sessionID(page),
  ); // after the page's own listener
  assert.deepEqual(await shown(), { said: [hold(1)], now: [hold(1)], stop: true, unfinished: 0 });

  await page.run(
    (id) => {
      location.hash = `#session/${id}`;
    },
    await sessionID(page),
  );
  await page.until(() => document.querySelector('.turn.in_progress'));
  assert.equal(
    await page.run(() => document.querySelectorAll('.turn.in_progress .timing').length),
    0,
    'a turn that goes on is said to have taken no time',
  );
  await page.run(() => {
    location.hash = '#talk';
  });

  await say(hold(2));
  held.shift()();
  await carded(1);
  await called(2);
  assert.deepEqual(await shown(), { said: [hold(1), hold(2)], now: [hold(2)], stop: true, unfinished: 0 });

  await page.run(
    () =>
      new Promise((resolve) => {
        window.addEventListener('scroll', () => requestAnimationFrame(resolve), { once: true });
        window.scrollTo(0, 0); // as a user scrolls
      }),
  );
  held.shift()();
  await carded(2);
  await drawn(page);
  assert.equal(await top(), 0, 'the reader is taken away from what is read');

  await say(hold(3));
  await called(3);
  assert.ok((await top()) > 0, 'what was said is out of sight');
  await page.press('Stop the answer');
  await carded(3);
  assert.deepEqual(await shown(), { said: [1, 2, 3].map(hold), now: [], stop: false, unfinished: 0 });
  held.shift()();
  await call('DELETE', `/workspaces/${workspace}/tools/${tool.id}`);
}

const sessionID = (page) => page.run(() => document.querySelector('.live aside dd code').textContent);

/** Screens with the events below the conversation, and with too little height for them. */
async function screens(page, say) {
  await page.resize(800, 600);
  const turns = await page.run(() => document.querySelectorAll('.turn').length);
  await say('How are webhooks signed?');
  await page.until(
    (before) => document.querySelectorAll('.turn').length > before && !document.querySelector('.now').childElementCount,
    turns,
  );
  await drawn(page);
  const below = await page.run(() => ({
    inner: window.innerHeight,
    form: document.querySelector('.say').getBoundingClientRect().bottom,
    end: document.querySelector('.conversation').getBoundingClientRect().bottom,
  }));
  assert.ok(
    below.form > 100 && below.form <= below.inner && below.end > below.inner - 40,
    `the conversation is scrolled off the screen: ${JSON.stringify(below)}`,
  );

  await page.resize(1100, 420);
  const low = await page.run(() => {
    const log = document.querySelector('.log');
    log.scrollIntoView({ block: 'end' });
    const fits = log.getBoundingClientRect().bottom <= window.innerHeight;
    log.parentElement.scrollTop = 0;
    return fits;
  });
  assert.ok(low, 'the events cannot be reached on a low screen');
  await page.resize(1360, 900);
  const plain = await page.run(
    () =>
      [...document.querySelectorAll('.said .text, .passages blockquote, .say textarea')].filter((e) => e.dir !== 'auto')
        .length,
  );
  assert.equal(plain, 0, 'texts from the right to the left are laid out from the left');
}

/** The picture for the documentation. */
async function picture(page, say) {
  await page.resize(1280, 1420);
  await page.press('End the session');
  await page.press('Another session');
  await page.press('×');
  await page.press('Start a session');
  await page.sees('Hello, I am Ada');
  await say('How are webhooks signed?');
  await page.until(() => document.querySelector('.turn:last-child .waterfall .retrieval'));
  await page.run(() => document.querySelector('.turn:last-child').scrollIntoView());
  await page.run(() => window.scrollBy(0, -20));
  await new Promise((resolve) => setTimeout(resolve, 300)); // for transitions
  writeFileSync(process.env.SCREENSHOT, await page.screenshot());
  await page.resize(1360, 900);
}

const page = await open();
await patience(
  talk(page).catch(async (error) => {
    console.error(page.complaints.join('\n'));
    await page.close();
    throw error;
  }),
  300_000,
);
await page.close();
for (const server of [proxy, endpoint]) {
  server.close();
  server.closeAllConnections();
}
