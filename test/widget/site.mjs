// The programs of the test: a Parlance of its own, and the customer's site of examples/widget.
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const patienceMS = 300_000;

/** A folder for this run, which is removed at the end. */
export const work = mkdtempSync('/var/tmp/parlance-widget-');
chmodSync(work, 0o711); // Postgres runs as another user when we are root, and must get through
const running = new Set();

/** Ends all programs, and removes the folder. */
export async function cleanUp() {
  await Promise.all([...running].map((program) => program.stop()));
  rmSync(work, { recursive: true, force: true });
}

/** Builds a program of the repository, unless the variable names one that is built. */
function built(variable, path) {
  if (process.env[variable]) return process.env[variable];
  const file = join(work, variable.toLowerCase());
  if (existsSync(file)) return file;
  const { status } = spawnSync('go', ['build', '-o', file, path], { cwd: root, stdio: 'inherit' });
  if (status !== 0) throw new Error(`${path} cannot be built`);
  return file;
}

function start(file, args, env = {}) {
  const child = spawn(file, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const program = { child, output: '', isOver: false };
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (program.output += data));
  const exited = new Promise((resolve) => child.once('exit', resolve)).then(() => (program.isOver = true));
  program.stop = async () => {
    child.kill('SIGINT');
    await exited;
    running.delete(program);
  };
  running.add(program);
  return program;
}

/** Waits until a function returns, or resolves to, something true. */
export async function until(what, fn) {
  const late = Date.now() + patienceMS;
  for (;;) {
    const value = await fn();
    if (value) return value;
    if (Date.now() > late) throw new Error(`not within ${patienceMS} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function freePort() {
  const server = net.createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Starts `parlance dev` on a port that it keeps when it is started again. */
export async function parlance() {
  const file = built('PARLANCE', './cmd/parlance');
  const port = await freePort();
  const data = join(work, 'data');
  const args = ['dev', '--data-dir', data, '--port', String(port), '--yes', '--model', 'none'];
  const service = { env: {} };
  service.start = async () => {
    const program = start(file, args);
    service.stop = program.stop;
    await until('parlance dev is ready', async () => {
      if (program.isOver) throw new Error(program.output);
      return fetch(`http://127.0.0.1:${port}/readyz`).then((r) => r.ok, () => false);
    });
    const lines = readFileSync(join(data, 'dev.env'), 'utf8').trim().split('\n');
    service.env = Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2)));
  };
  await service.start();
  return service;
}

/** Starts the customer's site, and returns its URL. */
export async function site(env) {
  const file = built('SITE', './examples/widget');
  const program = start(file, [], { ...env, PORT: '0' });
  const [url] = await until('the site is up', () => {
    if (program.isOver) throw new Error(program.output);
    return program.output.match(/http:\/\/\S+/);
  });
  return url;
}
