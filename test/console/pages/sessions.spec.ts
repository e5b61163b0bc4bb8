import { call, choose, expect, service, test, unfold } from '../support/test.js';

const hostile = '<img src=x onerror=alert(1)>';
const begin = (body: Record<string, unknown>) =>
  call<{ id: string }>('POST', 'sessions', { agent_id: service.agent, modality: 'text', ...body });

test('sessions are listed, narrowed, and appear as they begin', async ({ open, look }, info) => {
  const user = `list-${info.project.name}-${Date.now()}-100%25-${hostile}`;
  const { id } = await begin({ user_id: user });
  await call('POST', `sessions/${id}/turns`, { text: 'How are webhooks signed?' });
  const page = await open(`/sessions?user=${encodeURIComponent(user)}`); // other specs begin hundreds
  const rows = page.getByRole('table', { name: 'Sessions' }).getByRole('row').filter({ hasText: user });
  await expect(rows).toHaveCount(1);
  await expect(rows).toContainText('going on');
  await call('POST', `sessions/${id}/end`, { status: 'completed', reason: 'thanked us' });
  await expect(rows).toContainText('thanked us');
  const { id: called } = await begin({ user_id: user });
  await expect(rows).toHaveCount(2);
  await call('POST', `sessions/${called}/end`, { status: 'failed', reason: 'media_lost' }); // a reason of calls
  await expect(rows.filter({ hasText: 'The sound of the call was lost' })).toHaveCount(1);
  await look('sessions');
  await unfold(page);
  await choose(page, 'Status', 'Completed');
  await expect(rows).toHaveCount(1);
  await page.reload();
  await expect(page.getByRole('textbox', { name: 'User' })).toHaveValue(user);
  await expect(rows).toHaveCount(1);
  await choose(page, 'Status', 'Not begun');
  await expect(page.getByText('No session matches')).toBeVisible();
  await page.getByRole('button', { name: 'Clear filters' }).first().click();
  await expect(page.getByRole('textbox', { name: 'User' })).toHaveValue('');
  await page.getByRole('textbox', { name: 'User' }).fill(user);
  await expect(rows).toHaveCount(2);
  await rows.filter({ hasText: 'completed' }).getByRole('link').click();
  await expect(page).toHaveURL(new RegExp(`#/sessions/${id}$`));
});

test('a filter takes what is typed as it is typed, and nothing more once all are cleared @wide', async ({ open }) => {
  const page = await open('/sessions?status=completed');
  const user = page.getByRole('textbox', { name: 'User' });
  await user.pressSequentially('of ');
  await expect(page).toHaveURL(/user=of/);
  await expect(user).toHaveValue('of ');

  // Typed just when the list is narrowed by what was typed before.
  await page.evaluate(() =>
    addEventListener('hashchange', () => document.execCommand('insertText', false, 'c'), { once: true }),
  );
  await page.keyboard.insertText('ab');
  await expect(page).toHaveURL(/user=of\+abc/);
  await expect(user).toHaveValue('of abc');

  // Cleared before it counts.
  await page.getByRole('button', { name: 'Clear filters' }).first().click();
  await expect(user).toHaveValue('');
  await page.goto(`${service.console}#/sessions?status=failed`);
  const clear = page.getByRole('group', { name: 'Filters' }).getByRole('button', { name: 'Clear filters' });
  await expect(clear).toBeVisible();
  await user.focus();
  await clear.evaluate((button: HTMLElement) => {
    document.execCommand('insertText', false, 'too late');
    button.click();
  });
  await expect(page).toHaveURL(/sessions$/);
  await expect(user).toHaveValue('');
});

test('who waits for a person stands out', async ({ open, look }, info) => {
  const user = `waits-${info.project.name}-${Date.now()}-${hostile}`;
  const agent = await call<{ id: string }>('POST', `workspaces/${service.workspace}/agents`, {
    name: `Hands over ${info.project.name}`,
    handover: { enabled: true },
    guards: [{ name: 'person', phrases: ['speak to a person'], action: 'escalate', reply: 'I ask a person.' }],
  });
  const { id } = await begin({ agent_id: agent.id, user_id: user });
  await call('POST', `sessions/${id}/turns`, { text: 'I want to speak to a person.' });
  const page = await open('/sessions');
  const waiting = page.getByRole('status', { name: 'Waiting for a person' });
  await expect(waiting).toContainText(user);
  await look();
  await unfold(page);
  await choose(page, 'Handover', 'Waits for a person');
  await expect(page.getByRole('row').filter({ hasText: user })).toContainText('waits for a person');
  await call('POST', `sessions/${id}/end`, { status: 'completed' });
  await expect(page.getByRole('row').filter({ hasText: user })).toHaveCount(0);
});

test('a long list stays quick', { tag: '@wide' }, async ({ open }) => {
  test.slow(); // to begin so many
  const many = 400;
  const user = 'of-a-long-list';
  for (let at = 0; at < many; at += 20) await Promise.all(Array.from({ length: 20 }, () => begin({ user_id: user })));
  const page = await open(`/sessions?user=${user}`);
  await expect(page.getByRole('table', { name: 'Sessions' })).toBeVisible();
  let rows = 0;
  await expect(async () => {
    await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
    rows = Number(await page.getByRole('table', { name: 'Sessions' }).getAttribute('aria-rowcount'));
    expect(rows).toBeGreaterThanOrEqual(many);
  }).toPass();
  expect(await page.getByRole('row').count(), 'rows in the document').toBeLessThan(80);
});
