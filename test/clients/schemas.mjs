// Checks of server events by the schemas of each SDK.
//
// @openai/agents-realtime has zod schemas in its dist. For openai and @elevenlabs/client the JSON
// schemas are generated from the TypeScript declarations of the installed packages at each run.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Ajv } from 'ajv';
import { createGenerator } from 'ts-json-schema-generator';

const require = createRequire(import.meta.url);

/** The directory of a package, whose package.json need not be exported. */
function folder(name) {
  for (const root of require.resolve.paths(name)) {
    try {
      return dirname(require.resolve(join(root, name, 'package.json')));
    } catch {
      // not in this directory
    }
  }
  throw new Error(`${name} is not installed: npm ci`);
}

/** Our own events. SDKs pass on events that they do not know. */
const ours = (event) => String(event.type).startsWith('parlance.');

/** A check that returns what is wrong, or nothing. */
export async function agentsEvents() {
  const { realtimeServerEventSchema: schema } = await import(
    pathToFileURL(join(folder('@openai/agents-realtime'), 'dist/openaiRealtimeEvents.mjs'))
  );
  const known = new Set(schema.options.map((option) => option.shape.type.value));
  return (event) => {
    // The package has no schema for a few types, such as response.mcp_call.failed; openai has them.
    if (ours(event) || !known.has(event.type)) return typeof event.event_id === 'string' ? '' : 'event_id is missing';
    const parsed = schema.safeParse(event);
    return parsed.success ? '' : parsed.error.issues.map((i) => `${i.path.join('.')}: ${i.message}`).join('; ');
  };
}

/** The same check by openai's RealtimeServerEvent. */
export function openaiEvents() {
  const check = byType(join(folder('openai'), 'resources/realtime/realtime.d.ts'), 'RealtimeServerEvent');
  return (event) => (ours(event) ? '' : check(event));
}

/**
 * The same check by @elevenlabs/client's IncomingSocketEvent, which comes from @elevenlabs/types.
 */
export function elevenLabsEvents() {
  return byType(join(folder('@elevenlabs/client'), 'dist/utils/events.d.ts'), 'IncomingSocketEvent');
}

/** A check by the members of a union in a file, each with a constant `type`. */
function byType(path, name) {
  const schema = createGenerator({
    path,
    type: name,
    skipTypeCheck: true,
    expose: 'none',
    additionalProperties: true,
  }).createSchema(name);
  const members = union(schema.definitions[name], schema);
  nullable(schema);
  const ajv = new Ajv({ strict: false, allErrors: true });
  ajv.addSchema({ ...schema, $id: 'all' });
  const checks = new Map();
  for (const member of members) {
    const type = member.properties?.type?.const;
    if (!type) continue;
    // References in a member mean the document's definitions.
    const one = ajv.compile(JSON.parse(JSON.stringify(member).replaceAll('"#/definitions/', '"all#/definitions/')));
    checks.set(type, [...(checks.get(type) ?? []), one]);
  }
  if (checks.size < 10)
    throw new Error(`only ${checks.size} events were found in ${path}: the package is made otherwise now`);
  return (event) => {
    const some = checks.get(event.type);
    if (!some) return `there is no event ${event.type}`;
    if (some.some((check) => check(event))) return '';
    return ajv.errorsText(some[0].errors);
  };
}

function union(member, schema) {
  if (member.$ref)
    return union(schema.definitions[decodeURIComponent(member.$ref.replace('#/definitions/', ''))], schema);
  return member.anyOf ? member.anyOf.flatMap((one) => union(one, schema)) : [member];
}

/**
 * Allows null for optional members, as the provider's own servers send (usage, status_details, …).
 */
function nullable(schema) {
  if (Array.isArray(schema)) return schema.forEach(nullable);
  if (!schema || typeof schema !== 'object') return;
  Object.values(schema).forEach(nullable);
  if (schema.type !== 'object' || !schema.properties) return;
  for (const [name, property] of Object.entries(schema.properties)) {
    if (!schema.required?.includes(name) && typeof property === 'object')
      schema.properties[name] = { anyOf: [property, { type: 'null' }] };
  }
}

/**
 * Records events and applies every check: watch.take(event) throws for an event that fails one.
 * watch.end() then removes a member from one event of each type and requires that a check fails.
 */
export function watching(checks) {
  const seen = new Map();
  return {
    take(event) {
      seen.set(event.type, event);
      for (const [name, check] of Object.entries(checks)) {
        const wrong = check(event);
        if (wrong) throw new Error(`${event.type} is not what ${name} expects: ${wrong}\n${JSON.stringify(event)}`);
      }
    },
    end() {
      for (const event of seen.values()) {
        if (ours(event)) continue;
        const unseen = Object.keys(event).filter((field) => {
          const { [field]: left, ...planted } = event;
          return left !== null && Object.values(checks).every((check) => !check(planted));
        });
        if (unseen.length === Object.keys(event).length)
          throw new Error(`nothing is missed of ${event.type}: the check checks nothing`);
      }
      return `${[...seen.keys()].length} types of events, each as ${Object.keys(checks).join(' and ')} say`;
    },
  };
}
