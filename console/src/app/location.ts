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
