// What the parts of the editor share: the settings, and how they are changed.

import { createContext, useContext, useEffect, useState, useSyncExternalStore, type ReactNode } from 'react';

import { failureOf } from '../../api/failure';
import { isKeeping, onSignOut } from '../../api/kept';
import { useMay } from '../../app/caller';
import { tell } from '../../ui/toast';
import { Draft, type DraftState, type Loaded } from './draft';
import type { Settings } from './settings';

interface Editor extends DraftState {
  store: Draft;
  workspaceId: string;
  agentId: string;
  mayEdit: boolean;
  edit(patch: Partial<Settings>): void;
  /** What the service says is wrong with a setting, by its path: "guards[0].name". */
  wrong(path: string): string | undefined;
  /** Everything that it says is wrong. */
  allWrong: Record<string, string>;
}

const EditorContext = createContext<Editor | undefined>(undefined);

/** The agent that is edited. */
export function useEditor(): Editor {
  const editor = useContext(EditorContext);
  if (!editor) throw new Error('useEditor needs EditorProvider');
  return editor;
}

/** Edits an agent while its page is open; what is not saved yet is saved when it is left. */
export function EditorProvider({
  workspaceId,
  agentId,
  loaded,
  children,
}: {
  workspaceId: string;
  agentId: string;
  loaded: Loaded;
  children: ReactNode;
}) {
  const [store] = useState(() => new Draft(workspaceId, agentId, loaded));
  const state = useSyncExternalStore(store.subscribe, () => store.state);
  const mayEdit = useMay('operator');
  useEffect(() => {
    store.start();
    if (store.state.status === 'unsaved') void store.flush(); // what was brought back
    const warn = (event: BeforeUnloadEvent) => {
      if (store.state.status !== 'clean') event.preventDefault();
    };
    addEventListener('beforeunload', warn);
    const registered = onSignOut(() => store.flush());
    return () => {
      removeEventListener('beforeunload', warn);
      registered();
      if (!isKeeping()) return store.stop(); // signed out
      void store.leave().then((isSaved) => {
        if (!isSaved)
          tell(
            `The edits of ${store.state.settings.name} are not saved yet. They are kept in this tab: open the agent again to save them.`,
          );
      });
    };
  }, [store]);
  const allWrong =
    state.error === undefined
      ? {}
      : Object.fromEntries(
          Object.entries(failureOf(state.error).fields).map(([path, text]) => [path.replace(/^agent\./, ''), text]),
        );
  return (
    <EditorContext
      value={{
        ...state,
        store,
        workspaceId,
        agentId,
        mayEdit,
        allWrong,
        edit: (patch) => void (mayEdit && store.edit(patch)),
        wrong: (path) => allWrong[path],
      }}
    >
      {children}
    </EditorContext>
  );
}
