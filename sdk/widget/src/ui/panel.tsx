// The panel: heading, messages, what needs the user, and where they write.
import type * as preact from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { Store } from '../store.js';
import { languageOf } from '../strings.js';
import { Approvals } from './approvals.js';
import { Composer, IconButton } from './composer.js';
import { CloseIcon, NewIcon } from './icons.js';
import { Message, Typing } from './messages.js';
import { VoiceBar, voiceTrouble } from './voicebar.js';

/** How far from the end of the messages still counts as their end. */
const nearPx = 40;

interface Props {
  readonly store: Store;
  /** Whether it is part of the page, and not a dialog. */
  readonly isInline: boolean;
  readonly isFullScreen: boolean;
}

export function Panel({ store, isInline, isFullScreen }: Props) {
  const { strings, state, session, config } = store;
  const field = useRef<HTMLTextAreaElement | null>(null);
  const panel = useRef<HTMLElement>(null);
  useLayoutEffect(() => { // before the next key is pressed
    if (isInline) return;
    // A touch screen's keyboard would hide half of the panel.
    const target = matchMedia('(pointer: coarse)').matches ? panel.current : field.current;
    target?.focus();
  }, []);
  const keyDown = (event: KeyboardEvent): void => {
    if (isInline) return;
    if (event.key === 'Escape') {
      event.stopPropagation();
      store.setOpen(false);
    }
    if (event.key === 'Tab' && isFullScreen && panel.current) keepFocus(event, panel.current);
  };
  const title = config.title || strings.title;
  // Read once for both that show it: the composer also draws itself between the panel's frames.
  const voiceState = session?.voice.state;
  return (
    <section
      ref={panel}
      class="panel"
      id="panel"
      lang={languageOf(config.lang)}
      tabIndex={-1}
      role={isInline ? 'region' : 'dialog'}
      aria-modal={!isInline && isFullScreen ? 'true' : undefined}
      aria-label={title}
      onKeyDown={keyDown}
      onFocusIn={() => isInline && store.setOpen(true)}
    >
      <header>
        <h2 dir="auto">{title}</h2>
        {session && (
          <IconButton name={strings.restart} press={() => {
            store.restart();
            field.current?.focus();
          }}>
            <NewIcon />
          </IconButton>
        )}
        {!isInline && (
          <IconButton name={strings.close} press={() => store.setOpen(false)}>
            <CloseIcon />
          </IconButton>
        )}
      </header>
      <Messages store={store} />
      <div class="below">
        <Troubles store={store} />
        <Approvals
          approvals={state.view.approvals}
          strings={strings}
          decide={(id, isAllowed) => {
            session?.approve(id, isAllowed);
            field.current?.focus();
          }}
        />
        {session && voiceState && (
          <VoiceBar voice={session.voice} state={voiceState} inputDb={state.inputDb} strings={strings} />
        )}
        <Composer store={store} voiceState={voiceState} fieldRef={(found) => (field.current = found)} />
      </div>
      <div class="hidden" aria-live="polite">
        {state.announcements.map(({ id, text }) => (
          <p key={id}>{text}</p>
        ))}
      </div>
    </section>
  );
}

function Messages({ store: { strings, state, session, config } }: { readonly store: Store }) {
  const list = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const { entries } = state.view;
  useEffect(() => {
    if (entries.at(-1)?.kind === 'user') follows.current = true;
    if (follows.current && list.current) list.current.scrollTop = list.current.scrollHeight;
  }, [entries]);
  const scrolled = (event: preact.TargetedEvent<HTMLDivElement>): void => {
    const { scrollTop, scrollHeight, clientHeight } = event.currentTarget;
    follows.current = scrollHeight - scrollTop - clientHeight < nearPx;
  };
  const last = entries.at(-1);
  const isWaiting = last?.kind === 'user' && last.status === 'sent' && session?.handover.status !== 'operator' && !session?.hasEnded;
  const connection = session?.state.name;
  const isConnecting = !state.problem && !session?.hasEnded && (connection === 'idle' || connection === 'connecting');
  return (
    <div class="messages" ref={list} onScroll={scrolled} tabIndex={0} role="region" aria-label={strings.messages}>
      {config.greeting && (
        <div class="message agent">
          <div class="bubble" dir="auto">
            {config.greeting}
          </div>
        </div>
      )}
      {entries.length === 0 && !config.greeting && <p class="notice">{strings.welcome}</p>}
      {entries.map((entry) => (
        <Message key={`${entry.kind} ${entry.id}`} entry={entry} strings={strings} />
      ))}
      {isWaiting && (
        <div class="message agent">
          <Typing strings={strings} />
        </div>
      )}
      {isConnecting && (
        <p class="notice late" role="status">
          {strings.connecting}
        </p>
      )}
    </div>
  );
}

/** What keeps the conversation from going on, and what to do. */
function Troubles({ store }: { readonly store: Store }) {
  const { strings, state, session } = store;
  const connection = session?.state;
  const voice = session ? voiceTrouble(session.voice.state, strings) : '';
  return (
    <>
      {state.problem && (
        <Trouble text={strings[state.problem]} action={strings.again} press={() => store.dismissProblem()} />
      )}
      {!state.problem && connection?.name === 'reconnecting' && (
        <p class="notice" role="status">
          {strings.reconnecting}
        </p>
      )}
      {connection?.reason === 'replaced' && (
        <Trouble text={strings.replaced} action={strings.takeOver} press={() => session?.reconnect()} />
      )}
      {session?.hasEnded && !state.problem && (
        <div class="row">
          <button type="button" onClick={() => store.restart()}>
            {strings.restart}
          </button>
        </div>
      )}
      {voice && (
        <p class="trouble" role="status">
          {voice}
        </p>
      )}
    </>
  );
}

function Trouble({ text, action, press }: { readonly text: string; readonly action: string; readonly press: () => void }) {
  return (
    <div class="trouble row" role="alert">
      <span>{text}</span>
      <button type="button" onClick={press}>
        {action}
      </button>
    </div>
  );
}

/** Keeps the focus within an element that covers the page. */
function keepFocus(event: KeyboardEvent, element: HTMLElement): void {
  const stops = [...element.querySelectorAll<HTMLElement>('button, textarea, a[href], summary, [tabindex="0"]')];
  const active = (element.getRootNode() as ShadowRoot).activeElement;
  const last = stops.at(-1);
  if (event.shiftKey && (active === stops[0] || active === element)) {
    event.preventDefault();
    last?.focus();
  } else if (!event.shiftKey && active === last) {
    event.preventDefault();
    stops[0]?.focus();
  }
}
