import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { call, choose, expect, service, test } from '../support/test.js';

// Somebody who has a key and has read nothing: to an agent that answers from their document and
// calls their service. All by what the pages offer.
test('from a key to a grounded conversation that calls a tool', async ({ page }, info) => {
  const shop = createServer((request, response) => {
    response.setHeader('Content-Type', 'application/json');
    response.end(
      JSON.stringify({
        order: decodeURIComponent(request.url?.split('/').at(-1) ?? ''),
        state: 'on its way',
        arrives: 'Friday',
      }),
    );
  });
  await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve));
  const { port } = shop.address() as AddressInfo;
  const mine = `${info.project.name}_${Date.now().toString(36)}`;
  const name = `Lamp shop ${mine}`;
  const slug = `find_order_${mine}`;
  const wide = info.project.name === 'wide';
  const goTo = async (title: string) => {
    if (!wide) await page.getByRole('button', { name: 'Menu', exact: true }).click();
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: title, exact: true }).click();
  };

  await page.goto(service.console);
  await page.getByLabel('API key').fill(service.key);
  await page.getByRole('button', { name: 'Use the key' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible();

  await goTo('Agents');
  await page.getByRole('button', { name: 'New agent' }).first().click();
  await page.getByRole('dialog').getByLabel('Name').fill(name);
  await page.getByRole('dialog').getByRole('button', { name: /^Make/ }).click();
  await expect(page.getByRole('heading', { level: 1, name })).toBeVisible();
  const agentId = /agt_\w+/.exec(page.url())?.[0] ?? '';

  await goTo('Knowledge');
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: /Choose files/ }).click();
  await (
    await chooser
  ).setFiles({
    name: `lamps-${mine}.md`,
    mimeType: 'text/markdown',
    buffer: Buffer.from(
      `# Guarantee of the ${name}\n\nEvery lighthouse lamp has a guarantee of eleven years. Bulbs have none.\n`,
    ),
  });
  const file = page.getByRole('list', { name: 'Uploads' }).getByRole('listitem');
  await expect(file.filter({ hasText: `lamps-${mine}.md` })).toContainText('ready');
  await choose(page, 'Let an agent answer from them', name);
  await page.getByRole('button', { name: 'Attach those that are ready' }).click();
  const attachments = `workspaces/${service.workspace}/agents/${agentId}/knowledge-base`;
  await expect
    .poll(async () => (await call<{ attachments: unknown[] }>('GET', attachments)).attachments)
    .toHaveLength(1);

  await goTo('Tools');
  await page.getByRole('link', { name: 'New tool' }).first().click();
  await page.getByRole('textbox', { name: 'Name' }).fill(slug);
  await page.getByRole('textbox', { name: 'Description' }).fill('Finds an order by its number.');
  await page.getByRole('textbox', { name: 'Address' }).fill(`http://127.0.0.1:${port}/orders/{number}`);
  await page.getByRole('button', { name: 'Add the argument number' }).click();
  await page.getByRole('button', { name: 'Make the tool' }).click();
  await expect(page.getByRole('heading', { level: 1, name: slug })).toBeVisible();
  await page.getByRole('tab', { name: 'Agents' }).click();
  await choose(page, 'Another agent', name);
  await page.getByRole('button', { name: 'Attach' }).click();
  await expect(page.getByRole('row').filter({ hasText: name })).toBeVisible();

  await goTo('Overview');
  await page.getByRole('link', { name: 'Talk to an agent' }).click();
  await page.getByRole('main').getByRole('button', { name: /Agent/ }).click();
  await page.getByRole('option', { name }).click();
  await page.getByRole('button', { name: 'Start in writing' }).click();
  const said = page.getByRole('region', { name: 'What was said' });
  const say = async (text: string) => {
    await page.getByLabel('What you say').fill(text);
    await page.keyboard.press('Enter');
  };
  await say('How long is the guarantee of a lighthouse lamp?');
  await expect(said).toContainText('eleven years');
  await expect(said).toContainText(`lamps-${mine}`); // where it was found
  await say(`/tool ${slug} {"number": "A-17"}`);
  await expect(said).toContainText('on its way');
  shop.close();
});
