// Fails when the session client, minified and compressed, is larger than its limit.
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const limitBytes = 30 * 1024;
const root = fileURLToPath(new URL('..', import.meta.url));

const { outputFiles } = await build({
  stdin: { contents: "export { connect } from './src/session/index.ts';", resolveDir: root },
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  write: false,
});
const bytes = gzipSync(outputFiles[0].contents).length;
console.log(`The session client has ${bytes} of at most ${limitBytes} bytes (minified, gzip).`);
process.exitCode = bytes > limitBytes ? 1 : 0;
