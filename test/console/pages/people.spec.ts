import type { Page } from '@playwright/test';

import { call, choose, expect, service, test } from '../support/test.js';

/** Signs somebody in at the provider. */
async function signIn(page: Page, login: string, path = '/'): Promise<void> {
  await page.goto(`${service.console}#${path}`);
  await page.getByRole('link', { name: 'Sign in with Example' }).click();
  await page.getByPlaceholder('Enter any login').fill(login);
  await page.getByPlaceholder('and password').fill('any');
  await page.getByRole('button', { name: 'Sign-in' }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
}

test('an owner signs in, is named in the audit log, and gives a role', async ({ page, look, browser }, info) => {
  const login = `guest-${info.project.name}-${Date.now().toString(36)}`;
  const other = await browser.newPage();
  await signIn(other, login);
  await expect(other.getByText(/none of your groups has a role/)).toBeVisible();

  await signIn(page, 'ada', '/people');
  await expect(page.getByRole('heading', { level: 1, name: 'People and roles' })).toBeVisible(); // where the sign-in was begun
  const row = page.getByRole('row', { name: new RegExp(login, 'i') });
  await expect(row).toContainText('none');
  await look('people');
  await row.getByRole('button', { name: /^More for/ }).click();
  await page.getByRole('menuitem', { name: 'Change the role' }).click();
  await choose(page, 'Role', /^analyst/);
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(row).toContainText('analyst');
  const { entries } = await call<{ entries: { actor_kind: string; actor_name: string; action: string }[] }>(
    'GET',
    'audit-log?action=person.update',
  );
  expect(entries[0]).toMatchObject({ actor_kind: 'person', actor_name: 'Ada Example' });

  await other.goto(service.console);
  await other.getByRole('link', { name: 'Sign in with Example' }).click(); // the provider knows them
  await expect(other.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible();
  await row.getByRole('button', { name: /^More for/ }).click();
  await page.getByRole('menuitem', { name: 'Forget' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Forget' }).click();
  await expect(row).toHaveCount(0);
  await other.reload();
  await expect(other.getByRole('heading', { level: 1, name: 'Sign in' })).toBeVisible();
  await other.close();

  await page.getByRole('button', { name: 'Signed in as Ada Example' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Sign in' })).toBeVisible();
});

test('two tabs sign in, the second first: the first one leads to the overview', async ({ page, context }) => {
  await page.goto(service.console);
  await page.getByRole('link', { name: 'Sign in with Example' }).click();
  await expect(page.getByPlaceholder('Enter any login')).toBeVisible();
  const second = await context.newPage();
  await signIn(second, 'olga');
  await expect(second.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible();
  await page.getByPlaceholder('Enter any login').fill('olga');
  await page.getByPlaceholder('and password').fill('any');
  await page.getByRole('button', { name: 'Sign-in' }).click();
  const overview = page.getByRole('heading', { level: 1, name: 'Overview' });
  const goOn = page.getByRole('button', { name: 'Continue' });
  await expect(overview.or(goOn)).toBeVisible();
  if (await goOn.isVisible()) await goOn.click();
  await expect(overview).toBeVisible();
});

test('a sign-in that ends under an open page is renewed in another tab, and the page goes on', async ({
  page,
  context,
  look,
  tolerate,
}, info) => {
  tolerate(/401/);
  const agents = `workspaces/${service.workspace}/agents`;
  const { id } = await call<{ id: string }>('POST', agents, { name: `Signed out ${info.project.name}` });
  await signIn(page, 'olga', `/agents/${id}/instructions`);
  const field = page.getByRole('textbox', { name: 'First message', exact: true });
  await expect(field).toBeVisible();
  await page.waitForLoadState('networkidle'); // nothing of the page is refused before something is typed
  await context.clearCookies({ name: /parlance_console/ });
  await field.fill('Typed while signed out');
  const dialog = page.getByRole('alertdialog', { name: 'Your sign-in has ended' });
  await expect(dialog).toBeVisible();
  await look();
  const opened = context.waitForEvent('page');
  await dialog.getByRole('link', { name: 'Sign in with Example' }).click();
  await expect((await opened).getByRole('heading', { level: 1, name: 'You are signed in' })).toBeVisible();
  await expect(page.getByText('Draft saved')).toBeVisible();
  await expect(field).toHaveValue('Typed while signed out');
  await call('DELETE', `${agents}/${id}`);
});

test('somebody of billing sees usage and plan, and nothing else', async ({ page, look }) => {
  await signIn(page, 'finn');
  await expect(page.getByRole('heading', { level: 1, name: 'Usage and plan' })).toBeVisible();
  await expect(page.getByRole('link', { name: 'Agents' })).toHaveCount(0);
  await look();
});

test('an analyst reads transcripts with personal data masked', async ({ page }, info) => {
  const { id } = await call<{ id: string }>('POST', 'sessions', {
    agent_id: service.agent,
    user_id: `eve-${info.project.name}`,
    modality: 'text',
  });
  await call('POST', `sessions/${id}/turns`, { text: 'My address is eve@example.org.' });
  await signIn(page, 'ana', `/sessions/${id}`);
  await expect(page.getByText(/My address is/).first()).toBeVisible();
  await expect(page.getByText('eve@example.org')).toHaveCount(0);
  await expect(page.getByText(`eve-${info.project.name}`)).toHaveCount(0);
  await expect(page.locator('a[href*="#/users/"]')).toHaveCount(0);
  if (info.project.name === 'phone') await page.getByRole('button', { name: 'Menu', exact: true }).click();
  const pages = page.getByRole('navigation', { name: 'Pages' });
  await expect(pages.getByRole('link', { name: 'Sessions', exact: true })).toBeVisible();
  await expect(pages.getByRole('link', { name: 'Users', exact: true })).toHaveCount(0);
  for (const path of ['/users', '/users/eve', '/knowledge/test', '/tools/new']) {
    await page.goto(`${service.console}#${path}`);
    await expect(page.getByText('You may not see this page')).toBeVisible();
  }
});
