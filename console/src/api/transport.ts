import { toJsonString, type DescMethod, type DescService } from '@bufbuild/protobuf';
import type { Interceptor } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-web';

import { signedIn } from './again';
import { base } from './base';
import { noteCall } from './calls';
import { authorize } from './credentials';

const shown: Interceptor = (next) => (request) => {
  if (!request.stream) {
    const { service, method }: { service: DescService; method: DescMethod } = request;
    noteCall(service.name, method.name, method.input, request.message);
  }
  return next(request);
};

/** A number of a text that other texts seldom have (FNV-1a). */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

/** A form has one key. What it sends is added to it: another text in it is another request. */
const keyed: Interceptor = (next) => (request) => {
  const key = request.header.get('Idempotency-Key');
  if (key && !request.stream) {
    const said = toJsonString((request.method as DescMethod).input, request.message);
    request.header.set('Idempotency-Key', `${key}-${hashOf(said).toString(16)}`);
  }
  return next(request);
};

const waiting: Interceptor = (next) => (request) =>
  signedIn(() => {
    for (const name of ['Authorization', 'X-Parlance-CSRF']) request.header.delete(name); // of the sign-in before
    return next(request);
  });

const authorized: Interceptor = (next) => (request) => {
  authorize(request.header);
  return next(request);
};

const baseUrl = base.href.replace(/\/$/, '');

/** The connection to the service's API. JSON, so that the browser's tools show what is said. */
export const transport = createConnectTransport({ baseUrl, interceptors: [keyed, waiting, authorized, shown] });

/** The connection for asking whether one is signed in: what is refused fails at once. */
export const signInTransport = createConnectTransport({ baseUrl, interceptors: [authorized] });
