// The state of the widget: the conversation, and what the panel shows of it.
import {
  connect, emptyView, type Entry, reduceView, type Session, SessionError, type SessionEvent, type UserEntry, type View,
} from '../../typescript/src/session/index.js';
import { complain, type Config, type Files } from './config.js';
import { plainText } from './markdown.js';
import { fetchSession } from './source.js';
import { fill, type Strings, stringsOf } from './strings.js';

/** What the panel shows besides the view of the conversation. */
export interface State {
  readonly isOpen: boolean;
  readonly view: View;
  /** Loudness of the microphone in decibels below full scale. */
  readonly inputDb: number;
  /** Why there is no session, as a key of the strings. */
  readonly problem: keyof Strings | '';
  /** What screen readers are told, oldest first. */
  readonly announcements: readonly { readonly id: number; readonly text: string }[];
}

export interface Store {
  readonly config: Config;
  readonly strings: Strings;
  readonly state: State;
  /** The conversation, once the panel was opened. */
  readonly session: Session | undefined;
  /** Calls a function when the state has changed. Returns what ends that. */
  subscribe(listener: () => void): () => void;
  setOpen(isOpen: boolean): void;
  /** Begins the conversation, if there is none. */
  begin(): void;
  say(text: string): void;
  restart(): void;
  dismissProblem(): void;
  setContext(context: object): void;
  destroy(): void;
}

const silentDb = -100;

/** How long an announcement stays, so that screen readers notice it, in milliseconds. */
const announcedMs = 5_000;

/** What a developer checks when the connection fails: the browser does not tell the page why. */
const checks =
  'The connection to Parlance failed. Check that the agent’s allowed_origins has this page’s origin,' +
  ` that this page’s Content-Security-Policy has the server in connect-src (wss:), and that chat_url is reachable.`;

/** emit passes on what a page may listen to. */
export function makeStore(config: Config, files: Files, emit: (type: string, detail: object) => void): Store {
  const strings = stringsOf(config.lang);
  const listeners = new Set<() => void>();
  let state: State = { isOpen: false, view: emptyView, inputDb: silentDb, problem: '', announcements: [] };
  let session: Session | undefined;
  let context: object = {};
  /** The next conversation is being begun. */
  let isRestarting = false;
  let announced = 0;

  function change(members: Partial<State>): void {
    state = { ...state, ...members };
    for (const listener of listeners) listener();
  }

  /**
   * Tells screen readers something. It is taken away again, because those who read the panel piece
   * by piece would find it there a second time.
   */
  function announce(text: string): void {
    const id = ++announced;
    change({ announcements: [...state.announcements, { id, text }] });
    setTimeout(() => change({ announcements: state.announcements.filter((a) => a.id !== id) }), announcedMs);
  }

  function begin(): void {
    if (session) return;
    session = connect({ fetchSession: () => fetchSession(config.session, context).catch(noSession), worklets: files });
    session.onAny(take);
  }

  /** Shows why there is no session. */
  function noSession(error: unknown): never {
    const code = error instanceof SessionError ? error.code : 'unavailable';
    change({ problem: code as keyof Strings });
    announce(strings[code as keyof Strings]);
    throw error;
  }

  function take(event: SessionEvent): void {
    if (event.type === 'raw' || event.type === 'sound') return;
    if (event.type === 'levels') return change({ inputDb: event.inputDb });
    change({ view: reduceView(state.view, event) });
    const announcement = announcementOf(event);
    if (announcement) announce(announcement);
    if (event.type === 'session') change({ problem: '' });
    if (event.type === 'state' && event.state.reason === 'unreachable') unreachable(event.state.text);
    if (event.type === 'error') complain(`${event.message} (${event.code})`);
    pass(event);
  }

  function unreachable(why: string): void {
    complain(`${checks} (${why})`);
    change({ problem: 'unreachable' });
    announce(strings.unreachable);
  }

  /** The events that a page may listen to, without what only this widget needs. */
  function pass(event: SessionEvent): void {
    if (event.type === 'session') emit('session', { id: event.id });
    if (event.type === 'user.message' && event.status === 'sent') emit('message', { id: event.id, text: event.text });
    if (event.type === 'answer.done') {
      const { id, text, status } = event.answer;
      emit('answer', { id, text, status });
    }
    if (event.type === 'handover') emit('handover', event.handover);
    if (event.type === 'ended') emit('ended', { reason: event.reason });
  }

  /** What screen readers are told of an event: whole answers, not their pieces. */
  function announcementOf(event: SessionEvent): string | undefined {
    switch (event.type) {
      case 'answer.done':
        return event.answer.status === 'failed' ? strings.failedAnswer : plainText(event.answer.text);
      case 'agent.message':
        return plainText(event.text);
      case 'operator.message':
        return `${event.operator}: ${plainText(event.text)}`;
      case 'approval.requested':
        return fill(strings.approval, event.approval.name);
      case 'handover':
        if (event.handover.status === 'operator') return fill(strings.operator, event.handover.operator || strings.person);
        return event.handover.status === 'none' ? undefined : strings[event.handover.status];
      case 'ended':
        return strings.ended;
      default:
        return undefined;
    }
  }

  function restart(): void {
    if (!session) return begin();
    if (isRestarting) return; // its button was pressed twice
    if (!session.hasEnded) session.hangUp();
    change({ view: emptyView, problem: '' });
    isRestarting = true;
    session
      .restart()
      .catch(() => undefined) // noSession has shown it
      .finally(() => (isRestarting = false));
  }

  /** Begins another conversation, in which what did not arrive is said again. */
  function tryAgain(): void {
    const unsent = state.view.entries.filter((e) => e.kind === 'user').filter((e) => e.status === 'sending' || e.status === 'failed');
    restart();
    for (const { text } of unsent) session?.send(text);
  }

  /** Connects again, and says again what did not arrive because there was no connection. */
  function reconnect(): void {
    const isUnsent = (e: Entry): e is UserEntry => e.kind === 'user' && e.status === 'failed' && e.error?.code === 'unreachable';
    const { view } = state;
    const unsent = view.entries.filter(isUnsent);
    change({ view: { ...view, entries: view.entries.filter((e) => !isUnsent(e)) } });
    session?.reconnect();
    for (const { text } of unsent) session?.send(text);
  }

  return {
    config,
    strings,
    get state() {
      return state;
    },
    get session() {
      return session;
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    setOpen(isOpen) {
      if (isOpen === state.isOpen) return;
      if (isOpen) begin();
      else void session?.voice.stop(); // nobody is heard behind a closed panel
      change({ isOpen });
      emit(isOpen ? 'open' : 'close', {});
    },
    begin,
    say(text) {
      begin();
      change({ problem: '' });
      if (session?.hasEnded) restart();
      session?.send(text);
    },
    restart,
    dismissProblem() {
      if (!state.problem) return; // its button was pressed twice
      change({ problem: '' });
      if (state.view.sessionId) reconnect();
      else tryAgain();
    },
    setContext(next) {
      context = next;
    },
    destroy() {
      listeners.clear();
      session?.hangUp();
      session?.close();
    },
  };
}
