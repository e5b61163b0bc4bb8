import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { choose, expect, test } from '../support/test.js';

test('a provider’s key is stored, tried, and never shown again', async ({ open, look }, info) => {
  const asked: string[] = [];
  const provider = createServer((request, response) => {
    asked.push(request.headers.authorization ?? '');
    response
      .writeHead(401, { 'Content-Type': 'application/json' })
      .end('{"error": {"message": "Incorrect API key provided", "code": "invalid_api_key"}}');
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  const name = `Provider of ${info.project.name}`;
  const page = await open('/providers');
  await page.getByRole('button', { name: 'New provider' }).first().click();
  await choose(page, 'For', 'Models');
  await page.getByLabel('Name', { exact: true }).fill(name);
  await page.getByLabel('API key').fill('sk-a-long-key-that-is-not-real-9876');
  await page
    .getByRole('textbox', { name: 'Base URL' })
    .fill(`http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`);
  await page.getByRole('button', { name: 'Save' }).click();
  const row = page.getByRole('row', { name });
  await expect(row).toContainText('…9876');
  await look('providers');
  await expect(page.getByText('sk-a-long-key')).toHaveCount(0);
  await row.getByRole('button', { name: /^More for/ }).click();
  await page.getByRole('menuitem', { name: 'Try it' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Try it' }).click();
  await expect.poll(() => asked).toContain('Bearer sk-a-long-key-that-is-not-real-9876');
  await row.getByRole('button', { name: /^More for/ }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await expect(row).toHaveCount(0);
  provider.close();
});
