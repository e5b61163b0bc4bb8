import { makeAskingAgent } from '../support/agents.js';
import { expect, test } from '../support/test.js';

const hostile = '<img src=x onerror=alert(1)>';

test('a page that is loaded again in the middle of an answer shows the answer once', async ({ open }, info) => {
  const name = `Reloaded ${info.project.name} ${Date.now().toString(36)}`;
  const agent = await makeAskingAgent(name);
  const page = await open(`/talk?agent=${agent.id}`);
  await page.getByRole('button', { name: 'Start in writing' }).click();
  await page.getByLabel('What you say').fill(`/tool ${agent.refund} {"euro": 3}`);
  await page.keyboard.press('Enter');
  const said = page.getByRole('region', { name: 'What was said' });
  const answers = said.getByRole('article', { name: `${name} says` });
  const approval = page.getByRole('region', { name: /^Approval of/ });
  await expect(approval).toBeVisible();
  await page.reload();
  await expect(approval).toBeVisible();
  await expect(said.getByRole('article', { name: 'The user says' })).toHaveCount(1);
  await expect(answers).toHaveCount(1);
  await approval.getByRole('button', { name: 'Allow' }).click();
  await expect(answers).toContainText('Paid back');
  await expect(answers.getByText('Timing', { exact: true })).toBeVisible(); // the transcript is there, too
  await expect(said.getByRole('article', { name: 'The user says' })).toHaveCount(1);
  await expect(answers).toHaveCount(1);
  await agent.remove();
});

test('a conversation in writing: passages, a call that is allowed, a tool by hand, receipt, events', async ({
  open,
  look,
}, info) => {
  test.slow();
  const name = `Talk ${info.project.name} ${Date.now().toString(36)}`;
  const agent = await makeAskingAgent(name, {
    first_message: `Hello. ${hostile}`,
    tools_config: { client_tool_timeout_seconds: 120 },
  });
  const page = await open('/talk');
  await page.getByRole('main').getByRole('button', { name: /Agent/ }).click();
  await page.getByRole('option', { name }).click();
  await expect(page).toHaveURL(new RegExp(agent.id));
  await page.getByText('Settings: user').click();
  await page.getByLabel('Tools that you answer by hand').fill('no JSON');
  await page.getByRole('button', { name: 'Start in writing' }).click();
  await expect(page.getByText('This is no JSON')).toBeVisible();
  await page.getByLabel('Tools that you answer by hand').fill('');
  await page.getByRole('button', { name: 'Fill in an example tool' }).click();
  await page.getByRole('button', { name: 'Add a variable' }).click();
  await page.getByRole('textbox', { name: 'Variable 1' }).fill('city');
  await page.getByLabel('Value 1').fill(hostile);
  await look();
  await page.getByRole('button', { name: 'Start in writing' }).click();

  const said = page.getByRole('region', { name: 'What was said' });
  await expect(said).toContainText(`Hello. ${hostile}`);
  const say = async (text: string) => {
    await page.getByLabel('What you say').fill(text);
    await page.keyboard.press('Enter');
  };
  const answers = said.getByRole('article', { name: `${name} says` });

  await say('How are webhooks signed?');
  const answer = answers.last();
  await expect(answer.locator('mark').first()).toContainText('HMAC-SHA256');
  const passage = answer.getByRole('listitem').filter({ hasText: 'quoted' }).first();
  await expect(passage).toContainText(/0\.\d{3}/);
  await expect(passage.getByRole('link')).toHaveAttribute('href', /#\/knowledge\/src_/);
  const footnote = answer.getByRole('button', { name: /^Passage 1/ }).first();
  await page.mouse.move(0, 0); // the keyboard was used before: only the second move is one of the mouse
  await footnote.hover();
  await expect(page.getByRole('tooltip')).toContainText('Webhooks are signed');
  await footnote.press('Enter');
  await expect(passage).toBeFocused();
  await answer.getByText('Timing', { exact: true }).click();
  await expect(answer.getByLabel(/Where the time of turn/)).toContainText('Finding passages');
  await answer.getByText('Receipt', { exact: true }).click();
  await expect(answer.getByText('The hash is right')).toBeVisible();
  await answer.getByText('Search · ').click();
  await expect(answer.getByRole('region', { name: 'Chunks considered' })).toContainText('given to the model');
  for (const part of ['Timing', 'Receipt', /^Search · /])
    await answer.locator('summary').filter({ hasText: part }).first().click();
  await answer.locator('.said-text').evaluate((text) => text.scrollIntoView({ block: 'center' }));
  await look('talk');

  await say(`/tool ${agent.refund} {"euro": 3}`);
  const approval = page.getByRole('region', { name: /^Approval of/ });
  await expect(approval).toContainText('"euro": 3');
  await approval.getByRole('button', { name: 'Allow' }).click();
  await expect(answers.last()).toContainText(`Paid back {"euro":3} ${hostile}`);
  await expect(answers.last().getByText('approved')).toBeVisible();
  await say(`/tool ${agent.refund} {"euro": 4}`);
  await approval.getByLabel('Reason').fill('Too much.');
  await approval.getByRole('button', { name: 'Refuse' }).click();
  await expect(answers.last().getByText('Reason: Too much.')).toBeVisible();

  await say(`/tool show_map ${JSON.stringify({ place: hostile })}`);
  const byHand = page.getByRole('region', { name: 'Your tool show_map' });
  await byHand.getByLabel('Result of show_map').fill(`shown ${hostile}`);
  await byHand.getByRole('button', { name: 'Send the result' }).click();
  await expect(answers.last()).toContainText(`shown ${hostile}`);

  const events = page.getByRole('list', { name: 'Events' });
  await page.getByRole('searchbox', { name: 'Filter the events' }).fill('received response.done');
  await expect(events.getByText('response.done').first()).toBeVisible();
  await page.getByRole('button', { name: 'Copy', exact: true }).click();
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toContain('"type":"response.done"');
  await page.getByRole('button', { name: 'Close' }).click();
  await look();

  await page.getByRole('button', { name: 'More for this conversation' }).click();
  await page.getByRole('menuitem', { name: /Lose the connection/ }).click();
  await say('How do I make a key?');
  await expect(said.getByRole('article', { name: 'The user says' }).last()).toContainText('How do I make a key?');
  await expect(answers).toHaveCount(7);
  await page.reload();
  await expect(said).toContainText('How do I make a key?');
  await expect(said).toContainText('Webhooks are signed with HMAC-SHA256');
  await say('How are webhooks signed?');
  await expect(said.getByRole('article', { name: 'The user says' })).toHaveCount(6);
  await page.getByRole('button', { name: 'End', exact: true }).click();
  await expect(page.getByRole('button', { name: 'Begin another', exact: true })).toBeVisible();
  await page.getByRole('link', { name: 'See this one whole' }).click();
  await expect(page).toHaveURL(/#\/sessions\/ses_/);
  await agent.remove();
});
