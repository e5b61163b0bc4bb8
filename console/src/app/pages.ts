// The pages: where they are, what they are called, and who sees them in the navigation.

import { lazy, type ComponentType } from 'react';

import type { Caller } from '#gen/people_pb';

import { hasScope } from './scope';

export interface PageDef {
  path: string;
  /** What it is called in the navigation; without it the page is reached from another one. */
  title?: string;
  group?: 'Build' | 'Watch' | 'Run';
  /** The least scope of those who may see it. */
  scope?: 'runtime' | 'operator' | 'admin';
  /** Whether it is full of personal data, which people with the role analyst do not see. */
  personal?: boolean;
  /** Whether it is about the whole tenant: keys of one workspace do not see it. */
  wholeTenant?: boolean;
  /** Whether people with the role billing see it, or are led on from it. */
  billing?: boolean;
  component: ComponentType<{ params: Record<string, string | undefined> }>;
}

const page = (load: () => Promise<{ default: ComponentType<never> }>) => lazy(load as never) as PageDef['component'];

export const pages: PageDef[] = [
  { path: '/', title: 'Overview', billing: true, component: page(() => import('../pages/overview/Overview')) },
  { path: '/agents', title: 'Agents', group: 'Build', component: page(() => import('../pages/agents/Agents')) },
  { path: '/agents/:agentId/:tab?/:item?', component: page(() => import('../pages/agents/Agent')) },
  {
    path: '/knowledge',
    title: 'Knowledge',
    group: 'Build',
    component: page(() => import('../pages/knowledge/Knowledge')),
  },
  { path: '/knowledge/test', scope: 'runtime', component: page(() => import('../pages/knowledge/QueryTester')) },
  { path: '/knowledge/evaluations', component: page(() => import('../pages/knowledge/Evaluations')) },
  { path: '/knowledge/evaluations/:evaluationId', component: page(() => import('../pages/knowledge/Evaluation')) },
  { path: '/knowledge/:sourceId', component: page(() => import('../pages/knowledge/Source')) },
  { path: '/tools', title: 'Tools', group: 'Build', component: page(() => import('../pages/tools/Tools')) },
  { path: '/tools/new', scope: 'operator', component: page(() => import('../pages/tools/NewTool')) },
  { path: '/tools/import', scope: 'operator', component: page(() => import('../pages/tools/ImportTools')) },
  { path: '/tools/:toolId', component: page(() => import('../pages/tools/Tool')) },
  { path: '/talk', component: page(() => import('../pages/talk/TalkPage')) },
  { path: '/sessions', title: 'Sessions', group: 'Watch', component: page(() => import('../pages/sessions/Sessions')) },
  { path: '/sessions/:sessionId', component: page(() => import('../pages/sessions/Session')) },
  {
    path: '/users',
    personal: true,
    title: 'Users',
    group: 'Watch',
    component: page(() => import('../pages/users/Users')),
  },
  { path: '/users/:userId/:tab?', personal: true, component: page(() => import('../pages/users/User')) },
  {
    path: '/callbacks',
    title: 'Callbacks',
    group: 'Watch',
    component: page(() => import('../pages/callbacks/Callbacks')),
  },
  { path: '/callbacks/:tab', component: page(() => import('../pages/callbacks/Callbacks')) },
  { path: '/callbacks/:tab/:id', component: page(() => import('../pages/callbacks/Callbacks')) },
  { path: '/webhooks', title: 'Webhooks', group: 'Watch', component: page(() => import('../pages/webhooks/Webhooks')) },
  { path: '/webhooks/:endpointId', component: page(() => import('../pages/webhooks/Endpoint')) },
  { path: '/webhooks/:endpointId/deliveries/:deliveryId', component: page(() => import('../pages/webhooks/Delivery')) },
  {
    path: '/usage',
    title: 'Usage and plan',
    group: 'Run',
    billing: true,
    component: page(() => import('../pages/usage/UsagePage')),
  },
  {
    path: '/queues',
    wholeTenant: true,
    title: 'Queues',
    group: 'Run',
    scope: 'operator',
    component: page(() => import('../pages/queues/Queues')),
  },
  {
    path: '/providers',
    title: 'Providers',
    group: 'Run',
    scope: 'admin',
    component: page(() => import('../pages/providers/Providers')),
  },
  {
    path: '/workspaces',
    wholeTenant: true,
    title: 'Workspaces',
    group: 'Run',
    scope: 'admin',
    component: page(() => import('../pages/workspaces/Workspaces')),
  },
  {
    path: '/keys',
    wholeTenant: true,
    title: 'Keys',
    group: 'Run',
    scope: 'admin',
    component: page(() => import('../pages/keys/Keys')),
  },
  {
    path: '/people',
    wholeTenant: true,
    title: 'People and roles',
    group: 'Run',
    scope: 'admin',
    component: page(() => import('../pages/people/People')),
  },
  {
    path: '/audit',
    title: 'Audit',
    group: 'Run',
    scope: 'operator',
    component: page(() => import('../pages/audit/Audit')),
  },
];

/** Why a caller may not see a page; undefined when they may. */
export function refusalOf({ scope, personal, wholeTenant, billing }: PageDef, caller: Caller): string | undefined {
  if (caller.role === 'billing' && !billing)
    return 'It is not for your role, billing. An owner can give you another one.';
  if (scope && !hasScope(caller, scope))
    return caller.kind === 'person'
      ? `It is not for your role, ${caller.role}. An owner can give you another one.`
      : `It needs a key with the scope ${scope}. Yours has the scope ${caller.scope}.`;
  if (personal && caller.role === 'analyst')
    return 'It is full of personal data, which your role, analyst, does not show.';
  if (wholeTenant && caller.workspaceId) return 'It is about all workspaces, and your key is for one of them.';
  return undefined;
}

/** Whether a page is in the caller's navigation. */
export const isOffered = (page: PageDef, caller: Caller) =>
  page.title !== undefined && !(caller.role === 'billing' && page.path === '/') && !refusalOf(page, caller);

/** What is to be kept while only the tab in the address changes: agents and users stay as they are. */
export const pageKey = (path: string) => /^\/(agents|users)\/[^/]+/.exec(path)?.[0] ?? path;
