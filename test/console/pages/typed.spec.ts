// What is typed is not lost, is sent once, and is nobody else's.

import type { Locator, Page } from '@playwright/test';

import { call, expect, hold, service, test } from '../support/test.js';

const agents = `workspaces/${service.workspace}/agents`;
const make = (name: string) => call<{ id: string }>('POST', agents, { name, instructions: 'You help.' });

/** Presses a button twice within one task of the browser: nothing has been rendered in between. */
const pressTwice = (button: Locator) =>
  button.evaluate((element: HTMLElement) => {
    element.click();
    element.click();
  });

/** Signs in by typing a key, so that the tab keeps nothing of it when it is forgotten. */
async function signIn(page: Page, key: string, path = '/'): Promise<void> {
  await page.goto(`${service.console}#${path}`);
  await page.getByLabel('API key').fill(key);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1 })).not.toHaveText('Sign in');
}

const firstMessage = (page: Page) => page.getByRole('textbox', { name: 'First message', exact: true });

test('a form that is sent twice is sent once', async ({ open }, info) => {
  const name = `Twice ${info.project.name} ${Date.now()}`;
  const page = await open('/agents');
  await page.getByRole('button', { name: 'New agent' }).first().click();
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill(name);
  await pressTwice(page.getByRole('button', { name: 'Make the agent' }));
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(name);
  const { agents: made } = await call<{ agents: { id: string }[] }>('GET', `${agents}?q=${encodeURIComponent(name)}`);
  expect(made).toHaveLength(1);

  await page.goto(`${service.console}#/knowledge`);
  await page.getByRole('button', { name: 'Paste text' }).click();
  await call('DELETE', `${agents}/${made[0]?.id}`); // now that no page asks for it
  await page.getByRole('textbox', { name: 'Name' }).fill(name);
  await page.getByLabel('Text', { exact: true }).fill('We open at nine.');
  await pressTwice(page.getByRole('button', { name: 'Add the text' }));
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(name);
  const sources = `workspaces/${service.workspace}/knowledge-base/sources?q=${encodeURIComponent(name)}`;
  expect((await call<{ sources: unknown[] }>('GET', sources)).sources).toHaveLength(1);
});

test('another conversation is begun once by a button that is pressed twice', async ({ open }, info) => {
  const { id } = await make(`Begun twice ${info.project.name}`);
  const page = await open(`/talk?agent=${id}`);
  await page.getByRole('button', { name: 'Start in writing' }).click();
  await page.getByRole('button', { name: 'End', exact: true }).click();
  const another = page.getByRole('button', { name: 'Begin another', exact: true });
  await expect(another).toBeVisible();
  const beginning = await hold(page, '**/CreateSession');
  await pressTwice(another);
  await beginning.came;
  await expect(page.getByRole('button', { name: 'Begin another aloud' })).toBeDisabled();
  beginning.go();
  await expect(page.getByLabel('What you say')).toBeVisible();
  const { sessions } = await call<{ sessions: unknown[] }>('GET', `sessions?agent_id=${id}`);
  expect(sessions).toHaveLength(2);
  await call('DELETE', `${agents}/${id}`);
});

