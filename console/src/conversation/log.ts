// The events of a conversation's sockets, for the page that shows them.

import type { ClientEvent, ServerEvent, SessionEvent } from '#sdk/session/index';

/** An event, or several with sound in one. */
export interface Entry {
  id: number;
  at: Date;
  /** in: received; out: sent; state: about the connection. */
  direction: 'in' | 'out' | 'state';
  event: ServerEvent | ClientEvent;
}

const mostEntries = 1000;

/** How often subscribers are told at most, in milliseconds. */
const tellMs = 200;

/** Collects events. */
export class EventLog {
  #entries: readonly Entry[] = [];
  #next = 0;
  /** By type: the entry that further events with sound are added to. */
  #sounds = new Map<string, number>();
  #listeners = new Set<() => void>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  subscribe = (listener: () => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };
  entries = () => this.#entries;

  take(event: SessionEvent): void {
    switch (event.type) {
      case 'raw':
        this.#sounds.clear();
        return this.#add(event.direction, event.event);
      case 'sound':
        return this.#addSound(event.direction, event.event, event.ms);
      case 'state': {
        const { name, text, code, reason } = event.state;
        return this.#add('state', {
          type: `${event.channel}: ${name}`,
          text,
          ...(code !== undefined && { code, reason }),
        });
      }
    }
  }

  clear(): void {
    this.#entries = [];
    this.#sounds.clear();
    this.#tell();
  }

  #add(direction: Entry['direction'], event: Entry['event']): void {
    this.#entries = [...this.#entries, { id: this.#next++, at: new Date(), direction, event }].slice(-mostEntries);
    this.#tell();
  }

  #addSound(direction: 'in' | 'out', type: string, ms: number): void {
    const known = this.#sounds.get(type);
    const at = this.#entries.findIndex(({ id }) => id === known);
    const entry = this.#entries[at];
    if (!entry) {
      this.#sounds.set(type, this.#next);
      return this.#add(direction, { type, events: 1, sound_ms: Math.round(ms) });
    }
    const { events, sound_ms: soundMs } = entry.event as unknown as { events: number; sound_ms: number };
    const next = [...this.#entries];
    next[at] = { ...entry, event: { type, events: events + 1, sound_ms: soundMs + Math.round(ms) } };
    this.#entries = next;
    this.#tell();
  }

  #tell(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      for (const listener of this.#listeners) listener();
    }, tellMs);
  }
}

interface Spoken {
  delta?: string;
  transcript?: string;
  text?: string;
  events?: number;
  sound_ms?: number;
  audio_end_ms?: number;
  error?: { message?: string };
  item?: { content?: { text?: string; transcript?: string | null }[]; name?: string; output?: string | null };
  response?: { status?: string };
  session?: { id?: string };
}

/** A few words of an event. */
export function gistOf(event: Entry['event']): string {
  const said = event as unknown as Spoken;
  if (said.sound_ms !== undefined) return `${said.events} × sound, ${(said.sound_ms / 1000).toFixed(1)} s`;
  const words =
    said.delta ??
    said.transcript ??
    said.text ??
    said.error?.message ??
    said.item?.content?.map(({ text, transcript }) => text ?? transcript ?? '').join(' ') ??
    said.item?.name ??
    said.item?.output ??
    said.response?.status ??
    said.session?.id ??
    (said.audio_end_ms === undefined ? '' : `at ${said.audio_end_ms} ms`);
  return String(words).slice(0, 120);
}
