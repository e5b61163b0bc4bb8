import { routes } from 'virtual:rest-routes';

import type { Call } from '../calls';
import { fileOf } from './request';

const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1);
const shellQuote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** The call by curl: its REST route, or else the procedure itself. */
export function curl(call: Call): string {
  const { service, method } = call;
  const file = fileOf(call)?.json;
  const request: Record<string, unknown> = file ?? call.request;
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
  if (file)
    for (const [name, value] of [...Object.entries(rest), ['file', `@${String(rest['filename'])}`]] as const)
      if (name !== 'filename') lines.push(`  -F ${shellQuote(`${name}=${String(value)}`)}`);
  if (!file && verb !== 'GET' && verb !== 'DELETE')
    lines.push("  -H 'Content-Type: application/json'", `  -d ${shellQuote(JSON.stringify(rest, null, 2))}`);
  return lines.join(' \\\n');
}
