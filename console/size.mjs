// Checks how much a browser loads before it shows the first page: index.html, what it names, and
// what the overview imports. Prints it, and fails above the limit.

import { readFileSync, readdirSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const limit = 300_000;
const html = readFileSync('dist/index.html', 'utf8');
const assets = readdirSync('dist/assets');
const wanted = new Set(assets.filter((name) => html.includes(name) || /^Overview/.test(name)));
for (const name of wanted)
  // a Set is walked to what is added meanwhile
  if (name.endsWith('.js'))
    for (const [, imported] of readFileSync(`dist/assets/${name}`, 'utf8').matchAll(
      /(?:from|import)\s*["']\.\/([^"']+)["']/g,
    ))
      if (imported && assets.includes(imported)) wanted.add(imported);
const sizes = [...wanted].map((name) => [name, gzipSync(readFileSync(`dist/assets/${name}`)).length]);
const total = sizes.reduce((sum, [, size]) => sum + size, gzipSync(html).length);
for (const [name, size] of sizes) console.log(`${String(size).padStart(8)}  ${name}`);
console.log(`${String(total).padStart(8)}  first load, gzip (limit ${limit})`);
if (total > limit) process.exit(1);
