// Uploads of files, as a form over REST: the RPC takes no idempotency key, so a lost upload could
// not be sent again.
import { fromJsonString } from '@bufbuild/protobuf';
import { type Source, SourceSchema } from '../gen/knowledge_pb.js';
import { canceled, errorOfAnswer, lostConnection, ParlanceError } from './errors.js';
import { withRetries } from './retry.js';
import { addHeaders, type Connection, idempotencyKey, newIdempotencyKey } from './transport.js';

/** A file and what the knowledge base is to know about it. */
export interface FileToUpload {
  /** ws_… */
  readonly workspaceId: string;
  /**
   * The content. A stream can be sent once only: a lost connection is not made again for it. In a
   * browser it is read to its end first.
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
 * `quota-exceeded-kb-storage`.
 */
export async function upload(connection: Connection, route: UploadRoute, file: FileToUpload, options: UploadOptions): Promise<Source> {
  const form = makeForm(file);
  const key = options.idempotencyKey ?? newIdempotencyKey();
  const canRepeat = !(file.file instanceof ReadableStream);
  const retries = canRepeat ? connection.retries : { ...connection.retries, max: 0 };
  return withRetries(() => send(connection, route, form, key, options), retries, options.signal);
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
  if (!named)
    throw new ParlanceError({ reason: 'invalid-request', message: 'upload() needs a filename.', code: 'invalid_argument' });
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
  readonly header: (name: string) => string | null;
}

async function send(connection: Connection, route: UploadRoute, form: Form, key: string, options: UploadOptions): Promise<Source> {
  const url = `${connection.baseUrl}${route.path}`;
  const headers = new Headers({ 'Content-Type': `multipart/form-data; boundary=${form.boundary}`, [idempotencyKey]: key });
  addHeaders(headers, connection.apiKey);
  const request = { url, headers, method: route.method };
  // Pages cannot stream a request with fetch, and fetch does not tell them how much was sent.
  const isPage = globalThis.location !== undefined;
  let answer: Answer;
  try {
    if (isPage && typeof XMLHttpRequest !== 'undefined') answer = await sendByXhr(request, await formBlob(form), form.size, options);
    else answer = await sendByFetch(connection.fetch, request, isPage ? await formBlob(form) : formStream(form, options), options.signal);
  } catch (error) {
    if (options.signal?.aborted) throw canceled(options.signal.reason);
    throw (await refusalOf(connection.fetch, request, form)) ?? lostConnection(error);
  }
  if (answer.status < 200 || answer.status >= 300) throw errorOfAnswer(answer.status, answer.header, answer.text);
  return fromJsonString(SourceSchema, answer.text, { ignoreUnknownFields: true });
}

/** Where and with what a form is sent. */
interface FormRequest {
  readonly url: string;
  readonly headers: Headers;
  readonly method: string;
}

async function sendByFetch(
  fetch: Connection['fetch'],
  { url, headers, method }: FormRequest,
  body: Blob | ReadableStream<Uint8Array>,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  const request: RequestInit & { duplex: 'half' } = { method, headers, body, duplex: 'half', ...(signal && { signal }) };
  const response = await fetch(url, request);
  return { status: response.status, text: await response.text(), header: (name) => response.headers.get(name) };
}

function sendByXhr({ url, headers, method }: FormRequest, body: Blob, size: number | undefined, options: UploadOptions): Promise<Answer> {
  const { onProgress, signal } = options;
  const request = new XMLHttpRequest();
  request.open(method, url);
  headers.forEach((value, name) => request.setRequestHeader(name, value));
  return new Promise((resolve, reject) => {
    const abort = (): void => request.abort();
    const total = size ?? body.size;
    request.upload.onprogress = ({ loaded }) => onProgress?.(Math.min(loaded, total), total);
    request.onload = () =>
      resolve({ status: request.status, text: request.responseText, header: (name) => request.getResponseHeader(name) });
    request.onerror = () => reject(new TypeError('The connection was lost.'));
    request.onabort = () => reject(signal?.reason as Error);
    request.onloadend = () => signal?.removeEventListener('abort', abort);
    signal?.addEventListener('abort', abort, { once: true });
    request.send(body);
    if (signal?.aborted) abort();
  });
}

/** Bytes that are not shared between threads. */
type Bytes = Uint8Array<ArrayBuffer>;

async function formBlob({ head, content, tail }: Form): Promise<Blob> {
  const whole = content instanceof ReadableStream ? await new Response(content as ReadableStream<Bytes>).blob() : content;
  return new Blob([head, whole as BlobPart, tail]);
}

/** The form as a stream that reads the content as fast as it is sent. */
function formStream({ head, content, tail, size }: Form, { onProgress }: UploadOptions): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const reader = (content instanceof ReadableStream ? content : piecesOf(content)).getReader();
  let sent = 0;
  return new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(encoder.encode(head)),
    async pull(controller) {
      const { done, value } = await reader.read();
      if (sent > 0 || done) onProgress?.(sent, size); // what was read before was taken
      if (done) {
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
): Promise<ParlanceError | undefined> {
  const beginning = content instanceof Blob || content instanceof Uint8Array ? content.slice(0, beginningBytes) : '';
  const asked = new Headers(headers);
  asked.delete(idempotencyKey);
  try {
    const form = new Blob([head, beginning as BlobPart]);
    const answer = await sendByFetch(fetch, { url, headers: asked, method }, form, AbortSignal.timeout(10_000));
    const error = errorOfAnswer(answer.status, answer.header, answer.text);
    return error.reason === 'invalid-request' || error.isRetryable ? undefined : error;
  } catch {
    return undefined;
  }
}
