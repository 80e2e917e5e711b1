// Sorts many strings with a radix sort, which is several times as fast as comparing them.
import { codePointRank } from "./text.ts";

/** Strings as UTF-16 code units, one after the other. */
export class TextColumn {
  readonly count: number;
  readonly units: Uint16Array;
  /** Where each text starts, and where the last one ends. */
  readonly starts: Int32Array;

  private constructor(units: Uint16Array, starts: Int32Array) {
    this.count = starts.length - 1;
    this.units = units;
    this.starts = starts;
  }

  static of(texts: readonly string[]): TextColumn {
    const starts = new Int32Array(texts.length + 1);
    for (let at = 0; at < texts.length; at++) starts[at + 1] = starts[at]! + texts[at]!.length;
    const units = new Uint16Array(starts[texts.length]!);
    for (let at = 0, to = 0; at < texts.length; at++) {
      const text = texts[at]!;
      for (let from = 0; from < text.length; from++) units[to++] = text.charCodeAt(from);
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
   * Which text is at each place when they are sorted as by `compareText`: a radix sort from the last unit to
   * the first, which each text joins at its own last unit.
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
    const join = (place: number) => {
      const joining = ending.get(place) ?? [];
      next.set(joining);
      next.set(sorted.subarray(0, joined), joining.length);
      joined += joining.length;
    };
    for (let place = Math.max(0, ...ending.keys()) - 1; place >= 0; place--) {
      join(place + 1);
      for (let at = 0; at < joined; at++) keys[at] = units[starts[next[at]!]! + place]!;
      buckets.sort(next.subarray(0, joined), keys, sorted);
    }
    join(0);
    return next;
  }
}

class Buckets {
  /** The bucket of each unit that occurs, from 1. */
  readonly #bucketOf = new Uint32Array(2 ** 16);
  /** By bucket: how many are in it, then where the next one goes. */
  readonly #next: Int32Array;

  constructor(count: number) {
    this.#next = new Int32Array(count + 1);
  }

  /** Writes the items to `sorted` in the order of their keys; those with the same key keep theirs. */
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
    let place = 0;
    for (const unit of units.sort((one, other) => codePointRank(one) - codePointRank(other))) {
      const count = next[bucketOf[unit]!]!;
      next[bucketOf[unit]!] = place;
      place += count;
    }
    for (let at = 0; at < items.length; at++) sorted[next[bucketOf[keys[at]!]!]!++] = items[at]!;
    for (const unit of units) bucketOf[unit] = 0;
  }
}
