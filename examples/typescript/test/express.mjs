// Runs the example express/: its page talks, and the report of the conversation comes as a webhook.
import assert from 'node:assert/strict';
import { talk } from './page.mjs';
import { freePort, listen, run, seen, start } from './programs.mjs';

await run(async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const { secret } = await listen(`${url}/webhooks`);
  const env = { PORT: String(port), PARLANCE_WEBHOOK_SECRET: `whsec_AAAA ${secret}` };
  const server = start(process.execPath, ['../express/dist/server.js'], env);
  await server.find(/http:/);

  const forged = await fetch(`${url}/webhooks`, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } });
  assert.equal(forged.status, 400);
  seen('a delivery without a signature is refused');
  await talk(url, async (page) => {
    await page.getByRole('button', { name: 'End', exact: true }).click();
    await page.getByText('The conversation was hung up.').waitFor();
  });
  seen('the page talks with the agent, in a session that the back end has created');
  await server.find(/ses_\w+ is over: .*user: How are webhooks signed\? \| agent: .*HMAC-SHA256/);
  seen('the webhook with its transcript arrives, and is verified');
});
