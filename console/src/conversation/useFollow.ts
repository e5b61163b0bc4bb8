import { useEffect, useRef } from 'react';

/** How far from the end still counts as the end, in pixels. */
const near = 40;

/**
 * Keeps the end of a scrolling element in view while it grows, unless the reader has scrolled away
 * or opened something.
 */
export function useFollow() {
  const box = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  useEffect(() => {
    const [outer, inner] = [box.current, content.current];
    if (!outer || !inner) return undefined;
    let top = 0;
    const toEnd = () => {
      if (follows.current) outer.scrollTo({ top: outer.scrollHeight });
      top = outer.scrollTop; // what has become shorter was not scrolled by the reader
    };
    const scrolled = () => {
      // The event of scrolling to the end may come after the content grew: only up is the reader's.
      if (outer.scrollTop + outer.clientHeight >= outer.scrollHeight - near) follows.current = true;
      else if (outer.scrollTop < top) follows.current = false;
      top = outer.scrollTop;
    };
    const opened = (event: Event) => {
      if ((event.target as Element).closest('summary')) follows.current = false; // what was opened is read now
    };
    const grown = new ResizeObserver(toEnd);
    grown.observe(inner);
    grown.observe(outer);
    outer.addEventListener('scroll', scrolled, { passive: true });
    outer.addEventListener('click', opened);
    return () => {
      grown.disconnect();
      outer.removeEventListener('scroll', scrolled);
      outer.removeEventListener('click', opened);
    };
  }, []);
  const follow = () => {
    follows.current = true;
  };
  return { box, content, follow };
}
