import { expect, service, test } from '../support/test.js';

test('a key that is wrong is refused in words, and the right one opens the overview', async ({
  page,
  look,
  tolerate,
}) => {
  tolerate(/401/);
  await page.goto(service.console);
  await look('sign-in');
  await page.getByLabel('API key').fill('prl_wrong');
  await page.keyboard.press('Enter');
  await expect(page.getByText(/not valid/)).toBeVisible();
  await look();
  await page.getByLabel('API key').fill(service.key);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible();
  expect(
    await page.evaluate((key) => JSON.stringify(localStorage).includes(key), service.key),
    'the key is in localStorage',
  ).toBe(false);
  await page.reload();
  await expect(page.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible();
  await page.getByRole('button', { name: /^Signed in as/ }).click();
  await page.getByRole('menuitem', { name: 'Forget the key' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Sign in' })).toBeVisible();
});

test('the page may load nothing from elsewhere and run nothing that is written into it', async ({ page }) => {
  const response = await page.goto(service.console);
  const policy = response?.headers()['content-security-policy'] ?? '';
  expect(policy).toContain("default-src 'self'");
  expect(policy).not.toContain('unsafe');
  expect(policy).toContain("require-trusted-types-for 'script'");
});
