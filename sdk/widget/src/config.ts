// The settings of the widget: attributes of its script, or members of an object.
import { containsKey } from './keys.js';

/** The settings. */
export interface Config {
  /** The path of the page's own back end that answers { chat_url, ws_url }. */
  readonly session: string;
  readonly title: string;
  readonly greeting: string;
  /** A colour of the page's; empty: that of --parlance-color, or the widget's own. */
  readonly color: string;
  readonly position: 'left' | 'right';
  /** A BCP 47 tag. */
  readonly lang: string;
  readonly theme: 'auto' | 'light' | 'dark';
  readonly dir: 'ltr' | 'rtl';
}

/** The settings as a page gives them: each may be missing. */
export type Settings = { readonly [name in keyof Config]?: string };

/** Where the worklets are: beside the script. */
export interface Files {
  readonly microphone: string;
  readonly player: string;
}

/**
 * Reads settings. What is not valid is reported in the browser's console. Undefined when there can
 * be no conversations with them.
 */
export function readConfig(settings: Settings): Config | undefined {
  const page = document.documentElement;
  const keyed = Object.entries(settings).find(([, value]) => containsKey(String(value)));
  if (keyed) {
    complain(`The setting “${keyed[0]}” contains an API key. Remove it, revoke the key, and create sessions on your server.`);
    return undefined;
  }
  const session = sameOrigin(settings.session ?? '');
  if (!session) return undefined;
  const { position, theme, dir } = settings;
  return {
    session,
    title: settings.title ?? '',
    greeting: settings.greeting ?? '',
    color: settings.color ?? '',
    position: position === 'left' ? 'left' : 'right',
    lang: settings.lang || page.lang || navigator.language || 'en',
    theme: theme === 'light' || theme === 'dark' ? theme : 'auto',
    dir: (dir || getComputedStyle(page).direction) === 'rtl' ? 'rtl' : 'ltr',
  };
}

/** The URL of the page's back end; empty if it is none of the page's own origin. */
function sameOrigin(path: string): string {
  const url = path && URL.canParse(path, document.baseURI) ? new URL(path, document.baseURI) : undefined;
  if (url?.origin === location.origin && /^https?:$/.test(url.protocol)) return url.href;
  complain(
    `data-session is “${path}”. It must be the path of your back end that creates sessions, on this page’s own origin` +
      ` (${location.origin}). There is no chat without it.`,
  );
  return '';
}

/** Tells the developer of the page what is wrong. */
export function complain(message: string): void {
  console.error(`Parlance widget: ${message}`);
}
