// The script of a page: reads its attributes, shows the widget, and makes window.Parlance.
import { complain, type Files, readConfig, type Settings } from './config.js';
import { mount, type Mounted } from './mount.js';

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
  let context: object = {};

  /** Shows a widget, unless its settings are refused. */
  function show(settings: Settings, element?: HTMLElement): Mounted | undefined {
    const config = readConfig(settings);
    if (!config) return undefined;
    const mounted = mount(config, files, emit, () => gone(mounted), element);
    shown.add(mounted);
    mounted.store.setContext(context);
    return mounted;
  }

  function gone(mounted: Mounted): void {
    shown.delete(mounted);
    if (floating === mounted) floating = undefined;
  }

  // Without data-session the page uses mount() alone.
  if (settings.session !== undefined) whenReady(() => (floating = show(settings)));

  return {
    open: () => whenReady(() => floating?.store.setOpen(true)),
    close: () => floating?.store.setOpen(false),
    toggle: () => whenReady(() => floating?.store.setOpen(!floating.store.state.isOpen)),
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
      const mounted = show({ ...settings, ...more }, element);
      return { destroy: () => mounted?.destroy() };
    },
    destroy() {
      for (const mounted of shown) mounted.destroy();
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

if (window.Parlance) complain('The script is in this page twice.');
else window.Parlance = start(document.currentScript as HTMLScriptElement | null);
