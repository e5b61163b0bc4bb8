import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useReducer, useState } from 'react';

import {
  connect,
  emptyView,
  reduceView,
  type ConnectionState,
  type SessionEvent,
  type View,
  type VoiceState,
} from '#sdk/session/index';
import microphone from '#sdk/worklets/microphone.ts?worker&url';
import player from '#sdk/worklets/player.ts?worker&url';

import type { Begun } from './begin';
import { noLatency, reduceLatency, type Latency } from './latency';
import { EventLog } from './log';

/** What is shown of a conversation that goes on. */
export interface State {
  view: View;
  connection: ConnectionState;
  voice: VoiceState;
  latency: Latency;
  isAnswering: boolean;
  /** What was refused last, in words. */
  trouble: string;
  /** What was said last, for screen readers. */
  announcement: string;
  isOver: boolean;
}

const off: VoiceState = {
  phase: 'off',
  muted: false,
  hears: true,
  userSpeaks: false,
  agentSpeaks: false,
  trouble: '',
  troubleCode: '',
};

const first: State = {
  view: emptyView,
  connection: { name: 'connecting', text: 'Connecting …' },
  voice: off,
  latency: noLatency,
  isAnswering: false,
  trouble: '',
  announcement: '',
  isOver: false,
};

function announce(event: SessionEvent): string | undefined {
  switch (event.type) {
    case 'answer.done':
      return event.answer.text || (event.answer.error?.message ?? `The answer is ${event.answer.status}.`);
    case 'operator.message':
      return `${event.operator}: ${event.text}`;
    case 'approval.requested':
      return `The agent asks whether it may call ${event.approval.name}.`;
    case 'client-tool.called':
      return event.handled ? undefined : `The agent calls your tool ${event.call.name}.`;
    case 'ended':
      return event.text;
    default:
      return undefined;
  }
}

/** An event, and what the session was in then. */
interface Change extends Pick<State, 'isAnswering' | 'connection'> {
  event: SessionEvent;
}

function reduce(state: State, { event, isAnswering, connection }: Change): State {
  if (event.type === 'sound') {
    const latency = reduceLatency(state.latency, event);
    return latency === state.latency ? state : { ...state, latency };
  }
  const next: State = {
    ...state,
    view: reduceView(state.view, event),
    latency: reduceLatency(state.latency, event),
    isAnswering,
    connection,
    announcement: announce(event) ?? state.announcement,
  };
  if (event.type === 'voice') return { ...next, voice: event.voice };
  if (event.type === 'error') return { ...next, trouble: `${event.message} (${event.code})` };
  if (event.type === 'answer.started') return { ...next, trouble: '' };
  if (event.type === 'ended') return { ...next, isOver: true, isAnswering: false };
  return next;
}

/** Events that a transcript has something new after. */
const changing = new Set<SessionEvent['type']>([
  'answer.done',
  'answer.heard',
  'operator.message',
  'agent.message',
  'ended',
]);

/** Connects to a conversation while the component is shown. */
export function useSession(begun: Begun) {
  const client = useQueryClient();
  const [session] = useState(() =>
    connect({
      chatUrl: begun.chatUrl,
      wsUrl: begun.canTalk ? begun.wsUrl : undefined,
      tools: begun.clientTools,
      autoConnect: false,
      worklets: { microphone, player },
    }),
  );
  const [log] = useState(() => new EventLog());
  const [state, dispatch] = useReducer(reduce, first);
  useEffect(() => {
    const stop = session.onAny((event) => {
      log.take(event);
      const isShown =
        event.type !== 'levels' && event.type !== 'raw' && !(event.type === 'sound' && event.direction === 'out');
      if (isShown) dispatch({ event, isAnswering: session.isAnswering, connection: session.state });
      if (changing.has(event.type)) void client.invalidateQueries({ queryKey: ['session', begun.sessionId] });
    });
    let isLeft = false;
    void (async () => {
      if (begun.talks) await session.voice.start(); // first, so that a greeting is spoken
      if (!isLeft) session.open();
    })();
    // A browser that leaves a page closes its sockets as a hang-up, which would end the session.
    const hide = () => session.close();
    const show = ({ persisted }: PageTransitionEvent) => persisted && session.open();
    addEventListener('pagehide', hide);
    addEventListener('pageshow', show);
    return () => {
      isLeft = true;
      removeEventListener('pagehide', hide);
      removeEventListener('pageshow', show);
      session.close();
      stop();
    };
  }, [session, log, client, begun]);
  return { session, log, state };
}
