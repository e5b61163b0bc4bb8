// Ids that this client gives.

/** A prefix and 96 random bits. crypto.randomUUID does not exist on pages over http. */
export function newId(prefix: string): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return `${prefix}_${Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('')}`.replace('__', '_');
}
