// Programs of the console's API panel for every method of the contract, with each field set.

import { createRequire } from 'node:module';
import { readdirSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const root = new URL('../../../', import.meta.url);
const inConsole = createRequire(new URL('console/package.json', root));

// What is used of the descriptions of protobuf-es.
interface Field {
  name: string;
  fieldKind: 'scalar' | 'message' | 'list' | 'map' | 'enum';
  scalar?: number;
  message?: Message;
  oneof?: { name: string };
}
interface Message {
  typeName: string;
  fields: Field[];
}
interface Service {
  kind: string;
  name: string;
  methods: { name: string; methodKind: string; input: Message }[];
}

export interface Program {
  name: string;
  typescript: string;
  go: string;
}

/** Texts that a language may stumble over. */
const hostile = 'a "b" \'c\' `d` ${e} \\ud800 \\ \n\t\u0001 time. timestampFromDate( proto. \u2028 \ufeff </script> 😀';
const wellKnown: Record<string, unknown> = {
  'google.protobuf.Timestamp': '2026-01-02T03:04:05.678Z',
  'google.protobuf.FieldMask': 'name,lookupUrl',
  'google.protobuf.Struct': { [hostile]: [null, true, 1.5, hostile, { deep: {} }] },
};
const numbers = 'double float int64 uint64 int32 fixed64 fixed32'.split(' '); // ScalarType 1 to 7
const bool = 8;
const string = 9;
const bytes = 12;

function single({ scalar = 0, message }: Field, depth: number): unknown {
  if (message) return wellKnown[message.typeName] ?? sample(message, depth + 1);
  if (scalar === string) return hostile;
  if (scalar === bytes) return btoa('\0\u00ffbytes');
  if (scalar === bool) return true;
  return numbers[scalar - 1] === 'double' || numbers[scalar - 1] === 'float' ? 0.25 : 7;
}

/** A message as JSON with all fields set; of a oneof, its `depth`th. */
function sample({ fields }: Message, depth = 0): Record<string, unknown> {
  const chosen = fields.filter((field) => {
    const others = fields.filter(({ oneof }) => oneof && oneof === field.oneof);
    return !field.oneof || others[depth % others.length] === field;
  });
  if (depth > 6) return {};
  return Object.fromEntries(
    chosen.map((field) => {
      const value = single(field, depth);
      return [
        field.name,
        field.fieldKind === 'list' ? [value, value] : field.fieldKind === 'map' ? { [hostile]: value } : value,
      ];
    }),
  );
}

/** The programs, made by the console's own code as vite reads it. */
export async function allPrograms(): Promise<Program[]> {
  const { createServer } = (await import(pathToFileURL(inConsole.resolve('vite')).href)) as {
    createServer(
      config: object,
    ): Promise<{ ssrLoadModule(path: string): Promise<Record<string, unknown>>; close(): Promise<void> }>;
  };
  const vite = await createServer({
    root: new URL('console', root).pathname,
    configFile: new URL('console/vite.config.ts', root).pathname,
    server: { middlewareMode: true, ws: false },
    logLevel: 'error',
  });
  try {
    const { examplesOf } = (await vite.ssrLoadModule('/src/api/examples/index.ts')) as {
      examplesOf(call: object): { language: string; code: string }[];
    };
    const programs: Program[] = [];
    for (const file of readdirSync(new URL('gen/typescript/parlance/v1', root)).filter((one) =>
      one.endsWith('_pb.ts'),
    )) {
      const module = await vite.ssrLoadModule(new URL(`gen/typescript/parlance/v1/${file}`, root).pathname);
      const services = Object.values(module).filter((one) => (one as Service).kind === 'service') as Service[];
      for (const { name: service, methods } of services)
        for (const { name: method, methodKind, input } of methods) {
          const isUpload = input.fields.some(({ name, oneof }) => name === 'metadata' && oneof);
          if (methodKind !== 'unary' && !isUpload) continue;
          for (const depth of isUpload ? [0] : [0, 1]) {
            const examples = examplesOf({ service, method, input, request: sample(input, depth) });
            const code = (language: string) => examples.find((one) => one.language === language)?.code ?? '';
            programs.push({ name: `${service}_${method}_${depth}`, typescript: code('TypeScript'), go: code('Go') });
          }
        }
    }
    return programs;
  } finally {
    await vite.close();
  }
}
