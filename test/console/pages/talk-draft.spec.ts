import { call, expect, service, test } from '../support/test.js';

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
