// The widget: a round button and the panel that it opens, or the panel alone.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Store } from '../store.js';
import { ChatIcon, CloseIcon } from './icons.js';
import { Panel } from './panel.js';

/** Below this width the panel covers the page. */
const narrow = '(max-width: 480px)';

export function App({ store, isInline }: { readonly store: Store; readonly isInline: boolean }) {
  const [, setCount] = useState(0);
  const launcher = useRef<HTMLButtonElement>(null);
  const isFullScreen = useMedia(narrow);
  const { isOpen } = store.state;
  const wasOpen = useRef(false);
  useLayoutEffect(() => { // before the page goes on: it may open the panel at once
    let frame = 0;
    const draw = (): void => setCount((count) => count + 1);
    const stop = store.subscribe(() => {
      if (store.state.isOpen !== wasOpen.current) return draw(); // moves the focus before the next key is pressed
      // Pieces of text come faster than a screen shows them.
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        draw();
      });
    });
    return () => {
      stop();
      cancelAnimationFrame(frame);
    };
  }, []);
  useLayoutEffect(() => { // before the next key is pressed
    if (wasOpen.current && !isOpen) launcher.current?.focus();
    wasOpen.current = isOpen;
  }, [isOpen]);
  if (isInline) return <Panel store={store} isInline isFullScreen={false} />;
  const name = isOpen ? store.strings.close : `${store.strings.open}: ${store.config.title || store.strings.title}`;
  return (
    <>
      {isOpen && <Panel store={store} isInline={false} isFullScreen={isFullScreen} />}
      {!(isOpen && isFullScreen) && (
        <button
          ref={launcher}
          type="button"
          class="launcher"
          aria-label={name}
          aria-haspopup="dialog"
          aria-expanded={isOpen}
          lang={store.config.lang}
          onClick={() => store.setOpen(!isOpen)}
        >
          {isOpen ? <CloseIcon /> : <ChatIcon />}
        </button>
      )}
    </>
  );
}

function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const media = matchMedia(query);
    const changed = (): void => setMatches(media.matches);
    media.addEventListener('change', changed);
    return () => media.removeEventListener('change', changed);
  }, []);
  return matches;
}
