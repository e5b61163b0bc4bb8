import type { DescMethod, DescService } from '@bufbuild/protobuf';
import type { Interceptor } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-web';

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

const authorized: Interceptor = (next) => (request) => {
  authorize(request.header);
  return next(request);
};

/** The connection to the service's API. JSON, so that the browser's tools show what is said. */
export const transport = createConnectTransport({
  baseUrl: base.href.replace(/\/$/, ''),
  interceptors: [authorized, shown],
});
