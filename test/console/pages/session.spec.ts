import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

import { makeAskingAgent } from '../support/agents.js';
import { call, expect, hold, service, test } from '../support/test.js';

const hostile = '<img src=x onerror=alert(1)>';

interface Turn {
  turn_id: string;
  text: string;
  handover: string;
}

test('a session is followed, taken over, written in, given back, ended and deleted', async ({ open, look }, info) => {
  const user = `session ${info.project.name} ${Date.now().toString(36)} ${hostile}`;
  const { id } = await call<{ id: string }>('POST', 'sessions', {
    agent_id: service.agent,
    user_id: user,
    modality: 'text',
    dynamic_variables: { city: hostile },
  });
  const say = (text: string) => call<Turn>('POST', `sessions/${id}/turns`, { text });
  const page = await open(`/sessions/${id}`);
  await expect(page.getByText('Nothing was said yet')).toBeVisible();

  await say('How are webhooks signed?');
  const first = page.getByRole('region', { name: 'Turn 1' });
  await expect(first).toContainText('How are webhooks signed?');
  await expect(first.locator('mark').first()).toContainText('HMAC-SHA256');
  await expect(page.getByRole('link', { name: user })).toBeVisible();
  await say('/tool order_status {"order_id": "A-1001"}');
  await expect(page.getByRole('region', { name: 'Turn 2' })).toContainText('order_status');
  await expect(page.getByRole('tab', { name: 'Tool calls (1)' })).toBeVisible();

  await page.getByRole('button', { name: 'Take over' }).click();
  await page.getByLabel('Your name').fill(`Robin ${hostile}`);
  await page.getByRole('dialog').getByRole('button', { name: 'Take over' }).click();
  await expect(page.getByRole('region', { name: 'Handover' })).toContainText(`Robin ${hostile} has the conversation`);
  expect(await say('Is anybody there?')).toMatchObject({ handover: 'operator', text: '' });
  await page.getByLabel('Message to the user').fill(`I am here. ${hostile}`);
  await page.keyboard.press('Enter');
  const written = page.getByRole('article', { name: /^Robin .* says/ });
  await expect(written).toContainText(`I am here. ${hostile}`);
  await expect(written.getByText('a person')).toBeVisible();
  await expect(page.getByText('Is anybody there?')).toBeVisible();
  await look('session');
  await page.getByRole('button', { name: 'Give back to the agent' }).click();
  await page.getByLabel('What else the agent should know').fill('It is settled.');
  await page.getByRole('dialog').getByRole('button', { name: 'Give back' }).click();
  await expect(page.getByLabel('Message to the user')).toHaveCount(0);
  expect((await say('How are tools called?')).text).not.toBe('');

  await page.getByRole('tab', { name: 'Timeline' }).click();
  await expect(page).toHaveURL(/tab=timeline/);
  await expect(page.getByRole('list', { name: 'The stages of all turns' })).toContainText('Tool order_status');
  await look();
  await page.getByRole('button', { name: 'Table' }).click();
  await expect(page.getByRole('region', { name: 'Stages' })).toContainText('Tool order_status');
  await page.reload();
  await expect(page.getByRole('tab', { name: 'Timeline' })).toHaveAttribute('aria-selected', 'true');
  await page.getByRole('tab', { name: 'Tool calls' }).click();
  await expect(page.getByLabel('Input of order_status')).toContainText('A-1001');
  await page.getByRole('tab', { name: 'Approvals' }).click();
  await expect(page.getByText('Nobody was asked')).toBeVisible();

  await page.getByRole('button', { name: 'More for this session' }).click();
  await page.getByRole('menuitem', { name: 'End' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'End it' }).click();
  await expect(page.getByText('ended in the console')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Take over' })).toHaveCount(0);
  await page.getByRole('button', { name: 'More for this session' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete it' }).click();
  await expect(page).toHaveURL(/#\/sessions$/);
  await expect(call('GET', `sessions/${id}`)).rejects.toThrow('404');
});

test('a call that waits is seen and allowed on the session’s page', async ({ open, look }, info) => {
  const agent = await makeAskingAgent(`Asking ${info.project.name} ${Date.now().toString(36)}`);
  const { id } = await call<{ id: string }>('POST', 'sessions', {
    agent_id: agent.id,
    user_id: 'asked',
    modality: 'text',
  });
  const page = await open(`/sessions/${id}`);
  const answered = call<Turn>('POST', `sessions/${id}/turns`, { text: `/tool ${agent.refund} {"euro": 5}` });
  const approval = page.getByRole('region', { name: /^Approval of/ });
  await expect(approval).toContainText('"euro": 5');
  const turn = page.getByRole('region', { name: 'Turn 0' });
  await expect(turn).toContainText('in progress');
  const deciding = await hold(page, '**/DecideApproval');
  await approval.getByRole('button', { name: 'Allow' }).click();
  await deciding.came;
  for (const name of ['Allow', 'Refuse']) await expect(approval.getByRole('button', { name })).toBeDisabled();
  deciding.go();
  await expect(turn).toContainText(`Paid back {"euro":5} ${hostile}`);
  expect((await answered).text).toContain('Paid back');
  await page.getByRole('tab', { name: 'Approvals' }).click();
  await expect(page.getByRole('row', { name: /approved/ })).toContainText('refund');
  await look();
  await call('POST', `sessions/${id}/end`, { status: 'completed', reason: 'done' });
  await agent.remove();
});

test('the receipt says which tools the model was not offered, and why', async ({ open, look }, info) => {
  const slug = `away_${info.project.name}_${Date.now().toString(36)}`;
  const { id: agent_id } = await call<{ id: string }>('POST', `workspaces/${service.workspace}/agents`, { name: slug });
  const tool = await call<{ id: string }>('POST', `workspaces/${service.workspace}/tools`, {
    slug,
    description: 'A server that is away.',
    kind: 'mcp',
    mcp_server_url: `http://127.0.0.1:${await closedPort()}/mcp`,
  });
  await call('POST', `workspaces/${service.workspace}/agents/${agent_id}/tools/attach`, { tool_id: tool.id });
  const session = await call<{ id: string }>('POST', 'sessions', { agent_id, user_id: slug, modality: 'text' });
  await call('POST', `sessions/${session.id}/turns`, { text: 'Hello' });

  const page = await open(`/sessions/${session.id}`);
  await page.getByText('Receipt', { exact: true }).click();
  const left = page.getByRole('region', { name: 'Tools that the model was not offered' });
  await expect(left.getByRole('row', { name: new RegExp(slug) })).toContainText('its server does not answer');
  await look();
  await call('DELETE', `workspaces/${service.workspace}/agents/${agent_id}`);
  await call('DELETE', `workspaces/${service.workspace}/tools/${tool.id}`);
});

/** A port at which nothing listens. */
async function closedPort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  await once(server.close(), 'close');
  return port;
}
