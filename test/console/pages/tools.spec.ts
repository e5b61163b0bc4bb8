import { call, choose, expect, service, test } from '../support/test.js';
import { endpoint } from '../support/endpoint.js';

const hostile = '<img src=x onerror=alert(1)>';
const run = Date.now().toString(36);

test('an HTTP tool is made by the schema builder, tried, traced, attached, changed and deleted', async ({
  open,
  look,
  tolerate,
}, info) => {
  tolerate(/400.*(CreateTool|UpdateTool)/);
  const slug = `find_order_${info.project.name}_${run}`;
  const seen: { url: string; headers: Record<string, unknown> }[] = [];
  const shop = await endpoint((request, response) => {
    seen.push({ url: request.url ?? '', headers: request.headers });
    response.setHeader('Content-Type', 'application/json');
    response.end(
      JSON.stringify({ order: { id: 'A-1007', note: hostile, total: 12.5 }, key: request.headers['x-api-key'] }),
    );
  });
  const page = await open('/tools/new');
  await page.getByRole('textbox', { name: 'Name' }).fill(slug);
  await page.getByRole('textbox', { name: 'Description' }).fill(`Find an order by its number. ${hostile}`);
  await page.getByRole('textbox', { name: 'Address' }).fill(`${shop.url}/orders/{id}`);
  await page.getByRole('button', { name: 'Make the tool' }).click();
  await expect(page.getByRole('alert').filter({ hasText: 'no such argument' })).toBeVisible();
  await page.getByRole('button', { name: 'Add the argument id' }).click();
  await page.getByRole('button', { name: 'Add an argument' }).click();
  const second = page.getByRole('group', { name: 'Argument 2' });
  await second.getByLabel('Name').fill('detail');
  const detail = page.getByRole('group', { name: 'Argument detail', exact: true });
  await detail.getByLabel('Only these values').fill('short, long');
  await page.getByRole('tab', { name: 'JSON' }).click();
  const json = page.getByLabel('JSON Schema');
  await expect(json).toHaveValue(/"enum": \[\s*"short",\s*"long"\s*\]/);
  const schema = JSON.parse(await json.inputValue()) as { properties: Record<string, unknown> };
  schema.properties['limit'] = { type: 'integer', minimum: 1, description: 'At most so many' };
  await json.fill('{ not json');
  await expect(page.getByText(/Not valid JSON/).first()).toBeVisible();
  await json.fill(JSON.stringify(schema));
  await page.getByRole('tab', { name: 'Rows' }).click();
  await expect(
    page.getByRole('group', { name: 'Argument limit' }).getByText('Also in the JSON: minimum'),
  ).toBeVisible();
  await page.getByRole('button', { name: 'Add a secret header' }).click();
  await page.getByRole('group', { name: 'secret header 1' }).getByLabel('Name').fill('X-Api-Key');
  await page.getByRole('group', { name: 'secret header 1' }).getByLabel('Value').fill('very-secret-value');
  await page.getByText('Variables and safety').click();
  await page.getByRole('button', { name: 'Add a value' }).click();
  await page.getByRole('textbox', { name: 'Variable' }).fill('order_id');
  await page.getByLabel('Where in the answer').fill('order.id');
  await page.evaluate(() => scrollTo(0, 0));
  await look('tool');
  await page.getByRole('button', { name: 'Make the tool' }).click();

  await expect(page.getByRole('heading', { level: 1 })).toHaveText(slug);
  await page.getByLabel('id (required)').fill('A-1007');
  await choose(page, 'detail', 'long');
  await page.getByRole('tab', { name: 'JSON' }).click();
  await expect(page.getByLabel('Arguments as JSON')).toHaveValue(/"detail": "long"/);
  await page.getByRole('button', { name: 'Call it' }).click();
  await expect(page.getByLabel('The answer')).toContainText(hostile);
  await expect(page.getByLabel('The answer')).not.toContainText('very-secret-value');
  await expect(page.getByLabel('The request')).toContainText('/orders/A-1007?detail=long');
  await expect(page.getByLabel('The request')).not.toContainText('very-secret-value');
  await expect(page.locator('.facts').getByText('A-1007')).toBeVisible();
  expect(seen[0]?.headers['x-api-key']).toBe('very-secret-value');
  await look();

  await page.getByRole('tab', { name: 'Calls' }).click();
  await page.getByRole('row').filter({ hasText: 'a test run' }).getByRole('button', { name: 'Details' }).click();
  await expect(page.getByLabel('The arguments')).toContainText('A-1007');
  await look();
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();

  await page.getByRole('tab', { name: 'Agents' }).click();
  await choose(page, 'Another agent', 'Ada');
  await page.getByRole('button', { name: 'Attach' }).click();
  await expect(page.getByRole('row').filter({ hasText: 'Ada' })).toBeVisible();
  await look();
  await page.getByRole('tab', { name: 'Settings' }).click();
  await expect(page.getByText('X-Api-Key')).toBeVisible();
  await page.getByRole('textbox', { name: 'Description' }).first().fill('Find an order.');
  await page.getByText('Times and repeats').click();
  await page.getByLabel('Time-out in seconds').fill('7');
  await page.getByRole('button', { name: 'Save' }).click();
  const found = `workspaces/${service.workspace}/tools?q=${slug}`;
  await expect
    .poll(async () => (await call<{ tools: unknown[] }>('GET', found)).tools[0])
    .toMatchObject({
      description: 'Find an order.',
      timeout_seconds: 7,
      secret_header_names: ['X-Api-Key'],
      path_params: ['id'],
      assignments: [{ dynamic_variable: 'order_id', value_path: 'order.id' }],
    });

  await page.getByRole('button', { name: 'Delete' }).click();
  await expect(page.getByRole('alertdialog', { name: /^Delete/ })).toContainText('Ada');
  await page
    .getByRole('alertdialog', { name: /^Delete/ })
    .getByRole('button', { name: 'Delete' })
    .click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Tools');
  await expect(page.getByRole('row').filter({ hasText: slug })).toHaveCount(0);
  await look();
  shop.close();
});

test('what is wrong with a tool is said at its fields, and nothing that was typed is lost', async ({
  open,
  tolerate,
}, info) => {
  tolerate(/4\d\d.*CreateTool/);
  const page = await open('/tools/new');
  await page.getByRole('textbox', { name: 'Name' }).fill('end_call');
  await page.getByRole('textbox', { name: 'Description' }).fill(`Of ${info.project.name}`);
  await page.getByRole('textbox', { name: 'Address' }).fill('https://shop.example.com/orders');
  await page.getByRole('button', { name: 'Make the tool' }).click();
  await expect(page.getByRole('alert').first()).toBeVisible();
  await expect(page.getByRole('textbox', { name: 'Name' })).toHaveAttribute('aria-invalid', 'true');
  await expect(page.getByRole('textbox', { name: 'Description' })).toHaveValue(`Of ${info.project.name}`);
});

test('a built-in tool is shown with its arguments and agents', async ({ open, look }) => {
  const page = await open('/tools?of=opt_in');
  await page.getByRole('row').filter({ hasText: 'schedule_callback' }).getByRole('link').click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('schedule_callback');
  await expect(page.getByLabel('Arguments as JSON Schema')).toBeVisible();
  await look();
});
