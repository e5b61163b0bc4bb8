import { call, expect, service, test } from '../support/test.js';

const hostile = '<img src=x onerror=alert(1)>';

interface Request {
  kind: string;
  status: string;
  user_id: string;
}

const workspace = `workspaces/${service.workspace}`;

test('a memory is added, edited, found and deleted; all are forgotten', async ({ open, look }, info) => {
  const user = `ada/${info.project.name}?100%25 #${Date.now()}`;
  const of = `${workspace}/users/${encodeURIComponent(user)}/memory`;
  await call('POST', of, { kind: 'statement', text: 'My name is Ada.', category: 'identity', attribute: 'name' });
  await call('POST', of, {
    kind: 'statement',
    text: 'I prefer appointments in the morning.',
    category: 'preference',
    tags: ['time'],
  });
  await call('POST', of, { text: 'Ordered a green lamp on Monday; it is A-1001.', tags: ['order'] });
  const { id: session } = await call<{ id: string }>('POST', 'sessions', {
    agent_id: service.agent,
    user_id: user,
    modality: 'text',
  });
  await call('POST', `sessions/${session}/turns`, { text: 'How are webhooks signed?' });

  const page = await open('/users');
  await page.getByRole('searchbox', { name: "Beginning of the user's id" }).fill(`ada/${info.project.name}`);
  await page.getByRole('link', { name: user }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(user);
  await page.getByRole('button', { name: 'Add a memory' }).click();
  await page.getByRole('textbox', { name: 'Text' }).fill(`Wrote ${hostile} once.`);
  await page.getByRole('textbox', { name: 'Tags' }).fill('odd, text');
  await look();
  await page.getByRole('button', { name: 'Save' }).click();
  const row = page.getByRole('row', { name: /Wrote/ });
  await expect(row).toContainText(hostile);
  await expect(row).toContainText('odd');
  await look('user');

  await row.getByRole('button', { name: /^More for/ }).click();
  await page.getByRole('menuitem', { name: 'Edit' }).click();
  await page.getByRole('textbox', { name: 'Text' }).fill('Wrote something odd once.');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(row).toContainText('something odd');
  await page.getByRole('searchbox', { name: 'Search the memories' }).fill('lamp');
  await expect(page.getByRole('row', { name: /green lamp/ })).toBeVisible();
  await expect(row).toHaveCount(0);
  await page.getByRole('button', { name: 'Search as the agent does' }).click();
  await expect(page.getByRole('row', { name: /green lamp/ })).toBeVisible();
  await page.getByRole('searchbox', { name: 'Search the memories' }).fill('');
  await row.getByRole('button', { name: /^More for/ }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page
    .getByRole('alertdialog', { name: /^Delete/ })
    .getByRole('button', { name: 'Delete' })
    .click();
  await expect(row).toHaveCount(0);
  await page.getByRole('button', { name: 'Forget everything' }).click();
  await page
    .getByRole('alertdialog', { name: /^Forget/ })
    .getByRole('button', { name: 'Forget everything' })
    .click();
  await expect(page.getByText('Nothing is remembered')).toBeVisible();
  expect((await call<{ memories: unknown[] }>('GET', of)).memories).toEqual([]);

  await page.getByRole('tab', { name: 'Sessions' }).click();
  await page.reload();
  await expect(page.getByRole('row', { name: /text/ }).first()).toBeVisible();
  await look();
});

test('consent is recorded, a copy is made, and everything is erased', async ({ open, look, tolerate }, info) => {
  const user = `grace-${info.project.name}-${Date.now()}@example.org`;
  tolerate(/GetUser/); // of a user that was erased there is nothing
  await call('POST', `${workspace}/users/${user}/memory`, { text: 'Likes short answers.' });
  const page = await open(`/users/${user}/privacy`);
  await expect(page.getByText('has not said')).toBeVisible();
  await page.getByRole('textbox', { name: 'How you know' }).fill(`Said so: ${hostile}`);
  await page.getByRole('button', { name: 'Agrees to calls' }).click();
  await expect(page.getByText('agrees to be called')).toBeVisible();
  await expect(page.getByText(`Said so: ${hostile}`)).toBeVisible();
  await page.getByRole('button', { name: 'Refuses calls' }).click();
  await expect(page.getByText('does not want to be called')).toBeVisible();

  await page.getByRole('button', { name: 'Make a copy' }).click();
  const copy = page.getByRole('row', { name: /A copy/ });
  await expect(copy).toContainText('done');
  const href = await copy.getByRole('link', { name: 'Download' }).getAttribute('href');
  const file = await fetch(href ?? '');
  expect(file.status).toBe(200);
  expect(new TextDecoder().decode((await file.arrayBuffer()).slice(0, 2))).toBe('PK');
  await look();

  await page.getByRole('button', { name: 'Erase everything' }).click();
  const asked = page.getByRole('alertdialog', { name: /^Erase/ });
  await expect(asked).toContainText('1 memory');
  await asked.getByRole('button', { name: 'Erase everything' }).click();
  await expect(page.getByRole('row', { name: /Erasure/ })).toContainText('done');
  const { memories } = await call<{ memories: unknown[] }>('GET', `${workspace}/users/${user}/memory`);
  expect(memories).toEqual([]);

  await open('/users');
  await page.getByRole('tab', { name: 'Privacy requests' }).click();
  await expect(page.getByRole('row', { name: /Erasure/ }).first()).toContainText('erased');
  await look();
  const { requests } = await call<{ requests: Request[] }>('GET', `${workspace}/privacy/requests?user_id=${user}`);
  expect(requests.map(({ kind, status }) => `${kind} ${status}`)).toEqual(['erasure ready', 'export ready']);
});
