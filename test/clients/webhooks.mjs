// Real deliveries, checked by others' code: the npm packages standardwebhooks and svix verify each
// of the eleven events, and refuse changed ones. Then the receivers of examples/receivers get an
// event, and everything that a receiver must refuse, ignore or survive.
//
// PARLANCE_* name a running `parlance dev`, DATA its data directory, RECEIVER_GO the built Go
// receiver.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Webhook as Standard } from 'standardwebhooks';
import { Webhook as Svix } from 'svix';

const {
  PARLANCE_BASE_URL: base,
  PARLANCE_API_KEY: key,
  PARLANCE_WORKSPACE_ID: workspace,
  DATA: data,
  RECEIVER_GO: receiverGo,
} = process.env;
const tls = (name) => join(data, 'tls', name);
const ca = readFileSync(tls('ca.pem'));
const work = mkdtempSync(join(tmpdir(), 'parlance-webhooks-'));
const examples = new URL('../../examples/receivers/', import.meta.url).pathname;
const events = [
  'dsar.ready',
  'escalation.triggered',
  'fatigue.alert',
  'invoice.failed',
  'invoice.paid',
  'kb.source_ingested',
  'post_call_transcription',
  'subscription.changed',
  'turn.persistence_failed',
  'usage.threshold',
  'webhook.disabled',
];
const cleanups = [];

async function api(method, path, body) {
  const answer = await fetch(`${base}/workspaces/${workspace}${path}`, {
    method,
    headers: { 'Authorization': `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: body && JSON.stringify(body),
  });
  const text = await answer.text();
  assert(answer.ok, `${method} ${path}: ${answer.status} ${text}`);
  return text && JSON.parse(text);
}

async function until(what, ok) {
  for (const deadline = Date.now() + 60_000; !(await ok()); ) {
    assert(Date.now() < deadline, `not within a minute: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function register(url, names) {
  const endpoint = await api('POST', '/webhooks', { url, events: names });
  cleanups.push(() => api('DELETE', `/webhooks/${endpoint.id}`));
  return endpoint;
}

/** Posts to a receiver on this machine and returns the status. */
function post(url, headers, body) {
  return new Promise((resolve, reject) => {
    https
      .request(
        url,
        {
          method: 'POST',
          ca,
          headers: { ...headers, 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) },
        },
        (answer) => {
          answer.resume().on('end', () => resolve(answer.statusCode));
        },
      )
      .on('error', reject)
      .end(body);
  });
}

/** An HTTPS server that keeps the requests. */
async function capture() {
  const got = [];
  const server = https.createServer(
    { cert: readFileSync(tls('localhost.pem')), key: readFileSync(tls('localhost-key.pem')) },
    (request, response) => {
      const parts = [];
      request
        .on('data', (part) => parts.push(part))
        .on('end', () => {
          got.push({ headers: request.headers, body: Buffer.concat(parts).toString() });
          response.writeHead(204).end();
        });
    },
  );
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `https://127.0.0.1:${server.address().port}/hook`, got };
}

/** A signed delivery with other contents. The package signs it as Parlance does. */
function forge(secret, { id, at = new Date(), body }) {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at / 1000)),
    'webhook-signature': new Standard(secret).sign(id, at, body),
  };
}

const another = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const hourAgo = new Date(Date.now() - 3_600_000);

function judge({ headers, body }, secret) {
  const event = JSON.parse(body);
  const raw = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  assert.equal(headers['x-parlance-signature'], raw, 'the raw HMAC');
  for (const [name, want] of Object.entries({
    'x-parlance-event': event.type,
    'x-parlance-event-id': event.event_id,
    'webhook-id': event.event_id,
    'x-parlance-timestamp': headers['webhook-timestamp'],
  }))
    assert.equal(headers[name], want, name);
  for (const Verifier of [Standard, Svix]) {
    assert.deepEqual(new Verifier(secret).verify(body, headers), event);
    for (const [what, refused] of Object.entries({
      'another secret': () => new Verifier(another).verify(body, headers),
      'a changed byte': () => new Verifier(secret).verify(body.replace('"', "'"), headers),
      'another id': () => new Verifier(secret).verify(body, { ...headers, 'webhook-id': 'evt_other' }),
      'another time': () =>
        new Verifier(secret).verify(body, {
          ...headers,
          'webhook-timestamp': String(Number(headers['webhook-timestamp']) - 1),
        }),
      'an old time': () => new Verifier(secret).verify(body, forge(secret, { id: event.event_id, at: hourAgo, body })),
      'no signature': () => new Verifier(secret).verify(body, { ...headers, 'webhook-signature': '' }),
    }))
      assert.throws(refused, undefined, `${Verifier === Svix ? 'svix' : 'standardwebhooks'} accepted ${what}`);
  }
}

async function packages(server) {
  const endpoint = await register(server.url, ['kb.source_ingested']);
  for (const event of events) {
    const sent = await api('POST', `/webhooks/${endpoint.id}/test`, { event });
    assert.equal(sent.status, 'succeeded', `${event}: ${sent.error}`);
  }
  assert.deepEqual(
    server.got.map((one) => JSON.parse(one.body).type),
    events,
  );
  for (const one of server.got) judge(one, endpoint.secret);
  // During a rotation both secrets sign.
  const rotated = await api('POST', `/webhooks/${endpoint.id}/rotate-secret`, {});
  await api('POST', `/webhooks/${endpoint.id}/test`, {});
  const last = server.got.at(-1);
  for (const Verifier of [Standard, Svix])
    for (const secret of [endpoint.secret, rotated.secret]) new Verifier(secret).verify(last.body, last.headers);
  console.log(
    `  standardwebhooks and svix verified ${server.got.length} deliveries of ${events.length} events, and refused what was changed`,
  );
  return rotated.secret;
}

