// Runs the tests in test/ of the package that it is started in, this one or the widget. They are
// bundled first because Node 20 does not read TypeScript.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { build } from 'esbuild';

const root = `${process.cwd()}/`;
const out = mkdtempSync(`${root}node_modules/.test-`);
try {
  const files = readdirSync(`${root}test`).filter((name) => name.endsWith('.test.ts'));
  await build({
    entryPoints: files.map((name) => `${root}test/${name}`),
    outdir: out,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    sourcemap: 'inline',
    target: 'node20',
    logLevel: 'warning',
  });
  const tests = files.map((name) => `${out}/${name.replace(/ts$/, 'mjs')}`);
  const { status } = spawnSync(process.execPath, ['--enable-source-maps', '--test', ...tests], { stdio: 'inherit' });
  process.exitCode = status ?? 1;
} finally {
  rmSync(out, { recursive: true, force: true });
}
