#!/usr/bin/env node
// A webhook endpoint as a customer would write it: HTTPS, the signature checked over the raw body
// before anything in it is believed, each event kept once, and an answer of 2xx only when it is on
// disk. It uses nothing but Node.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { closeSync, fsyncSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { createServer } from 'node:https';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';

const MAX_BODY_BYTES = 1 << 20;
const MAX_AGE_SECONDS = 300; // an old delivery is a replay

const { values: options } = parseArgs({
  options: {
    cert: { type: 'string' }, key: { type: 'string' }, listen: { type: 'string', default: '127.0.0.1:0' },
    'secret-file': { type: 'string' }, out: { type: 'string' }, help: { type: 'boolean' },
  },
});
if (options.help || !options.cert || !options.key || !options['secret-file'] || !options.out) {
  const usage = `receiver.mjs --cert FILE --key FILE --secret-file FILE --out FILE [--listen 127.0.0.1:0]

  --cert, --key   certificate and its private key (PEM)
  --secret-file   the endpoint's secret, whsec_…; two lines while it is rotated; read for every delivery
  --out           file to append the events to, one line of JSON each
  --listen        address to listen on; port 0: any. The URL is printed.`;
  (options.help ? console.log : console.error)(usage);
  process.exit(options.help ? 0 : 2);
}

/** Throws unless the delivery is from who knows one of the secrets, and not an old one. */
export function verify(headers, body, secrets, nowSeconds) {
  const stamp = headers['webhook-timestamp'] ?? '';
  if (!/^\d+$/.test(stamp) || Math.abs(nowSeconds - Number(stamp)) > MAX_AGE_SECONDS) {
    throw new Error('webhook-timestamp is missing or too far from now');
  }
  const signed = Buffer.concat([Buffer.from(`${headers['webhook-id'] ?? ''}.${stamp}.`), body]);
  for (const secret of secrets) {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    if (key.length === 0) continue; // anybody knows that one
    const want = createHmac('sha256', key).update(signed).digest();
    for (const one of (headers['webhook-signature'] ?? '').split(' ')) { // two while a secret is rotated
      const got = Buffer.from(one.replace(/^v1,/, ''), 'base64');
      if (got.length === want.length && timingSafeEqual(got, want)) return;
    }
  }
  throw new Error('webhook-signature does not match');
}

/** Keeps events in a file, each once; what it has accepted survives a crash. */
class Store {
  constructor(path) {
    this.file = openSync(path, 'a+', 0o600);
    const text = readFileSync(path);
    this.end = text.lastIndexOf(0x0a) + 1; // a line without an end was never answered for
    ftruncateSync(this.file, this.end);
    this.seen = new Set(text.subarray(0, this.end).toString().split('\n').filter(Boolean).map((line) => JSON.parse(line).event_id));
    const dir = openSync(dirname(path), 'r'); // the file's name must survive, too
    fsyncSync(dir);
    closeSync(dir);
  }

  /** Returns when the event is on disk. */
  keep(id, body) {
    const event = JSON.parse(body);
    if (!id || event.event_id !== id) throw new Error('the body is not the event that webhook-id names');
    if (this.seen.has(id)) return; // kept before: say thank you and do nothing
    // What a full disk left of another event goes, or this one would be the end of a broken line.
    ftruncateSync(this.file, this.end);
    const line = Buffer.from(`${JSON.stringify(event)}\n`);
    for (let written = 0; written < line.length;) written += writeSync(this.file, line, written); // may write a part only
    fsyncSync(this.file);
    this.end += line.length;
    this.seen.add(id);
  }
}

const store = new Store(options.out);

function answer(response, status, text = '') {
  response.writeHead(status, { 'Content-Type': 'text/plain' }).end(text);
}

function receive(request, response, body) {
  let secrets;
  try {
    secrets = readFileSync(options['secret-file'], 'utf8').split(/\s+/).filter(Boolean);
  } catch (error) {
    console.error('not received:', error.message);
    return answer(response, 500, 'try again');
  }
  try {
    verify(request.headers, body, secrets, Math.floor(Date.now() / 1000));
  } catch (error) {
    console.error('refused:', error.message);
    return answer(response, 400, error.message);
  }
  try {
    store.keep(request.headers['webhook-id'], body); // signed, and the event's: the same for every attempt
  } catch (error) {
    console.error('not kept:', error.message);
    return answer(response, 500, 'try again'); // so that it comes again
  }
  answer(response, 204);
}

const server = createServer({ cert: readFileSync(options.cert), key: readFileSync(options.key) }, (request, response) => {
  const parts = [];
  let size = 0;
  request.on('data', (part) => {
    size += part.length;
    if (size > MAX_BODY_BYTES) { answer(response, 413); request.destroy(); } else parts.push(part);
  });
  request.on('end', () => receive(request, response, Buffer.concat(parts)));
});
const [, host, port] = options.listen.match(/^(.*):(\d+)$/) ?? [null, '127.0.0.1', '0'];
server.listen(Number(port), host, () => console.log(`https://${host}:${server.address().port}/hook`));
