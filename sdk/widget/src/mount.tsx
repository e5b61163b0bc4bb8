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

/** What brings the chat into the page again. */
export const howToReturn = 'Insert the script again, or use Parlance.mount(element).';

/** The element that holds the widget. A page can remove it without saying so. */
class Host extends HTMLElement {
  removed: () => void = () => undefined;
  /** Its conversation was ended; nothing is shown in it any more. */
  isOver = false;

  connectedCallback(): void {
    if (this.isOver) complain(`An element that was removed from the page stays empty. ${howToReturn}`);
  }

  disconnectedCallback(): void {
    // An element that is only moved is in the page again at once.
    queueMicrotask(() => {
      if (!this.isConnected) this.removed();
    });
  }
}

/**
 * Puts the widget into an element, or, without one, at the end of the page with its button. `gone`
 * is called when it was destroyed, or removed by the page.
 */
export function mount(
  config: Config,
  files: Files,
  emit: (type: string, detail: object) => void,
  gone: () => void,
  element?: HTMLElement,
): Mounted {
  if (!customElements.get('parlance-widget')) customElements.define('parlance-widget', Host);
  const host = document.createElement('parlance-widget') as Host;
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
  setColor(host, config.color);
  const store = makeStore(config, files, emit);
  render(<App store={store} isInline={Boolean(element)} />, root);
  function destroy(): void {
    host.removed = () => undefined;
    host.isOver = true;
    render(null, root);
    store.destroy();
    host.remove();
    gone();
  }
  host.removed = destroy;
  return { store, destroy };
}

/** Sets the colour, or the widget's own where the words on it could not be read, and theirs. */
function setColor(host: HTMLElement, color: string): void {
  if (color) host.style.setProperty('--parlance-color', color);
  // A browser refuses some texts as the value of a property, and says nothing.
  const isTaken = !color || host.style.getPropertyValue('--parlance-color') !== '';
  const shown = isTaken ? getComputedStyle(host).getPropertyValue('--parlance-color').trim() : '';
  const chosen = shown || color || ownColor;
  let words = textOn(chosen);
  if (!words) {
    complain(`“${chosen}” cannot be the colour of the chat: it must be a CSS colour without transparency.`);
    host.style.setProperty('--parlance-color', ownColor);
    words = textOn(ownColor);
  }
  host.style.setProperty('--on-color', words ?? '#fff');
}
