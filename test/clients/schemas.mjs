// What each SDK says that a server event looks like, as a check of the events that a server sent.
//
// @openai/agents-realtime has zod schemas in its dist. For openai and @elevenlabs/client JSON schemas are
// made of their TypeScript declarations, each time anew: the packages' own files are the judge.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Ajv } from 'ajv';
import { createGenerator } from 'ts-json-schema-generator';

const require = createRequire(import.meta.url);

/** Where a package lies; its package.json need not be exported. */
function folder(name) {
  for (const root of require.resolve.paths(name)) {
    try {
      return dirname(require.resolve(join(root, name, 'package.json')));
    } catch {
      // not under this one
    }
  }
  throw new Error(`${name} is not installed: npm ci`);
}

/** Our own events; SDKs pass on what they do not know. */
const ours = (event) => String(event.type).startsWith('parlance.');

/** A check that answers with what is wrong, or nothing. */
export async function agentsEvents() {
  const { realtimeServerEventSchema: schema } = await import(pathToFileURL(join(folder('@openai/agents-realtime'), 'dist/openaiRealtimeEvents.mjs')));
  const known = new Set(schema.options.map((option) => option.shape.type.value));
  return (event) => {
    // This package's list lacks a few types of the protocol, response.mcp_call.failed for one; openai's has them.
    if (ours(event) || !known.has(event.type)) return typeof event.event_id === 'string' ? '' : 'event_id is missing';
    const parsed = schema.safeParse(event);
    return parsed.success ? '' : parsed.error.issues.map((i) => `${i.path.join('.')}: ${i.message}`).join('; ');
  };
}

/** The same by openai's RealtimeServerEvent. */
export function openaiEvents() {
  const check = byType(join(folder('openai'), 'resources/realtime/realtime.d.ts'), 'RealtimeServerEvent');
  return (event) => (ours(event) ? '' : check(event));
}

/** The same by @elevenlabs/client's IncomingSocketEvent, which is made of @elevenlabs/types. */
export function elevenLabsEvents() {
  return byType(join(folder('@elevenlabs/client'), 'dist/utils/events.d.ts'), 'IncomingSocketEvent');
}

/** A check by the members of a union of a file, each of which has a constant `type`. */
function byType(path, name) {
  const schema = createGenerator({ path, type: name, skipTypeCheck: true, expose: 'none', additionalProperties: true }).createSchema(name);
  const members = union(schema.definitions[name], schema);
  nullable(schema);
  const ajv = new Ajv({ strict: false, allErrors: true });
  ajv.addSchema({ ...schema, $id: 'all' });
  const checks = new Map();
  for (const member of members) {
    const type = member.properties?.type?.const;
    if (!type) continue;
    // References in a member are to the document's definitions.
    const one = ajv.compile(JSON.parse(JSON.stringify(member).replaceAll('"#/definitions/', '"all#/definitions/')));
    checks.set(type, [...(checks.get(type) ?? []), one]);
  }
  if (checks.size < 10) throw new Error(`only ${checks.size} events were found in ${path}: the package is made otherwise now`);
  return (event) => {
    const some = checks.get(event.type);
    if (!some) return `there is no event ${event.type}`;
    if (some.some((check) => check(event))) return '';
    return ajv.errorsText(some[0].errors);
  };
}

function union(member, schema) {
  if (member.$ref) return union(schema.definitions[decodeURIComponent(member.$ref.replace('#/definitions/', ''))], schema);
  return member.anyOf ? member.anyOf.flatMap((one) => union(one, schema)) : [member];
}

/** Allows null for what may be left out, as the provider's own servers send it (usage, status_details, …). */
function nullable(schema) {
  if (Array.isArray(schema)) return schema.forEach(nullable);
  if (!schema || typeof schema !== 'object') return;
  Object.values(schema).forEach(nullable);
  if (schema.type !== 'object' || !schema.properties) return;
  for (const [name, property] of Object.entries(schema.properties)) {
    if (!schema.required?.includes(name) && typeof property === 'object') schema.properties[name] = { anyOf: [property, { type: 'null' }] };
  }
}

/**
 * Records events, and judges them by every check: watch.take(event) throws for one that is wrong.
 * watch.end() then plants a missing field in one event of each type and insists that a check sees it.
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
        if (unseen.length === Object.keys(event).length) throw new Error(`nothing is missed of ${event.type}: the check checks nothing`);
      }
      return `${[...seen.keys()].length} types of events, each as ${Object.keys(checks).join(' and ')} say`;
    },
  };
}
