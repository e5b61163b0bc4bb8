// A real OpenID Connect provider, for the sign-in of people: the certified one of npm's
// oidc-provider. Any password is right; the login decides the groups.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import Provider from 'oidc-provider';

/** Groups by login; others have none. */
const groupsOf: Record<string, string[]> = {
  ada: ['platform'],
  olga: ['support'],
  ana: ['quality'],
  finn: ['finance'],
};

/** The settings of a service that signs people in there. */
export const rolesOfGroups = 'platform=owner,support=operator,quality=analyst,finance=billing';
export const client = { id: 'parlance', secret: 'a secret of the client' };

export interface Issuer {
  url: string;
  close(): void;
}

/** Starts the provider for a service at an origin. */
export async function startIssuer(serviceOrigin: string): Promise<Issuer> {
  const server: Server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(url, {
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        redirect_uris: [`${serviceOrigin}/console/auth/callback`],
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    claims: { openid: ['sub'], profile: ['name', 'groups'], email: ['email'] },
    conformIdTokenClaims: false, // the claims are in the ID token, as with most providers
    findAccount: (_: unknown, login: string) => ({
      accountId: login,
      claims: () => ({
        sub: login,
        name: `${login.charAt(0).toUpperCase()}${login.slice(1)} Example`,
        email: `${login}@example.org`,
        groups: groupsOf[login] ?? [],
      }),
    }),
  });
  server.on('request', provider.callback());
  return { url, close: () => server.close() };
}
