import { call, expect, service, test } from '../support/test.js';
import { endpoint } from '../support/endpoint.js';

const run = Date.now().toString(36);

test('a web page is fetched, fetched again when it has changed, and pages of a sitemap are added', async ({
  open,
  look,
}, info) => {
  const word = `${info.project.name}${run}`;
  let text = `The first text of ${word}.`;
  const site = await endpoint((request, response) => {
    if (request.url === '/gone') return response.writeHead(404).end('not here');
    if (request.url === '/sitemap.xml') {
      response.setHeader('Content-Type', 'application/xml');
      return response.end(
        `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>${site.url}/a-${word}</loc>` +
          `</url><url><loc>${site.url}/b-${word}</loc></url></urlset>`,
      );
    }
    response.setHeader('Content-Type', 'text/html');
    return response.end(`<h1>Page</h1><p>${text}</p>`);
  });
  const page = await open('/knowledge');
  await page.getByRole('button', { name: 'Add a web page' }).click();
  await page.getByRole('textbox', { name: 'Address' }).fill(`${site.url}/returns`);
  await page.getByRole('textbox', { name: 'Name' }).fill(`Fetched ${word}`);
  await page.getByRole('button', { name: 'Add the page' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(`Fetched ${word}`);
  await expect(page.getByText(text)).toBeVisible();
  await look();
  text = `The second text of ${word}.`;
  await page.getByRole('button', { name: 'More for this source' }).click();
  await page.getByRole('menuitem', { name: 'Fetch its address now' }).click();
  await expect(page.getByText(text)).toBeVisible();

  await page.getByRole('link', { name: 'All sources' }).click();
  await page.getByRole('button', { name: 'Add a sitemap' }).click();
  await page.getByRole('textbox', { name: 'Address' }).fill(`${site.url}/sitemap.xml`);
  await page.getByRole('button', { name: 'Add its pages' }).click();
  await expect(page.getByText('2 pages found; 2 added, 0 were here already.')).toBeVisible();

  await page.getByRole('button', { name: 'Add a web page' }).click();
  await page.getByRole('textbox', { name: 'Address' }).fill(`${site.url}/gone`);
  await page.getByRole('textbox', { name: 'Name' }).fill(`Gone ${word}`);
  await page.getByRole('button', { name: 'Add the page' }).click();
  await expect(page.getByRole('alert').filter({ hasText: '404' })).toContainText('Check the address');
  await look();
  const kb = `workspaces/${service.workspace}/knowledge-base/sources`;
  const { sources } = await call<{ sources: { id: string }[] }>('GET', `${kb}?q=${word}`);
  for (const { id } of sources) await call('DELETE', `${kb}/${id}`);
  site.close();
});
