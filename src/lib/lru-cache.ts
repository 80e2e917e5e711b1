// A map of bounded size that forgets what was not used lately.
//
// Two generations: what is set or found moves to the young one; when that is full, it becomes the old one and
// the former old one goes. A hit in the young generation costs one lookup and moves nothing, unlike a strict
// least-recently-used list, and whatever fits into one generation is never forgotten.

export class LruCache<Key, Value> {
  readonly #generationMax: number;
  #young = new Map<Key, Value>();
  #old = new Map<Key, Value>();

  /** Holds the last `generationMax` keys used for certain, and never more than twice as many. */
  constructor(generationMax: number) {
    this.#generationMax = generationMax;
  }

  get(key: Key): Value | undefined {
    const found = this.#young.get(key);
    if (found !== undefined) return found;
    const kept = this.#old.get(key);
    if (kept !== undefined) this.set(key, kept);
    return kept;
  }

  set(key: Key, value: Value): void {
    if (this.#young.size >= this.#generationMax && !this.#young.has(key)) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, value);
  }

  delete(key: Key): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }
}
