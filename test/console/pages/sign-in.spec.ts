import { call, expect, service, test } from '../support/test.js';

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

test('why a sign-in was refused is said in a sentence, and a text of the address is not', async ({ page }) => {
  for (const [code, sentence] of [
    ['issuer-denied', /said no, or you went back/],
    ['issuer-refused', /in the log of the server/],
    ['issuer-unavailable', /does not answer/],
    ['no-tenant', /PARLANCE_OIDC_TENANT/],
    ['not-secure', /over https only/],
    ['Call +1 201 555 0100', /The sign-in failed/],
    ['constructor', /The sign-in failed/],
  ] as const) {
    await page.goto('about:blank');
    await page.goto(`${service.console}#/sign-in?error=${encodeURIComponent(code)}`);
    await expect(page.getByRole('alert')).toContainText(sentence);
    await expect(page.getByText(code)).toHaveCount(0);
  }
});

test('a key that may only read is told what it may not do', async ({ page }, info) => {
  const name = `Reads ${info.project.name}`;
  const key = await call<{ id: string; secret: string }>('POST', 'api-keys', { name, scope: 'read' });
  await page.goto(`${service.console}#/keys`);
  await page.getByLabel('API key').fill(key.secret);
  await page.keyboard.press('Enter');
  for (const path of ['/keys', '/providers', '/tools/new', '/knowledge/test']) {
    await page.goto(`${service.console}#${path}`);
    await expect(page.getByText(/It needs a key with the scope/)).toBeVisible();
  }
  await page.goto(`${service.console}#/sign-in`);
  await expect(page.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible();
  await page.goto(`${service.console}#/knowledge`);
  await expect(page.getByRole('link', { name: 'Evaluations' })).toBeVisible();
  await expect(page.getByRole('link', { name: 'Ask a question' })).toHaveCount(0);
  await page.goto('about:blank'); // it asks nothing any more
  await call('DELETE', `api-keys/${key.id}`);
});

test('the page may load nothing from elsewhere and run nothing that is written into it', async ({ page }) => {
  const response = await page.goto(service.console);
  const policy = response?.headers()['content-security-policy'] ?? '';
  expect(policy).toContain("default-src 'self'");
  expect(policy).not.toContain('unsafe');
  expect(policy).toContain("require-trusted-types-for 'script'");
});

test('a text that cannot be a key is said to be none', async ({ page }) => {
  await page.goto(service.console);
  await page.getByLabel('API key').fill('prl_Schlüssel→');
  await page.keyboard.press('Enter');
  await expect(page.getByText('This is not a key')).toBeVisible();
});

test('who may not see a page is led to one that they may, or to sign in anew', async ({ page }, info) => {
  const { id, secret } = await call<{ id: string; secret: string }>('POST', 'api-keys', {
    name: `Back end ${info.project.name}`,
    scope: 'runtime',
  });
  await page.addInitScript((key) => sessionStorage.setItem('parlance.key', key), secret);
  await page.goto(`${service.console}#/keys`);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Not for you');
  await page.getByRole('link', { name: 'Go to Overview' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Overview');
  await page.goto(`${service.console}#/keys`);
  await page.getByRole('button', { name: 'Sign in with another key' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Sign in');
  await call('DELETE', `api-keys/${id}`);
});

test('the console says that a proxy answers, and begins when the service does', async ({
  open,
  page,
  tolerate,
  look,
}) => {
  tolerate(/503/);
  const answer = { status: 503, contentType: 'text/html', body: '<h1>Bad gateway</h1>' };
  await page.route('**/parlance.v1.*/**', (route) => route.fulfill(answer));
  await open('/agents');
  await expect(page.getByRole('main').getByRole('alert')).toContainText('Something other than Parlance answered');
  await look();
  await page.unroute('**/parlance.v1.*/**');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Agents');
});
