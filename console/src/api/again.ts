// A sign-in may end while a page is open. Calls that are refused for it wait until the caller has
// signed in again, and are then sent once more, so that the page and what is typed on it stay.

import { Code, ConnectError } from '@connectrpc/connect';

import { proof } from './credentials';

/** Asks the caller to sign in again, and tells whether they did. */
type Ask = () => Promise<boolean>;

let ask: Ask | undefined;
let asking: Promise<boolean> | undefined;

/** Says who asks. Without anybody refused calls fail at once. */
export function askBy(how: Ask): () => void {
  ask = how;
  return () => {
    if (ask === how) ask = undefined;
  };
}

/** Makes a call; when it is refused because the sign-in has ended, again after the next one. */
export async function signedIn<T>(call: () => Promise<T>): Promise<T> {
  const used = proof();
  try {
    return await call();
  } catch (error) {
    if (ConnectError.from(error).code !== Code.Unauthenticated) throw error;
    const isRenewed = !asking && proof() !== used && proof() !== '';
    if (!isRenewed) {
      if (!ask) throw error;
      asking ??= ask().finally(() => (asking = undefined));
      if (!(await asking)) throw error;
    }
    return call();
  }
}
