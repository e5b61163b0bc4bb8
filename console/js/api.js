// The REST API, with the key that the user entered. URLs are relative to the page's own, so that
// the path prefix of a proxy is kept.

const keyName = 'parlance.key';

/** Where the service is: the page is at <base>console/. */
export const base = new URL('..', document.baseURI.replace(/[?#].*$/, ''));

/** The API key. It is kept in this tab's session storage only. */
export const key = {
  get: () => sessionStorage.getItem(keyName) ?? '',
  set: (value) => sessionStorage.setItem(keyName, value),
  forget: () => sessionStorage.removeItem(keyName),
};

/** An error of the API, or of the connection to it, in a sentence that says what to do. */
export class Failure extends Error {
  constructor(message, status = 0, code = '') {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const advice = {
  'unauthenticated': 'Check the API key: "Forget key" lets you enter another one.',
  'permission-denied': 'Use a key whose scope allows it: reading needs read, conversations need runtime.',
  'quota-exceeded-sessions': 'End sessions that are open (see Sessions), or wait until they expire.',
};

async function failureOf(response) {
  let problem = {};
  try {
    problem = await response.json();
  } catch {
    // A proxy answered, not the service.
  }
  const said =
    problem.detail ||
    problem.title ||
    `The answer was ${response.status} ${response.statusText}, without an explanation: is something between this page and Parlance?`;
  // The detail may repeat the first of the errors.
  const fields = (problem.errors ?? []).filter((e) => !said.includes(e.message)).map((e) => `${e.field}: ${e.message}`);
  const retry = response.headers.get('Retry-After');
  const parts = [
    said,
    ...fields,
    advice[problem.code] ??
      (response.status === 401 ? advice.unauthenticated : response.status === 403 ? advice['permission-denied'] : ''),
  ];
  if (retry) parts.push(`Try again in ${retry} s.`);
  return new Failure(parts.filter(Boolean).join(' '), response.status, problem.code ?? '');
}

/** Calls the API: call('GET', 'sessions', { query: { status: 'pending' }, body: {…} }). */
export async function call(method, path, { query = {}, body } = {}) {
  const url = new URL(`v1/${path}`, base);
  for (const [name, value] of Object.entries(query))
    if (value !== '' && value !== undefined && value !== null) url.searchParams.set(name, value);
  const headers = { Authorization: `Bearer ${key.get()}` };
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  let response;
  try {
    response = await fetch(url, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      cache: 'no-store',
    });
  } catch {
    throw new Failure(`No answer from ${url.origin}. Is Parlance running, and is this machine connected to it?`);
  }
  if (!response.ok) throw await failureOf(response);
  return response.status === 204 ? {} : response.json();
}

/** All elements of a paged list, but no more pages once there are `most` elements. */
export async function all(path, member, query = {}, most = 1000) {
  const found = [];
  let token = '';
  do {
    const page = await call('GET', path, { query: { page_size: 200, ...query, page_token: token } });
    found.push(...(page[member] ?? []));
    token = page.next_page_token ?? '';
  } while (token && found.length < most);
  return found;
}

/** A path of parts with their special characters escaped. */
export const path = (...parts) => parts.map(encodeURIComponent).join('/');
