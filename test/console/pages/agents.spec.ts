import type { Page } from '@playwright/test';

import { call, choose, expect, service, test } from '../support/test.js';

const hostile = '<img src=x onerror=alert(1)>';

/** Goes to a part of the editor: a list of links, on a telephone a select. */
async function part(page: Page, title: string) {
  if ((page.viewportSize()?.width ?? 0) < 720) await choose(page, 'Settings', new RegExp(`^${title}`));
  else await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: title, exact: true }).click();
}

const agents = `workspaces/${service.workspace}/agents`;

// An agent without a draft is asked for it all the same, and the browser notes the 404.

test('an agent is made from a starting point, found and deleted', async ({ open, look }, info) => {
  const name = `Helper ${info.project.name} ${hostile}`;
  const page = await open('/agents');
  await page.getByRole('button', { name: 'New agent' }).click();
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill(name);
  await choose(page, 'Begin with', /Booking/);
  await expect(page.getByRole('textbox', { name: 'Instructions', exact: true })).toHaveValue(/You make appointments/);
  await look();
  await page.getByRole('button', { name: 'Make the agent' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(name);
  await expect(page.getByRole('textbox', { name: 'First message', exact: true })).toHaveValue(/appointment/);
  await open('/agents');
  await page.getByRole('searchbox', { name: 'Search by name' }).fill(`helper ${info.project.name}`);
  const row = page.getByRole('row', { name: new RegExp(`Helper ${info.project.name}`) });
  await expect(row).toContainText(hostile);
  await look();
  await row.getByRole('button', { name: /^More for/ }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByRole('alertdialog', { name: /\?$/ }).getByRole('button', { name: 'Delete' }).click();
  await expect(row).toHaveCount(0);
});

test('the times of answers are beside each other, and a name turns no other text around', async ({ open }, info) => {
  const { id } = await call<{ id: string }>('POST', agents, { name: `Turned \u202E ${info.project.name}` });
  const session = await call<{ id: string }>('POST', 'sessions', { agent_id: id, user_id: 'timed', modality: 'text' });
  await call('POST', `sessions/${session.id}/turns`, { text: 'How are webhooks signed?' });
  const page = await open(`/agents/${id}/try`);
  await expect(page.getByRole('button', { name: 'Start in writing' })).toBeVisible(); // its styles are there, too
  const times = page.getByLabel('Time of answers in the last seven days');
  await expect(times).toBeVisible();
  if (info.project.name === 'wide') expect((await times.boundingBox())?.height).toBeLessThan(60);
  await page.goto(`${service.console}#/agents`);
  const link = page.getByRole('link', { name: /^Turned/ }).first();
  await expect(link).toHaveCSS('unicode-bidi', 'isolate');
  await call('DELETE', `${agents}/${id}`);
});

test('tools and sources are attached at once', async ({ open, look }, info) => {
  const mark = `${info.project.name}_${Date.now()}`;
  const { id } = await call<{ id: string }>('POST', agents, { name: `Attaching ${mark}` });
  const tool = await call<{ id: string }>('POST', `workspaces/${service.workspace}/tools`, {
    slug: `weather_${mark}`,
    description: hostile,
    kind: 'http',
    webhook_url: 'https://example.org/weather',
    method: 'GET',
  });
  const source = await call<{ id: string }>('POST', `workspaces/${service.workspace}/knowledge-base/sources/inline`, {
    name: `Opening hours ${mark}`,
    content: 'We are open from nine to five.',
  });
  const page = await open(`/agents/${id}/tools`);
  await page.getByRole('button', { name: 'Attach a tool' }).click();
  await page.getByRole('searchbox').fill(`weather_${mark}`);
  await page.getByRole('button', { name: `Attach weather_${mark}` }).click();
  const row = page.getByRole('row', { name: new RegExp(`weather_${mark}`) });
  await expect(row).toContainText(hostile);
  await row.locator('label.switch').click();
  await expect(row).toContainText('switched off');
  await look();
  await row.getByRole('button', { name: `More for weather_${mark}` }).click();
  await page.getByRole('menuitem', { name: 'Detach' }).click();
  await page.getByRole('alertdialog', { name: /\?$/ }).getByRole('button', { name: 'Detach' }).click();
  await expect(row).toHaveCount(0);
  await part(page, 'Knowledge');
  await page.getByRole('button', { name: 'Attach sources' }).click();
  await page.getByRole('searchbox').fill(`Opening hours ${mark}`);
  await page.getByText(`Opening hours ${mark}`).click();
  await page.getByRole('button', { name: 'Attach', exact: true }).click();
  await expect(page.getByRole('row', { name: new RegExp(`Opening hours ${mark}`) })).toBeVisible();
  await look();
  await page.getByRole('button', { name: `Detach Opening hours ${mark}` }).click();
  await page.getByRole('alertdialog', { name: /\?$/ }).getByRole('button', { name: 'Detach' }).click();
  await expect(page.getByText('It knows no documents yet')).toBeVisible();
  await call('DELETE', `workspaces/${service.workspace}/tools/${tool.id}`);
  await call('DELETE', `workspaces/${service.workspace}/knowledge-base/sources/${source.id}`);
  await call('DELETE', `${agents}/${id}`);
});

test('versions are compared and rolled back', async ({ open, look }, info) => {
  const { id } = await call<{ id: string }>('POST', agents, {
    name: `Support ${info.project.name}`,
    first_message: 'Hello, how can I help you?',
    instructions:
      'You answer questions of our customers.\n\n- Answer in a few short sentences.\n- Never make an answer up.\n- Be friendly and plain.',
  });
  await call('PATCH', `${agents}/${id}`, {
    instructions:
      `You answer questions of our customers.\n\n- Answer in one short sentence.\n- Never make an answer ` +
      `up.\n- Be friendly and plain.\n- Do not repeat ${hostile}.`,
    max_duration_seconds: 600,
  });
  await call('PATCH', `${agents}/${id}`, { language: 'de-CH', first_message: 'Grüezi, wie kann ich helfen?' });
  const page = await open(`/agents/${id}/versions`);
  await expect(page.getByRole('row', { name: /Version 3/ })).toContainText('in use');
  await page.getByRole('button', { name: 'What changed in version 2' }).click();
  await expect(page).toHaveURL(/versions\/2-1$/);
  await expect(page.getByText(`- Do not repeat ${hostile}.`)).toBeVisible();
  await expect(page.getByRole('deletion').filter({ hasText: '3600' })).toBeVisible();
  await page.reload();
  await expect(page.getByRole('insertion').filter({ hasText: '600' })).toBeVisible();
  await page.evaluate(() => scrollTo(0, 0));
  await look('agent-versions');
  await page.getByRole('button', { name: 'Roll back to version 1' }).click();
  await page.getByRole('alertdialog', { name: /\?$/ }).getByRole('button', { name: 'Use version 1' }).click();
  await expect(page.getByRole('row', { name: /Version 4/ })).toContainText('in use');
  const agent = await call<{ version: number; instructions: string }>('GET', `${agents}/${id}`);
  expect(agent.version).toBe(4);
  expect(agent.instructions).toContain('a few short sentences');
  await call('DELETE', `${agents}/${id}`);
});

test('of more agents than a list offers each can be chosen, and is shown by its name @wide', async ({
  page,
  open,
  look,
}) => {
  test.slow(); // to make so many
  // In a workspace of its own: other specs choose from the list, too.
  const workspace = await call<{ id: string }>('POST', 'workspaces', { name: 'Of many agents' });
  const here = `workspaces/${workspace.id}/agents`;
  const make = (name: string) => call<{ id: string }>('POST', here, { name });
  const last = 'Zoe, who is the last by name';
  const { id: agentId } = await make(last);
  await call('POST', 'sessions', { agent_id: agentId, user_id: 'of-the-last', modality: 'text' });
  for (let at = 0; at < 200; at += 20)
    await Promise.all(Array.from({ length: 20 }, (_, more) => make(`Ada ${String(at + more).padStart(3, '0')}`)));

  await page.addInitScript((id) => sessionStorage.setItem('parlance.workspace', id), workspace.id);
  await open('/sessions?user=of-the-last');
  await expect(page.getByRole('row', { name: /of-the-last/ })).toContainText(last);
  await page.getByRole('button', { name: /Agent$/ }).click();
  await expect(page.getByText('There are more.')).toBeVisible();
  await page.getByRole('searchbox', { name: 'Search agents by name' }).pressSequentially('the last by');
  await expect(page.getByRole('option')).toHaveCount(1);
  await look();
  await page.getByRole('option', { name: last }).click();
  await expect(page).toHaveURL(new RegExp(`agent=${agentId}`));
  await page.reload();
  await expect(page.getByRole('button', { name: /Agent$/ })).toContainText(last);
  await call('DELETE', `workspaces/${workspace.id}`);
});