test('a form whose answer was lost is sent again, and makes one thing', async ({ open, tolerate }, info) => {
  tolerate(/CreateAgent/);
  const name = `Lost ${info.project.name} ${Date.now()}`;
  const page = await open('/agents');
  await page.route('**/CreateAgent', async (route) => {
    await route.fetch(); // the service does it, and the answer is lost
    await route.abort();
  });
  await page.getByRole('button', { name: 'New agent' }).first().click();
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill(name);
  await page.getByRole('button', { name: 'Make the agent' }).click();
  await expect(page.getByRole('alert')).toContainText('No answer');
  await page.unroute('**/CreateAgent');
  await page.getByRole('button', { name: 'Make the agent' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(name);
  const { agents: made } = await call<{ agents: { id: string }[] }>('GET', `${agents}?q=${encodeURIComponent(name)}`);
  expect(made).toHaveLength(1);
  await call('DELETE', `${agents}/${made[0]?.id}`);
});

test('a dialog with something typed in it asks before it closes', async ({ open, look }) => {
  const page = await open('/agents');
  const dialog = page.getByRole('dialog', { name: 'New agent' });
  await page.getByRole('button', { name: 'New agent' }).first().click();
  await expect(dialog).toBeVisible();
  await page.keyboard.press('Escape'); // nothing typed: nothing asked
  await expect(dialog).toHaveCount(0);
  await page.getByRole('button', { name: 'New agent' }).first().click();
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Half of a name');
  await page.mouse.click(4, 4);
  await expect(page.getByRole('textbox', { name: 'Name', exact: true })).toBeFocused();
  await page.keyboard.press('Escape');
  const question = page.getByRole('alertdialog', { name: 'Discard what you typed?' });
  await expect(question).toBeVisible();
  await look();
  await question.getByRole('button', { name: 'Cancel' }).click();
  await expect(page.getByRole('textbox', { name: 'Name', exact: true })).toHaveValue('Half of a name');
  await expect(page.getByRole('textbox', { name: 'Name', exact: true })).toBeFocused();
  await page.keyboard.press('Escape');
  await question.getByRole('button', { name: 'Discard' }).click();
  await expect(dialog).toHaveCount(0);
});

test('a new tool is still there after a reload, without its secrets', async ({ open }, info) => {
  const page = await open('/tools/new');
  await page.getByRole('textbox', { name: 'Name' }).fill(`kept_${info.project.name}`);
  await page.getByLabel('Authorization header').fill('Bearer secret-of-the-tool');
  await page.reload();
  await expect(page.getByRole('textbox', { name: 'Name' })).toHaveValue(`kept_${info.project.name}`);
  await expect(page.getByLabel('Authorization header')).toHaveValue('');
  expect(await page.evaluate(() => JSON.stringify(sessionStorage))).not.toContain('secret-of-the-tool');
  await page.goto(`${service.console}#/tools`);
  await page.goto(`${service.console}#/tools/new`);
  await expect(page.getByText('What you typed here before is back')).toBeVisible();
  await page.getByRole('button', { name: 'Start anew' }).click();
  await expect(page.getByRole('textbox', { name: 'Name' })).toHaveValue('');
});

test('a half-written message to a user is there after a reload, and after the session has ended', async ({
  open,
}, info) => {
  const { id } = await call<{ id: string }>('POST', 'sessions', {
    agent_id: service.agent,
    user_id: `half-${info.project.name}`,
    modality: 'text',
  });
  await call('POST', `sessions/${id}/turns`, { text: 'Is anybody there?' });
  await call('POST', `sessions/${id}/take-over`, { operator: 'Robin' });
  const page = await open(`/sessions/${id}`);
  await page.getByLabel('Message to the user').fill('I am looking it');
  await page.reload();
  await expect(page.getByLabel('Message to the user')).toHaveValue('I am looking it');
  await call('POST', `sessions/${id}/end`, { status: 'completed' });
  await expect(page.getByLabel('What was not sent')).toHaveText('I am looking it');
  await page.getByRole('button', { name: 'Discard' }).click();
  await expect(page.getByLabel('What was not sent')).toHaveCount(0);
});

test('a message to a user that is being sent when the session ends is not lost', async ({ open, tolerate }, info) => {
  tolerate(/SendOperatorMessage/);
  const { id } = await call<{ id: string }>('POST', 'sessions', {
    agent_id: service.agent,
    user_id: `sending-${info.project.name}`,
    modality: 'text',
  });
  await call('POST', `sessions/${id}/turns`, { text: 'Is anybody there?' });
  await call('POST', `sessions/${id}/take-over`, { operator: 'Robin' });
  const page = await open(`/sessions/${id}`);
  const sending = await hold(page, '**/SendOperatorMessage');
  await page.getByLabel('Message to the user').fill('I have found it.');
  await page.keyboard.press('Enter');
  await sending.came;
  await call('POST', `sessions/${id}/end`, { status: 'completed' });
  await expect(page.getByLabel('What was not sent')).toHaveText('I have found it.');
  sending.go(); // and it is refused
  await page.reload();
  await expect(page.getByLabel('What was not sent')).toHaveText('I have found it.');
});

test('edits that are not saved are dropped at signing out, and are not saved as the next caller’s', async ({
  page,
  tolerate,
}, info) => {
  tolerate(/SaveAgentDraft/);
  const { id } = await make(`Left ${info.project.name}`);
  await signIn(page, service.key, `/agents/${id}/instructions`);
  await page.route('**/SaveAgentDraft', (route) => route.abort());
  await firstMessage(page).fill('Typed by the first');
  await expect(page.getByText('Not saved.')).toBeVisible();
  await page.getByRole('button', { name: /^Signed in as/ }).click();
  await page.getByRole('menuitem', { name: 'Forget the key' }).click();
  const question = page.getByRole('alertdialog', { name: 'Forget the key?' });
  await question.getByRole('button', { name: 'Cancel' }).click();
  await expect(firstMessage(page)).toHaveValue('Typed by the first');
  await page.getByRole('button', { name: /^Signed in as/ }).click();
  await page.getByRole('menuitem', { name: 'Forget the key' }).click();
  await question.getByRole('button', { name: 'Forget the key' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Sign in' })).toBeVisible();
  expect(await page.evaluate(() => JSON.stringify(sessionStorage))).not.toContain('Typed by the first');
  await page.unroute('**/SaveAgentDraft');
  await signIn(page, service.key, `/agents/${id}/instructions`);
  await expect(firstMessage(page)).toHaveValue('');
  await call('DELETE', `${agents}/${id}`);
});

test('when a key is deleted under an open page, one signs in over it and the edits are saved', async ({
  page,
  look,
  tolerate,
}, info) => {
  tolerate(/401/);
  const { id } = await make(`Revoked ${info.project.name}`);
  const key = await call<{ id: string; secret: string }>('POST', 'api-keys', {
    name: `Revoked ${info.project.name}`,
    scope: 'operator',
  });
  await signIn(page, key.secret, `/agents/${id}/instructions`);
  await page.route(
    '**/SaveAgentDraft',
    async (route) => {
      await call('DELETE', `api-keys/${key.id}`); // after it was typed, and before it is saved
      await route.continue();
    },
    { times: 1 },
  );
  await firstMessage(page).fill('Typed without a key');
  const dialog = page.getByRole('alertdialog', { name: 'Your sign-in has ended' });
  await expect(dialog).toBeVisible();
  await page.keyboard.press('Escape');
  await look();
  await dialog.getByLabel('API key').fill('prl_wrong');
  await page.keyboard.press('Enter');
  await expect(dialog.getByText(/not valid/).last()).toBeVisible();
  await dialog.getByLabel('API key').fill(service.key);
  await page.keyboard.press('Enter');
  await expect(dialog).toHaveCount(0);
  await expect(page.getByText('Draft saved')).toBeVisible();
  await expect(firstMessage(page)).toHaveValue('Typed without a key');
  expect(await call('GET', `${agents}/${id}/draft`)).toMatchObject({ agent: { first_message: 'Typed without a key' } });
  await call('DELETE', `${agents}/${id}`);
});

test('edits are saved by themselves when the service answers again', async ({ open, tolerate }, info) => {
  tolerate(/SaveAgentDraft/);
  const { id } = await make(`Restarted ${info.project.name}`);
  const page = await open(`/agents/${id}/instructions`);
  let attempts = 0;
  await page.route('**/SaveAgentDraft', (route) => (++attempts > 2 ? route.continue() : route.abort()));
  await firstMessage(page).fill('Typed during a restart');
  await expect(page.getByText('Not saved.')).toBeVisible();
  await expect(page.getByText('Draft saved')).toBeVisible();
  await call('DELETE', `${agents}/${id}`);
});

test('what was typed in a dialog is asked about before Back and a reload lose it', async ({ open }) => {
  const page = await open('/agents');
  await page.goto(`${service.console}#/knowledge`);
  await page.getByRole('button', { name: 'Paste text' }).click();
  await page.goBack(); // nothing was typed
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Agents');
  await page.goForward();
  await page.getByRole('button', { name: 'Paste text' }).click();
  const text = page.getByLabel('Text', { exact: true });
  await text.fill('We open at nine.');

  const asked = page.waitForEvent('dialog');
  const reloaded = page.evaluate(() => location.reload()).catch(() => undefined);
  await (await asked).dismiss();
  await reloaded;
  await expect(text).toHaveValue('We open at nine.');

  await page.evaluate(() => history.back());
  const question = page.getByRole('alertdialog', { name: 'Discard what you typed?' });
  await question.getByRole('button', { name: 'Cancel' }).click();
  await expect(text).toHaveValue('We open at nine.');
  await expect(page).toHaveURL(/#\/knowledge$/);
  await page.evaluate(() => history.back());
  await question.getByRole('button', { name: 'Discard' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Agents');
  await expect(page.getByRole('dialog')).toHaveCount(0);
});
