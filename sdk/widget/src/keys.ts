// API keys never belong in a browser.

/** An API key of Parlance: prl_, then 43 characters of a secret and 6 of a checksum. */
const key = /prl_[0-9A-Za-z]{49}/;

/** Signed tokens, which are random characters and belong in the URLs of sockets. */
const token = /eyJ[\w-]+\.[\w-]+\.[\w-]+/g;

/** Whether a text contains something that looks like an API key. */
export const containsKey = (text: string): boolean => key.test(text.replaceAll(token, ''));
