// Events for listeners, and as an async iterator.
import type { EventOf, SessionEvent } from './events.js';

/** Takes an event. */
export type Listener<T extends SessionEvent['type']> = (event: EventOf<T>) => void;

/** Listeners by type, and of every type. */
export interface Emitter {
  emit(event: SessionEvent): void;
  on<T extends SessionEvent['type']>(type: T, listener: Listener<T>): () => void;
  onAny(listener: (event: SessionEvent) => void): () => void;
  events(signal?: AbortSignal): AsyncIterableIterator<SessionEvent>;
  /** Ends all iterators. Listeners stay. */
  finish(): void;
}

/** Makes an emitter. An error of a listener is reported as uncaught and stops no other listener. */
export function makeEmitter(): Emitter {
  const byType = new Map<string, Set<(event: never) => void>>();
  const all = new Set<(event: SessionEvent) => void>();
  const ends = new Set<() => void>();

  function call(listener: (event: never) => void, event: SessionEvent): void {
    try {
      listener(event as never);
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  }

  function onAny(listener: (event: SessionEvent) => void): () => void {
    all.add(listener);
    return () => all.delete(listener);
  }

  return {
    onAny,
    emit(event) {
      for (const listener of [...(byType.get(event.type) ?? []), ...all]) call(listener, event);
    },
    on(type, listener) {
      const listeners = byType.get(type) ?? new Set();
      byType.set(type, listeners);
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    events(signal) {
      const waiting: SessionEvent[] = [];
      let wake: (() => void) | undefined;
      let over = false;
      const stop = onAny((event) => {
        waiting.push(event);
        wake?.();
      });
      const end = (): void => {
        over = true;
        stop();
        ends.delete(end);
        wake?.();
      };
      ends.add(end);
      signal?.addEventListener('abort', end, { once: true });
      if (signal?.aborted) end();
      async function* iterate(): AsyncGenerator<SessionEvent> {
        try {
          for (;;) {
            const next = waiting.shift();
            if (next) yield next;
            else if (over) return;
            else await new Promise<void>((resolve) => (wake = resolve));
          }
        } finally {
          end();
        }
      }
      return iterate();
    },
    finish() {
      for (const end of [...ends]) end();
    },
  };
}
