// Uploading a file by the API's client stream (KnowledgeService.UploadSource). Browsers' fetch
// cannot stream a request, so the stream's envelopes are laid around slices of the file: the
// browser reads it from the disk while it sends, and says how far it is.

import { create, fromBinary, toBinary, type DescMessage, type DescMethod, type MessageShape } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';

import { serviceURL } from './base';
import { noteCall } from './calls';
import { authorize } from './credentials';

const endOfStream = 2; // flag of the last envelope. Source: the Connect protocol, Streaming RPCs
const headerSize = 5;
const lookedAt = 64 * 1024; // bytes; the service knows a file's type by fewer

/** The head of an envelope: no flags, and the length of the message. */
function envelopeHead(length: number): Uint8Array<ArrayBuffer> {
  const head = new Uint8Array(headerSize);
  new DataView(head.buffer).setUint32(1, length);
  return head;
}

/** The bytes before the data of a field of bytes: its tag and its length. */
function bytesHead(fieldNumber: number, length: number): Uint8Array<ArrayBuffer> {
  const head = [];
  for (let rest of [fieldNumber * 8 + 2, length]) {
    while (rest > 127) {
      head.push((rest & 127) | 128);
      rest >>>= 7;
    }
    head.push(rest);
  }
  return new Uint8Array(head);
}

/** An envelope with a message that has a part of the file. */
function envelopeOf(dataField: number, data: Blob): BlobPart[] {
  const head = bytesHead(dataField, data.size);
  return [envelopeHead(head.length + data.size), head, data];
}

/** The messages of an answer, or the error that ends it. */
function readAnswer<O extends DescMessage>(output: O, body: ArrayBuffer): MessageShape<O> {
  const view = new DataView(body);
  let answer: MessageShape<O> | undefined;
  for (let at = 0; at + headerSize <= body.byteLength;) {
    const flags = view.getUint8(at);
    const payload = new Uint8Array(body, at + headerSize, view.getUint32(at + 1));
    at += headerSize + payload.length;
    if (flags & endOfStream) {
      const { error } = JSON.parse(new TextDecoder().decode(payload)) as { error?: WireError };
      if (error) throw errorOf(error);
    } else answer = fromBinary(output, payload);
  }
  if (!answer) throw new ConnectError('The answer to the upload was cut off. Try again.', Code.Unavailable);
  return answer;
}

interface WireError {
  code: string;
  message?: string;
  details?: { type: string; value: string; debug?: unknown }[];
}

function errorOf({ code, message = '', details = [] }: WireError): ConnectError {
  const known = Object.entries(Code).find(
    ([name]) => name.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`).slice(1) === code,
  );
  const error = new ConnectError(message, (known?.[1] as Code | undefined) ?? Code.Unknown);
  error.details = details.map(({ type, debug }) => ({ type, value: new Uint8Array(), debug: debug as never }));
  return error;
}

const headers = { 'Content-Type': 'application/connect+proto', 'Connect-Protocol-Version': '1' };
const urlOf = (method: DescMethod) => serviceURL(`${method.parent.typeName}/${method.name}`);
const stopped = () => new ConnectError('The upload was stopped.', Code.Canceled);

/**
 * Why an upload was cut off. A service that refuses a file before it has read it closes the connection,
 * and the browser or a proxy, which is still sending, never reads the answer. So the beginning is sent once more: the
 * first messages and as much of the file as the service looks at to know its type, followed by an envelope that is cut
 * off, of which nothing can be stored.
 */
async function refusalOf(method: DescMethod, beginning: BlobPart[], status = 0): Promise<Error> {
  const lost =
    status === 0
      ? new TypeError('the connection was lost')
      : new ConnectError(
          `A server on the way to the service answered ${status}${status === 413 ? ': the file is too large for it' : ''}.`,
          Code.Unavailable,
        );
  try {
    const asked = new Headers(headers);
    authorize(asked);
    const response = await fetch(urlOf(method), {
      method: 'POST',
      headers: asked,
      body: new Blob([...beginning, envelopeHead(1)]),
    });
    const body = await response.arrayBuffer();
    if (response.headers.get('Content-Type') === headers['Content-Type']) readAnswer(method.output, body);
    return lost;
  } catch (error) {
    return error instanceof ConnectError && error.code !== Code.Internal ? error : lost;
  }
}

/** What an upload needs beside the file. */
export interface UploadOptions<I extends DescMessage> {
  /** The messages that go before the file's bytes. */
  first: MessageShape<I>[];
  /** The number of the request's field that the file's bytes are in. */
  dataField: number;
  /** How many bytes a message has at most. */
  chunkSize?: number;
  onProgress?(sent: number, total: number): void;
  signal?: AbortSignal;
}

/** Sends a file by a method that takes a stream of messages, and returns its answer. Throws a ConnectError. */
export function upload<I extends DescMessage, O extends DescMessage>(
  method: DescMethod & { input: I; output: O },
  file: Blob,
  { first, dataField, chunkSize = 64 * 1024, onProgress, signal }: UploadOptions<I>,
): Promise<MessageShape<O>> {
  const parts: BlobPart[] = [];
  for (const message of first) {
    const bytes = toBinary(method.input, create(method.input, message as never)) as Uint8Array<ArrayBuffer>;
    parts.push(envelopeHead(bytes.length), bytes);
  }
  const beginning = [...parts, ...envelopeOf(dataField, file.slice(0, lookedAt))];
  for (let at = 0; at < file.size; at += chunkSize)
    parts.push(...envelopeOf(dataField, file.slice(at, at + chunkSize)));
  if (signal?.aborted) return Promise.reject(stopped());
  const [metadata] = first;
  if (metadata) noteCall(method.parent.name, method.name, method.input, metadata);
  const request = new XMLHttpRequest(); // fetch does not say how much was sent
  request.open('POST', urlOf(method));
  request.responseType = 'arraybuffer';
  for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
  authorize({ set: (name, value) => request.setRequestHeader(name, value) });
  return new Promise((resolve, reject) => {
    request.upload.onprogress = (event) => onProgress?.(Math.min(event.loaded, file.size), file.size);
    request.onload = () => {
      const body = request.response as ArrayBuffer;
      try {
        if (request.getResponseHeader('Content-Type') === headers['Content-Type'])
          resolve(readAnswer(method.output, body));
        else reject(errorOf(JSON.parse(new TextDecoder().decode(body)) as WireError));
      } catch (error) {
        if (error instanceof SyntaxError)
          void refusalOf(method, beginning, request.status).then(reject); // a proxy's page
        else reject(error as Error);
      }
    };
    request.onerror = () => void refusalOf(method, beginning).then(reject);
    request.onabort = () => reject(stopped());
    signal?.addEventListener('abort', () => request.abort(), { once: true });
    request.send(new Blob(parts));
  });
}
