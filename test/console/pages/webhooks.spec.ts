import { writeFileSync } from 'node:fs';

import { startReceiver, type Received } from '../support/receiver.js';
import { call, choose, expect, service, test, unfold } from '../support/test.js';

const hostile = '<img src=x onerror=alert(1)>';

/** Says something and ends the conversation, which is an event. */
async function converse(userId: string): Promise<void> {
  const { id } = await call<{ id: string }>('POST', 'sessions', {
    agent_id: service.agent,
    user_id: userId,
    modality: 'text',
  });
  await call('POST', `sessions/${id}/turns`, { text: 'How are webhooks signed?' });
  await call('POST', `sessions/${id}/end`, { status: 'completed' });
}

test('an endpoint gets a test, fails, is seen failing, and gets its event again', async ({
  open,
  look,
  tolerate,
}, info) => {
  tolerate(/400.*CreateWebhookEndpoint/);
  const receiver = await startReceiver();
  const name = `Hook of ${info.project.name} ${Date.now()} ${hostile}`;
  const page = await open('/webhooks');
  await page.getByRole('button', { name: 'New endpoint' }).first().click();
  await page.getByLabel('URL').fill('http://example.com/');
  await page.getByRole('button', { name: 'Make the endpoint' }).click();
  await expect(
    page
      .getByRole('dialog')
      .getByText(/begins with https/)
      .first(),
  ).toBeVisible();
  await page.getByLabel('URL').fill(receiver.url);
  await page.getByLabel('Description').fill(name);
  await look();
  await page.getByRole('button', { name: 'Make the endpoint' }).click();
  const secret = (await page.getByLabel('The signing secret').textContent()) ?? '';
  await page.getByRole('button', { name: 'Done' }).click();

  // The code that is shown verifies what is sent.
  const code = (await page.getByLabel('How to verify in Node').textContent()) ?? '';
  await page.getByRole('button', { name: 'Send a test' }).click();
  await choose(page, 'Example of', 'kb.source_ingested');
  await page.getByRole('button', { name: 'Send it' }).click();
  await expect(page.getByText('A test: an example of the event.')).toBeVisible();
  const [test] = receiver.received;
  if (!test) throw new Error('nothing was received');
  const file = info.outputPath('verify.mjs');
  writeFileSync(file, code);
  const { verify } = (await import(file)) as {
    verify(headers: Received['headers'], body: Buffer, secret: string): void;
  };
  verify(test.headers, test.body, secret);
  expect(() => verify(test.headers, Buffer.from(`${test.body} `), secret)).toThrow('wrong signature');
  await expect(page.locator('pre[aria-label="Payload"]')).toContainText('"type": "kb.source_ingested"');
  await page.getByRole('tab', { name: 'Headers' }).click();
  await expect(page.getByLabel('Headers that were sent')).toContainText('v1,');

  // An event of a hostile user, which is refused.
  receiver.status = 500;
  const user = `hook-${info.project.name}-${Date.now()}-${hostile}`;
  await converse(user);
  await page.getByRole('link', { name: 'The endpoint' }).click();
  await expect(page.getByRole('heading', { name })).toBeVisible();
  const failed = page.getByRole('table', { name: 'Deliveries' }).getByRole('row').filter({ hasText: 'failed, 500' });
  await expect(failed.first()).toBeVisible();
  await unfold(page);
  await choose(page, 'State', 'Failed');
  await expect(page).toHaveURL(/status=failed/);
  await page.getByRole('tab', { name: 'Health' }).click();
  await expect(page.getByText(/failing, \d+ in a row/).first()).toBeVisible();
  await expect(page.getByRole('heading', { name: 'Attempts by the hour' })).toBeVisible();
  await look();
  await page.goto(`${service.console}#/webhooks`);
  await expect(page.getByRole('row').filter({ hasText: name })).toContainText('failing');
  await look('webhooks');
  await page.getByRole('link', { name: receiver.url }).click();
  await page.getByRole('tab', { name: 'Deliveries' }).click();
  await failed.first().getByRole('link').click();
  const payload = page.locator('pre[aria-label="Payload"]');
  await expect(payload).toContainText('\\u003cimg');
  const event = /"(?:event_)?id": "(evt_\w+)"/.exec((await payload.textContent()) ?? '')?.[1];
  await page.getByRole('tab', { name: 'Answer' }).click();
  await expect(page.getByLabel('Body of the answer')).toHaveText('No <b>thanks</b>');
  await look('delivery');

  // The receiver is mended.
  receiver.status = 204;
  await page.getByRole('button', { name: 'Send again' }).click();
  await expect(page.getByText('accepted, 204').first()).toBeVisible();
  expect(receiver.received.filter(({ headers }) => headers['webhook-id'] === event).length).toBeGreaterThan(1);

  await page.getByRole('link', { name: 'The endpoint' }).click();
  await page.getByRole('button', { name: 'Pause' }).click();
  await expect(page.getByText('Paused: what happens is kept')).toBeVisible();
  await page.getByRole('button', { name: 'Enable' }).click();
  await expect(page.getByText('Paused: what happens is kept')).toHaveCount(0);
  await page.getByRole('button', { name: 'More for the endpoint' }).click();
  await page.getByRole('menuitem', { name: 'Send missed events again' }).click();
  await expect(page.getByText(/failed for good/)).toBeVisible();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'More for the endpoint' }).click();
  await page.getByRole('menuitem', { name: 'New secret' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Make it' }).click();
  await expect(page.getByLabel('The signing secret')).not.toHaveText(secret);
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('button', { name: 'More for the endpoint' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await expect(page.getByRole('heading', { name: 'Webhooks', level: 1 })).toBeVisible();
  await expect(page.getByRole('row').filter({ hasText: name })).toHaveCount(0);
  await receiver.stop();
});

test('events appear as they happen', async ({ open, look }, info) => {
  const user = `feed-${info.project.name}-${Date.now()}-${hostile}`;
  const page = await open('/webhooks?tab=events');
  await expect(page.getByText('live', { exact: true })).toBeVisible();
  await converse(user);
  const row = page.getByRole('row').filter({ hasText: user }).first();
  await expect(row).toContainText('post_call_transcription');
  await look();
  await row.getByRole('button', { name: 'post_call_transcription' }).click();
  await expect(page.getByLabel('Data of the event')).toContainText('"transcript"');
  await look();
});
