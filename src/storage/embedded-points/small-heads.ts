// The heads with few points, all of a shard in typed arrays. A million of them as objects take three times
// the memory, and each garbage collection goes through all of them.
//
// Each head has a slot, and its points are in cells of four, from the oldest to the newest:
//
//   slot     series, version, count, first and last cell
//   cell     four times, four values, the next cell of the head
//
// `add` and `#insert` run for each point. They avoid `[a, b] = [c, d]`: V8 compiles it to several times the
// machine code, and it allocates until it is optimised.
//
// Slots and cells are numbered, and are in segments of a fixed size: growth copies nothing. Freed ones are
// used again. When no head is left, the memory is freed.
import type { PointColumns, SeriesId } from "../points.ts";
import type { HeadVersions } from "./head.ts";
import { HeadChanges } from "./head-changes.ts";
import { SlotIndex } from "./slot-index.ts";

/** A head with more points has columns of its own. */
const pointsMax = 64;
const cellPoints = 4;
const segmentBits = 13;
const segmentSize = 1 << segmentBits;
const none = -1;
/** The position of a slot or cell in its segment. */
const inSegment = (number: number): number => number & (segmentSize - 1);

interface SlotSegment {
  readonly series: Float64Array;
  readonly versions: Float64Array;
  readonly counts: Uint8Array;
  readonly firstCells: Int32Array;
  readonly lastCells: Int32Array;
}

interface CellSegment {
  readonly times: Float64Array;
  readonly values: Float64Array;
  /** The next cell of the head, or the next free cell. */
  readonly next: Int32Array;
}

/** No series has this id. */
const noSeries = -1;

export class SmallHeads {
  #slots: SlotSegment[] = [];
  #cells: CellSegment[] = [];
  #slotCount = 0;
  #cellCount = 0;
  readonly #freeSlots: number[] = [];
  readonly #index = new SlotIndex((slot) => this.#slotSegment(slot).series[inSegment(slot)]!);
  readonly #versions: HeadVersions;
  /** By slot, of the few heads that have changed other than by additions at their end. */
  readonly #changes = new Map<number, HeadChanges>();
  #freeCell = none;
  #heads = 0;
  #points = 0;

  constructor(versions: HeadVersions) {
    this.#versions = versions;
  }

  /** Number of points in all of them. */
  get points(): number {
    return this.#points;
  }

  /** Number of heads. */
  get count(): number {
    return this.#heads;
  }

  /** Writes the series of all heads to the start of `into`, in any order. */
  copySeries(into: Float64Array): void {
    for (let slot = 0, at = 0; slot < this.#slotCount; slot++) {
      const series = this.#slotSegment(slot).series[inSegment(slot)]!;
      if (series !== noSeries) into[at++] = series;
    }
  }

  /** The slot of a series. */
  slotOf(series: SeriesId): number | undefined {
    return this.#index.get(series);
  }

  /** A slot for a series without points, which has none yet. */
  open(series: SeriesId): number {
    const slot = this.#freeSlots.pop() ?? this.#newSlot();
    const [segment, at] = [this.#slotSegment(slot), inSegment(slot)];
    segment.series[at] = series;
    segment.versions[at] = this.#versions.next();
    segment.counts[at] = 0;
    segment.firstCells[at] = none;
    segment.lastCells[at] = none;
    this.#index.add(series, slot);
    this.#heads += 1;
    return slot;
  }

  /** Whether the slot still is that of the series. */
  isOf(slot: number, series: SeriesId): boolean {
    return this.#slots[slot >>> segmentBits]?.series[inSegment(slot)] === series;
  }

  /** The first version of the head. */
  versionOf(slot: number): number {
    return this.#slotSegment(slot).versions[inSegment(slot)]!;
  }

  /** The changes of the head other than additions at its end. */
  changesOf(slot: number): HeadChanges | undefined {
    return this.#changes.get(slot);
  }

  /**
   * Adds the points with indexes in [from, to), in any order of time. Returns false, and adds none, when they
   * are too many.
   */
  add(slot: number, { times, values }: PointColumns, from: number, to: number): boolean {
    const segment = this.#slotSegment(slot);
    const at = inSegment(slot);
    const count = segment.counts[at]!;
    if (count + to - from > pointsMax) return false;
    let lastMs = count === 0 ? -Infinity : this.#lastTimeOf(segment.lastCells[at]!, count);
    let changedFromMs = Infinity;
    let changedToMs = -Infinity;
    for (let index = from; index < to; index++) {
      const timeMs = times[index]!;
      const value = values[index] as number;
      if (timeMs > lastMs) {
        this.#append(segment, at, timeMs, value);
        lastMs = timeMs;
      } else if (this.#insert(segment, at, timeMs, value)) {
        changedFromMs = Math.min(changedFromMs, timeMs);
        changedToMs = Math.max(changedToMs, timeMs);
      }
    }
    if (changedFromMs <= changedToMs) this.#changed(slot, changedFromMs, changedToMs);
    return true;
  }

  #changed(slot: number, fromMs: number, toMs: number): void {
    const version = this.#versions.next();
    const changes = this.#changes.get(slot);
    if (changes === undefined) this.#changes.set(slot, new HeadChanges(version, fromMs, toMs));
    else changes.add(version, fromMs, toMs);
  }

