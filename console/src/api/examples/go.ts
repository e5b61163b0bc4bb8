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
export function go(call: Call): string {
  const file = fileOf(call);
  if (file) return uploading(file.schema, file.json);
  const { service, method, input, request } = call;
  const literal = message(input, request as JsonObject).replaceAll('\n', `\n${step}`);
  const code = withoutStrings(literal);
  const used = Object.keys(packages).filter((name) => code.includes(`${name}.`));
  const field = service === 'ApiKeyService' ? 'APIKeys' : memberOf(service);
  return program([...used.map((name) => packages[name] ?? ''), messagePackage], '', `${field}.${method}`, literal);
}

function uploading(schema: DescMessage, json: JsonObject): string {
  const names = (name: string) => pascal(name).replace(/Id$/, 'ID').replace('Ocr', 'OCR');
  const fields = fieldsOf(schema, json).map(([field, value]) => `${names(field.name)}: ${valueOf(field, value)}`);
  const params = block('parlance.UploadParams{', fields, '}', step).replaceAll('\n', `\n${step}`);
  const open = `	file, err := os.Open(${text(String(json['filename']))})
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
`;
  return program(['os'], open, 'Upload', `file, ${params}`);
}

/** The alias and the path of the generated messages. */
const messagePackage = 'parlancev1 "parlance.dev/parlance/gen/parlance/v1"';

/** A program that makes a call and prints the answer. */
function program(imports: string[], before: string, call: string, request: string): string {
  const imported = ['context', 'fmt', 'log', ...imports];
  const lines = (which: string[]) => which.map((path) => `\t${path.includes('"') ? path : `"${path}"`}\n`).join('');
  const isStandard = (path: string) => !path.includes('.');
  return `package main

import (
${lines(imported.filter(isStandard).toSorted())}
${lines(imported.filter((path) => !isStandard(path)))}	parlance "parlance.dev/parlance/sdk/go"
)

func main() {
	client, err := parlance.New(parlance.Options{}) // PARLANCE_BASE_URL and PARLANCE_API_KEY
	if err != nil {
		log.Fatal(err)
	}
${before}	answer, err := client.${call}(context.Background(), ${request})
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
    const lines = entries.map(([key, one]) => `${text(key)}: ${single(field, one)}`);
    return block(`map[string]${elementType(field)}{`, lines, '}', step);
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

function struct(json: JsonObject): string {
  const lines = Object.entries(json).map(([key, one]) => `${text(key)}: ${anyValue(one)}`);
  return `&structpb.Struct{Fields: ${block('map[string]*structpb.Value{', lines, '}', step)}}`;
}

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
