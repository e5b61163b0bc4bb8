// What was typed and is not saved or sent yet. It is kept in the storage of the tab, so that a
// reload or a lost connection does not lose it, and belongs to the caller who typed it.

const all = 'parlance.';
const prefix = `${all}kept.`;
const whoName = `${all}who`;
const keyName = `${all}key`;

let who = '';

const names = (beginning: string) => Object.keys(sessionStorage).filter((name) => name.startsWith(beginning));

/** Names the caller who types from now on. What this tab has of another caller is dropped. */
export function keepFor(callerId: string): void {
  const before = sessionStorage.getItem(whoName);
  if (before !== null && before !== callerId) dropAll();
  continueAs(callerId);
}

/** Says that the caller goes on with another key, typed over the page where the text is. */
export function continueAs(callerId: string): void {
  who = callerId;
  sessionStorage.setItem(whoName, callerId);
}

/** Whether somebody is signed in for whom something can be kept. */
export const isKeeping = () => who !== '';

/** Keeps nothing until somebody is known again; what is kept stays, for the same caller. */
export function stopKeeping(): void {
  who = '';
}

/** Drops everything that this tab has of the caller, whose sign-in ends. */
export function dropAll(): void {
  who = '';
  for (const name of names(all)) if (name !== keyName) sessionStorage.removeItem(name);
}

/** Keeps a value under a name: 'draft.agt_…'. */
export function keep(name: string, value: unknown): void {
  if (who !== '') sessionStorage.setItem(prefix + name, JSON.stringify(value));
}

/** What is kept under a name. */
export function kept<T>(name: string): T | undefined {
  try {
    return (JSON.parse(sessionStorage.getItem(prefix + name) ?? 'null') as T | undefined) ?? undefined;
  } catch {
    return undefined;
  }
}

export const forget = (name: string) => sessionStorage.removeItem(prefix + name);

/** Whether anything is kept. */
export const isAnythingKept = () => names(prefix).length > 0;

const saves = new Set<() => Promise<unknown>>();

/** Registers what saves something that is kept; it is called before the caller signs out. */
export function onSignOut(save: () => Promise<unknown>): () => void {
  saves.add(save);
  return () => void saves.delete(save);
}

/** Saves what can be saved. */
export const saveAll = () => Promise.allSettled([...saves].map((save) => save()));
