// A request as JSON, with what the contract says of each value: the programs write a time, say, in
// another way than a text.

import type { DescField, DescMessage } from '@bufbuild/protobuf';

import type { Call } from '../calls';

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type JsonObject = Record<string, Json>;

/** The fields of a message that are set, in the order of the JSON. */
export const fieldsOf = (schema: DescMessage, json: JsonObject): [DescField, Json][] =>
  Object.entries(json).flatMap(([name, value]) => {
    const field = schema.fields.find((one) => one.name === name);
    return field ? [[field, value] as [DescField, Json]] : [];
  });

/** The message of a field, of a list's elements or a map's values; undefined when they are scalars. */
export const messageOf = (field: DescField): DescMessage | undefined =>
  'message' in field ? field.message : undefined;

/** The paths of a field mask: the JSON has them as "agentId,lookupUrl". */
export const pathsOf = (mask: Json): string[] =>
  String(mask)
    .split(',')
    .filter(Boolean)
    .map((path) => path.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));

/** Lines of a literal between two brackets, indented by one step. */
export function block(open: string, lines: string[], close: string, indent: string): string {
  if (lines.length === 0) return open + close;
  const inner = lines.map((line) => `${indent}${line.replaceAll('\n', `\n${indent}`)},\n`).join('');
  return `${open}\n${inner}${close}`;
}

/** The first message of an upload, which says what the file is; undefined when a call is none. */
export function fileOf({ input, request }: Call): { schema: DescMessage; json: JsonObject } | undefined {
  const field = input.fields.find(({ name }) => name === 'metadata');
  const schema = field && messageOf(field);
  return schema && field.oneof ? { schema, json: request['metadata'] as JsonObject } : undefined;
}

const uncounted = ['Audit', 'Billing', 'Knowledge', 'Memory', 'People', 'Privacy', 'Telephony', 'Usage'];

/** What the member of a client for a service is called: AgentService → Agents. */
export function memberOf(service: string): string {
  const noun = service.replace(/Service$/, '');
  return uncounted.includes(noun) ? noun : `${noun}s`;
}

/** Code without its strings, to see what it uses. */
export const withoutStrings = (code: string) => code.replace(/"(\\.|[^"\\])*"/g, '""');
