// Sessions from the page's own back end, which has the API key.
import { SessionError, type SessionUrls } from '../../typescript/src/session/index.js';
import { complain } from './config.js';
import { containsKey } from './keys.js';

/** How long a back end may take for its answer, in milliseconds. */
const patienceMs = 20_000;

/** Codes of the errors of fetchSession, each with a sentence in strings.ts. */
export type SourceCode = 'signIn' | 'tooMany' | 'unavailable' | 'misconfigured';

const refusal = (code: SourceCode, message: string): SessionError => {
  complain(message);
  return new SessionError(code, message);
};

/**
 * Asks the page's back end for a session. Rejects with a SessionError whose code is a SourceCode;
 * what the developer has to know is in the browser's console.
 */
export async function fetchSession(url: string, context: object): Promise<SessionUrls> {
  const { response, body } = await ask(url, context);
  if (containsKey(body))
    throw refusal('misconfigured', `${url} answers with an API key. It must stay on your server: revoke it.`);
  if (response.status === 401 || response.status === 403) throw refusal('signIn', `${url} answers ${response.status}.`);
  if (response.status === 429) throw refusal('tooMany', `${url} answers 429.`);
  if (!response.ok) throw refusal('unavailable', `${url} answers ${response.status}.`);
  const { chat_url, ws_url } = parse(body);
  if (!isSocket(chat_url)) throw refusal('misconfigured', `${url} must answer {"chat_url": "wss://…"}, as Parlance does.`);
  return { chatUrl: chat_url, wsUrl: isSocket(ws_url) ? ws_url : undefined };
}

async function ask(url: string, context: object): Promise<{ response: Response; body: string }> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), patienceMs);
  try {
    const response = await fetch(url, {
      method: 'POST',
      credentials: 'same-origin',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(context),
      signal: late.signal,
    });
    return { response, body: await response.text() };
  } catch {
    throw refusal('unavailable', late.signal.aborted ? `${url} has not answered for 20 s.` : `${url} does not answer.`);
  } finally {
    clearTimeout(timer);
  }
}

function parse(body: string): { chat_url?: unknown; ws_url?: unknown } {
  try {
    return (JSON.parse(body) as object | null) ?? {};
  } catch {
    return {};
  }
}

function isSocket(value: unknown): value is string {
  return typeof value === 'string' && /^wss?:\/\//.test(value) && URL.canParse(value);
}
