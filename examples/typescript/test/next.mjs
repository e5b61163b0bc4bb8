// Runs the example next/: its page talks with the agent.
import { talk } from './page.mjs';
import { freePort, run, seen, start } from './programs.mjs';

await run(async () => {
  const port = await freePort();
  const args = ['../next/node_modules/next/dist/bin/next', 'start', '../next', '--port', String(port), '--hostname', '127.0.0.1'];
  const server = start(process.execPath, args, { NEXT_TELEMETRY_DISABLED: '1' });
  await server.find(/Ready/);
  await talk(`http://127.0.0.1:${port}`);
  seen('the page talks with the agent, in a session that a server action has created');
});
