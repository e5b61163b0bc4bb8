// Uploads of files, as a form over REST: the RPC takes no idempotency key, so a lost upload could
// not be sent again.
import { fromJson, type JsonValue } from '@bufbuild/protobuf';
import { type Source, SourceSchema } from '../gen/knowledge_pb.js';
import { canceled, errorOfAnswer, type HeaderOf, lostConnection, mayBeAnswer, mediaTypeOf, ParlanceError } from './errors.js';
import { withRetries } from './retry.js';
import { addHeaders, type Connection, idempotencyKey, newIdempotencyKey, textOf } from './transport.js';

/** A file and what the knowledge base is to know about it. */
export interface FileToUpload {
  /** ws_… */
  readonly workspaceId: string;
  /**
   * The content. A stream can be sent once only: a lost connection is not made again for it, and it
   * does not wait for another upload with its key. In a browser it is read to its end first.
   */
  readonly file: Blob | Uint8Array | ReadableStream<Uint8Array>;
  /** The file's name; its extension decides the type. Not needed for a File, which has a name. */
  readonly filename?: string;
  /** The media type; by default that of a Blob. */
  readonly mediaType?: string;
  /** The source's display name, 1 to 200 characters; by default the file's name. */
  readonly name?: string;
  /** At most 20 of 1 to 64 letters, digits and -_.:/ */
  readonly tags?: readonly string[];
  /** Reads every page of a PDF from its picture. */
  readonly forceOcr?: boolean;
  /** Languages of the text in pictures, as tesseract names them: deu, eng. */
  readonly ocrLanguages?: readonly string[];
  /** How many bytes a stream has, for onProgress. */
  readonly size?: number;
}

/** How a file is sent. */
export interface UploadOptions {
  /** Is told how many bytes of the file were sent; `total` is undefined for streams without `size`. */
  readonly onProgress?: (sent: number, total: number | undefined) => void;
  readonly signal?: AbortSignal;
  /** Makes repetitions of the upload one upload; by default a new key. */
  readonly idempotencyKey?: string;
}

/** A file's place in the API. */
export interface UploadRoute {
  readonly method: 'POST' | 'PUT';
  /** The path, from /v1 on. */
  readonly path: string;
}

/**
 * Sends a file, and resolves with the source, whose content is then processed. Rejects with a
 * ParlanceError, for example `kb-unsupported-media-type`, `quota-exceeded-kb-upload-size` or
 * `quota-exceeded-kb-storage`; with a TypeError for what cannot be sent; and with what onProgress
 * or the content throws.
 */
export async function upload(connection: Connection, route: UploadRoute, file: FileToUpload, options: UploadOptions): Promise<Source> {
  const form = makeForm(file);
  const key = options.idempotencyKey ?? newIdempotencyKey();
  const once = (): Promise<Source> => send(connection, route, form, key, options);
  if (file.file instanceof ReadableStream) return once(); // what was read of it is gone
  return withRetries(once, connection.retries, options.signal);
}

/** A form whose last part is the file. */
interface Form {
  readonly boundary: string;
  readonly head: string;
  readonly content: FileToUpload['file'];
  readonly tail: string;
  readonly size: number | undefined;
}

