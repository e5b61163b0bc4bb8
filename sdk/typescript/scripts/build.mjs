// Makes dist/: the modules with their types, the messages of gen/typescript among them, and the
// worklets, each in one file.
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
rmSync(`${root}dist`, { recursive: true, force: true });
execFileSync(process.execPath, [`${root}node_modules/typescript/bin/tsc`, '-p', root], { stdio: 'inherit' });
const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
const versionFile = `${root}dist/api/version.js`;
writeFileSync(versionFile, readFileSync(versionFile, 'utf8').replace("sdkVersion = '0.0.0'", `sdkVersion = '${version}'`));
rmSync(`${root}dist/worklets`, { recursive: true, force: true });
await build({
  entryPoints: [`${root}src/worklets/microphone.ts`, `${root}src/worklets/player.ts`],
  outdir: `${root}dist/worklets`,
  bundle: true,
  format: 'esm',
  target: 'es2022',
  logLevel: 'warning',
});
