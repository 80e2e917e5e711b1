// The changes that a head remembers: the times between which points changed other than by additions at the
// end.
//
// Clients that write side by side overtake each other, so there may be one for each point: adding one
// allocates nothing, once there have been many. Most heads have one change at most, and many heads may: it
// takes 0.1 KB.

/** So many are remembered apart; the older ones are remembered as one. */
const changesMax = 32;
/** Of a change: its version, and the first and the last time. */
const fields = 3;

export class HeadChanges {
  /** A ring of changes, ascending by version. */
  readonly #ring: number[];
  /** The place of the oldest one. */
  #first = 0;
  #count = 1;

  /** No points but those from `fromMs` to `toMs` changed. */
  constructor(version: number, fromMs: number, toMs: number) {
    this.#ring = [version, fromMs, toMs];
  }

  /** The version of the last change. */
  get lastVersion(): number {
    return this.#ring[this.#at(this.#count - 1)]!;
  }

  /** As in the constructor, for the next change. Forgets changes whose times it covers. */
  add(version: number, fromMs: number, toMs: number): void {
    const ring = this.#ring;
    while (this.#count > 0) {
      const last = this.#at(this.#count - 1);
      if (ring[last + 1]! < fromMs || ring[last + 2]! > toMs) break;
      this.#count -= 1;
    }
    if (this.#count === changesMax) this.#joinOldest();
    const at = this.#at(this.#count);
    ring[at] = version;
    ring[at + 1] = fromMs;
    ring[at + 2] = toMs;
    this.#count += 1;
  }

  /** Whether no change after this version is in [startMs, endMs). */
  isUnchangedSince(version: number, startMs: number, endMs: number): boolean {
    const ring = this.#ring;
    for (let change = this.#count - 1; change >= 0; change -= 1) {
      const at = this.#at(change);
      if (ring[at]! <= version) return true;
      if (ring[at + 1]! < endMs && ring[at + 2]! >= startMs) return false;
    }
    return true;
  }

  #joinOldest(): void {
    const ring = this.#ring;
    const [one, next] = [this.#at(0), this.#at(1)];
    if (ring[one + 1]! < ring[next + 1]!) ring[next + 1] = ring[one + 1]!;
    if (ring[one + 2]! > ring[next + 2]!) ring[next + 2] = ring[one + 2]!;
    this.#first = (this.#first + 1) % changesMax;
    this.#count -= 1;
  }

  #at(change: number): number {
    return ((this.#first + change) % changesMax) * fields;
  }
}
