// What is waiting to be played, and how much of it was played.

/** Of an item's sound, in samples. */
export interface Played {
  readonly item: string;
  readonly played: number;
  readonly left: number;
}

/** Sound in the order in which it is played. Each piece belongs to an item of the conversation. */
export interface PlayQueue {
  /** Adds sound to the end. */
  add(item: string, samples: Float32Array): void;
  /**
   * Fills a buffer with what is next, and the rest of it with silence. Returns how much is sound.
   */
  take(buffer: Float32Array): number;
  /** The item that is played, or was last, and those that wait. */
  items(): Played[];
  /** Forgets what waits. Returns the items as they were. */
  clear(): Played[];
}

export function makePlayQueue(): PlayQueue {
  let pieces: { readonly item: string; readonly samples: Float32Array; at: number }[] = [];
  const lengths = new Map<string, { played: number; left: number }>();
  let current = '';

  function count(item: string, length: number): void {
    if (item !== current) {
      // Items before this one were played to their ends.
      for (const other of lengths.keys()) {
        if (other === item) break;
        lengths.delete(other);
      }
      current = item;
    }
    const counted = lengths.get(item);
    if (!counted) return;
    counted.played += length;
    counted.left -= length;
  }

  const items = (): Played[] => [...lengths].map(([item, counted]) => ({ item, ...counted }));

  return {
    add(item, samples) {
      if (samples.length === 0) return;
      const counted = lengths.get(item) ?? { played: 0, left: 0 };
      counted.left += samples.length;
      lengths.set(item, counted);
      pieces.push({ item, samples, at: 0 });
    },
    take(buffer) {
      let filled = 0;
      for (let piece = pieces[0]; piece && filled < buffer.length; piece = pieces[0]) {
        const part = piece.samples.subarray(piece.at, piece.at + buffer.length - filled);
        buffer.set(part, filled);
        filled += part.length;
        piece.at += part.length;
        count(piece.item, part.length);
        if (piece.at === piece.samples.length) pieces.shift();
      }
      buffer.fill(0, filled);
      return filled;
    },
    items,
    clear() {
      const were = items();
      pieces = [];
      lengths.clear();
      current = '';
      return were;
    },
  };
}
