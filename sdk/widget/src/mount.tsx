// Puts the widget into a page: a closed shadow root with its own styles.
import { render } from 'preact';
import { textOn } from './color.js';
import { complain, type Config, type Files } from './config.js';
import { makeStore, type Store } from './store.js';
import css from './widget.css';
import { App } from './ui/app.js';

/** A widget in a page. */
export interface Mounted {
  readonly store: Store;
  destroy(): void;
}

/** The widget's own colour. */
const ownColor = '#0a5f4f';

/** Puts the widget into an element, or, without one, at the end of the page with its button. */
export function mount(
  config: Config,
  files: Files,
  emit: (type: string, detail: object) => void,
  element?: HTMLElement,
): Mounted {
  const host = document.createElement('div');
  host.dataset['theme'] = config.theme;
  host.dataset['position'] = config.position;
  host.dataset['mode'] = element ? 'inline' : 'floating';
  host.dir = config.dir;
  const root = host.attachShadow({ mode: 'closed' });
  // A page's policy may forbid style elements; constructed sheets are always allowed.
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  root.adoptedStyleSheets = [sheet];
  (element ?? document.body).append(host);
  if (config.color) host.style.setProperty('--parlance-color', config.color);
  const color = getComputedStyle(host).getPropertyValue('--parlance-color').trim() || ownColor;
  host.style.setProperty('--on-color', textOn(color));
  const store = makeStore(config, files, emit);
  if (!config.session) complain('There is no data-session, so that there are no conversations.');
  if (element) store.setOpen(true);
  render(<App store={store} isInline={Boolean(element)} />, root);
  return {
    store,
    destroy() {
      render(null, root);
      store.destroy();
      host.remove();
    },
  };
}
