import { Code, ConnectError } from '@connectrpc/connect';

/** What went wrong, for people. */
export interface Failure {
  /** A sentence that says what to do. */
  message: string;
  /** The reason of the error table, such as plan-mcp-not-enabled; empty when the service was not reached. */
  reason: string;
  code: Code;
  /** What is wrong with which fields of the request: "webhook_url" → "must be …". */
  fields: Record<string, string>;
}

interface Detail {
  reason?: string;
  fieldViolations?: { field?: string; description?: string }[];
}

/** What went wrong, of anything that was thrown. */
export function failureOf(thrown: unknown): Failure {
  const error = ConnectError.from(thrown);
  const failure: Failure = { message: error.rawMessage, reason: '', code: error.code, fields: {} };
  for (const detail of error.details) {
    const said = ('debug' in detail ? detail.debug : undefined) as Detail | undefined;
    if (said?.reason) failure.reason = said.reason;
    for (const { field = '', description = '' } of said?.fieldViolations ?? []) failure.fields[field] = description;
  }
  if (failure.reason === 'auth-missing') failure.message = 'Your sign-in has ended. Sign in again to go on.';
  const unreached = failure.reason === '' && (thrown instanceof TypeError || error.cause instanceof TypeError);
  if (unreached)
    failure.message = `No answer from ${location.host}. Is Parlance running, and is this machine connected to it?`;
  // The client library's words for an answer that is not the service's: a proxy's page, say.
  const other = /^(HTTP \d+)$|^unsupported content type/.exec(error.rawMessage);
  if (failure.reason === '' && other)
    failure.message =
      `Something other than Parlance answered at ${location.host}${other[1] ? ` (${other[1]})` : ''}, such as a ` +
      'proxy while the service starts. Try again in a moment. If it stays, check the address.';
  const more = Object.entries(failure.fields)
    .filter(([, text]) => !failure.message.includes(text))
    .map(([field, text]) => `${field}: ${text}`);
  failure.message = [failure.message, ...more].filter(Boolean).join(' ');
  return failure;
}
