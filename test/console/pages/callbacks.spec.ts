import { readFileSync } from 'node:fs';

import { call, choose, expect, service, test, unfold } from '../support/test.js';

const hostile = '<img src=x onerror=alert(1)>';

/** An agent that may call at any hour. */
const caller = (name: string) =>
  call<{ id: string }>('POST', `workspaces/${service.workspace}/agents`, {
    name,
    instructions: 'Be brief.',
    callbacks: { quiet_from: '00:00', quiet_until: '00:00', min_interval_minutes: 0 },
  });

/** A local time so many days from now, as a field of datetime-local takes it. */
const localIn = (days: number, time: string) =>
  `${new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)}T${time}`;

test('a callback is planned, moved and cancelled', async ({ open, look, tolerate }, info) => {
  tolerate(/400.*CreateCallback/);
  const agent = `Caller of ${info.project.name} ${Date.now()} ${hostile}`;
  await caller(agent);
  const user = `called-${info.project.name}-${Date.now()}-${hostile}`;
  const page = await open('/callbacks');
  await page.getByRole('button', { name: 'New callback' }).click();
  await choose(page, 'Agent that calls', agent);
  await page.getByLabel('User', { exact: true }).fill(user);
  await page.getByLabel('Number', { exact: true }).fill('12');
  await page.getByLabel('Time', { exact: true }).fill(localIn(2, '10:30'));
  await page.getByLabel('Reason').fill(`About ${hostile}`);
  await page.getByLabel('Variables').fill('name=Ada\nnumber 12');
  await expect(page.getByRole('dialog').getByText('“number 12” is no variable.')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Plan the call' })).toBeDisabled();
  await page.getByLabel('Variables').fill('name=Ada');
  await look();
  await page.getByRole('button', { name: 'Plan the call' }).click();
  await expect(
    page
      .getByRole('dialog')
      .getByText(/no telephone number/)
      .first(),
  ).toBeVisible();
  await page
    .getByLabel('Number', { exact: true })
    .fill(info.project.name === 'wide' ? '+1 201 555 0131' : '+1 201 555 0132');
  await page.getByRole('button', { name: 'Plan the call' }).click();
  await expect(page.getByRole('heading', { name: `Call of ${user}` })).toBeVisible();
  await expect(page.getByText('planned', { exact: true }).first()).toBeVisible();

  await page.getByRole('button', { name: 'Move' }).click();
  await page.getByLabel('Time', { exact: true }).fill(localIn(3, '11:45'));
  await page.getByRole('dialog').getByRole('button', { name: 'Move' }).click();
  await expect(page.getByText(/11:45/).first()).toBeVisible();
  await look();

  await page.getByRole('link', { name: 'All callbacks' }).click();
  await unfold(page);
  await page.getByLabel('User', { exact: true }).fill(user);
  const row = page.getByRole('table', { name: 'Callbacks' }).getByRole('row').filter({ hasText: user });
  await expect(row).toContainText('11:45');
  await look();
  await row.getByRole('link').click();
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel the callback' }).click();
  await expect(page.getByText('cancelled').first()).toBeVisible();
});

test('a schedule shows its next runs in words and in the calendar', async ({ open, look }, info) => {
  const { id: agent } = await caller(`Scheduler of ${info.project.name}`);
  const user = `weekly-${info.project.name}-${Date.now()}`;
  const soon = { agent_id: agent, phone_number: '+12015550140', timezone: 'Europe/Berlin', reason: 'The weekly check' };
  const toSaturday = 6 - new Date().getUTCDay() || 7; // the last columns: what is hidden there must not widen the page
  for (const [days, name] of [
    [toSaturday, 'saturday-long-enough-to-be-cut-off'],
    [toSaturday + 1, 'sunday-long-enough-to-be-cut-off'],
    [1, 'ada'],
    [2, 'grace'],
    [2, 'edsger'],
    [4, hostile],
  ] as const)
    await call('POST', `workspaces/${service.workspace}/callbacks`, {
      ...soon,
      user_id: `${name}-${info.project.name}`,
      at: localIn(days, '14:00'),
      ignore_limits: true,
    });
  const page = await open('/callbacks/schedules');
  await page.getByRole('button', { name: 'New schedule' }).first().click();
  await page.getByLabel('User', { exact: true }).fill(user);
  await page.getByLabel('Number', { exact: true }).fill('+1 201 555 0141');
  await choose(page, 'Repeats', 'Monday to Friday at 09:00');
  await expect(page.getByRole('dialog').getByText('on Monday to Friday at 09:00')).toBeVisible();
  await page.getByLabel('Cron expression').fill('0 8 * * 1,3');
  await expect(page.getByRole('dialog').getByText('on Monday and Wednesday at 08:00')).toBeVisible();
  await look();
  await page.getByRole('button', { name: 'Make the schedule' }).click();
  await expect(page.getByRole('heading', { name: `Calls of ${user}` })).toBeVisible();
  const runs = page.getByRole('list', { name: 'Next runs' }).getByRole('listitem');
  await expect(runs).toHaveCount(10);
  await expect(runs.first()).toContainText('08:00');
  await look();
  await page.getByRole('switch').click({ force: true });
  await expect(page.getByText('It is off')).toBeVisible();
  await page.getByRole('switch').click({ force: true });
  await expect(runs).toHaveCount(10);

  await page.goto(`${service.console}#/callbacks/calendar`);
  await page.getByRole('button', { name: 'Later' }).click();
  await expect(page.getByRole('link', { name: new RegExp(user) }).first()).toBeVisible();
  await page.getByRole('button', { name: 'Today' }).click();
  await look();
  await page.getByRole('button', { name: 'Later' }).click();
  await expect(page.getByRole('link', { name: new RegExp(user) }).first()).toBeVisible();
  await look('callbacks-calendar');
  await choose(page, 'View', 'Week');
  await choose(page, 'Time zone', 'Asia/Tokyo');
  await expect(page).toHaveURL(/zone=Asia%2FTokyo/);
  await expect(page.getByRole('link', { name: new RegExp(user) }).first()).toContainText(/1[56]:00/);
  const saving = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save as iCal' }).click();
  expect(readFileSync(await (await saving).path(), 'utf8')).toContain('BEGIN:VCALENDAR');

  await page.goto(`${service.console}#/callbacks/schedules`);
  await page.getByRole('row').filter({ hasText: user }).getByRole('link').click();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await expect(page.getByRole('tab', { name: 'Schedules' })).toBeVisible();
  await expect(page.getByRole('row').filter({ hasText: user })).toHaveCount(0);
});

test('a time zone that the browser does not know breaks no page', { tag: '@wide' }, async ({ open, page }, info) => {
  const agent = await caller(`Zones of ${info.project.name} ${Date.now()}`);
  const user = `far-${Date.now()}`;
  const plan = { agent_id: agent.id, user_id: user, phone_number: '+12015550133', timezone: 'Asia/Katmandu' };
  await call('POST', `workspaces/${service.workspace}/callback-schedules`, { ...plan, cron: '0 12 * * *' });
  const { id } = await call<{ id: string }>('POST', `workspaces/${service.workspace}/callbacks`, {
    ...plan,
    at: new Date(Date.now() + 2 * 86_400_000).toISOString(),
  });
  await page.addInitScript(() => {
    const Known = Intl.DateTimeFormat;
    Intl.DateTimeFormat = new Proxy(Known, {
      construct(target, [locale, options]: [string, Intl.DateTimeFormatOptions?]) {
        if (options?.timeZone === 'Asia/Katmandu') throw new RangeError('Invalid time zone specified');
        return new target(locale, options);
      },
    });
  });
  await open(`/callbacks/list/${id}`);
  await expect(page.getByRole('heading', { name: `Call of ${user}` })).toBeVisible();
  await expect(page.getByText(/ UTC/).first()).toBeVisible();
  await page.goto(page.url().replace(/#.*/, '#/callbacks/schedules'));
  await expect(page.getByText(user).first()).toBeVisible();
});

test('a batch of two numbers is called, paused, resumed, stopped and exported', async ({
  open,
  look,
  tolerate,
}, info) => {
  tolerate(/400.*CreateCallbackBatch/);
  const agent = `Batch caller of ${info.project.name} ${Date.now()}`;
  await caller(agent);
  const name = `Batch of ${info.project.name} ${Date.now()} ${hostile}`;
  const numbers = info.project.name === 'wide' ? ['+12015550151', '+12015550152'] : ['+12015550153', '+12015550154'];
  const page = await open('/callbacks/batches');
  await page.getByRole('button', { name: 'New batch' }).first().click();
  await page.getByLabel('Name', { exact: true }).fill(name);
  await choose(page, 'Agent that calls', agent);
  await page
    .getByLabel('Numbers', { exact: true })
    .fill(
      `phone_number,user_id,greeting\n${numbers[0]},first-${info.project.name},"Hello, ${hostile}"\n12,second-${info.project.name},Hi\n`,
    );
  await expect(page.getByText('2 numbers, with greeting')).toBeVisible();
  await page.getByLabel('Calls from').fill('');
  await page.getByLabel('Calls until').fill('');
  await page.getByRole('button', { name: 'Call 2 numbers' }).click();
  await expect(page.getByRole('list', { name: 'Numbers that were refused' })).toContainText('2: 12.');
  await page
    .getByLabel('Numbers', { exact: true })
    .fill(
      `phone_number,user_id,greeting\n${numbers[0]},first-${info.project.name},"Hello, ` +
        `${hostile}"\n${numbers[1]},second-${info.project.name},Hi\n`,
    );
  await page.getByLabel('Begins').fill(localIn(1, '12:00'));
  await look();
  await page.getByRole('button', { name: 'Call 2 numbers' }).click();
  await expect(page.getByRole('heading', { name, level: 1 })).toBeVisible();
  await expect(page.getByText('0 of 2')).toBeVisible();
  await expect(
    page.getByRole('table', { name: 'Calls' }).getByRole('row').filter({ hasText: numbers[1] }),
  ).toBeVisible();
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('button', { name: 'Resume' }).click();
  await expect(page.getByRole('button', { name: 'Pause' })).toBeVisible();
  await look();

  // One of them is called now. Nobody has that number on the simulated line.
  await page.getByRole('row').filter({ hasText: numbers[0] }).getByRole('link').click();
  await page.getByRole('button', { name: 'Call now' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Call now' }).click();
  await expect(page.getByRole('table', { name: 'Attempts' }).getByRole('row').nth(1)).toBeVisible();
  await page.getByRole('table', { name: 'Attempts' }).getByRole('link').first().click();
  await expect(page.getByRole('heading', { name: `Call to ${numbers[0]}` })).toBeVisible();
  await look();
  await page.getByRole('link', { name: 'All calls' }).click();
  await expect(page.getByRole('row').filter({ hasText: numbers[0] }).first()).toBeVisible();

  await page.goto(`${service.console}#/callbacks/batches`);
  await page.getByRole('row').filter({ hasText: name }).getByRole('link').click();
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Stop' }).click();
  await expect(page.getByText('stopped').first()).toBeVisible();
  const saving = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Results as CSV' }).click();
  expect(
    readFileSync(await (await saving).path(), 'utf8')
      .trim()
      .split('\n').length,
  ).toBeGreaterThanOrEqual(3);
});

// The simulated line has one number.
test('an agent answers a number', { tag: '@wide' }, async ({ open, look, tolerate }, info) => {
  tolerate(/400.*CreatePhoneNumber/);
  const page = await open('/callbacks/numbers');
  await page.getByRole('button', { name: 'New number' }).first().click();
  await page.getByLabel('Number', { exact: true }).fill('+12015550001');
  await page.getByLabel('Name', { exact: true }).fill(`Line ${hostile}`);
  await page.getByRole('button', { name: 'Add the number' }).click();
  await expect(
    page
      .getByRole('dialog')
      .getByText(/not one of the carrier's account/)
      .first(),
  ).toBeVisible();
  await page.getByLabel('Number', { exact: true }).fill('+12015550100');
  await page.getByLabel('Look-up URL').fill('https://localhost:9/caller');
  await page.getByRole('button', { name: 'Add the number' }).click();
  await expect(page.getByLabel('The secret of look-ups')).toContainText('whsec_');
  await page.getByRole('button', { name: 'Done' }).click();
  const row = page.getByRole('row').filter({ hasText: '+12015550100' });
  await expect(row).toContainText(hostile);
  await look();
  await row.getByRole('button', { name: /More for/ }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await expect(row).toHaveCount(0);
});
