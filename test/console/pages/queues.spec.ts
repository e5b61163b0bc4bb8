import { expect, test } from '../support/test.js';

test('what waits, the queues, and the workers', async ({ open, look }) => {
  const page = await open('/queues');
  await expect(page.getByRole('table', { name: 'Your work' }).getByRole('row', { name: /^Sources/ })).toBeVisible();
  await expect(page.getByRole('table', { name: 'Queues' }).getByRole('row').nth(1)).toBeVisible();
  await expect(page.getByText(/of \d+ busy/).first()).toBeVisible();
  await look('queues');
});
