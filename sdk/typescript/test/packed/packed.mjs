// Packs the SDK, installs it in an empty project, and uses it from there: in Node, by TypeScript's
// two ways to find modules, in Chromium, and in a worker runtime without Node's modules.
//
//	set -a; source dev.env; set +a; node packed.mjs
//
// dev.env is that of a running `parlance dev`. CHROMIUM names another browser. Exits with 1 when a
// check fails.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { inChromium } from './chromium.mjs';
import { inWorker } from './worker.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const sdk = fileURLToPath(new URL('../..', import.meta.url));
const project = mkdtempSync(join(tmpdir(), 'parlance-sdk-'));

function run(file, args, cwd = project) {
  const { status, stdout } = spawnSync(file, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  assert.equal(status, 0, `${file} ${args.join(' ')}\n${stdout}`);
  return stdout;
}

const seen = (words) => console.log(`  ✓ ${words} (${Math.round(performance.now() / 1000)} s)`);

function install() {
  run('npm', ['run', '-s', 'build'], sdk);
  const [{ filename, files }] = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', project], sdk));
  const strangers = files.map(({ path }) => path).filter((path) => !/^(dist\/|README.md$|package.json$)/.test(path));
  assert.deepEqual(strangers, [], 'only what was built is packed');
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'empty', private: true, type: 'module' }));
  run('npm', ['install', '--silent', '--no-audit', '--no-fund', join(project, filename)]);
  seen(`${filename}: ${files.length} files, installed in an empty project`);
}

function inNode() {
  const readme = readFileSync(join(sdk, 'README.md'), 'utf8');
  const lines = /```ts\n([^]*?)```/.exec(readme)[1];
  assert.ok(lines.includes('new Parlance()') && lines.trim().split('\n').length <= 10, lines);
  writeFileSync(join(project, 'readme.mjs'), lines);
  assert.match(run(process.execPath, ['readme.mjs']), /HMAC-SHA256/);
  seen(`the README's first lines, in Node ${process.versions.node}`);
  writeFileSync(join(project, 'json.mjs'), /## Answers as JSON[^]*?```ts\n([^]*?)```/.exec(readme)[1]);
  assert.match(JSON.parse(run(process.execPath, ['json.mjs'])).createdAt, /^20\d\d-/);
  seen('the README’s lines for answers as JSON');
  const check = `
    import { sdkVersion } from '@parlance/sdk';
    import { connect } from '@parlance/sdk/session';
    import { verify } from '@parlance/sdk/webhooks';
    import { AgentSchema } from '@parlance/sdk/messages/agents';
    import { existsSync } from 'node:fs';
    for (const name of ['microphone', 'player'])
      if (!existsSync(new URL(import.meta.resolve('@parlance/sdk/worklets/' + name)))) throw new Error(name);
    if (!connect || !verify || AgentSchema.typeName !== 'parlance.v1.Agent') throw new Error('an export is missing');
    console.log(sdkVersion);`;
  const { version } = JSON.parse(readFileSync(join(sdk, 'package.json'), 'utf8'));
  assert.equal(run(process.execPath, ['--input-type=module', '-e', check]).trim(), version);
  seen('every entry of the package, and its version');
}

function inTypeScript() {
  copyFileSync(join(here, 'use.ts'), join(project, 'use.ts'));
  const strict = { strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, noEmit: true, target: 'es2022' };
  const page = { lib: ['es2023', 'dom', 'dom.iterable'], types: [] };
  // Connect's own declarations need a type of the DOM.
  const node = { skipLibCheck: true, lib: ['es2023'], types: ['node'], typeRoots: [join(here, 'node_modules/@types')] };
  const ways = [['esnext', 'bundler', page], ['nodenext', 'nodenext', page], ['nodenext', 'nodenext', node]];
  for (const [module, moduleResolution, environment] of ways) {
    const compilerOptions = { ...strict, module, moduleResolution, ...environment };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['use.ts'] }));
    run(process.execPath, [join(here, 'node_modules/typescript/bin/tsc')]);
  }
  seen('tsc, strict: bundler and nodenext with every declaration checked, and nodenext with the types of Node alone');
}

/** Bundles a program for a runtime without Node's modules. */
async function bundle(name) {
  const stdin = { contents: readFileSync(join(here, name), 'utf8'), resolveDir: project, sourcefile: name };
  const { outputFiles } = await build({ stdin, bundle: true, format: 'esm', target: 'es2022', platform: 'browser', write: false });
  return outputFiles[0].text;
}

try {
  install();
  inNode();
  inTypeScript();
  const program = await bundle('use.mjs');
  await inChromium(program);
  seen('Chromium: calls, a streamed turn, an upload with progress and one that is refused, a session, a webhook');
  await inWorker(program);
  seen('workerd, without Node’s modules: the same, but the session');
} finally {
  rmSync(project, { recursive: true, force: true });
}
