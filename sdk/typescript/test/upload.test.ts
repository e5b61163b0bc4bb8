import assert from 'node:assert/strict';
import { openAsBlob, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { test } from 'node:test';
import { type FileToUpload, Parlance, type UploadOptions } from '../src/index.js';
import { type Api, keysOf, quick, withApi } from './api.js';

const piece = 256 * 1024;
const file: FileToUpload = { workspaceId: 'ws_1', file: new Blob(['x'.repeat(2 * piece + 7)]), filename: 'a.txt' };

/** The parts of a form, in order. */
async function partsOf(request: IncomingMessage): Promise<[name: string, value: string | File][]> {
  const headers = { 'content-type': String(request.headers['content-type']) };
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  for await (const chunk of request) chunks.push(chunk as Uint8Array<ArrayBuffer>);
  return [...(await new Response(new Blob(chunks), { headers }).formData()).entries()] as [string, string | File][];
}

const accept = (response: ServerResponse): void => {
  response.writeHead(202, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ id: 'src_1', name: 'a.txt', size_bytes: 7, a_later_field: 1 }));
};

const problem = (response: ServerResponse, status: number, code: string): void => {
  response.writeHead(status, { 'content-type': 'application/problem+json', 'connection': 'close' });
  response.end(JSON.stringify({ code, status, detail: `Refused: ${code}.`, request_id: 'req_1', errors: [] }));
};

type Receive = (request: IncomingMessage, response: ServerResponse, number: number) => void | Promise<void>;

const withUploads = (receive: Receive, run: (api: Api) => Promise<void>): Promise<void> =>
  withApi({ handler: (request, response, number) => (void receive(request, response, number), true) }, run);

test('a file is sent as a form, with what is said about it', async () => {
  let parts: [string, string | File][] = [];
  await withUploads(
    async (request, response) => {
      parts = await partsOf(request);
      accept(response);
    },
    async (api) => {
      const about = { name: 'Ä "b"', tags: ['a', 'b/c'], forceOcr: true, ocrLanguages: ['deu', 'eng'] };
      const named = new File(['hello'], 'ü"1".md', { type: 'text/markdown' });
      const source = await api.client().knowledge.upload({ workspaceId: 'ws_1', file: named, ...about });
      assert.equal(source.id, 'src_1');
      const { path, headers } = api.requests[0] ?? assert.fail();
      assert.equal(path, '/v1/workspaces/ws_1/knowledge-base/sources/upload');
      assert.equal(headers.authorization, 'Bearer prl_secret');
      assert.equal(headers['parlance-version'], '2026-11-28');
      const [last, ...before] = parts.toReversed();
      assert.deepEqual(Object.fromEntries(before), { name: 'Ä "b"', tags: 'a,b/c', force_ocr: 'true', ocr_languages: 'deu,eng' });
      assert.ok(last?.[0] === 'file' && last[1] instanceof File);
      assert.deepEqual([last[1].name, last[1].type, await last[1].text()], ['ü"1".md', 'text/markdown', 'hello']);
    },
  );
});

test('a Blob, bytes and a stream arrive whole, and progress is told', async () => {
  const bytes = new TextEncoder().encode('y'.repeat(3 * piece));
  const stream = () => new Blob([bytes]).stream();
  for (const [content, size, total] of [
    [new Blob([bytes]), undefined, bytes.length],
    [bytes, undefined, bytes.length],
    [stream(), undefined, undefined],
    [stream(), bytes.length, bytes.length],
  ] as const) {
    let received = 0;
    const progress: [number, number | undefined][] = [];
    await withUploads(
      async (request, response) => {
        const last = (await partsOf(request)).at(-1)?.[1];
        received = last instanceof File ? last.size : 0;
        accept(response);
      },
      async (api) => {
        const toSend = { workspaceId: 'ws_1', file: content, filename: 'y.txt', ...(size !== undefined && { size }) };
        await api.client().knowledge.upload(toSend, { onProgress: (sent, of) => progress.push([sent, of]) });
      },
    );
    assert.equal(received, bytes.length);
    assert.deepEqual(progress.at(-1), [bytes.length, total]);
    const sent = progress.map(([bytesSent]) => bytesSent);
    assert.deepEqual(sent, sent.toSorted((a, b) => a - b));
    if (content instanceof Blob) assert.ok(progress.length >= 3);
  }
});

test('a file that is refused before it was read says why, and is not sent again', async () => {
  const refusals = [[415, 'kb-unsupported-media-type'], [402, 'quota-exceeded-kb-upload-size'], [413, 'body-too-large']] as const;
  for (const [status, code] of refusals)
    await withUploads((_, response) => problem(response, status, code), async (api) => {
      const large = { ...file, file: new Blob(Array<string>(40).fill('x'.repeat(1 << 20))) };
      await assert.rejects(api.client().knowledge.upload(large), { name: 'ParlanceError', reason: code, status, requestId: 'req_1' });
    });
});

test('a connection that breaks while a file is refused is asked for the reason', () =>
  withUploads(
    (request, response, number) => {
      if (number === 1) request.socket.destroy();
      else problem(response, 415, 'kb-unsupported-media-type');
    },
    async (api) => {
      await assert.rejects(api.client().knowledge.upload(file), { reason: 'kb-unsupported-media-type' });
      assert.equal(api.requests.length, 2);
      assert.equal(api.requests[1]?.headers['idempotency-key'], undefined);
    },
  ));

test('an upload is sent again with its key when the connection breaks', () =>
  withUploads(
    async (request, response, number) => {
      if (number === 1) request.socket.destroy();
      else if (number === 2) problem(response, 400, 'invalid-request'); // the form that is cut off
      else {
        await partsOf(request);
        accept(response);
      }
    },
    async (api) => {
      await api.client().knowledge.upload(file);
      const [first, , third] = keysOf(api);
      assert.ok(first && first === third);
    },
  ));

