// What needs drafts.
import type { Page } from '@playwright/test';

import { call, choose, expect, hold, service, test } from '../support/test.js';

const hostile = '<img src=x onerror=alert(1)>';
const agents = `workspaces/${service.workspace}/agents`;

/** Goes to a part of the editor: a list of links, on a telephone a select. */
async function part(page: Page, title: string) {
  if ((page.viewportSize()?.width ?? 0) < 720) await choose(page, 'Settings', new RegExp(`^${title}`));
  else await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: title, exact: true }).click();
  await expect(page).toHaveURL(/agents\/agt_\w+\/\w+/);
}

const make = (name: string) =>
  call<{ id: string }>('POST', agents, {
    name,
    instructions:
      'You answer questions of our customers.\n\n- Answer in a few short sentences.\n- Never make an answer up.',
    first_message: 'Hello, how can I help you?',
  });

interface Agent {
  version: number;
  name: string;
  instructions: string;
  max_duration_seconds: number;
  guards: { name: string; phrases: string[]; reply: string }[];
  voice: { tts: Record<string, unknown> | null };
  analysis: { enabled: boolean; criteria: { prompt: string }[] };
  privacy: { redact: string[] };
  widget: { allowed_origins: string[] } | null;
}

test('a draft is edited in several parts, compared, tried and published', async ({ open, look }, info) => {
  const { id } = await make(`Support, ${info.project.name}`);
  const page = await open(`/agents/${id}`);
  await expect(page.getByText('Version 1 is published')).toBeVisible();
  await page
    .getByRole('textbox', { name: 'Instructions', exact: true })
    .fill(
      `You answer questions of our customers.\n\n- Answer in one short sentence.\n- Never make an answer up.\n- Do not repeat ${hostile}.`,
    );
  await expect(page.getByText('Draft saved')).toBeVisible();
  await part(page, 'Guards');
  await page.getByRole('button', { name: 'Add a guard' }).click();
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Weapons');
  await page.getByRole('textbox', { name: 'Reply', exact: true }).fill('I do not talk about weapons.');
  await page.getByRole('textbox', { name: 'Phrases', exact: true }).fill('bomb\nhow to make explosives\n');
  await part(page, 'Voice');
  await page.getByRole('textbox', { name: 'Voice', exact: true }).fill('nova');
  await page.getByRole('textbox', { name: 'Speed', exact: true }).fill('1.1');
  await part(page, 'Limits');
  await page.getByRole('textbox', { name: 'Longest conversation, seconds', exact: true }).fill('600');
  await part(page, 'Privacy');
  await page.getByText('Card numbers').click();
  await expect(page.getByText(/Draft saved.*[5-9] changes/)).toBeVisible();
  await look();
  expect((await call<Agent>('GET', `${agents}/${id}`)).version).toBe(1);

  await page.reload();
  await part(page, 'Instructions');
  await expect(page.getByRole('textbox', { name: 'Instructions', exact: true })).toHaveValue(/one short sentence/);
  if (info.project.name === 'phone') await part(page, 'Try it');
  await page.getByRole('button', { name: 'Start in writing' }).click();
  await page.getByLabel('What you say').fill('How are webhooks signed?');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('region', { name: 'What was said' })).toContainText('I have no passage about that');
  await part(page, 'Instructions');
  await page.evaluate(() => scrollTo(0, 0));
  await look('agent');

  await page.getByRole('button', { name: 'Review and publish' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByText(`- Do not repeat ${hostile}.`)).toBeVisible();
  await expect(dialog.getByText('max_duration_seconds')).toBeVisible();
  await look();
  await dialog.getByRole('button', { name: 'Publish', exact: true }).click();
  await expect(page.getByText('Version 2 is published').first()).toBeVisible();
  const agent = await call<Agent>('GET', `${agents}/${id}`);
  expect(agent).toMatchObject({
    version: 2,
    max_duration_seconds: 600,
    privacy: { redact: ['card'] },
    voice: { tts: { voice: 'nova', speed: 1.1 } },
  });
  expect(agent.guards[0]).toMatchObject({
    name: 'Weapons',
    phrases: ['bomb', 'how to make explosives'],
    reply: 'I do not talk about weapons.',
  });
  await part(page, 'Guards');
  await page.getByRole('textbox', { name: 'What somebody might say', exact: true }).fill('Where do I get a b-o-m-b?');
  await page.getByRole('button', { name: 'Check' }).click();
  await expect(page.getByText('The agent would say: I do not talk about weapons.')).toBeVisible();
  await call('DELETE', `${agents}/${id}`);
});

