// Makes dist/, which is committed: the script of pages and the two worklets. With --check it fails
// when dist/ is not what the sources make.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build, transform } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const banner = '/* Parlance. Apache License 2.0. Made from sdk/widget and sdk/typescript. */';

/** Style sheets as texts, minified. */
const css = {
  name: 'css',
  setup(made) {
    made.onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const { code } = await transform(readFileSync(path, 'utf8'), { loader: 'css', minify: true });
      return { contents: code.trim(), loader: 'text' };
    });
  },
};

const common = {
  bundle: true,
  minify: true,
  charset: 'utf8',
  target: ['chrome111', 'firefox114', 'safari16.4'],
  legalComments: 'none',
  banner: { js: banner },
  write: false,
  logLevel: 'warning',
};

const worklets = `${root}../typescript/src/worklets`;
const parts = await Promise.all([
  build({
    ...common,
    entryPoints: { widget: `${root}src/index.ts` },
    outdir: `${root}dist`,
    format: 'iife',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    plugins: [css],
  }),
  build({
    ...common,
    entryPoints: { 'microphone-worklet': `${worklets}/microphone.ts`, 'player-worklet': `${worklets}/player.ts` },
    outdir: `${root}dist`,
    format: 'iife',
  }),
]);

const files = parts.flatMap((part) => part.outputFiles);
const old = files.filter(({ path, text }) => !existsSync(path) || readFileSync(path, 'utf8') !== text);
if (!process.argv.includes('--check')) for (const { path, text } of files) writeFileSync(path, text);
else if (old.length > 0) {
  console.error(`Not what the sources make; run npm run build: ${old.map(({ path }) => path).join(', ')}`);
  process.exitCode = 1;
}
