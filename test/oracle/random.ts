// Reproducible random numbers: the same seed sends the same requests.

export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 up to, but without, `end`. */
  below(end: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * end);
  }

  chance(probability: number): boolean {
    return this.below(1_000_000) < probability * 1_000_000;
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)]!;
  }

  /** Up to `most` of them, each once, in any order. */
  some<Item>(items: readonly Item[], most: number): Item[] {
    const left = [...items];
    const count = Math.min(left.length, this.below(most + 1));
    return Array.from({ length: count }, () => left.splice(this.below(left.length), 1)[0]!);
  }
}
