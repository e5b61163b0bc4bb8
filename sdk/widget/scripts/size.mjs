// Fails when the files of dist/, compressed, are together larger than their limit.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const limitBytes = 60 * 1024;
const dist = fileURLToPath(new URL('../dist/', import.meta.url));

let bytes = 0;
for (const name of readdirSync(dist).filter((file) => file.endsWith('.js'))) {
  const size = gzipSync(readFileSync(dist + name)).length;
  console.log(`${name}: ${size} bytes`);
  bytes += size;
}
console.log(`The widget has ${bytes} of at most ${limitBytes} bytes (gzip).`);
process.exitCode = bytes > limitBytes ? 1 : 0;
