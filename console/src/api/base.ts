/** Where the service is: this page is at <base>console/. */
export const base = new URL('..', document.baseURI.replace(/[?#].*$/, ''));

/** A URL of the service for a path without a slash at its beginning. */
export const serviceURL = (path: string) => new URL(path, base).href;
