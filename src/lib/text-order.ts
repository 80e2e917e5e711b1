// Sorts many strings with a radix sort, which is several times as fast as comparing them.
import { codePointRank } from "./text.ts";

/** Strings as UTF-16 code units in one array. */
export class TextColumn {
  readonly count: number;
  readonly units: Uint16Array;
  /** The offset of each string in `units`, and the end of the last one. */
  readonly starts: Int32Array;

  private constructor(units: Uint16Array, starts: Int32Array) {
    this.count = starts.length - 1;
    this.units = units;
    this.starts = starts;
  }

  static of(strings: readonly string[]): TextColumn {
    const starts = new Int32Array(strings.length + 1);
    for (let at = 0; at < strings.length; at++) starts[at + 1] = starts[at]! + strings[at]!.length;
    const units = new Uint16Array(starts[strings.length]!);
    for (let at = 0, to = 0; at < strings.length; at++) {
      const string = strings[at]!;
      for (let from = 0; from < string.length; from++) units[to++] = string.charCodeAt(from);
    }
    return new TextColumn(units, starts);
  }

  /** The strings with their code units reversed. */
  reversed(): TextColumn {
    const units = this.units.slice();
    for (let at = 0; at < this.count; at++) units.subarray(this.starts[at]!, this.starts[at + 1]!).reverse();
    return new TextColumn(units, this.starts);
  }

  lengthOf(at: number): number {
    return this.starts[at + 1]! - this.starts[at]!;
  }

  /**
   * The indexes of the strings in the order of `compareText`: a radix sort from the last unit to the first. A
   * string takes part from its own last unit on.
   */
  order(): Int32Array {
    const { count, units, starts } = this;
    const ending = Map.groupBy(
      Array.from({ length: count }, (_, at) => at),
      (at) => this.lengthOf(at),
    );
    const buckets = new Buckets(count);
    const sorted = new Int32Array(count);
    const next = new Int32Array(count);
    const keys = new Uint16Array(count);
    let joined = 0;
    /** Among strings that are equal from this position on, those that end here come first. */
    const join = (position: number) => {
      const joining = ending.get(position) ?? [];
      next.set(joining);
      next.set(sorted.subarray(0, joined), joining.length);
      joined += joining.length;
    };
    for (let position = Math.max(0, ...ending.keys()) - 1; position >= 0; position--) {
      join(position + 1);
      for (let at = 0; at < joined; at++) keys[at] = units[starts[next[at]!]! + position]!;
      buckets.sort(next.subarray(0, joined), keys, sorted);
    }
    join(0);
    return next;
  }
}

class Buckets {
  /** The bucket of each unit that occurs, from 1. */
  readonly #bucketOf = new Uint32Array(2 ** 16);
  /** By bucket: its number of items, then the index of its next item. */
  readonly #next: Int32Array;

  constructor(count: number) {
    this.#next = new Int32Array(count + 1);
  }

  /** Writes the items to `sorted` by key; items with equal keys keep their order. */
  sort(items: Int32Array, keys: Uint16Array, sorted: Int32Array): void {
    const [bucketOf, next] = [this.#bucketOf, this.#next];
    const units: number[] = [];
    for (let at = 0; at < items.length; at++) {
      const unit = keys[at]!;
      if (bucketOf[unit] === 0) {
        bucketOf[unit] = units.push(unit);
        next[units.length] = 0;
      }
      next[bucketOf[unit]!]! += 1;
    }
    let start = 0;
    for (const unit of units.sort((one, other) => codePointRank(one) - codePointRank(other))) {
      const count = next[bucketOf[unit]!]!;
      next[bucketOf[unit]!] = start;
      start += count;
    }
    for (let at = 0; at < items.length; at++) sorted[next[bucketOf[keys[at]!]!]!++] = items[at]!;
    for (const unit of units) bucketOf[unit] = 0;
  }
}
