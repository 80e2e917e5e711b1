// A map of bounded size that drops entries that were not used recently.
//
// It has two generations. An entry that is set or read moves to the young one. When the young one is full, it
// becomes the old one, and the former old one is dropped. A hit in the young generation costs one lookup and
// moves nothing, unlike in a strict least-recently-used list.

export class LruCache<Key, Value> {
  readonly #generationMax: number;
  #young = new Map<Key, Value>();
  #old = new Map<Key, Value>();

  /** Always holds the `generationMax` keys used last, and never more than twice as many keys. */
  constructor(generationMax: number) {
    this.#generationMax = generationMax;
  }

  get(key: Key): Value | undefined {
    const found = this.#young.get(key);
    if (found !== undefined) return found;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
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
