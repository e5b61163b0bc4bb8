import { call, choose, expect, service, test } from '../support/test.js';

test('a key is made, shown once, rotated and deleted', async ({ open, look }, info) => {
  const name = `Key of ${info.project.name} ${Date.now().toString(36)}`;
  const page = await open('/keys');
  await page.getByRole('button', { name: 'New key' }).click();
  await page.getByLabel('Name').fill(name);
  await choose(page, 'What it may do', /Conversations/);
  await page.getByRole('button', { name: 'Make the key' }).evaluate((button: HTMLElement) => {
    button.click();
    button.click(); // twice before anything was rendered: still one key
  });
  const secret = await page.getByLabel('The new key').textContent();
  await expect(page.getByText('It is shown only now')).toBeVisible();
  await look();
  const asked = await fetch(`${service.api}/sessions`, { headers: { Authorization: `Bearer ${secret}` } });
  expect(asked.status).toBe(200);
  await page.getByRole('dialog', { name }).press('Escape');
  const question = page.getByRole('alertdialog', { name: 'Close without copying it?' });
  await question.getByRole('button', { name: 'Cancel' }).click();
  await page.mouse.click(4, 4);
  await expect(page.getByLabel('The new key')).toHaveText(secret ?? '');
  await page.getByRole('button', { name: 'Done' }).click();
  const row = page.getByRole('row', { name }); // there is one, or the next line fails
  await expect(row).toContainText('runtime');
  await look('keys');
  await row.getByRole('button', { name: `More for ${name}` }).click();
  await page.getByRole('menuitem', { name: 'Rotate' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Rotate' }).click();
  await expect(page.getByLabel('The new key')).not.toHaveText(secret ?? '');
  await page.getByRole('button', { name: 'Done' }).click();
  await row.getByRole('button', { name: `More for ${name}` }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await expect(row).toHaveCount(0);
  const { api_keys: keys } = await call<{ api_keys: { name: string }[] }>('GET', 'api-keys?page_size=200');
  expect(keys.map((key) => key.name)).not.toContain(name);
});
