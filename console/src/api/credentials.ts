// Who calls: an API key that was typed in, or a person who signed in by OIDC. The key is kept in
// the session storage of this tab only. A person's cookie cannot be read here; what shows the
// service that a call comes from this page is the CSRF token.

import { base, serviceURL } from './base';

const keyName = 'parlance.key';

/** A way to sign in that whoever runs the service has set up. */
export interface Provider {
  name: string;
  login_url: string;
}

/** What the service says of this browser. */
export interface SignIn {
  signed_in: boolean;
  csrf_token?: string;
  person?: { id: string; name: string; email: string; role: string };
  providers: Provider[];
}

let signIn: SignIn = { signed_in: false, providers: [] };

export const apiKey = {
  get: () => sessionStorage.getItem(keyName) ?? '',
  set: (value: string) => sessionStorage.setItem(keyName, value.trim()),
  forget: () => sessionStorage.removeItem(keyName),
};

/** Asks the service whether somebody is signed in; it answers that nobody is when it cannot say. */
export async function probeSignIn(): Promise<SignIn> {
  try {
    const response = await fetch(serviceURL('console/auth/session'), { cache: 'no-store' });
    if (response.ok) signIn = (await response.json()) as SignIn;
  } catch {
    // The service is away; the first call says so.
  }
  return signIn;
}

/** How people can sign in. */
export const providers = () => signIn.providers;

export const isSignedIn = () => apiKey.get() !== '' || signIn.signed_in;

/** What shows who calls; it changes with each sign-in. */
export const proof = () => apiKey.get() || (signIn.csrf_token ?? '');

/** Puts on a request what shows who calls. */
export function authorize(header: { set(name: string, value: string): void }): void {
  const key = apiKey.get();
  if (key !== '') header.set('Authorization', `Bearer ${key}`);
  else if (signIn.csrf_token) header.set('X-Parlance-CSRF', signIn.csrf_token);
}

/** Where a provider's sign-in begins, and comes back to where the page is now, or to another page of the console. */
export function loginURL(provider: Provider, page = location.hash): string {
  const url = new URL(provider.login_url, base);
  // From the page for signing in itself one goes on to the overview.
  url.searchParams.set('return_to', location.pathname + (page.startsWith('#/sign-in') ? '#/' : page));
  return url.href;
}

/** Forgets the key, or ends the person's sign-in. */
export async function signOut(): Promise<void> {
  if (apiKey.get() !== '') {
    apiKey.forget();
    return;
  }
  await fetch(serviceURL('console/auth/logout'), {
    method: 'POST',
    headers: { 'X-Parlance-CSRF': signIn.csrf_token ?? '' },
  });
  signIn = { signed_in: false, providers: signIn.providers };
}
