import { call, choose, expect, service, test } from '../support/test.js';

const hostile = '<img src=x onerror=alert(1)>';
const run = Date.now().toString(36);

test('questions are evaluated, what failed is shown, and another run is compared', async ({ open, look }, info) => {
  const mine = `${info.project.name} ${run}`;
  const word = `lemur${info.project.name}${run}`;
  const kb = `workspaces/${service.workspace}/knowledge-base`;
  const make = async (name: string, content: string) => {
    const { id } = await call<{ id: string }>('POST', `${kb}/sources/inline`, { name, content });
    await expect.poll(async () => (await call<{ status: string }>('GET', `${kb}/sources/${id}`)).status).toBe('ready');
    return id;
  };
  const seen = await make(`Evaluated ${mine}`, `# Feeding\n\nA ${word} eats figs at noon.`);
  const unseen = await make(`Left out ${mine}`, `# Sleeping\n\nA ${word} sleeps on branches.`);
  const attached = `workspaces/${service.workspace}/agents/${service.agent}/knowledge-base/attach`;
  await call('POST', attached, { source_ids: [seen] });
  const page = await open('/knowledge/evaluations');
  await page.getByRole('button', { name: 'New evaluation' }).first().click();
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill(`Before ${mine} ${hostile}`);
  await choose(page, 'Agent', 'Ada');
  await page.getByRole('textbox', { name: 'Question 1' }).fill(`What does a ${word} eat?`);
  await page.getByRole('combobox', { name: 'Source that answers question 1' }).fill(`Evaluated ${mine}`);
  await page.getByRole('option', { name: `Evaluated ${mine}` }).click();
  await page.getByRole('button', { name: 'Paste many' }).click();
  await page.getByLabel(/as CSV/).fill(`question,source\n"Where does a ${word} sleep, and how?",Left out ${mine}`);
  await page.getByRole('button', { name: 'Take 1 questions' }).click();
  await look();
  await page.getByRole('button', { name: 'Run 2 questions' }).click();

  await expect(page.getByRole('heading', { level: 1 })).toHaveText(`Before ${mine} ${hostile}`);
  await expect(page.locator('.number-tile').first()).toContainText('50 %');
  await expect(page.getByRole('row').filter({ hasText: 'sleep, and how' })).toContainText('not attached');
  await look();
  await call('POST', attached, { source_ids: [unseen] });
  await page.getByRole('button', { name: 'Ask them again' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText('(again)');
  await expect(page.locator('.number-tile').first()).toContainText('100 %');
  await expect(page.getByText(/1 better/).first()).toBeVisible();
  await look();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page
    .getByRole('alertdialog', { name: /^Delete/ })
    .getByRole('button', { name: 'Delete' })
    .click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Evaluations');
  await expect(page.getByRole('row').filter({ hasText: `Before ${mine}` })).toHaveCount(1);
  await look();
  for (const id of [seen, unseen]) await call('DELETE', `${kb}/sources/${id}`);
});
