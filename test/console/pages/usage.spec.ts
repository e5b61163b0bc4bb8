import { call, expect, service, test } from '../support/test.js';

test('usage of the month, by day and by agent, and an alert of one’s own', async ({ open, look }, info) => {
  const { id } = await call<{ id: string }>('POST', 'sessions', {
    agent_id: service.agent,
    user_id: `usage-${info.project.name}`,
    modality: 'text',
  });
  await call('POST', `sessions/${id}/turns`, { text: 'How are webhooks signed?' });
  const used = `usage/days?group_by=agent&agent_id=${service.agent}&meter=sessions`;
  await expect.poll(async () => (await call<{ rows: unknown[] }>('GET', used)).rows).toHaveLength(1); // it is counted
  const page = await open('/usage');
  await expect(page.getByRole('heading', { name: /^Plan:/ })).toBeVisible();
  await expect(page.getByRole('img', { name: /^Sessions by day/ })).toBeVisible();
  await expect(page.getByRole('row', { name: /^Ada/ }).first()).toBeVisible();
  await look('usage');
  await page.getByRole('button', { name: 'New alert' }).click();
  const quantity = info.project.name === 'wide' ? 1234 : 4321;
  await page.getByLabel('Tell me at').fill(String(quantity));
  await page.getByRole('button', { name: 'Set the alert' }).click();
  const alert = page.getByRole('listitem').filter({ hasText: info.project.name === 'wide' ? '1,234' : '4,321' });
  await expect(alert).toBeVisible();
  await alert.getByRole('button', { name: /^Remove/ }).click();
  await expect(alert).toHaveCount(0);
});
