// Sends uploads that are refused, with fetch over HTTP/1.1 and with node:http2, and reads the
// reason, also when much is still to be sent: clients send all of a body before they read an
// answer.
//
//   PARLANCE_BASE_URL=… PARLANCE_API_KEY=… PARLANCE_WORKSPACE_ID=… node refused-upload.mjs
//
// NODE_EXTRA_CA_CERTS is the authority to trust for https://, when it is a private one. It exits
// with 1 when an answer differs or is missing.
import http2 from 'node:http2';

const { PARLANCE_BASE_URL: base, PARLANCE_API_KEY: key, PARLANCE_WORKSPACE_ID: workspace } = process.env;
const url = new URL(`${base}/workspaces/${workspace}/knowledge-base/sources/upload`);
const piece = Buffer.alloc(1 << 20, 'x');
const authorization = `Bearer ${key}`;
const type = 'multipart/form-data; boundary=b';

async function* bodyOf(megabytes) {
  yield Buffer.from('--b\r\nContent-Disposition: form-data; name="file"; filename="a.exe"\r\n\r\nMZ');
  for (let i = 0; i < megabytes; i++) yield piece;
  yield Buffer.from('\r\n--b--\r\n');
}

/** A form as browsers send it, with a known length. */
async function byForm(megabytes) {
  const body = new FormData();
  body.set('file', new Blob(['MZ', ...Array(megabytes).fill(piece)]), 'a.exe');
  return fetch(url, { method: 'POST', headers: { authorization }, body });
}

/** A stream, with an unknown length. */
async function byStream(megabytes) {
  return fetch(url, {
    method: 'POST',
    headers: { authorization, 'content-type': type },
    body: ReadableStream.from(bodyOf(megabytes)),
    duplex: 'half',
  });
}

async function byHTTP2(megabytes) {
  const session = http2.connect(url.origin);
  const request = session.request({ ':method': 'POST', ':path': url.pathname, authorization, 'content-type': type });
  let waiting;
  const answer = new Promise((resolve, reject) => {
    let status,
      text = '';
    session.on('error', reject);
    request.on('error', reject);
    request.on('response', (headers) => {
      status = headers[':status'];
    });
    request.on('data', (data) => {
      text += data;
    });
    // Node may not emit close for a stream that the server has reset during a write.
    for (const over of ['end', 'close']) request.on(over, () => resolve({ status, text: async () => text }));
    waiting = setTimeout(() => reject(new Error('no answer for a minute')), 60_000);
  });
  request.setMaxListeners(0);
  for await (const part of bodyOf(megabytes)) {
    if (request.closed || request.destroyed || request.readableEnded) break;
    if (!request.write(part)) await Promise.race([new Promise((done) => request.once('drain', done)), answer]);
  }
  if (!request.destroyed) request.end();
  try {
    return await answer;
  } finally {
    clearTimeout(waiting);
    session.destroy();
  }
}

let failed = false;
for (const send of [byForm, byStream, byHTTP2]) {
  for (const megabytes of [0, 24, 100]) {
    let said;
    try {
      const answer = await send(megabytes);
      said = `${answer.status} ${JSON.parse(await answer.text()).code}`;
    } catch (error) {
      said = `${error.message} ${error.cause?.message ?? ''}`;
    }
    const right = said === '415 kb-unsupported-media-type';
    failed ||= !right;
    console.log(`${right ? '✓' : '✗'} ${send.name}, ${megabytes} MiB: ${said}`);
  }
}
process.exit(failed ? 1 : 0);
