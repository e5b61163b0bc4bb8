import { expect, test } from '../support/test.js';

test('a workspace is made, chosen, changed and deleted', async ({ open, look }, info) => {
  const name = `Staging <img src=x onerror=alert(1)> ${info.project.name}`;
  const page = await open('/workspaces');
  await page.getByRole('button', { name: 'New workspace' }).click();
  await page.getByLabel('Name', { exact: true }).last().fill(name);
  await page.getByLabel('Days that transcripts are kept').fill('30');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  const row = page.getByRole('row').filter({ hasText: name });
  await expect(row).toContainText('30 days');
  await look('workspaces');
  await page.getByRole('button', { name: /Workspace$/ }).click();
  await page.getByRole('option', { name }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible();
  await page.goto(`${page.url().split('#')[0]}#/workspaces`);
  await expect(row).toContainText('shown');
  await row.getByRole('button', { name: /^More for/ }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  const ask = page.getByRole('alertdialog');
  await expect(ask.getByRole('button', { name: 'Delete' })).toBeDisabled();
  await ask.getByRole('textbox').fill(name);
  await ask.getByRole('button', { name: 'Delete' }).click();
  await expect(row).toHaveCount(0);
});
