// Starts `parlance dev` for the run, and a provider that people sign in with, unless
// PARLANCE_BASE_URL, PARLANCE_API_KEY and PARLANCE_AGENT_ID name one that runs (then DATA_DIR is
// its data directory). BINARY=/path is the program; without it one is built. What understands
// speech is scripted, unless PARLANCE_STT_BASE_URL names something that does.

import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

import { client, rolesOfGroups, startIssuer } from './issuer.js';
import { startTranscriber } from './transcriber.js';

/** A port that was free just now. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export default async function start(): Promise<(() => Promise<void>) | undefined> {
  if (process.env['PARLANCE_BASE_URL']) return undefined;
  const dir = mkdtempSync('/var/tmp/parlance-console-');
  chmodSync(dir, 0o711); // Postgres runs as another user when we are root, and must get through
  let binary = process.env['BINARY'];
  if (!binary) {
    binary = `${dir}/parlance`;
    execFileSync('go', ['build', '-o', binary, './cmd/parlance'], {
      cwd: new URL('../../..', import.meta.url).pathname,
      stdio: 'inherit',
    });
  }
  const port = await freePort();
  const issuer = await startIssuer(`http://127.0.0.1:${port}`);
  const transcriber = process.env['PARLANCE_STT_BASE_URL'] ? undefined : await startTranscriber();
  const speech = transcriber && { PARLANCE_STT_BASE_URL: transcriber.url, PARLANCE_STT_NAME: 'scripted' };
  const people = {
    PARLANCE_OIDC_ISSUER: issuer.url,
    PARLANCE_OIDC_CLIENT_ID: client.id,
    PARLANCE_OIDC_CLIENT_SECRET: client.secret,
    PARLANCE_OIDC_ROLES: rolesOfGroups,
    PARLANCE_OIDC_NAME: 'Sign in with Example',
  };
  const service = spawn(
    binary,
    ['dev', '--data-dir', `${dir}/data`, '--port', String(port), '--yes', '--model', 'none'],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...people, ...speech },
    },
  );
  let log = '';
  for (const stream of [service.stdout, service.stderr])
    stream.on('data', (part: Buffer) => (log = (log + part.toString()).slice(-20_000)));
  const stop = async () => {
    const ended = new Promise((resolve) => service.once('exit', resolve));
    if (service.exitCode === null && service.kill('SIGINT')) await ended;
    issuer.close();
    transcriber?.stop();
    rmSync(dir, { recursive: true, force: true });
  };
  process.env['DATA_DIR'] = `${dir}/data`;
  const env = `${dir}/data/dev.env`;
  for (let tries = 0; ; tries++) {
    // dev.env is written before /readyz first answers 200
    if (service.exitCode !== null || tries > 1200) {
      await stop();
      throw new Error(`parlance dev is not ready:\n${log}`);
    }
    if (existsSync(env)) {
      for (const [, name, value] of readFileSync(env, 'utf8').matchAll(
        /^(?:export )?(PARLANCE_\w+)=['"]?(.*?)['"]?$/gm,
      ))
        if (name) process.env[name] = value;
      const base = process.env['PARLANCE_BASE_URL'];
      if (base && (await fetch(base.replace(/v1$/, 'readyz')).catch(() => undefined))?.ok) return stop;
    }
    await wait(250);
  }
}
