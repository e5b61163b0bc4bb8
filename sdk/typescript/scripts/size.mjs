// Fails when the session client, minified and compressed, is larger than its limit, or when what a
// page imports of '@parlance/sdk' brings the client of the API with it.
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const limitBytes = 12 * 1024; // README.md promises it
const root = fileURLToPath(new URL('..', import.meta.url));

/** What a page has of an import: its size, and the files of which something is left. */
async function bundle(contents) {
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: root },
    bundle: true,
    minify: true,
    metafile: true,
    preserveSymlinks: true, // src/gen
    format: 'esm',
    target: 'es2022',
    write: false,
  });
  const [output] = Object.values(metafile.outputs);
  const files = Object.entries(output.inputs).filter(([, { bytesInOutput }]) => bytesInOutput > 0);
  return { bytes: gzipSync(outputFiles[0].contents).length, files: files.map(([name]) => name) };
}

const foreign = /^(src\/(api|gen|webhooks)|node_modules)\//;
let failed = false;
for (const path of ['session/index', 'index']) {
  const { bytes, files } = await bundle(`export { connect } from './src/${path}.ts';`);
  console.log(`The session client of src/${path}.ts has ${bytes} of at most ${limitBytes} bytes (minified, gzip).`);
  const others = files.filter((name) => foreign.test(name));
  if (others.length > 0) console.error(`It brings ${others.join(', ')}.`);
  failed ||= bytes > limitBytes || others.length > 0;
}
const whole = await bundle("export { Parlance } from './src/index.ts';");
const receiver = await bundle("export { verify } from './src/webhooks/index.ts';");
console.log(`The client of the API has ${whole.bytes} bytes, the verification of webhooks ${receiver.bytes}.`);
process.exitCode = failed ? 1 : 0;
