// Where the console is: the part of the address behind #, with a query of its own, such as
// #/knowledge?q=returns. wouter's hash location puts the query before the #, where it would stay
// when another page is opened.

import { useSyncExternalStore } from 'react';

function subscribe(changed: () => void) {
  addEventListener('hashchange', changed);
  return () => removeEventListener('hashchange', changed);
}

const part = (at: 0 | 1) => location.hash.replace(/^#?\/?/, '').split('?', 2)[at] ?? '';
const path = () => `/${part(0)}`;
const search = () => part(1);

/** Something that would be lost with the page. */
export interface Unsaved {
  is(): boolean;
  /** Asks whether to leave, and tells. */
  mayLeave(): Promise<boolean>;
}

const unsaved: Unsaved[] = [];

/** Has the reader asked before Back, a link or a reload loses something. Returns a function that ends that. */
export function askBeforeLeaving(what: Unsaved): () => void {
  unsaved.push(what);
  return () => void unsaved.splice(unsaved.indexOf(what), 1);
}

addEventListener('beforeunload', (event) => {
  if (unsaved.some((one) => one.is())) event.preventDefault();
});

// Before the pages see it, the address is what it was, and the one that was asked for is behind it.
// navigate() is not asked about: it is what a form does when it was sent.
addEventListener('hashchange', (event) => {
  const lost = unsaved.findLast((one) => one.is());
  if (!event.isTrusted || !lost) return;
  event.stopImmediatePropagation();
  history.pushState(null, '', event.oldURL);
  void lost.mayLeave().then((isSure) => isSure && history.back());
});

/** Goes to a page: navigate('/sessions?status=failed'). */
export function navigate(
  to: string,
  { replace = false, state = null }: { replace?: boolean; state?: unknown } = {},
): void {
  const oldURL = location.href;
  const newURL = new URL(`#/${to.replace(/^#?\/?/, '')}`, oldURL).href;
  history[replace ? 'replaceState' : 'pushState'](state, '', newURL);
  dispatchEvent(new HashChangeEvent('hashchange', { oldURL, newURL }));
}

/**
 * The location hook of the router. A page gets the parameters of its path as they are in the address:
 * decodeURIComponent reads one. The router would decode the whole path by decodeURI, which leaves some
 * escapes and not others; "%25" keeps it from doing so.
 */
export const useHashLocation = (): [string, typeof navigate] => [
  useSyncExternalStore(subscribe, path).replaceAll('%', '%25'),
  navigate,
];
useHashLocation.hrefs = (href: string) => `#${href}`;
useHashLocation.searchHook = () => useSyncExternalStore(subscribe, search);

/** The address of where one is, with some of its query changed. An empty value is left out. */
export function addressWith(changes: Record<string, string | undefined>): string {
  const next = new URLSearchParams(search());
  for (const [name, value] of Object.entries(changes)) {
    if (value) next.set(name, value);
    else next.delete(name);
  }
  return next.size > 0 ? `${path()}?${next}` : path();
}

/** What a page shows, kept in its address: ?q=returns&state=ready. Without a value: "". */
export function useFilters<Name extends string>(
  names: readonly Name[],
): [Record<Name, string>, (changes: Partial<Record<Name, string>>) => void] {
  const known = new URLSearchParams(useSyncExternalStore(subscribe, search));
  const filters = Object.fromEntries(names.map((name) => [name, known.get(name) ?? ''])) as Record<Name, string>;
  const change = (changes: Partial<Record<Name, string>>) => navigate(addressWith(changes), { replace: true });
  return [filters, change];
}
