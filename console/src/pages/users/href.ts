// User ids are any text.

/** Where a user's page is. */
export const userHref = (userId: string, tab = '') => `/users/${encodeURIComponent(userId)}${tab && `/${tab}`}`;

/** The user id of an address. */
export function userIdOf(param: string): string {
  try {
    return decodeURIComponent(param);
  } catch {
    return param; // of an address that somebody has typed
  }
}
