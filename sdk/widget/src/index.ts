// The script of a page: reads its attributes, shows the widget, and makes window.Parlance.
import { complain, type Files, readConfig, type Settings } from './config.js';
import { howToReturn, mount, type Mounted } from './mount.js';

/** What a page may listen to. */
const eventTypes = ['open', 'close', 'session', 'message', 'answer', 'handover', 'ended'];

type Listener = (detail: object) => void;

/** The object window.Parlance. */
export interface ParlanceApi {
  open(): void;
  close(): void;
  toggle(): void;
  /** Listens to open, close, session, message, answer, handover or ended. Returns what ends that. */
  on(type: string, listener: Listener): () => void;
  /** What the page's back end is sent when it creates the next session; anything that becomes JSON. */
  setContext(context: object): void;
  /**
   * Puts the panel into an element of the page. Settings are those of the script, unless given. The
   * conversation begins when the visitor goes into the panel, and ends when the panel is removed.
   */
  mount(element: HTMLElement, settings?: Settings): { destroy(): void };
  /** Ends the conversation and removes the widget. */
  destroy(): void;
  /** Whether all that was shown was destroyed, or removed by the page. The script may run again. */
  readonly isGone: boolean;
}

const names = ['session', 'title', 'greeting', 'color', 'position', 'lang', 'theme', 'dir'];

function start(script: HTMLScriptElement | null): ParlanceApi {
  const settings: Settings = Object.fromEntries(
    names.flatMap((name) => (script?.dataset[name] === undefined ? [] : [[name, script.dataset[name]]])),
  );
  const base = script?.src || document.baseURI;
  const files: Files = {
    microphone: new URL('microphone-worklet.js', base).href,
    player: new URL('player-worklet.js', base).href,
  };
  const listeners = new Map<string, Set<Listener>>();
  const emit = (type: string, detail: object): void => {
    for (const listener of listeners.get(type) ?? []) queueMicrotask(() => listener(detail));
  };
  let floating: Mounted | undefined;
  const shown = new Set<Mounted>();
  let isGone = false;
  let context: object = {};

  /** Shows a widget, unless its settings are refused. */
  function show(settings: Settings, element?: HTMLElement): Mounted | undefined {
    const config = readConfig(settings);
    if (!config) return undefined;
    const mounted = mount(config, files, emit, () => gone(mounted), element);
    shown.add(mounted);
    isGone = false;
    mounted.store.setContext(context);
    return mounted;
  }

  function gone(mounted: Mounted): void {
    shown.delete(mounted);
    isGone = shown.size === 0;
    if (floating === mounted) floating = undefined;
  }

  /** Opens, or also closes, the panel behind the button. */
  const open = (name: string, isOpen: (before: boolean) => boolean): void =>
    whenReady(() => {
      if (floating) floating.store.setOpen(isOpen(floating.store.state.isOpen));
      else complain(`Parlance.${name}() has nothing to open: data-session is missing or refused, or the chat was removed. ${howToReturn}`);
    });

  // Without data-session the page uses mount() alone.
  if (settings.session !== undefined) whenReady(() => (floating = show(settings)));

  return {
    open: () => open('open', () => true),
    close: () => floating?.store.setOpen(false),
    toggle: () => open('toggle', (before) => !before),
    on(type, listener) {
      if (typeof listener !== 'function') throw new TypeError(`Parlance.on('${type}', listener) needs a function as its listener.`);
      if (!eventTypes.includes(type)) complain(`There is no event “${type}”. There are ${eventTypes.join(', ')}.`);
      const all = listeners.get(type) ?? new Set();
      listeners.set(type, all.add(listener));
      return () => all.delete(listener);
    },
    setContext(next) {
      context = next;
      for (const { store } of shown) store.setContext(context);
    },
    mount(element, more = {}) {
      // What a page passes may be nothing, in spite of its type.
      if ((element as Node | null | undefined)?.nodeType !== Node.ELEMENT_NODE)
        throw new TypeError('Parlance.mount(element, settings) needs an element of the page.');
      const mounted = show({ ...settings, ...more }, element);
      return { destroy: () => mounted?.destroy() };
    },
    destroy() {
      for (const mounted of shown) mounted.destroy();
    },
    get isGone() {
      return isGone;
    },
  };
}

/** Calls a function when the page has a body. */
function whenReady(call: () => void): void {
  if (document.body) call();
  else document.addEventListener('DOMContentLoaded', call, { once: true });
}

declare global {
  interface Window {
    Parlance?: ParlanceApi;
  }
}

if (window.Parlance && !window.Parlance.isGone) complain('The script is in this page twice.');
else window.Parlance = start(document.currentScript as HTMLScriptElement | null);