function makeForm({ file, filename, mediaType, size, ...about }: FileToUpload): Form {
  const isFile = typeof File !== 'undefined' && file instanceof File;
  const named = filename ?? (isFile ? file.name : '');
  if (!named) throw new TypeError('upload() needs a filename.');
  if (!(file instanceof Blob || file instanceof Uint8Array || file instanceof ReadableStream))
    throw new TypeError('upload() needs a Blob, a Uint8Array or a ReadableStream; in Node, fs.openAsBlob(path) makes a Blob.');
  if (about.tags?.some((tag) => tag.includes(','))) throw new TypeError('A tag must have no comma.');
  const boundary = newIdempotencyKey();
  const part = (head: string): string => `--${boundary}\r\nContent-Disposition: form-data; ${head}`;
  const fields = Object.entries({
    name: about.name,
    force_ocr: about.forceOcr ? 'true' : undefined,
    ocr_languages: about.ocrLanguages?.join(','),
    tags: about.tags?.join(','),
  }).flatMap(([name, value]) => (value === undefined ? [] : part(`name="${name}"\r\n\r\n${value}\r\n`)));
  const type = (mediaType ?? (file instanceof Blob ? file.type : '')).replace(/[\r\n]/g, '');
  const quoted = named.replace(/["\r\n]/g, (c) => encodeURIComponent(c));
  return {
    boundary,
    head: `${fields.join('')}${part(`name="file"; filename="${quoted}"`)}\r\nContent-Type: ${type || 'application/octet-stream'}\r\n\r\n`,
    content: file,
    tail: `\r\n--${boundary}--\r\n`,
    size: file instanceof Blob ? file.size : file instanceof Uint8Array ? file.byteLength : size,
  };
}

/** An answer over REST. */
interface Answer {
  readonly status: number;
  readonly text: string;
  readonly header: HeaderOf;
}

async function send(connection: Connection, route: UploadRoute, form: Form, key: string, options: UploadOptions): Promise<Source> {
  const url = `${connection.baseUrl}${route.path}`;
  const headers = new Headers({ 'Content-Type': `multipart/form-data; boundary=${form.boundary}`, [idempotencyKey]: key });
  addHeaders(headers, connection.apiKey);
  const request = { url, headers, method: route.method };
  const attempt = makeAttempt(connection.timeoutMs, options);
  let answer: Answer;
  try {
    answer = await sendForm(connection.fetch, request, form, attempt);
  } catch (error) {
    if (attempt.failure) throw attempt.failure.error;
    // A file that has changed cannot be read any more. Browsers take that for a lost connection.
    if (form.content instanceof Blob) await form.content.slice(0, 1).arrayBuffer();
    const refusal = await refusalOf(connection.fetch, request, form, options.signal);
    if (options.signal?.aborted) throw canceled(options.signal.reason);
    throw refusal ?? lostConnection(error);
  } finally {
    attempt.end();
  }
  const { status, header, text } = answer;
  if (status >= 200 && status < 300 && mediaTypeOf(header) === 'application/json') {
    try {
      const source = fromJson(SourceSchema, JSON.parse(text) as JsonValue, { ignoreUnknownFields: true });
      if (source.id) return source;
    } catch (error) {
      if (error instanceof SyntaxError && mayBeAnswer(text)) throw lostConnection(error);
    }
  }
  throw errorOfAnswer(status, header, text);
}

/** One try of an upload. */
interface Attempt {
  readonly signal: AbortSignal;
  /** Why it was stopped here. */
  readonly failure: { readonly error: unknown } | undefined;
  /** Stops it, with what the caller is to get. */
  fail(error: unknown): void;
  /** Tells how much was sent. */
  progress(sent: number, total: number | undefined): void;
  /** Begins the clock: it is stopped when nothing happens for timeoutMs. */
  watch(): void;
  end(): void;
}

function makeAttempt(timeoutMs: number, { signal, onProgress }: UploadOptions): Attempt {
  const controller = new AbortController();
  let failure: Attempt['failure'];
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false; // fetch may go on reading a form that was answered
  const fail = (error: unknown): void => {
    failure ??= { error };
    controller.abort();
  };
  const stop = (): void => fail(canceled(signal?.reason));
  const watch = (): void => {
    clearTimeout(timer);
    if (isOver) return;
    const message = `Nothing of the file was taken, and nothing answered, for ${timeoutMs / 1000} s.`;
    timer = setTimeout(() => fail(new ParlanceError({ reason: 'deadline-exceeded', message, code: 'deadline_exceeded' })), timeoutMs);
  };
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted) stop();
  return {
    signal: controller.signal,
    get failure() {
      return failure;
    },
    fail,
    progress(sent, total) {
      watch();
      try {
        onProgress?.(sent, total);
      } catch (error) {
        fail(error);
      }
    },
    watch,
    end() {
      isOver = true;
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
    },
  };
}

/** Where and with what a form is sent. */
interface FormRequest {
  readonly url: string;
  readonly headers: Headers;
  readonly method: string;
}

async function sendForm(fetch: Connection['fetch'], request: FormRequest, form: Form, attempt: Attempt): Promise<Answer> {
  // Pages cannot stream a request with fetch, and fetch does not tell them how much was sent.
  const isPage = globalThis.location !== undefined;
  if (isPage && typeof XMLHttpRequest !== 'undefined') return sendByXhr(request, await formBlob(form, attempt), form.size, attempt);
  // Without progress a long upload looks like a silent one, so that there is no clock.
  if (isPage) return sendByFetch(fetch, request, await formBlob(form, attempt), attempt.signal);
  attempt.watch();
  return sendByFetch(fetch, request, formStream(form, attempt), attempt.signal);
}

async function sendByFetch(
  fetch: Connection['fetch'],
  { url, headers, method }: FormRequest,
  body: Blob | ReadableStream<Uint8Array>,
  signal: AbortSignal,
): Promise<Answer> {
  const request: RequestInit & { duplex: 'half' } = { method, headers, body, duplex: 'half', signal };
  const response = await fetch(url, request);
  const text = await textOf(response, () => response.ok || signal.aborted);
  return { status: response.status, text, header: (name) => response.headers.get(name) };
}

function sendByXhr({ url, headers, method }: FormRequest, body: Blob, size: number | undefined, attempt: Attempt): Promise<Answer> {
  const { signal } = attempt;
  const request = new XMLHttpRequest();
  request.open(method, url);
  headers.forEach((value, name) => request.setRequestHeader(name, value));
  return new Promise((resolve, reject) => {
    const abort = (): void => request.abort();
    const total = size ?? body.size;
    request.upload.onprogress = ({ loaded }) => attempt.progress(Math.min(loaded, total), total);
    request.onload = () =>
      resolve({ status: request.status, text: request.responseText, header: (name) => request.getResponseHeader(name) });
    request.onerror = () => reject(new TypeError('The connection was lost.'));
    request.onabort = () => reject(signal.reason as Error);
    request.onloadend = () => signal.removeEventListener('abort', abort);
    signal.addEventListener('abort', abort, { once: true });
    attempt.watch();
    request.send(body);
    if (signal.aborted) abort();
  });
}

/** Bytes that are not shared between threads. */
type Bytes = Uint8Array<ArrayBuffer>;

async function formBlob({ head, content, tail }: Form, attempt: Attempt): Promise<Blob> {
  const whole = content instanceof ReadableStream ? await wholeOf(content.getReader(), attempt) : [content as BlobPart];
  return new Blob([head, ...whole, tail]);
}

async function wholeOf(reader: ReadableStreamDefaultReader<Uint8Array>, attempt: Attempt): Promise<BlobPart[]> {
  const pieces: BlobPart[] = [];
  for (let piece = await read(reader, attempt); piece; piece = await read(reader, attempt)) pieces.push(piece as Bytes);
  return pieces;
}

/** Reads a piece of the content; undefined at its end. What it throws is what the caller gets. */
async function read(reader: ReadableStreamDefaultReader<Uint8Array>, attempt: Attempt): Promise<Uint8Array | undefined> {
  try {
    const { done, value } = await reader.read();
    if (!done && !(value instanceof Uint8Array))
      throw new TypeError(`upload() needs a stream of Uint8Arrays, and this one has a ${typeof value}.`);
    return value;
  } catch (error) {
    attempt.fail(error);
    throw error;
  }
}

/** The form as a stream that reads the content as fast as it is sent. */
function formStream({ head, content, tail, size }: Form, attempt: Attempt): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const reader = (content instanceof ReadableStream ? content : piecesOf(content)).getReader();
  let sent = 0;
  return new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(encoder.encode(head)),
    async pull(controller) {
      const value = await read(reader, attempt);
      if (sent > 0 || !value) attempt.progress(sent, size); // what was read before was taken
      if (!value) {
        controller.enqueue(encoder.encode(tail));
        return controller.close();
      }
      sent += value.byteLength;
      controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

const pieceBytes = 256 * 1024;

/** Reads a content piece by piece: a Blob's own stream may return all of it at once. */
function piecesOf(content: Blob | Uint8Array): ReadableStream<Uint8Array> {
  const size = content instanceof Blob ? content.size : content.byteLength;
  let at = 0;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (at >= size) return controller.close();
      const piece = content.slice(at, (at += pieceBytes));
      controller.enqueue(piece instanceof Blob ? new Uint8Array(await piece.arrayBuffer()) : piece);
    },
  });
}

/** How long it is waited for a refusal, in milliseconds. */
const refusalMs = 10_000;

/** How much of a file shows its type, in bytes. */
const beginningBytes = 4096;

/**
 * Why an upload was cut off. A service that refuses a file reads only so much of the rest, and then
 * closes the connection; who is still sending never reads the answer. So the beginning is sent once
 * more, in a form that is cut off, of which nothing is stored.
 */
async function refusalOf(
  fetch: Connection['fetch'],
  { url, headers, method }: FormRequest,
  { head, content }: Form,
  signal: AbortSignal | undefined,
): Promise<ParlanceError | undefined> {
  const asking = new AbortController();
  const stop = (): void => asking.abort();
  const timer = setTimeout(stop, refusalMs);
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted) stop();
  const beginning = content instanceof Blob || content instanceof Uint8Array ? content.slice(0, beginningBytes) : '';
  const asked = new Headers(headers);
  asked.delete(idempotencyKey);
  try {
    const form = new Blob([head, beginning as BlobPart]);
    const answer = await sendByFetch(fetch, { url, headers: asked, method }, form, asking.signal);
    const error = errorOfAnswer(answer.status, answer.header, answer.text);
    return error.reason === 'invalid-request' || error.isRetryable ? undefined : error;
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}
