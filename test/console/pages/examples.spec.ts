// The programs that the API panel shows compile as they are printed.

import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';

import { allPrograms } from '../support/examples.js';
import { expect, test } from '../support/test.js';

const root = new URL('../../../', import.meta.url).pathname;

test('every call is shown as programs that compile @wide', async ({}, info) => {
  test.slow(); // to compile so many
  const programs = await allPrograms();
  expect(programs.length).toBeGreaterThan(100);
  const dir = info.outputPath('programs');
  mkdirSync(dir, { recursive: true });
  for (const { name, typescript, go } of programs) {
    writeFileSync(`${dir}/${name}.ts`, typescript);
    // All of them are checked as one program.
    writeFileSync(`${dir}/${name.toLowerCase()}.go`, go.replace('func main()', `func call${name}()`));
  }
  writeFileSync(`${dir}/main.go`, 'package main\n\nfunc main() {}\n');
  const modules = `${root}console/node_modules`;
  writeFileSync(
    `${dir}/tsconfig.json`,
    JSON.stringify({
      extends: `${root}console/tsconfig.json`,
      compilerOptions: {
        noEmit: true,
        types: ['node'],
        typeRoots: [`${root}test/console/node_modules/@types`],
        paths: {
          '@parlance/sdk': [`${root}sdk/typescript/src/index.ts`],
          '@bufbuild/protobuf': [`${modules}/@bufbuild/protobuf/dist/esm/index.d.ts`],
          '@bufbuild/protobuf/*': [`${modules}/@bufbuild/protobuf/dist/esm/*/index.d.ts`],
          '@connectrpc/connect': [`${modules}/@connectrpc/connect/dist/esm/index.d.ts`],
          '@connectrpc/connect/*': [`${modules}/@connectrpc/connect/dist/esm/*/index.d.ts`],
          '@connectrpc/connect-web': [`${modules}/@connectrpc/connect-web/dist/esm/index.d.ts`],
        },
      },
      include: ['*.ts'],
    }),
  );
  const run = (command: string, ...args: string[]) => {
    try {
      return execFileSync(command, args, { cwd: root, encoding: 'utf8', stdio: 'pipe' });
    } catch (error) {
      const { stdout, stderr } = error as { stdout: string; stderr: string };
      return `${stdout}${stderr}` || String(error);
    }
  };
  expect(run(`${modules}/.bin/tsc`, '-p', dir), 'what tsc says').toBe('');
  const files = programs.map(({ name }) => `${dir}/${name.toLowerCase()}.go`);
  expect(run('go', 'vet', `${dir}/main.go`, ...files), 'what go vet says').toBe('');
});
