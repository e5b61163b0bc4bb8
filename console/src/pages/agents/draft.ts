// The draft of an agent while it is edited. Edits are saved by themselves. Until the service has
// them they are also in the storage of the tab, so that a reload or a lost connection does not lose
// them.

import { Code } from '@connectrpc/connect';

import type { Agent, AgentDraft } from '#gen/agents_pb';

import * as api from '../../api/clients';
import { failureOf } from '../../api/failure';
import { forget, keep, kept } from '../../api/kept';
import { fromText, settingsOf, toText, type Settings } from './settings';

/** clean: the service has it all; conflict: somebody else saved the draft meanwhile. */
export type Status = 'clean' | 'unsaved' | 'saving' | 'failed' | 'conflict';

export interface DraftState {
  /** The agent as conversations use it. */
  published: Agent;
  /** What the service has; undefined when nothing differs from what is published. */
  draft: AgentDraft | undefined;
  settings: Settings;
  status: Status;
  /** Why the last save failed. */
  error: unknown;
  /** Whether edits of an earlier visit were brought back. */
  isRestored: boolean;
}

/** What was read of the service. */
export interface Loaded {
  published: Agent;
  draft: AgentDraft | undefined;
}

const delay = 700; // ms from the last edit until it is saved
const leaving = new Map<string, Promise<unknown>>();
const keptName = (agentId: string) => `draft.${agentId}`;

/** Pauses between attempts to save while the service does not answer: the last one again and again. */
const retryMs = [1000, 2000, 4000, 8000];

interface Kept {
  revision: number;
  text: string;
}

/** Reads an agent and its draft. */
export async function loadDraft(workspaceId: string, agentId: string, signal?: AbortSignal): Promise<Loaded> {
  await leaving.get(agentId); // edits of a visit before that are being saved
  const [published, draft] = await Promise.all([
    api.agents.getAgent({ workspaceId, agentId }, { signal }),
    api.agents.getAgentDraft({ workspaceId, agentId }, { signal }),
  ]);
  return { published, draft: draft.revision > 0 ? draft : undefined };
}

/** Whether the same call may succeed in a moment: the service was not reached, or is restarting. */
function isPassing(error: unknown): boolean {
  const { reason, code } = failureOf(error);
  return reason === '' || [Code.Unavailable, Code.DeadlineExceeded].includes(code);
}

/** Edits of one agent, for as long as its page is open. */
export class Draft {
  #state: DraftState;
  #listeners = new Set<() => void>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #saving: Promise<void> | undefined;
  #retries = 0;
  #isOver = false;
  #isDiscarding = false;

