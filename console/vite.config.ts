import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

// restRoutes is the module "virtual:rest-routes": for each method of the API its REST route, from
// the OpenAPI document: { "listAgents": ["GET", "/v1/workspaces/{workspace_id}/agents"], … }.
function restRoutes(): Plugin {
  const name = 'virtual:rest-routes';
  return {
    name: 'rest-routes',
    resolveId: (id) => (id === name ? `\0${name}` : undefined),
    load(id) {
      if (id !== `\0${name}`) return undefined;
      const openapi = JSON.parse(readFileSync(at('../gen/openapi/openapi.json'), 'utf8'));
      const routes: Record<string, [string, string]> = {};
      for (const [path, methods] of Object.entries<Record<string, { operationId?: string }>>(openapi.paths))
        for (const [verb, { operationId }] of Object.entries(methods))
          if (operationId) routes[operationId] = [verb.toUpperCase(), path];
      return `export const routes = ${JSON.stringify(routes)};`;
    },
  };
}

// `PARLANCE=http://127.0.0.1:8080 npm run dev` works on the pages against a running service; so
// does `npx vite preview` with what was built, which has the service's Content-Security-Policy.
const service = { target: process.env['PARLANCE'] ?? 'http://127.0.0.1:8080', ws: true };
const proxy = { '^/(v1|errors|parlance\\.v1\\..*|console/auth)': service };
const policy =
  "default-src 'self'; connect-src 'self' ws:; media-src 'self' blob:; base-uri 'none'; form-action 'none'; " +
  "object-src 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

export default defineConfig({
  base: './', // a proxy may serve the page below another path
  plugins: [react(), restRoutes()],
  resolve: {
    alias: { '#gen': at('../gen/typescript/parlance/v1'), '#sdk': at('../sdk/typescript/src') },
    dedupe: ['@bufbuild/protobuf'], // gen/ has no packages of its own
  },
  server: { fs: { allow: ['..'] }, proxy },
  preview: { proxy, headers: { 'Content-Security-Policy': policy } },
  build: {
    outDir: 'dist',
    assetsInlineLimit: 0, // data: URLs are not in the Content-Security-Policy
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    target: 'es2023',
  },
});
