// An agent whose tool asks before each call: an MCP server of the spec, with one tool that gives
// money back.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { call, service } from './test.js';

/** An MCP server with one tool, which gives money back. */
function mcpServer(): Promise<Server> {
  const tools = [
    {
      name: 'refund',
      description: 'Gives money back.',
      inputSchema: { type: 'object', properties: { euro: { type: 'number' } } },
    },
  ];
  const answers: Record<string, (params: { protocolVersion?: string; arguments?: unknown }) => unknown> = {
    initialize: ({ protocolVersion }) => ({
      protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'shop', version: '1' },
    }),
    'tools/list': () => ({ tools }),
    'tools/call': ({ arguments: input }) => ({
      content: [{ type: 'text', text: `Paid back ${JSON.stringify(input)} <img src=x onerror=alert(1)>` }],
    }),
    ping: () => ({}),
  };
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => (body += part.toString()));
    request.on('end', () => {
      if (request.method !== 'POST') return response.writeHead(405).end();
      const { id, method, params } = JSON.parse(body) as { id?: number; method: string; params?: object };
      if (id === undefined) return response.writeHead(202).end();
      const answer = answers[method];
      const result = answer ? { result: answer(params ?? {}) } : { error: { code: -32601, message: 'no such method' } };
      return response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, ...result }));
    });
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

const agents = () => `workspaces/${service.workspace}/agents`;

/** The agent. `refund` is what its model calls the tool. */
export interface AskingAgent {
  id: string;
  refund: string;
  remove(): Promise<void>;
}

/** Makes an agent of a spec's own, with the demo agent's sources. */
export async function makeAskingAgent(name: string, settings: object = {}): Promise<AskingAgent> {
  const server = await mcpServer();
  const slug = `shop_${name.replace(/\W/g, '_').toLowerCase().slice(0, 40)}`;
  const agent = await call<{ id: string }>('POST', agents(), { name, instructions: 'You help.', ...settings });
  const tool = await call<{ id: string }>('POST', `workspaces/${service.workspace}/tools`, {
    slug,
    description: 'The shop.',
    kind: 'mcp',
    mcp_server_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    approval: 'always',
  });
  await call('POST', `${agents()}/${agent.id}/tools/attach`, { tool_id: tool.id, enabled: true });
  await attachSources(agent.id);
  const { tools } = await call<{ tools: { name: string }[] }>('GET', `${agents()}/${agent.id}/tools`);
  return {
    id: agent.id,
    refund: tools.map((one) => one.name).find((one) => one.includes('refund')) ?? '',
    async remove() {
      await call('DELETE', `${agents()}/${agent.id}`);
      await call('DELETE', `workspaces/${service.workspace}/tools/${tool.id}`);
      server.close();
    },
  };
}

/** Gives an agent the sources of the demo agent. */
export async function attachSources(agentId: string): Promise<void> {
  const { attachments } = await call<{ attachments: { source_id: string }[] }>(
    'GET',
    `${agents()}/${service.agent}/knowledge-base`,
  );
  await call('POST', `${agents()}/${agentId}/knowledge-base/attach`, {
    source_ids: attachments.map(({ source_id }) => source_id),
  });
}
