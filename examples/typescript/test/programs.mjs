// The programs of a test. All are ended with it.
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';

/** How long a machine that is busy may take for a step. */
export const patienceMs = 180_000;
const running = new Set();

/** Starts a program. `find` waits until its output has something, and returns the match. */
export function start(file, args, env = {}) {
  const child = spawn(file, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  let output = '';
  let isOver = false;
  let look = () => undefined;
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data) => {
      output += data;
      look();
    });
  child.on('close', () => {
    isOver = true;
    look();
  });
  const find = (pattern) =>
    new Promise((resolve, reject) => {
      const fail = (why) => reject(new Error(`${file} ${args.join(' ')}: ${why}: ${pattern}\n${output}`));
      const late = setTimeout(() => fail('not in time'), patienceMs);
      look = () => {
        const found = pattern.exec(output);
        if (!found && !isOver) return;
        clearTimeout(late);
        if (found) resolve(found);
        else fail('it ended before');
      };
      look();
    });
  return { find };
}

/** Runs a test, and ends its programs. */
export async function run(test) {
  try {
    await test();
  } finally {
    for (const child of running) child.kill('SIGTERM');
  }
}

/** A port that was free just now. */
export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Forwards the workspace's reports of conversations to a URL, and returns the secret they are signed with. */
export async function listen(url) {
  const program = process.env.BINARY ?? 'parlance';
  const { find } = start(program, ['listen', '--json', '--forward-to', url, '--events', 'post_call_transcription']);
  const [, secret] = await find(/"secret":\s*"(whsec_[^"]+)"/);
  return { secret, find };
}

export const seen = (words) => console.log(`  ✓ ${words}`);
