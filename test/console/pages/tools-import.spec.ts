import type { IncomingMessage } from 'node:http';

import { call, choose, expect, service, test } from '../support/test.js';
import { endpoint } from '../support/endpoint.js';

const hostile = '<img src=x onerror=alert(1)>';
const run = Date.now().toString(36);

test('tools are made of an OpenAPI document, and what cannot be a tool says why', async ({ open, look }, info) => {
  const prefix = `shop_${info.project.name}_${run}`;
  const shop = await endpoint((_, response) =>
    response.setHeader('Content-Type', 'application/json').end('{"ok":true}'),
  );
  const document = {
    openapi: '3.1.0',
    info: { title: `Shop ${hostile}`, version: '1' },
    servers: [{ url: shop.url }],
    paths: {
      '/orders/{id}': {
        get: {
          operationId: 'get_order',
          summary: `Find an order ${hostile}`,
          parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
          responses: { 200: { description: 'ok' } },
        },
      },
      '/orders': {
        post: {
          operationId: 'create_order',
          summary: 'Make an order',
          requestBody: {
            content: { 'application/json': { schema: { type: 'object', properties: { book: { type: 'string' } } } } },
          },
          responses: { 201: { description: 'made' } },
        },
      },
      '/pictures': {
        post: {
          operationId: 'add_picture',
          summary: 'Add a picture',
          requestBody: { required: true, content: { 'image/png': { schema: { type: 'string', format: 'binary' } } } },
          responses: { 201: { description: 'made' } },
        },
      },
    },
  };
  const page = await open('/tools/import');
  await page.getByLabel('OpenAPI 3.0 to 3.2, JSON or YAML').fill(JSON.stringify(document));
  await page.getByLabel('Before each name').fill(prefix);
  await page.getByRole('button', { name: 'Read it' }).click();
  await expect(page.getByRole('row').filter({ hasText: 'GET /orders/{id}' })).toContainText(`${prefix}_get_order`);
  await expect(page.getByRole('row').filter({ hasText: 'POST /pictures' })).toContainText('Cannot be a tool');
  await choose(page, 'How the tools show who calls', 'By an Authorization header');
  await page.getByRole('textbox', { name: 'Secret' }).fill('Bearer very-secret-value');
  await choose(page, 'Attach them to', 'Ada');
  await page.getByRole('heading', { level: 2, name: /Shop/ }).scrollIntoViewIfNeeded();
  await look('tools-import');
  await page.getByRole('button', { name: 'Make 2 tools' }).click();
  await expect(page.getByText('2 tools are there now.')).toBeVisible();
  await look();
  const { tools } = await call<{ tools: { id: string; auth_header_set: boolean }[] }>(
    'GET',
    `workspaces/${service.workspace}/tools?q=${prefix}`,
  );
  expect(tools.map(({ auth_header_set: isSet }) => isSet)).toEqual([true, true]);
  await page.getByRole('button', { name: 'Read it' }).click();
  await expect(page.getByRole('row').filter({ hasText: 'GET /orders/{id}' })).toContainText('here already');
  for (const { id } of tools) await call('DELETE', `workspaces/${service.workspace}/tools/${id}`);
  shop.close();
});

test('an MCP server says which tools it has, and those that are chosen may be used', async ({ open, look }, info) => {
  const slug = `crm_${info.project.name}_${run}`;
  const server = await endpoint(
    (request, response) =>
      void answerMcp(request).then((answer) => {
        response.writeHead(answer === undefined ? 202 : 200, {
          'Content-Type': 'application/json',
          'Mcp-Session-Id': 's1',
        });
        response.end(answer === undefined ? undefined : JSON.stringify(answer));
      }),
  );
  const page = await open('/tools/new?kind=mcp');
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill(slug);
  await page.getByRole('textbox', { name: 'Description' }).fill('Customers and their orders.');
  await page.getByRole('textbox', { name: 'Address of the server' }).fill(`${server.url}/mcp`);
  await page.getByRole('button', { name: 'See which tools it has' }).click();
  await expect(page.getByText(/has 2 tools/)).toBeVisible();
  await page.locator('label').filter({ hasText: 'drop_table' }).click();
  await look();
  await page.getByRole('button', { name: 'Make the tool' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(slug);
  const { tools } = await call<{ tools: { id: string; allowed_tools: string[] }[] }>(
    'GET',
    `workspaces/${service.workspace}/tools?q=${slug}`,
  );
  expect(tools[0]?.allowed_tools).toEqual(['find_customer']);
  await page.getByRole('button', { name: 'Call it' }).click();
  await expect(page.getByLabel('The answer')).toContainText('found');
  for (const { id } of tools) await call('DELETE', `workspaces/${service.workspace}/tools/${id}`);
  server.close();
});

interface Rpc {
  id?: number;
  method: string;
  params?: { protocolVersion?: string };
}

/** What a server of two tools answers; undefined to a notification. */
async function answerMcp(request: IncomingMessage): Promise<unknown> {
  let body = '';
  for await (const part of request) body += String(part);
  if (body === '') return undefined;
  const { id, method, params } = JSON.parse(body) as Rpc;
  if (id === undefined) return undefined;
  const tool = (name: string, description: string) => ({
    name,
    description,
    inputSchema: { type: 'object', properties: { name: { type: 'string' } } },
  });
  const results: Record<string, unknown> = {
    initialize: {
      protocolVersion: params?.protocolVersion ?? '2025-03-26',
      capabilities: { tools: {} },
      serverInfo: { name: 'crm', version: '1.2' },
    },
    'tools/list': {
      tools: [tool('find_customer', `Find a customer ${hostile}`), tool('drop_table', 'Drop everything')],
    },
    'tools/call': { content: [{ type: 'text', text: 'found' }] },
  };
  return { jsonrpc: '2.0', id, result: results[method] ?? {} };
}
