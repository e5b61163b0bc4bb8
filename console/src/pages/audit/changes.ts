import type { JsonObject, JsonValue } from '@bufbuild/protobuf';

import type { AuditEntry } from '#gen/audit_pb';

/** A value that is different before and after. Undefined: there was none, or there is none. */
export interface Change {
  /** retrieval.top_k */
  path: string;
  before?: JsonValue;
  after?: JsonValue;
}

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function compare(path: string, before: JsonValue | undefined, after: JsonValue | undefined, found: Change[]): void {
  if (isObject(before) && isObject(after)) {
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)]))
      compare(path ? `${path}.${name}` : name, before[name], after[name], found);
  } else if (JSON.stringify(before) !== JSON.stringify(after)) found.push({ path, before, after });
}

/** What an entry changed, down to the single values. */
export function changesOf({ before, after }: AuditEntry): Change[] {
  const found: Change[] = [];
  compare('', before ?? {}, after ?? {}, found);
  return found;
}