test('the pages on which browsers may talk with it are published', async ({ open, look }, info) => {
  const { id } = await make(`On pages ${info.project.name}`);
  const page = await open(`/agents/${id}/web`);
  await page
    .getByRole('textbox', { name: 'Allowed pages', exact: true })
    .fill('https://www.example.org\nhttps://*.example.org');
  await expect(page.getByText(/Draft saved.*1 change/)).toBeVisible();
  await look();
  await page.getByRole('button', { name: 'Review and publish' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Publish', exact: true }).click();
  await expect(page.getByText('Version 2 is published').first()).toBeVisible();
  expect((await call<Agent>('GET', `${agents}/${id}`)).widget?.allowed_origins).toEqual([
    'https://www.example.org',
    'https://*.example.org',
  ]);
  await call('DELETE', `${agents}/${id}`);
});

test('what the service refuses is said at the field, and is not lost', async ({ open, look, tolerate }, info) => {
  tolerate(/SaveAgentDraft/);
  const { id } = await make(`Refused ${info.project.name}`);
  const page = await open(`/agents/${id}/instructions`);
  await page.getByRole('textbox', { name: 'Language', exact: true }).fill('no language!');
  await expect(page.getByText('Not saved.')).toBeVisible();
  await expect(page.locator('.field .wrong')).toContainText('BCP 47');
  await look();
  await part(page, 'JSON');
  await expect(page.getByRole('textbox', { name: 'All settings', exact: true })).toHaveValue(/no language!/);
  await page
    .getByRole('textbox', { name: 'All settings', exact: true })
    .fill('{"name": "Made of JSON", "instructions": "Be brief.", "nonsense": 1}');
  await expect(page.locator('.field .wrong')).toContainText('nonsense');
  await page
    .getByRole('textbox', { name: 'All settings', exact: true })
    .fill('{"name": "Made of JSON", "instructions": "Be brief."}');
  await expect(page.getByText('Draft saved')).toBeVisible();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Made of JSON');
  await page.getByRole('button', { name: 'Discard' }).click();
  await page.getByRole('alertdialog', { name: /\?$/ }).getByRole('button', { name: 'Discard' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(`Refused ${info.project.name}`);
  await call('DELETE', `${agents}/${id}`);
});

test('a correction that is typed while the wrong value is being saved is saved', async ({ open, tolerate }, info) => {
  tolerate(/SaveAgentDraft/);
  const { id } = await make(`Corrected ${info.project.name}`);
  const page = await open(`/agents/${id}/instructions`);
  const saving = await hold(page, '**/SaveAgentDraft');
  await page.getByRole('textbox', { name: 'Language', exact: true }).fill('no language!');
  await saving.came;
  await page.getByRole('textbox', { name: 'Language', exact: true }).fill('de');
  await page.getByRole('button', { name: 'Review and publish' }).click();
  saving.go();
  await expect(page.getByRole('dialog').getByRole('button', { name: 'Publish', exact: true })).toBeEnabled();
  expect(await call('GET', `${agents}/${id}/draft`)).toMatchObject({ agent: { language: 'de' } });
  await call('DELETE', `${agents}/${id}`);
});

test('nothing is edited while the draft is being discarded', async ({ open }, info) => {
  const { id } = await make(`Discarded ${info.project.name}`);
  const page = await open(`/agents/${id}/instructions`);
  const field = page.getByRole('textbox', { name: 'First message', exact: true });
  await field.fill('Of the draft');
  await expect(page.getByText('Draft saved')).toBeVisible();
  const discarding = await hold(page, '**/DeleteAgentDraft');
  await page.getByRole('button', { name: 'Discard' }).click();
  await page.getByRole('alertdialog', { name: /\?$/ }).getByRole('button', { name: 'Discard' }).click();
  await discarding.came;
  await field.pressSequentially('!');
  await expect(field).toHaveValue('Of the draft');
  discarding.go();
  await expect(field).toHaveValue('Hello, how can I help you?');
  await expect(page.getByText('Version 1 is published')).toBeVisible();
  await call('DELETE', `${agents}/${id}`);
});

test('two people who both begin a draft are told, and a draft begun before another version is stale', async ({
  open,
  tolerate,
  context,
}, info) => {
  tolerate(/AgentDraft/);
  const { id } = await make(`Both begin ${info.project.name}`);
  const page = await open(`/agents/${id}/instructions`);
  const field = page.getByRole('textbox', { name: 'First message', exact: true });
  const other = await context.newPage();
  await other.addInitScript((key) => sessionStorage.setItem('parlance.key', key), service.key);
  await other.goto(page.url());
  await expect(other.getByText('Version 1 is published')).toBeVisible();
  await expect(page.getByText('Version 1 is published')).toBeVisible(); // neither has seen a draft
  await field.fill('Of the first');
  await expect(page.getByText('Draft saved')).toBeVisible();
  await other.getByRole('textbox', { name: 'First message' }).fill('Of the second');
  await expect(other.getByText('The draft was changed elsewhere')).toBeVisible();
  expect(await call('GET', `${agents}/${id}/draft`)).toMatchObject({ agent: { first_message: 'Of the first' } });
  await other.close();
  await call('DELETE', `${agents}/${id}/draft`);

  await page.reload();
  await expect(page.getByText('Version 1 is published')).toBeVisible();
  await call('PATCH', `${agents}/${id}`, { language: 'de' }); // version 2, which the page has not seen
  await field.fill('Begun at version 1');
  await expect(page.getByText('the agent was changed since the draft was begun')).toBeVisible();
  await call('DELETE', `${agents}/${id}`);
});

test('two tabs do not overwrite each other, and a stale draft is not published by accident', async ({
  open,
  tolerate,
  context,
}, info) => {
  tolerate(/AgentDraft/);
  const { id } = await make(`Two tabs ${info.project.name}`);
  const page = await open(`/agents/${id}/instructions`);
  await page.getByRole('textbox', { name: 'First message', exact: true }).fill('One');
  await expect(page.getByText('Draft saved')).toBeVisible();
  const other = await context.newPage();
  await other.addInitScript((key) => sessionStorage.setItem('parlance.key', key), service.key);
  await other.goto(page.url());
  await other.getByRole('textbox', { name: 'First message' }).fill('Two');
  await expect(other.getByText('Draft saved')).toBeVisible();
  await expect(other.getByText('Saving…')).toHaveCount(0);
  await page.getByRole('textbox', { name: 'First message', exact: true }).fill('Three');
  await expect(page.getByText('The draft was changed elsewhere')).toBeVisible();
  await page.getByRole('button', { name: 'Take theirs' }).click();
  await expect(page.getByRole('textbox', { name: 'First message', exact: true })).toHaveValue('Two');
  await other.getByRole('textbox', { name: 'First message' }).fill('Four');
  await expect(other.getByText('Draft saved')).toBeVisible();
  await expect(other.getByText('Saving…')).toHaveCount(0);
  await page.getByRole('textbox', { name: 'First message', exact: true }).fill('Five');
  await page.getByRole('button', { name: 'Keep mine' }).click();
  await expect(page.getByText('Draft saved')).toBeVisible();
  await other.close();

  await call('PATCH', `${agents}/${id}`, { max_duration_seconds: 900 });
  await page.getByRole('button', { name: 'Review and publish' }).click();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Publish/ })
    .click();
  await page.getByText('Give up those changes').click();
  await page.getByRole('button', { name: 'Publish over it' }).click();
  await expect(page.getByText('Version 3 is published').first()).toBeVisible();
  expect(await call('GET', `${agents}/${id}`)).toMatchObject({
    version: 3,
    first_message: 'Five',
    max_duration_seconds: 3600,
  });
  await call('DELETE', `${agents}/${id}`);
});