test('a stream is not sent again', () =>
  withUploads(
    (request, response, number) => {
      if (number === 1) request.socket.destroy();
      else problem(response, 400, 'invalid-request');
    },
    async (api) => {
      const stream = new Blob(['x']).stream();
      await assert.rejects(api.client().knowledge.upload({ ...file, file: stream }), { reason: 'connection-lost' });
      assert.equal(api.requests.length, 2);
    },
  ));

test('a page of a proxy says that the file is too large for it', () =>
  withUploads((_, response) => void response.writeHead(413, { 'content-type': 'text/html' }).end('<html>'), async (api) => {
    await assert.rejects(api.client().knowledge.upload(file), { reason: 'body-too-large', status: 413, message: /HTTP 413, text\/html/ });
  }));

test('an upload can be stopped', () =>
  withUploads(() => undefined, async (api) => {
    const stop = new AbortController();
    const upload = api.client().knowledge.upload(file, { signal: stop.signal });
    while (api.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    stop.abort();
    await assert.rejects(upload, { reason: 'canceled' });
    assert.equal(api.requests.length, 1);
  }));

test('an upload can be stopped while it is asked why it was cut off', () =>
  withUploads((request, _, number) => void (number === 1 && request.socket.destroy()), async (api) => {
    const stop = new AbortController();
    const stream = new Blob(['x']).stream();
    const upload = api.client().knowledge.upload({ ...file, file: stream }, { signal: stop.signal });
    while (api.requests.length < 2) await new Promise((resolve) => setImmediate(resolve));
    const begun = performance.now();
    stop.abort();
    await assert.rejects(upload, { reason: 'canceled' });
    assert.ok(performance.now() - begun < 9_000, 'the question was waited for');
  }));

test('content is replaced at the source, and a name is needed', () =>
  withUploads(async (request, response) => (await partsOf(request), accept(response)), async (api) => {
    const { knowledge } = api.client();
    await knowledge.replaceContent({ ...file, sourceId: 'src_1' });
    assert.equal(api.requests[0]?.path, '/v1/workspaces/ws_1/knowledge-base/sources/src_1/content');
    await assert.rejects(knowledge.upload({ workspaceId: 'ws_1', file: new Blob(['x']) }), TypeError);
  }));

test('an upload in which nothing happens is given up, and one that goes on is not', async () => {
  await withUploads(() => undefined, async (api) => {
    const { knowledge } = api.client({ timeoutMs: 1_000, retries: { ...quick, max: 1 } });
    await assert.rejects(knowledge.upload(file), { reason: 'deadline-exceeded' });
    assert.equal(new Set(keysOf(api)).size, 1);
    assert.equal(api.requests.length, 2);
  });
  const unread: typeof fetch = (_, { signal } = {}) =>
    new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error)));
  const { knowledge } = new Parlance({ baseUrl: 'http://127.0.0.1:1', apiKey: 'k', fetch: unread, timeoutMs: 30, retries: { max: 0 } });
  await assert.rejects(knowledge.upload(file), { reason: 'deadline-exceeded' });
  await withUploads(
    async (request, response) => {
      await partsOf(request);
      accept(response);
    },
    async (api) => {
      let pieces = 0;
      const slow = new ReadableStream<Uint8Array>({
        async pull(controller) {
          await new Promise((resolve) => setTimeout(resolve, 200));
          if (++pieces > 10) controller.close();
          else controller.enqueue(new Uint8Array(1_000));
        },
      });
      await api.client({ timeoutMs: 1_500 }).knowledge.upload({ ...file, file: slow });
    },
  );
});

test('what the caller’s own code throws comes out as it is, once', async () => {
  const bug = new RangeError('A bug.');
  const failing = new ReadableStream<Uint8Array>({
    pull() {
      throw bug;
    },
  });
  const strings = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue('text' as never);
      controller.close();
    },
  });
  const path = `node_modules/.changed-${process.pid}`;
  writeFileSync(path, 'before');
  const changed = await openAsBlob(path);
  writeFileSync(path, 'after, and longer');
  const fault = (content: FileToUpload['file'], error: object, options: UploadOptions = {}) =>
    withUploads(async (request, response) => (await partsOf(request).catch(() => undefined), accept(response)), async (api) => {
      await assert.rejects(api.client().knowledge.upload({ ...file, file: content }, options), error);
      assert.ok(api.requests.length <= 1);
    });
  try {
    await fault(file.file, bug, {
      onProgress() {
        throw bug;
      },
    });
    await fault(failing, bug);
    await fault(strings, { name: 'TypeError', message: /stream of Uint8Arrays/ });
    await fault(changed, { name: 'NotReadableError' });
    await fault('text' as never, { name: 'TypeError', message: /openAsBlob/ });
  } finally {
    rmSync(path);
  }
});

test('a tag with a comma would be two, and is refused', () =>
  withUploads(() => undefined, async (api) => {
    await assert.rejects(api.client().knowledge.upload({ ...file, tags: ['a,b'] }), TypeError);
    assert.equal(api.requests.length, 0);
  }));

test('a stream does not wait for another upload with its key', () =>
  withUploads(
    async (request, response) => {
      await partsOf(request);
      problem(response, 409, 'idempotency-key-in-flight');
    },
    async (api) => {
      const upload = api.client().knowledge.upload({ ...file, file: new Blob(['x']).stream() }, { idempotencyKey: 'mine' });
      await assert.rejects(upload, { reason: 'idempotency-key-in-flight' });
      assert.equal(api.requests.length, 1);
    },
  ));
