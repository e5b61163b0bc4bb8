// Beginning a test conversation, and coming back to it after the page was loaded again.

import * as api from '../api/clients';
import { base } from '../api/base';
import type { Tool } from '#sdk/session/index';
import type { Parsed, Settings } from './settings';

/** A conversation that has begun. Its URLs hold its token; they stay in the tab. */
export interface Begun {
  sessionId: string;
  chatUrl: string;
  wsUrl: string;
  /** Whether it can be talked with aloud. */
  canTalk: boolean;
  clientTools: Tool[];
  /** Whether the microphone is opened at once. */
  talks: boolean;
  /** Whether it was begun before this page was loaded. */
  isResumed: boolean;
}

const keyOf = (agentId: string, isDraft: boolean) => `parlance.talk.${agentId}${isDraft ? '.draft' : ''}`;

/** The URL of a socket at the host and path of this page, whatever host the service has in its own. */
function ownSocketURL(socketURL: string): string {
  const given = new URL(socketURL);
  const url = new URL(`v1/realtime/${given.pathname.split('/v1/realtime/')[1] ?? ''}`, base);
  url.protocol = base.protocol === 'https:' ? 'wss:' : 'ws:';
  url.search = given.search;
  return url.href;
}

export interface BeginParams {
  agentId: string;
  isDraft: boolean;
  talks: boolean;
  modality: Settings['modality'];
  settings: Parsed;
}

/** Creates the session of a conversation. */
export async function begin({ agentId, isDraft, talks, modality, settings }: BeginParams): Promise<Begun> {
  const { userId, variables, overrides, clientTools } = settings;
  const kind = talks ? 'voice+text' : modality || 'text';
  const session = await api.sessions.createSession({
    agentId,
    userId,
    modality: kind,
    dynamicVariables: variables,
    overrides,
    draft: isDraft,
  });
  const begun: Begun = {
    sessionId: session.id,
    chatUrl: ownSocketURL(session.chatUrl),
    wsUrl: ownSocketURL(session.wsUrl),
    canTalk: kind !== 'text',
    clientTools,
    talks,
    isResumed: false,
  };
  sessionStorage.setItem(
    keyOf(agentId, isDraft),
    JSON.stringify({ ...begun, talks: false, isResumed: true } satisfies Begun),
  );
  return begun;
}

/** The conversation with an agent that this tab has begun and not ended. */
export function begunBefore(agentId: string, isDraft: boolean): Begun | undefined {
  try {
    return (JSON.parse(sessionStorage.getItem(keyOf(agentId, isDraft)) ?? 'null') as Begun | undefined) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Forgets the conversation: the next one is another. */
export const forgetBegun = (agentId: string, isDraft: boolean) => sessionStorage.removeItem(keyOf(agentId, isDraft));
