import { call, expect, service, test } from '../support/test.js';

/** A conversation of one question. */
async function converse(userId: string, text: string): Promise<string> {
  const { id } = await call<{ id: string }>('POST', 'sessions', {
    agent_id: service.agent,
    user_id: userId,
    modality: 'text',
  });
  await call('POST', `sessions/${id}/turns`, { text });
  return id;
}

test('the overview counts what happened, as a plot and as a table', async ({ open, look }, info) => {
  await converse(`overview-${info.project.name}`, 'Which file types can I upload?');
  const page = await open('/');
  await expect(page.getByRole('img', { name: /^Sessions, as a plot/ })).toBeVisible();
  await look('overview');
  await expect(page.getByRole('region', { name: 'Webhook messages' })).toContainText(/Messages: \d+Given up: \d+/);
  const sessions = page.getByRole('region', { name: 'Sessions' });
  await sessions.getByRole('button', { name: 'Table' }).click();
  await expect(sessions.getByRole('row').nth(6), 'a row for each of the last days').toBeVisible();
  const numbers = await sessions.getByRole('row').allTextContents();
  expect(numbers.at(-1)).toMatch(/[1-9]/);
  await page.getByRole('button', { name: /Time$/ }).click();
  await page.getByRole('option', { name: 'Last 24 hours' }).click();
  await expect(page).toHaveURL(/range=24h/);
  await page.reload();
  await expect(page.getByRole('button', { name: /Last 24 hours/ })).toBeVisible();
});

test('the page shows its calls as commands that work', async ({ open, page, look }) => {
  await open('/agents');
  await page.getByRole('button', { name: /calls of the API/ }).click();
  const command = page.getByLabel('ListAgents in curl');
  await expect(command).toContainText('/workspaces/');
  await look();
  const { execFileSync } = await import('node:child_process');
  const answer = execFileSync('sh', ['-c', `${await command.textContent()} -fsS`], {
    env: { ...process.env, PARLANCE_BASE_URL: service.api, PARLANCE_API_KEY: service.key },
    encoding: 'utf8',
  });
  expect(JSON.parse(answer).agents.length).toBeGreaterThan(0);
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
});

test('the calls that led to a page are shown, and those of its first visit at the next', async ({
  open,
  page,
}, info) => {
  const name = `Shown ${info.project.name} ${Date.now()}`;
  const shown = async (...labels: string[]) => {
    await page.getByRole('button', { name: /calls of the API/ }).click();
    for (const label of labels) await expect(page.getByLabel(`${label} in curl`)).toBeVisible();
    await page.keyboard.press('Escape');
  };
  await open('/knowledge');
  await page.getByRole('button', { name: 'Paste text' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill(name);
  await page.getByLabel('Text', { exact: true }).fill('We open at nine.');
  await page.getByRole('button', { name: 'Add the text' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(name);
  await shown('CreateInlineSource', 'GetSource');
  await page.goBack();
  await shown('ListSources');
  await page.goForward();
  await shown('GetSource');
});

test('a page that does not exist says so', async ({ open, page, look }) => {
  await open('/nowhere');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('There is no such page');
  await look();
});
