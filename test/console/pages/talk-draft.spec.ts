import { call, expect, hold, service, test } from '../support/test.js';

test('a draft is talked with', async ({ open, look }, info) => {
  const name = `Draft ${info.project.name} ${Date.now().toString(36)}`;
  const agents = `workspaces/${service.workspace}/agents`;
  const { id } = await call<{ id: string }>('POST', agents, {
    name,
    instructions: 'You help.',
    first_message: 'I am published.',
  });
  await call('PUT', `${agents}/${id}/draft`, {
    agent: { name, instructions: 'You help.', first_message: 'I am a draft.' },
  });
  const page = await open(`/talk?agent=${id}&draft=1`);
  await expect(page.getByRole('heading', { name: `Try the draft of ${name}` })).toBeVisible();
  await page.getByRole('button', { name: 'Start in writing' }).click();
  await expect(page.getByRole('region', { name: 'What was said' })).toContainText('I am a draft.');
  await look();
  await call('DELETE', `${agents}/${id}`);
});

test('a conversation that is begun while the first edit is being saved is one with the draft @wide', async ({
  open,
}) => {
  const name = `Edited ${Date.now().toString(36)}`;
  const agents = `workspaces/${service.workspace}/agents`;
  const { id } = await call<{ id: string }>('POST', agents, { name, first_message: 'I am published.' });
  const page = await open(`/agents/${id}/instructions`);
  await expect(page.getByRole('button', { name: 'Start in writing' })).toBeVisible();
  const saving = await hold(page, '**/SaveAgentDraft');
  await page.getByRole('textbox', { name: 'First message', exact: true }).fill('I am a draft.');
  await page.getByRole('button', { name: 'Start in writing' }).click();
  await saving.came;
  saving.go();
  await expect(page.getByRole('region', { name: 'What was said' })).toContainText('I am a draft.');
  await call('DELETE', `${agents}/${id}`);
});

test('the newest answer and what one says stay in view beside the editor @wide', async ({ open, page }) => {
  await open(`/agents/${service.agent}/instructions`);
  await page.getByRole('button', { name: 'Start in writing' }).click();
  const said = page.getByRole('region', { name: 'What was said' });
  const field = page.getByLabel('What you say');
  for (let at = 0; at < 4; at++) {
    await field.fill('How are webhooks signed?');
    await page.keyboard.press('Enter');
    await expect(said.getByText('HMAC-SHA256').nth(at)).toBeAttached();
  }
  await expect(page.getByRole('button', { name: 'Stop the answer' })).toHaveCount(0);
  const left = () => said.evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight);
  await expect.poll(left).toBeLessThan(2);
  await expect(field).toBeInViewport({ ratio: 1 });
  await expect(page.getByRole('button', { name: 'Send', exact: true })).toBeInViewport({ ratio: 1 });
  const longer = await page.evaluate(() => {
    const end = Math.max(...[...document.querySelectorAll('.page')].map((box) => box.getBoundingClientRect().bottom));
    return document.documentElement.scrollHeight - Math.max(innerHeight, end + scrollY);
  });
  expect(longer, 'the page is longer than what is on it').toBeLessThan(2);
});
