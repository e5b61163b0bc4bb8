import type { Caller } from '#gen/people_pb';

/** The scopes of keys and roles: each may do what those before it may. */
const scopes = ['read', 'runtime', 'operator', 'admin'];

/** Whether a caller has a scope. People with the role billing have none. */
export const hasScope = (caller: Caller, scope: string) =>
  caller.role !== 'billing' && scopes.indexOf(caller.scope) >= scopes.indexOf(scope);
