// What is waiting to be played, and how much of it was played.

/**
 * Sound in the order in which it is played. Each piece belongs to an item of the conversation.
 * Lengths are in samples.
 */
export class PlayQueue {
  #pieces = []; // { item, samples, at }
  #lengths = new Map(); // by item: { played, left }, in the order of the items
  #current = '';

  /** Adds sound to the end. */
  add(item, samples) {
    if (samples.length === 0) return;
    const lengths = this.#lengths.get(item) ?? { played: 0, left: 0 };
    lengths.left += samples.length;
    this.#lengths.set(item, lengths);
    this.#pieces.push({ item, samples, at: 0 });
  }

  /** Fills a buffer with what is next, and the rest of it with silence. Returns how much is sound. */
  take(buffer) {
    let filled = 0;
    while (filled < buffer.length && this.#pieces.length > 0) {
      const [piece] = this.#pieces;
      const part = piece.samples.subarray(piece.at, piece.at + buffer.length - filled);
      buffer.set(part, filled);
      filled += part.length;
      piece.at += part.length;
      this.#count(piece.item, part.length);
      if (piece.at === piece.samples.length) this.#pieces.shift();
    }
    buffer.fill(0, filled);
    return filled;
  }

  #count(item, length) {
    if (item !== this.#current) {
      // Items before this one were played to their ends.
      for (const other of this.#lengths.keys()) {
        if (other === item) break;
        this.#lengths.delete(other);
      }
      this.#current = item;
    }
    const lengths = this.#lengths.get(item);
    lengths.played += length;
    lengths.left -= length;
  }

  /** The item that is played, or was last, and those that wait: [{ item, played, left }]. */
  get items() {
    return [...this.#lengths].map(([item, lengths]) => ({ item, ...lengths }));
  }

  /** Forgets what waits. Returns `items` as they were. */
  clear() {
    const { items } = this;
    this.#pieces = [];
    this.#lengths.clear();
    this.#current = '';
    return items;
  }
}