  constructor(
    readonly workspaceId: string,
    readonly agentId: string,
    { published, draft }: Loaded,
  ) {
    this.#state = {
      published,
      draft,
      settings: settingsOf(draft?.agent ?? published),
      status: 'clean',
      error: undefined,
      isRestored: false,
    };
    this.#restore();
  }

  get state(): DraftState {
    return this.#state;
  }

  subscribe = (listener: () => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Changes settings; they are saved a moment later. While the draft is thrown away nothing changes. */
  edit(patch: Partial<Settings>): void {
    if (this.#isDiscarding) return;
    const { status } = this.#state;
    const settings = { ...this.#state.settings, ...patch };
    this.#set({ settings, status: status === 'conflict' || status === 'saving' ? status : 'unsaved' });
    this.#keep();
    clearTimeout(this.#timer);
    if (status !== 'conflict') this.#timer = setTimeout(() => void this.flush(), delay);
  }

  /** Saves at once what is not saved. It never throws: see status. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    if (this.#state.status === 'failed') this.#set({ status: 'unsaved' });
    this.#saving ??= this.#save().finally(() => (this.#saving = undefined));
    return this.#saving;
  }

  /** Saves what is not saved while nobody looks any more. Returns whether all is saved. */
  async leave(): Promise<boolean> {
    this.#isOver = true; // it is not tried again and again
    if (this.#state.status === 'clean') return true;
    const ended = this.flush();
    leaving.set(this.agentId, ended);
    await ended;
    leaving.delete(this.agentId);
    return this.state.status === 'clean';
  }

  /** After a conflict: goes on with what the other saved. */
  async takeTheirs(): Promise<void> {
    const { published, draft } = await loadDraft(this.workspaceId, this.agentId);
    this.#set({
      published,
      draft,
      settings: settingsOf(draft?.agent ?? published),
      status: 'clean',
      error: undefined,
      isRestored: false,
    });
    this.#forget();
  }

  /** After a conflict: saves this one's edits in place of what the other saved. */
  async keepMine(): Promise<void> {
    const { published, draft } = await loadDraft(this.workspaceId, this.agentId);
    this.#set({ published, draft, status: 'unsaved', error: undefined });
    await this.flush();
  }

  /** Begins to try again what could not be saved. */
  start(): void {
    this.#isOver = false;
  }

  /** Saves nothing from now on: the caller has signed out. */
  stop(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  /** Throws the draft away. */
  async discard(): Promise<void> {
    this.#isDiscarding = true;
    await this.#discard().finally(() => (this.#isDiscarding = false));
  }

  async #discard(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#saving;
    if (this.#state.draft) {
      await api.agents
        .deleteAgentDraft({ workspaceId: this.workspaceId, agentId: this.agentId })
        .catch((error: unknown) => {
          if (failureOf(error).reason !== 'agent-draft-not-found') throw error; // somebody else was faster
        });
    }
    this.#published(await api.agents.getAgent({ workspaceId: this.workspaceId, agentId: this.agentId }));
  }

  /** Makes the draft the agent's next version. */
  async publish(overwrite: boolean): Promise<Agent> {
    const { workspaceId, agentId } = this;
    const agent = await api.agents.publishAgentDraft({
      workspaceId,
      agentId,
      revision: this.#state.draft?.revision ?? 0,
      overwrite,
    });
    this.#published(agent);
    return agent;
  }

  /** Takes an agent that was changed otherwise, by a roll-back; a draft that there is stays. */
  rebase(published: Agent): void {
    if (!this.#state.draft) this.#published(published);
    else this.#set({ published, draft: { ...this.#state.draft, stale: true } });
  }

  #published(published: Agent): void {
    this.#set({
      published,
      draft: undefined,
      settings: settingsOf(published),
      status: 'clean',
      error: undefined,
      isRestored: false,
    });
    this.#forget();
  }

  async #save(): Promise<void> {
    const { workspaceId, agentId } = this;
    while (this.#state.status === 'unsaved') {
      const { settings, draft: before, published } = this.#state;
      this.#set({ status: 'saving' });
      try {
        const draft = await api.agents.saveAgentDraft({
          workspaceId,
          agentId,
          agent: settings,
          revision: before?.revision ?? 0,
          baseVersion: published.version,
        });
        this.#retries = 0;
        const isAll = this.#state.settings === settings;
        this.#set({ draft, error: undefined, status: isAll ? 'clean' : 'unsaved', isRestored: false });
        if (isAll) this.#forget();
        else this.#keep();
      } catch (error) {
        const isConflict = failureOf(error).reason === 'agent-draft-changed';
        const isOutdated = this.#state.settings !== settings && !isPassing(error); // the refused text was edited since
        this.#set({ error, status: isConflict ? 'conflict' : isOutdated ? 'unsaved' : 'failed' });
        if (isPassing(error)) this.#retryLater();
      }
    }
  }

  #retryLater(): void {
    const pause = retryMs[Math.min(this.#retries++, retryMs.length - 1)];
    clearTimeout(this.#timer);
    if (!this.#isOver) this.#timer = setTimeout(() => void this.flush(), pause);
  }

  #set(change: Partial<DraftState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }

  #keep(): void {
    const { settings, draft } = this.#state;
    keep(keptName(this.agentId), { revision: draft?.revision ?? 0, text: toText(settings) } satisfies Kept);
  }

  #forget(): void {
    forget(keptName(this.agentId));
  }

  #restore(): void {
    const stored = kept<Kept>(keptName(this.agentId));
    if (!stored) return;
    try {
      const { revision, text } = stored;
      const isSame = revision === (this.#state.draft?.revision ?? 0);
      this.#state = {
        ...this.#state,
        settings: fromText(text),
        status: isSame ? 'unsaved' : 'conflict',
        isRestored: true,
      };
    } catch {
      this.#forget(); // of another version of the console
    }
  }
}
