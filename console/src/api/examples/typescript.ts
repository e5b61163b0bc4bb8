import { ScalarType, type DescField, type DescMessage } from '@bufbuild/protobuf';

import type { Call } from '../calls';
import {
  block,
  fieldsOf,
  fileOf,
  memberOf,
  messageOf,
  pathsOf,
  withoutStrings,
  type Json,
  type JsonObject,
} from './request';

const step = '  ';

/** AgentService → agents */
function member(service: string): string {
  if (service === 'ProviderCredentialService') return 'credentials';
  const name = memberOf(service);
  return name.charAt(0).toLowerCase() + name.slice(1);
}

const makeClient = 'const parlance = new Parlance(); // PARLANCE_BASE_URL and PARLANCE_API_KEY';

/** A program with our SDK. */
export function typescript(call: Call): string {
  const file = fileOf(call);
  if (file) return uploading(call.method, file.schema, file.json);
  const { service, method, input, request } = call;
  const fields = message(input, request as JsonObject);
  return [
    "import { Parlance } from '@parlance/sdk';",
    ...(withoutStrings(fields).includes('timestampFromDate(')
      ? ["import { timestampFromDate } from '@bufbuild/protobuf/wkt';"]
      : []),
    '',
    makeClient,
    `const answer = await parlance.${member(service)}.${method.charAt(0).toLowerCase()}${method.slice(1)}(${fields});`,
    'console.log(answer);',
  ].join('\n');
}

function uploading(method: string, schema: DescMessage, json: JsonObject): string {
  const fields = fieldsOf(schema, json).map(([field, value]) => `${field.localName}: ${valueOf(field, value)}`);
  const request = block('{', ['file', ...fields], '}', step);
  return [
    "import { openAsBlob } from 'node:fs';",
    "import { Parlance } from '@parlance/sdk';",
    '',
    makeClient,
    `const file = await openAsBlob(${JSON.stringify(json['filename'])});`,
    `const answer = await parlance.knowledge.${method === 'UploadSource' ? 'upload' : 'replaceContent'}(${request});`,
    'console.log(answer);',
  ].join('\n');
}

function message(schema: DescMessage, json: Json): string {
  switch (schema.typeName) {
    case 'google.protobuf.Timestamp':
      return `timestampFromDate(new Date(${JSON.stringify(json)}))`;
    case 'google.protobuf.FieldMask':
      return `{ paths: ${plain(pathsOf(json))} }`;
    case 'google.protobuf.Struct':
      return plain(json);
  }
  const lines = fieldsOf(schema, json as JsonObject).map(([field, value]) =>
    field.oneof
      ? `${field.oneof.localName}: { case: '${field.localName}', value: ${valueOf(field, value)} }`
      : `${field.localName}: ${valueOf(field, value)}`,
  );
  return block('{', lines, '}', step);
}

function valueOf(field: DescField, value: Json): string {
  if (field.fieldKind === 'list')
    return block('[', (value as Json[]).map((one) => single(field, one)), ']', step); // prettier-ignore
  if (field.fieldKind === 'map') {
    const entries = Object.entries(value as JsonObject);
    return block('{', entries.map(([key, one]) => `${JSON.stringify(key)}: ${single(field, one)}`), '}', step); // prettier-ignore
  }
  return single(field, value);
}

function single(field: DescField, value: Json): string {
  const schema = messageOf(field);
  if (schema) return message(schema, value);
  if ('scalar' in field && field.scalar === ScalarType.BYTES) return `Buffer.from(${JSON.stringify(value)}, 'base64')`;
  return JSON.stringify(value);
}

/** JSON as it is. */
function plain(value: Json): string {
  if (Array.isArray(value)) return block('[', value.map(plain), ']', step);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return block('{', Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}: ${plain(one)}`), '}', step); // prettier-ignore
}
