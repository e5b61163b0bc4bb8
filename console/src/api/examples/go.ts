import { ScalarType, type DescField, type DescMessage } from '@bufbuild/protobuf';

import type { Call } from '../calls';
import { block, fieldsOf, memberOf, messageOf, pathsOf, withoutStrings, type Json, type JsonObject } from './request';

const step = '\t';

/** The packages that a literal can need besides that of the messages, by what they are called. */
const packages: Record<string, string> = {
  fieldmaskpb: 'google.golang.org/protobuf/types/known/fieldmaskpb',
  proto: 'google.golang.org/protobuf/proto',
  structpb: 'google.golang.org/protobuf/types/known/structpb',
  time: 'time',
  timestamppb: 'google.golang.org/protobuf/types/known/timestamppb',
};

/** A program with our SDK. */
export function go({ service, method, input, request }: Call): string {
  const literal = message(input, request as JsonObject).replaceAll('\n', `\n${step}`);
  const code = withoutStrings(literal);
  const used = Object.keys(packages).filter((name) => code.includes(`${name}.`));
  const isStandard = (path: string) => !path.includes('.');
  const imported = ['context', 'fmt', 'log', ...used.map((name) => packages[name] ?? '')].toSorted();
  return `package main

import (
${[
  ...imported.filter(isStandard).map((path) => `\t"${path}"`),
  '',
  ...imported.filter((path) => !isStandard(path)).map((path) => `\t"${path}"`),
  '\tparlancev1 "parlance.dev/parlance/gen/parlance/v1"',
  '\tparlance "parlance.dev/parlance/sdk/go"',
].join('\n')}
)

func main() {
	client, err := parlance.New(parlance.Options{}) // PARLANCE_BASE_URL and PARLANCE_API_KEY
	if err != nil {
		log.Fatal(err)
	}
	answer, err := client.${service === 'ApiKeyService' ? 'APIKeys' : memberOf(service)}.${method}(context.Background(), ${literal})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer)
}`;
}

/** workspace_id → WorkspaceId, as protoc-gen-go names it. */
const pascal = (text: string) => text.replace(/(^|_)([a-z])/g, (_, __, letter: string) => letter.toUpperCase());

/** The type of a message, as protoc-gen-go names it: that of one inside another is Outer_Inner. */
const typeOf = (schema: DescMessage): string =>
  `parlancev1.${schema.typeName.slice(schema.file.proto.package.length + 1).replaceAll('.', '_')}`;

function message(schema: DescMessage, json: Json): string {
  switch (schema.typeName) {
    case 'google.protobuf.Timestamp': {
      const at = new Date(String(json));
      const parts = [at.getUTCFullYear(), at.getUTCMonth() + 1, at.getUTCDate(), at.getUTCHours(), at.getUTCMinutes()];
      const nanos = at.getUTCMilliseconds() === 0 ? '0' : `${at.getUTCMilliseconds()}*int(time.Millisecond)`;
      return `timestamppb.New(time.Date(${parts.join(', ')}, ${at.getUTCSeconds()}, ${nanos}, time.UTC))`;
    }
    case 'google.protobuf.FieldMask':
      return `&fieldmaskpb.FieldMask{Paths: ${block('[]string{', pathsOf(json).map(text), '}', step)}}`;
    case 'google.protobuf.Struct':
      return struct(json as JsonObject);
  }
  const lines = fieldsOf(schema, json as JsonObject).map(([field, value]) => {
    const name = pascal(field.name);
    const literal = valueOf(field, value);
    if (field.oneof) return `${pascal(field.oneof.name)}: &${typeOf(schema)}_${name}{${name}: ${literal}}`;
    return `${name}: ${literal}`;
  });
  return block(`&${typeOf(schema)}{`, lines, '}', step);
}

/** The names of scalars in Go, which are also those of the functions that make pointers to them. */
const scalars: Partial<Record<ScalarType, string>> = {
  [ScalarType.DOUBLE]: 'float64',
  [ScalarType.FLOAT]: 'float32',
  [ScalarType.INT32]: 'int32',
  [ScalarType.UINT32]: 'uint32',
  [ScalarType.BOOL]: 'bool',
  [ScalarType.STRING]: 'string',
  [ScalarType.BYTES]: '[]byte',
};

function elementType(field: DescField): string {
  const schema = messageOf(field);
  if (schema?.typeName === 'google.protobuf.Struct') return '*structpb.Struct';
  if (schema) return `*${typeOf(schema)}`;
  return ('scalar' in field && field.scalar && scalars[field.scalar]) || 'string';
}

function valueOf(field: DescField, value: Json): string {
  if (field.fieldKind === 'list')
    return block(`[]${elementType(field)}{`, (value as Json[]).map((one) => single(field, one)), '}', step); // prettier-ignore
  if (field.fieldKind === 'map') {
    const entries = Object.entries(value as JsonObject);
    return block(`map[string]${elementType(field)}{`, entries.map(([key, one]) => `${text(key)}: ${single(field, one)}`), '}', step); // prettier-ignore
  }
  const literal = single(field, value);
  if (field.fieldKind !== 'scalar' || !field.proto.proto3Optional || field.scalar === ScalarType.BYTES) return literal;
  const make = scalars[field.scalar] ?? '';
  return `proto.${make.charAt(0).toUpperCase()}${make.slice(1)}(${literal})`;
}

function single(field: DescField, value: Json): string {
  const schema = messageOf(field);
  if (schema) return message(schema, value);
  if ('scalar' in field && field.scalar === ScalarType.BYTES) {
    const bytes = Array.from(atob(String(value)), (character) => character.charCodeAt(0));
    return `[]byte{${bytes.join(', ')}}`;
  }
  return typeof value === 'string' ? text(value) : String(value);
}

/** A string of Go: that of JSON, but Go has no halves of characters, and no byte order mark in a file. */
const text = (value: string) => JSON.stringify(value.replace(/\p{Cs}/gu, '\ufffd')).replaceAll('\ufeff', '\\ufeff');

const struct = (json: JsonObject): string =>
  `&structpb.Struct{Fields: ${block('map[string]*structpb.Value{', Object.entries(json).map(([key, one]) => `${text(key)}: ${anyValue(one)}`), '}', step)}}`; // prettier-ignore

/** A value of a Struct. */
function anyValue(value: Json): string {
  if (value === null) return 'structpb.NewNullValue()';
  if (typeof value === 'string') return `structpb.NewStringValue(${text(value)})`;
  if (typeof value === 'number') return `structpb.NewNumberValue(${value})`;
  if (typeof value === 'boolean') return `structpb.NewBoolValue(${value})`;
  if (Array.isArray(value))
    return `structpb.NewListValue(&structpb.ListValue{Values: ${block('[]*structpb.Value{', value.map(anyValue), '}', step)}})`;
  return `structpb.NewStructValue(${struct(value)})`;
}
