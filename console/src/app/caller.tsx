// Who calls and in which workspace, for all pages.

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, useContext, useState, type ReactNode } from 'react';

import type { Caller } from '#gen/people_pb';
import type { Workspace } from '#gen/workspaces_pb';

import * as api from '../api/clients';
import { keepFor } from '../api/kept';
import { Page } from '../ui/Page';
import { Query } from '../ui/Query';
import { hasScope } from './scope';

/** How often the service is asked again while the console cannot begin without its answer. */
const tryAgainMs = 5000;
const workspaceName = 'parlance.workspace';

interface Here {
  caller: Caller;
  workspaces: Workspace[];
  /** The workspace whose agents, tools and so on are shown: ws_… */
  workspaceId: string;
  choose(workspaceId: string): void;
}

const HereContext = createContext<Here | undefined>(undefined);

/** Who calls, and the workspace that is looked at. */
export function useHere(): Here {
  const here = useContext(HereContext);
  if (!here) throw new Error('useHere needs CallerProvider');
  return here;
}

/** Whether the caller has a scope: what a page offers goes by it, and the service checks it. */
export function useMay(scope: 'runtime' | 'operator' | 'admin'): boolean {
  const { caller } = useHere();
  return hasScope(caller, scope);
}

/** Whether the caller may see who a user is. People with the role analyst are answered without personal data. */
export const useMaySeePersonal = () => useHere().caller.role !== 'analyst';

/** Asks who calls before it shows anything. */
export function CallerProvider({ children }: { children: ReactNode }) {
  const client = useQueryClient();
  const [chosen, setChosen] = useState(() => sessionStorage.getItem(workspaceName) ?? '');
  const query = useQuery({
    queryKey: ['caller'],
    staleTime: Infinity,
    retry: 1,
    refetchInterval: ({ state }: { state: { status: string } }) => (state.status === 'error' ? tryAgainMs : false),
    queryFn: async ({ signal }) => {
      const [caller, list] = await Promise.all([
        api.people.getCaller({}, { signal }),
        api.workspaces.listWorkspaces({ pageSize: 200 }, { signal }),
      ]);
      keepFor(caller.id);
      return { caller, workspaces: list.workspaces };
    },
  });
  const choose = (id: string) => {
    sessionStorage.setItem(workspaceName, id);
    setChosen(id);
    client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'caller' });
  };
  if (query.error && !query.data)
    return (
      <main>
        <Page title="Parlance">
          <Query query={query}>{() => null}</Query>
        </Page>
      </main>
    );
  return (
    <Query query={query}>
      {({ caller, workspaces }) => {
        const workspaceId =
          (workspaces.find(({ id }) => id === (caller.workspaceId || chosen)) ?? workspaces[0])?.id ?? '';
        return <HereContext value={{ caller, workspaces, workspaceId, choose }}>{children}</HereContext>;
      }}
    </Query>
  );
}
