import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

import { call, choose, expect, service, test } from '../support/test.js';

const hostile = '<img src=x onerror=alert(1)>';
const run = Date.now().toString(36); // the specs may be run again against a service that goes on
const kb = () => `workspaces/${service.workspace}/knowledge-base`;

test('files are uploaded, one of them refused; passages are seen and found; the source is deleted', async ({
  open,
  look,
  tolerate,
}, info) => {
  tolerate(/404.*GetSource/); // what was asked just before the source was deleted
  const mine = `${info.project.name} ${run}`;
  const tag = `of-${info.project.name}-${run}`;
  const name = `returns ${mine} ${hostile.replace('/', '')}.md`;
  const word = `zebra${info.project.name}${run}`;
  const page = await open('/knowledge');
  await page.getByLabel('Tags for these files').fill(tag);
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Choose files' }).click();
  const text = `# Returns ${hostile}\n\nA ${word} can be returned within thirty days. ${hostile}\n\n# Repairs\n\nRepairs take two weeks.\n`;
  await (
    await chooser
  ).setFiles([
    { name, mimeType: 'text/markdown', buffer: Buffer.from(text) },
    { name: `program ${mine}.exe`, mimeType: 'application/octet-stream', buffer: randomBytes(3000) },
    { name: `empty ${mine}.txt`, mimeType: 'text/plain', buffer: Buffer.alloc(0) },
  ]);
  const uploads = page.getByRole('list', { name: 'Uploads' });
  const refused = uploads.getByRole('listitem').filter({ hasText: `program ${mine}.exe` });
  await expect(refused).toContainText('refused');
  await expect(refused.getByRole('alert')).toContainText('Taken are PDF, Markdown');
  await expect(refused.getByRole('button', { name: /^Send again/ })).toHaveCount(0);
  await expect(
    uploads
      .getByRole('listitem')
      .filter({ hasText: `empty ${mine}.txt` })
      .getByRole('alert'),
  ).toContainText('The file is empty');
  const sent = uploads.getByRole('listitem').filter({ hasText: name });
  await expect(sent).toContainText('ready');
  await choose(page, 'Let an agent answer from them', 'Ada');
  await page.getByRole('button', { name: 'Attach those that are ready' }).click();
  const attachments = `workspaces/${service.workspace}/agents/${service.agent}/knowledge-base`;
  await expect
    .poll(async () => (await call<{ attachments: { source_name: string }[] }>('GET', attachments)).attachments)
    .toContainEqual(expect.objectContaining({ source_name: name }));
  await page.getByRole('searchbox', { name: 'Only with the tags' }).fill(tag);
  const row = page.getByRole('row').filter({ hasText: name });
  await expect(row).toContainText('ready');
  await page.evaluate(() => scrollTo(0, 0));
  await look('knowledge');

  await row.getByRole('link').click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(name);
  await page.getByRole('searchbox', { name: 'Search in the passages' }).fill(word);
  await expect(page.locator('mark')).toContainText(word);
  await expect(page.getByText(hostile).first()).toBeVisible();
  await page.locator('label').filter({ hasText: /^on/ }).click();
  await expect(page.locator('label').filter({ hasText: /^off/ })).toBeVisible();
  await page.locator('label').filter({ hasText: /^off/ }).click();
  await expect(page.locator('label').filter({ hasText: /^on/ })).toBeVisible();
  await look('source');
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Original' }).click();
  await expect((await saved).suggestedFilename()).toContain('returns');
  await page.getByRole('tab', { name: 'Agents' }).click();
  await expect(page.getByRole('row').filter({ hasText: 'Ada' })).toBeVisible();
  await look();

  await page.getByRole('button', { name: 'More for this source' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  const question = page.getByRole('alertdialog', { name: /^Delete/ });
  await expect(question).toContainText('Ada');
  await question.getByRole('button', { name: 'Delete' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Knowledge');
  await expect
    .poll(async () => (await call<{ sources: unknown[] }>('GET', `${kb()}/sources?tags=${tag}&status=ready`)).sources)
    .toHaveLength(0);
});

test('a file that is there already is asked about', async ({ open, look }, info) => {
  const name = `known ${info.project.name} ${run}.md`;
  const file = { name, mimeType: 'text/markdown', buffer: Buffer.from('# Known\n\nA walrus is known.\n') };
  const page = await open('/knowledge');
  const choosing = async () => {
    const chooser = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Choose files' }).click();
    await (await chooser).setFiles([file]);
  };
  const dialog = page.getByRole('dialog', { name: 'This file is there already' });
  const uploads = page.getByRole('list', { name: 'Uploads' }).getByRole('listitem');
  const count = async () =>
    (await call<{ sources: { id: string }[] }>('GET', `${kb()}/sources?q=${encodeURIComponent(name)}`)).sources.length;
  await choosing();
  await expect(uploads.filter({ hasText: name })).toContainText('ready');
  await choosing();
  await expect(dialog).toContainText(name);
  await look();
  await dialog.getByRole('button', { name: 'Skip' }).click();
  await expect(dialog).toHaveCount(0);
  expect(await count()).toBe(1);
  await choosing();
  await dialog.getByRole('button', { name: 'Replace it' }).click();
  await expect(uploads.filter({ hasText: name })).toHaveCount(2);
  await expect(uploads.filter({ hasText: 'Sending' })).toHaveCount(0);
  expect(await count()).toBe(1);
  await choosing();
  await dialog.getByRole('button', { name: 'Add again' }).click();
  await expect.poll(count).toBe(2);
});

test('a large file that is refused for what it is says so', { tag: '@wide' }, async ({ open, tolerate }, info) => {
  tolerate(/UploadSource/);
  const path = info.outputPath('zeros.txt');
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, '');
  truncateSync(path, 260e6);
  const page = await open('/knowledge');
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Choose files' }).click();
  await (await chooser).setFiles(path);
  const row = page.getByRole('list', { name: 'Uploads' }).getByRole('listitem').filter({ hasText: 'zeros.txt' });
  await expect(row.getByRole('alert')).toContainText('This type of file is not taken');
  rmSync(path);
});

test('text is pasted, tagged, replaced and restored', async ({ open, look, tolerate }, info) => {
  tolerate(/400.*UpdateSource/);
  const mine = `${info.project.name} ${run}`;
  const name = `Opening hours ${mine} ${hostile}`;
  const page = await open('/knowledge');
  await page.getByRole('button', { name: 'Paste text' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill(name);
  await page.getByLabel('Text', { exact: true }).fill('# Hours\n\nWe open at nine.');
  await page.getByRole('button', { name: 'Add the text' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(name);
  await expect(page.getByText('We open at nine.')).toBeVisible();
  await page.getByRole('tab', { name: 'Settings' }).click();
  await page.getByLabel('Tags').fill('not allowed!');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('alert')).toBeVisible();
  await page.getByLabel('Tags').fill('hours');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.locator('.facts').getByText('hours', { exact: true })).toBeVisible();
  await page.getByRole('tab', { name: 'Passages' }).click();
  await page.getByRole('button', { name: 'More for this source' }).click();
  await page.getByRole('menuitem', { name: 'Replace the content' }).click();
  await page.getByLabel('Text', { exact: true }).fill('# Hours\n\nWe open at eleven.');
  await page.getByRole('button', { name: 'Replace', exact: true }).click();
  await expect(page.getByText('We open at eleven.')).toBeVisible();
  await page.getByRole('button', { name: 'More for this source' }).click();
  await page.getByRole('menuitem', { name: 'Restore the content before' }).click();
  await expect(page.getByText('We open at nine.')).toBeVisible();
  await look();
});

test('the query tester finds a passage, and says why another source is not among them', async ({
  open,
  look,
}, info) => {
  const mine = `${info.project.name} ${run}`;
  const word = `giraffe${info.project.name}${run}`;
  const make = (name: string, content: string) =>
    call<{ id: string }>('POST', `${kb()}/sources/inline`, { name, content });
  const seen = await make(`Seen ${mine}`, `# Transport ${hostile}\n\nA ${word} travels in a lorry of four metres.`);
  const unseen = await make(`Unseen ${mine}`, `# Transport\n\nA ${word} may not travel by air.`);
  for (const { id } of [seen, unseen])
    await expect
      .poll(async () => (await call<{ status: string }>('GET', `${kb()}/sources/${id}`)).status)
      .toBe('ready');
  await call('POST', `workspaces/${service.workspace}/agents/${service.agent}/knowledge-base/attach`, {
    source_ids: [seen.id],
  });
  const page = await open('/knowledge/test');
  await choose(page, 'Agent', 'Ada');
  await page.getByLabel('Question').fill(`How does a ${word} travel?`);
  await page.getByRole('combobox', { name: 'Why not this source?' }).fill(`Unseen ${mine}`);
  await page.getByRole('option', { name: `Unseen ${mine}` }).click();
  await page.getByRole('button', { name: 'Ask' }).click();
  const first = page.getByRole('list', { name: 'Passages' }).getByRole('listitem').first();
  await expect(first).toContainText(`Seen ${mine}`);
  await expect(first.locator('mark').first()).toBeVisible();
  await expect(page.getByRole('status', { name: 'Why not this source' })).toContainText('The agent does not see it');
  await look('query-tester');
  await page.reload();
  await expect(first).toContainText(`Seen ${mine}`);
  for (const { id } of [seen, unseen]) await call('DELETE', `${kb()}/sources/${id}`);
});

test('a large file shows how far it is and can be stopped; a large refused one says why', async ({
  open,
  page,
  tolerate,
}, info) => {
  test.slow(); // to send and process so much
  tolerate(/(ERR_|502).*UploadSource/); // the service hangs up while the refused file is still being sent
  const mine = `${info.project.name} ${run}`;
  const file = (name: string, content: Buffer) => {
    writeFileSync(info.outputPath(name), content);
    return info.outputPath(name);
  };
  const names = { large: `large ${mine}.txt`, stopped: `stopped ${mine}.txt`, refused: `refused ${mine}.bin` };
  const text = Buffer.alloc(50_000_000, `line of a large file of ${mine}\n`);
  await open('/knowledge');
  const network = await page.context().newCDPSession(page);
  const sendAtMost = (uploadThroughput: number) =>
    network.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput,
    });
  await network.send('Network.enable');
  await sendAtMost(100_000); // bytes a second: no file is sent before one of them is stopped
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Choose files' }).click();
  await (
    await chooser
  ).setFiles([file(names.large, text), file(names.stopped, text), file(names.refused, randomBytes(50_000_000))]);
  const uploads = page.getByRole('list', { name: 'Uploads' }).getByRole('listitem');
  await page.getByRole('button', { name: `Stop ${names.stopped}` }).click();
  await expect(uploads.filter({ hasText: names.stopped })).toContainText('stopped');
  await sendAtMost(-1);
  await expect(uploads.filter({ hasText: names.refused }).getByRole('alert')).toContainText(/type/i);
  await expect(uploads.filter({ hasText: names.large }).getByRole('link')).toBeVisible({ timeout: 240_000 });
  const { sources } = await call<{ sources: { id: string; size_bytes: number }[] }>(
    'GET',
    `${kb()}/sources?q=${encodeURIComponent(names.large)}`,
  );
  expect(sources.map(({ size_bytes: size }) => size)).toEqual([50_000_000]);
  expect(
    (await call<{ sources: unknown[] }>('GET', `${kb()}/sources?q=${encodeURIComponent(names.stopped)}`)).sources,
  ).toEqual([]);
  for (const { id } of sources) await call('DELETE', `${kb()}/sources/${id}`);
});