class Receiver {
  constructor(name, command) {
    this.name = name;
    this.command = command;
    this.secretFile = join(work, `${name}.secret`);
    this.out = join(work, `${name}.jsonl`);
    writeFileSync(this.secretFile, '');
  }

  async start(listen = '127.0.0.1:0') {
    const [program, ...args] = this.command;
    const child = spawn(
      program,
      [
        ...args,
        '--cert',
        tls('localhost.pem'),
        '--key',
        tls('localhost-key.pem'),
        '--listen',
        listen,
        '--secret-file',
        this.secretFile,
        '--out',
        this.out,
      ],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
    this.child = child;
    this.log = '';
    child.stderr.on('data', (text) => {
      this.log += text;
    });
    this.url = await new Promise((resolve, reject) => {
      createInterface(child.stdout).once('line', resolve);
      child.once('exit', (code) => reject(new Error(`${this.name} ended with ${code}: ${this.log}`)));
    });
  }

  async kill() {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return; // it was killed before
    const ended = new Promise((resolve) => {
      this.child.removeAllListeners('exit').once('exit', resolve);
    });
    this.child.kill('SIGKILL');
    await ended;
  }

  kept() {
    return readFileSync(this.out, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  }
}

async function refuses(receiver, secret, event, body) {
  const id = event.event_id;
  const fresh = { id: 'evt_fresh', body: body.replaceAll(id, 'evt_fresh') };
  for (const [what, headers, sent, status] of [
    ['a repeat', forge(secret, { id, body }), body, 204],
    ['a changed byte', forge(secret, fresh), fresh.body.replace('{', '{ '), 400],
    ['another secret', forge(another, fresh), fresh.body, 400],
    ['an old time', forge(secret, { ...fresh, at: hourAgo }), fresh.body, 400],
    ['no headers', {}, fresh.body, 400],
  ])
    assert.equal(await post(receiver.url, headers, sent), status, `${receiver.name}, ${what}: ${receiver.log}`);
  assert.deepEqual(receiver.kept(), [event], receiver.name);
}

const commands = {
  go: [receiverGo],
  node: [process.execPath, join(examples, 'node/receiver.mjs')],
  python: ['python3', join(examples, 'python/receiver.py')],
};

/**
 * A full disk takes a part of an event: the receiver must not accept it, and must keep the next
 * event whole.
 */
async function fullDisk(name) {
  const receiver = new Receiver(`${name}-full`, ['sh', '-c', 'ulimit -f 16; exec "$@"', name, ...commands[name]]); // 8 KiB
  writeFileSync(receiver.secretFile, another);
  await receiver.start();
  cleanups.push(() => receiver.kill());
  const send = (id, room) => {
    const body = JSON.stringify({ event_id: id, data: 'x'.repeat(room) });
    return post(receiver.url, forge(another, { id, body }), body);
  };
  assert.equal(await send('evt_1', 100), 204);
  assert.equal(await send('evt_2', 9000), 500, `${name} thanked for an event that it had no room for`);
  assert.equal(await send('evt_3', 100), 204);
  await receiver.kill();
  assert.deepEqual(
    receiver.kept().map((one) => one.event_id),
    ['evt_1', 'evt_3'],
  );
  console.log(`  examples/receivers/${name} thanks for nothing that a full disk did not take`);
}

async function receivers() {
  const all = Object.entries(commands).map(([name, command]) => new Receiver(name, command));
  const secrets = new Map();
  for (const receiver of all) {
    await receiver.start();
    cleanups.push(() => receiver.kill());
    const endpoint = await register(receiver.url, ['kb.source_ingested']);
    writeFileSync(receiver.secretFile, `${endpoint.secret}\n`);
    secrets.set(receiver, endpoint.secret);
  }
  const source = await api('POST', '/knowledge-base/sources/inline', {
    name: 'webhooks',
    content: 'Something to read.',
  });
  cleanups.push(() => api('DELETE', `/knowledge-base/sources/${source.id}`));
  for (const receiver of all) {
    await until(`${receiver.name} has kept the event`, () => receiver.kept().length === 1);
    const [event] = receiver.kept();
    assert.equal(event.data.source_id, source.id);
    await refuses(receiver, secrets.get(receiver), event, JSON.stringify(event));
    const { host } = new URL(receiver.url);
    await receiver.kill(); // it keeps the events that it has
    writeFileSync(receiver.out, `${readFileSync(receiver.out, 'utf8')}{"event_id":"evt_torn`);
    await receiver.start(host);
    await refuses(receiver, secrets.get(receiver), event, JSON.stringify(event));
    assert.equal(
      await post(
        receiver.url,
        forge(secrets.get(receiver), { id: 'evt_2', body: '{"event_id":"evt_2"}' }),
        '{"event_id":"evt_2"}',
      ),
      204,
    );
    assert.deepEqual(
      receiver.kept().map((one) => one.event_id),
      [event.event_id, 'evt_2'],
    );
    console.log(
      `  examples/receivers/${receiver.name} kept a real delivery once, refused four that were not in order, and remembered after kill -9`,
    );
  }
}

try {
  await packages(await capture());
  await receivers();
  for (const name of ['node', 'python']) await fullDisk(name); // the limit on a file ends a Go program
} finally {
  for (const cleanup of cleanups.reverse())
    await Promise.resolve(cleanup()).catch((error) => console.error(`cleaning up: ${error.message}`));
  rmSync(work, { recursive: true });
}
