// Chooses the best windows of a search that do not overlap, from a pool of bounded size.

export interface FoundWindow {
  /** The time of its first and of its last sample. */
  readonly firstMs: number;
  readonly lastMs: number;
  readonly squared: number;
}

/**
 * Collects windows in the order of their positions. Chooses the nearest one, then the nearest one that does
 * not overlap it, and so on; of equally near ones the earlier one.
 *
 * A chosen window overlaps at most 2m-2 others. So the k-th choice is among the (k-1)(2m-1)+1 nearest
 * windows, and the pool forgets all others.
 */
export class BestWindows {
  readonly #length: number;
  readonly #count: number;
  readonly #kept: number;
  #size = 0;
  #position: Float64Array;
  #squared: Float64Array;
  #firstMs: Float64Array;
  #lastMs: Float64Array;
  #threshold = Number.POSITIVE_INFINITY;

  constructor({ length, count }: { readonly length: number; readonly count: number }) {
    this.#length = length;
    this.#count = count;
    this.#kept = (count - 1) * (2 * length - 1) + 1;
    const room = Math.max(2 * this.#kept, 1_000);
    this.#position = new Float64Array(room);
    this.#squared = new Float64Array(room);
    this.#firstMs = new Float64Array(room);
    this.#lastMs = new Float64Array(room);
  }

  /** Windows at this squared distance or beyond it are not chosen. */
  get threshold(): number {
    return this.#threshold;
  }

  add(position: number, { firstMs, lastMs, squared }: FoundWindow): void {
    if (squared >= this.#threshold) return;
    this.#put(this.#size, position, { firstMs, lastMs, squared });
    this.#size += 1;
    if (this.#size === this.#squared.length) this.#forget();
  }

  /** Best first. Yields after each of them. */
  *best(): Generator<number, FoundWindow[]> {
    const chosen: FoundWindow[] = [];
    const squared = this.#squared.slice(0, this.#size);
    while (chosen.length < this.#count) {
      let next = 0;
      for (let i = 1; i < this.#size; i += 1) if (squared[i]! < squared[next]!) next = i;
      if (!(squared[next]! < Number.POSITIVE_INFINITY)) break;
      const position = this.#position[next]!;
      chosen.push({
        firstMs: this.#firstMs[next]!,
        lastMs: this.#lastMs[next]!,
        squared: squared[next]!,
      });
      for (let i = 0; i < this.#size; i += 1)
        if (Math.abs(this.#position[i]! - position) < this.#length) squared[i] = Number.POSITIVE_INFINITY;
      yield 0;
    }
    return chosen;
  }

  #put(at: number, position: number, { firstMs, lastMs, squared }: FoundWindow): void {
    this.#position[at] = position;
    this.#squared[at] = squared;
    this.#firstMs[at] = firstMs;
    this.#lastMs[at] = lastMs;
  }

  /** Keeps the nearest windows, in the order of their positions. */
  #forget(): void {
    this.#threshold = this.#squared.toSorted()[this.#kept - 1]!;
    let nearer = 0;
    for (const one of this.#squared) if (one < this.#threshold) nearer += 1;
    let equalLeft = this.#kept - nearer;
    let to = 0;
    for (let i = 0; i < this.#size; i += 1) {
      const squared = this.#squared[i]!;
      if (squared > this.#threshold) continue;
      if (squared === this.#threshold) {
        if (equalLeft === 0) continue;
        equalLeft -= 1;
      }
      const window = { firstMs: this.#firstMs[i]!, lastMs: this.#lastMs[i]!, squared };
      this.#put(to, this.#position[i]!, window);
      to += 1;
    }
    this.#size = to;
  }
}
