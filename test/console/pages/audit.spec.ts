import { readFileSync } from 'node:fs';

import { call, expect, service, test, unfold } from '../support/test.js';

test('a change is found, shown as before and after, and exported', async ({ open, look }, info) => {
  const name = `Audited by ${info.project.name} <img src=x onerror=alert(1)>`;
  const { id } = await call<{ id: string }>('POST', `workspaces/${service.workspace}/agents`, {
    name,
    instructions: 'Be brief.',
  });
  await call('PATCH', `workspaces/${service.workspace}/agents/${id}`, { name: `${name}, renamed` });
  const page = await open('/audit');
  await unfold(page);
  await page.getByLabel('Resource').fill(id);
  await page.getByLabel('Action').fill('agent.update');
  await expect(page).toHaveURL(/action=agent\.update/);
  const row = page.getByRole('table', { name: 'Audit log' }).getByRole('row').filter({ hasText: id });
  await expect(row).toHaveCount(1);
  await row.getByRole('link', { name: 'agent.update' }).click();
  const diff = page.getByRole('table', { name: 'Before and after' }).getByRole('row').filter({ hasText: 'renamed' });
  await expect(diff.getByRole('deletion')).toHaveText(name);
  await expect(diff.getByRole('insertion')).toHaveText(`${name}, renamed`);
  await look();
  await page.reload();
  await expect(page.getByRole('dialog')).toContainText('renamed');
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await expect(row.first()).toBeVisible();
  await look('audit');
  await page.getByRole('button', { name: 'Export' }).click();
  await look();
  const saving = page.waitForEvent('download');
  await page.getByRole('dialog').getByRole('button', { name: 'Export' }).click();
  const lines = readFileSync(await (await saving).path(), 'utf8')
    .trim()
    .split('\n');
  expect(lines.map((line) => (JSON.parse(line) as { number: number }).number)).toEqual(lines.map((_, at) => at + 1));
  expect(lines.some((line) => line.includes(id))).toBe(true);
});
