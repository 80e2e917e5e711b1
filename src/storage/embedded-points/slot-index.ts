// Finds the slot of a series: a hash table with open addressing in one typed array. It takes 8 to 16 bytes a
// series; a map takes 30 to 60, and 16 more for each id above 2^31.
//
// Slots are in the table as their numbers plus one. Their owner has the series of each slot, so the table has
// no keys. A removal moves later entries back, so there are no tombstones.
import type { SeriesId } from "../points.ts";

const bitsMin = 10;
const bitsMax = 32;
/** Multiplied by it, ids that are close together or far apart differ in their high bits. */
const golden = 0x9e3779b1;
const high = 2 ** 32;

export class SlotIndex {
  readonly #seriesOf: (slot: number) => SeriesId;
  #bits = bitsMin;
  #table = new Int32Array(2 ** bitsMin);
  #count = 0;

  /** `seriesOf` returns the series of a slot that is in the index. */
  constructor(seriesOf: (slot: number) => SeriesId) {
    this.#seriesOf = seriesOf;
  }

  get(series: SeriesId): number | undefined {
    const entry = this.#table[this.#placeOf(series)]!;
    return entry === 0 ? undefined : entry - 1;
  }

  /** The series is not in the index, and `seriesOf(slot)` returns it already. */
  add(series: SeriesId, slot: number): void {
    if (2 * (this.#count + 1) > this.#table.length) this.#grow();
    this.#table[this.#placeOf(series)] = slot + 1;
    this.#count += 1;
  }

  /** The series is in the index, and `seriesOf` still returns it for its slot. */
  remove(series: SeriesId): void {
    const table = this.#table;
    const last = table.length - 1;
    let free = this.#placeOf(series);
    for (let place = (free + 1) & last; table[place] !== 0; place = (place + 1) & last) {
      // An entry may move back to the free place unless its home is after that place.
      const home = this.#homeOf(this.#seriesOf(table[place]! - 1));
      if (((place - home) & last) < ((place - free) & last)) continue;
      table[free] = table[place]!;
      free = place;
    }
    table[free] = 0;
    this.#count -= 1;
  }

  /** Removes all entries, and frees the memory. */
  clear(): void {
    this.#bits = bitsMin;
    this.#table = new Int32Array(2 ** bitsMin);
    this.#count = 0;
  }

  /** The place of the series, or the empty one where it belongs. */
  #placeOf(series: SeriesId): number {
    const table = this.#table;
    const last = table.length - 1;
    let place = this.#homeOf(series);
    while (table[place] !== 0 && this.#seriesOf(table[place]! - 1) !== series) place = (place + 1) & last;
    return place;
  }

  #homeOf(series: SeriesId): number {
    const folded = Math.imul(series / high, golden) ^ series;
    return Math.imul(folded, golden) >>> (bitsMax - this.#bits);
  }

  #grow(): void {
    const before = this.#table;
    this.#bits += 1;
    this.#table = new Int32Array(2 ** this.#bits);
    for (const entry of before)
      if (entry !== 0) this.#table[this.#placeOf(this.#seriesOf(entry - 1))] = entry;
  }
}
