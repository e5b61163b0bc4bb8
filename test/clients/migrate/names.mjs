// Looks up the names of other services that docs/migrate names: each must be in the package that
// the service publishes. The tables have the other service's names in their first column: paths
// of its API, and names of fields, events, types and functions.
//
//   node names.mjs
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const pages = new URL('../../../docs/migrate/', import.meta.url);

const services = {
  elevenlabs: ['@elevenlabs/elevenlabs-js', '@elevenlabs/types'],
  vapi: ['@vapi-ai/server-sdk'],
  retell: ['retell-sdk'],
};

/** Names that no published package has, each with the page of the service's documentation that has it. */
const documented = {
  elevenlabs: {
    post_call_audio: 'workflows/post-call-webhooks',
    event_timestamp: 'workflows/post-call-webhooks',
  },
  vapi: { '/tool': 'api-reference/tools' },
  retell: {},
};

/** The folder of an installed package; undefined when it is not there. */
function folder(name) {
  for (const base of require.resolve.paths(name)) {
    try {
      readFileSync(join(base, name, 'package.json'));
      return join(base, name);
    } catch {
      // the next one
    }
  }
  return undefined;
}

/** The files that have them: declarations, and the clients that send requests. */
const read =
  /\.d\.ts$|(Client|agent|call|chat|llm|batch-call|knowledge-base|phone-number|concurrency|tests|conversation-flow)\.js$/;

/** All words and paths in the declarations and the clients of a package. */
function namesOf(directory, names, paths) {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) {
      if (entry.name !== 'node_modules') namesOf(path, names, paths);
    } else if (read.test(entry.name)) {
      const text = readFileSync(path, 'utf8').replaceAll(/\$\{[^}]*\}/g, '{}');
      for (const [word] of text.matchAll(/[A-Za-z_][\w-]*/g)) names.add(word);
      for (const [, found] of text.matchAll(/["'`](\/?[a-z0-9-]+(?:\/[\w{}-]*)*)["'`]/g)) paths.add(found);
    }
  }
}

let rows = 0;
const missing = [];
for (const [service, packages] of Object.entries(services)) {
  const names = new Set();
  const paths = new Set();
  for (const name of packages) {
    const at = folder(name);
    if (at) namesOf(at, names, paths);
  }
  assert(names.size > 1000, `the packages of ${service} are not installed`);
  const page = readFileSync(new URL(`${service}.md`, pages), 'utf8');
  for (const line of page.split('\n')) {
    if (!line.startsWith('| `')) continue;
    rows++;
    for (const [, name] of line.split(' | ')[0].matchAll(/`([^`]+)`/g)) {
      const known =
        documented[service][name] ||
        (name.includes('/')
          ? [...paths].some((path) => path === name || path === `${name}{}` || path.startsWith(`${name}/`))
          : name.split('.').every((word) => names.has(word)));
      if (!known) missing.push(`${service}.md: ${name}`);
    }
  }
}
assert.deepEqual(missing, [], 'names that the packages do not have');
assert(rows > 150, `only ${rows} rows were read`);
console.log(`${rows} rows: each name of another service is in its package.`);