  /** Copies of the points. */
  pointsOf(slot: number): PointColumns {
    const [segment, at] = [this.#slotSegment(slot), inSegment(slot)];
    const count = segment.counts[at]!;
    const [times, values] = [new Float64Array(count), new Float64Array(count)];
    let cell = segment.firstCells[at]!;
    for (let from = 0; from < count; from += cellPoints) {
      const cells = this.#cellSegment(cell);
      const first = inSegment(cell) * cellPoints;
      for (let index = from; index < Math.min(count, from + cellPoints); index++) {
        times[index] = cells.times[first + index - from]!;
        values[index] = cells.values[first + index - from]!;
      }
      cell = cells.next[inSegment(cell)]!;
    }
    return { times, values };
  }

  /** Frees the slot and its cells. */
  remove(slot: number): void {
    const [segment, at] = [this.#slotSegment(slot), inSegment(slot)];
    this.#points -= segment.counts[at]!;
    this.#heads -= 1;
    this.#index.remove(segment.series[at]!);
    this.#changes.delete(slot);
    segment.series[at] = noSeries;
    if (this.#heads === 0) {
      this.#freeAll();
      return;
    }
    this.#freeSlots.push(slot);
    const last = segment.lastCells[at]!;
    if (last === none) return;
    this.#cellSegment(last).next[inSegment(last)] = this.#freeCell;
    this.#freeCell = segment.firstCells[at]!;
  }

  #freeAll(): void {
    this.#slots = [];
    this.#cells = [];
    this.#slotCount = 0;
    this.#cellCount = 0;
    this.#freeSlots.length = 0;
    this.#freeCell = none;
    this.#index.clear();
  }

  #append(segment: SlotSegment, at: number, timeMs: number, value: number): void {
    const count = segment.counts[at]!;
    const inCell = count % cellPoints;
    if (inCell === 0) this.#addCell(segment, at);
    const cell = segment.lastCells[at]!;
    const { times, values } = this.#cellSegment(cell);
    const place = inSegment(cell) * cellPoints + inCell;
    times[place] = timeMs;
    values[place] = value;
    segment.counts[at] = count + 1;
    this.#points += 1;
  }

  /**
   * Inserts a point that is not after all others, or overwrites the one with its time. Returns false if the
   * head has this point already, as when a client sends a request again.
   */
  #insert(segment: SlotSegment, at: number, timeMs: number, value: number): boolean {
    let movedMs = timeMs;
    let moved = value;
    let left = segment.counts[at]!;
    for (let cell = segment.firstCells[at]!; left > 0; left -= cellPoints) {
      const { times, values, next } = this.#cellSegment(cell);
      const first = inSegment(cell) * cellPoints;
      for (let place = first; place < first + Math.min(left, cellPoints); place++) {
        const ownMs = times[place]!;
        const own = values[place]!;
        if (ownMs < movedMs) continue;
        times[place] = movedMs;
        values[place] = moved;
        if (ownMs === movedMs) return !Object.is(own, moved);
        movedMs = ownMs;
        moved = own;
      }
      cell = next[inSegment(cell)]!;
    }
    this.#append(segment, at, movedMs, moved);
    return true;
  }

  #lastTimeOf(lastCell: number, count: number): number {
    const place = inSegment(lastCell) * cellPoints + ((count - 1) % cellPoints);
    return this.#cellSegment(lastCell).times[place]!;
  }

  #addCell(segment: SlotSegment, at: number): void {
    const cell = this.#takeCell();
    this.#cellSegment(cell).next[inSegment(cell)] = none;
    const last = segment.lastCells[at]!;
    if (last === none) segment.firstCells[at] = cell;
    else this.#cellSegment(last).next[inSegment(last)] = cell;
    segment.lastCells[at] = cell;
  }

  #takeCell(): number {
    const free = this.#freeCell;
    if (free !== none) {
      this.#freeCell = this.#cellSegment(free).next[inSegment(free)]!;
      return free;
    }
    if (this.#cellCount === this.#cells.length * segmentSize) this.#cells.push(newCells());
    return this.#cellCount++;
  }

  #newSlot(): number {
    if (this.#slotCount === this.#slots.length * segmentSize) this.#slots.push(newSlots());
    return this.#slotCount++;
  }

  #slotSegment(slot: number): SlotSegment {
    return this.#slots[slot >>> segmentBits]!;
  }

  #cellSegment(cell: number): CellSegment {
    return this.#cells[cell >>> segmentBits]!;
  }
}

const newSlots = (): SlotSegment => ({
  series: new Float64Array(segmentSize),
  versions: new Float64Array(segmentSize),
  counts: new Uint8Array(segmentSize),
  firstCells: new Int32Array(segmentSize),
  lastCells: new Int32Array(segmentSize),
});

const newCells = (): CellSegment => ({
  times: new Float64Array(segmentSize * cellPoints),
  values: new Float64Array(segmentSize * cellPoints),
  next: new Int32Array(segmentSize),
});
