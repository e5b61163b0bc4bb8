// A call of the API as what somebody would write: a command, or a few lines of a program.

import { routes } from 'virtual:rest-routes';

import type { Call } from './calls';

export interface Example {
  /** curl, TypeScript or Go. */
  language: string;
  code: string;
}

const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1);
const camel = (text: string) => text.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
const shellQuote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** The call by curl: its REST route, or else the procedure itself. */
function curl({ service, method, request }: Call): string {
  const route = routes[lowerFirst(method)];
  const rest = { ...request };
  let verb = 'POST';
  let url = `"\${PARLANCE_BASE_URL%/v1}/parlance.v1.${service}/${method}"`;
  if (route) {
    verb = route[0];
    const path = route[1].replace(/^\/v1/, '').replace(/\{(\w+)\}/g, (_, name: string) => {
      const value = rest[name];
      delete rest[name];
      return encodeURIComponent(value === undefined || value === '' ? 'default' : String(value));
    });
    const query = new URLSearchParams();
    if (verb === 'GET' || verb === 'DELETE')
      for (const [name, value] of Object.entries(rest))
        for (const one of Array.isArray(value) ? value : [value]) query.append(name, String(one));
    url = `"$PARLANCE_BASE_URL${path}${query.size > 0 ? `?${query}` : ''}"`;
  }
  const lines = [`curl ${verb === 'GET' ? '' : `-X ${verb} `}${url}`, '  -H "Authorization: Bearer $PARLANCE_API_KEY"'];
  if (verb !== 'GET' && verb !== 'DELETE')
    lines.push("  -H 'Content-Type: application/json'", `  -d ${shellQuote(JSON.stringify(rest, null, 2))}`);
  return lines.join(' \\\n');
}

function typescript({ service, method, request }: Call): string {
  const fields = JSON.stringify(
    request,
    (_, value: unknown) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
      return Object.fromEntries(Object.entries(value).map(([name, inner]) => [camel(name), inner]));
    },
    2,
  ).replace(/"(\w+)":/g, '$1:');
  return [
    "import { createClient } from '@connectrpc/connect';",
    "import { createConnectTransport } from '@connectrpc/connect-node';",
    `import { ${service} } from './gen/parlance/v1/…_pb.js';`,
    '',
    'const transport = createConnectTransport({',
    "  baseUrl: process.env.PARLANCE_BASE_URL.replace(/\\/v1$/, ''), httpVersion: '1.1',",
    '  interceptors: [(next) => (request) => {',
    "    request.header.set('Authorization', `Bearer ${process.env.PARLANCE_API_KEY}`);",
    '    return next(request);',
    '  }],',
    '});',
    `const answer = await createClient(${service}, transport).${lowerFirst(method)}(${fields});`,
  ].join('\n');
}

const pascal = (text: string) => camel(`_${text}`);

function goValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return `/* ${JSON.stringify(value)} */ nil`;
}

function go({ service, method, request }: Call): string {
  const fields = Object.entries(request).map(([name, value]) => `\t${pascal(name)}: ${goValue(value)},`);
  return [
    `client := parlancev1connect.New${service}Client(http.DefaultClient, baseURL) // with a Bearer token`,
    `answer, err := client.${method}(ctx, &parlancev1.${method}Request{`,
    ...fields,
    '})',
  ].join('\n');
}

/** The call in each language that is shown. */
export const examplesOf = (call: Call): Example[] => [
  { language: 'curl', code: curl(call) },
  { language: 'TypeScript', code: typescript(call) },
  { language: 'Go', code: go(call) },
];
