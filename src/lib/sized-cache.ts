// A map whose entries have sizes. When all together exceed a maximum, those that were used longest ago are
// dropped.

interface Entry<Value> {
  readonly value: Value;
  readonly size: number;
}

export class SizedCache<Key, Value> {
  readonly #sizeMax: number;
  readonly #onDrop: ((value: Value) => void) | undefined;
  /** The entry that was used longest ago is the first one. */
  readonly #entries = new Map<Key, Entry<Value>>();
  #size = 0;

  /** `onDrop` is called with each value that leaves the cache. */
  constructor(sizeMax: number, onDrop?: (value: Value) => void) {
    this.#sizeMax = sizeMax;
    this.#onDrop = onDrop;
  }

  get(key: Key): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** A value that is larger than the maximum is not kept. */
  set(key: Key, value: Value, size: number): void {
    this.delete(key);
    if (size > this.#sizeMax) return;
    this.#entries.set(key, { value, size });
    this.#size += size;
    for (const [oldest] of this.#entries) {
      if (this.#size <= this.#sizeMax) break;
      this.delete(oldest);
    }
  }

  delete(key: Key): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#size -= entry.size;
    this.#onDrop?.(entry.value);
  }

  clear(): void {
    for (const key of [...this.#entries.keys()]) this.delete(key);
  }
}
