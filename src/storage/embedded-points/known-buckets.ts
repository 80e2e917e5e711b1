// Sums over whole buckets of series in memory: a query over years that is asked again, perhaps a point
// later, adds up its buckets instead of walking over thousands of blocks and unpacking hundreds of them.
//
// A bucket is known with the points that the head had in it, so that it shows whether these are still the
// same; a block that comes or goes makes the buckets forgotten that it touches. What is known is never
// changed, and learnt outside of transactions alone: one that is taken back leaves nothing wrong behind.
import type { PointColumns, SeriesId } from "../points.ts";
import { firstAtOrAfter } from "./columns.ts";
import { joinSummaries, type Summary } from "./summary.ts";

/** Kept of all series of a shard together. */
const bytesMax = 16 * 2 ** 20;
/** What a bucket takes, or one of its edges: most of it is a summary, fifteen numbers on the heap. */
const summaryBytes = 576;
/** What an empty grid takes. */
const gridBytes = 256;
/** With more points of the head in it than these, 4 KB, a bucket is not kept. */
const keptLate = 256;
/** Of one series: a block that is written is looked for in each of them. */
const gridsMax = 8;

/** Points of one bucket; of one block alone, where it is said which. */
export interface Sum {
  readonly blockId: number | undefined;
  readonly summary: Summary;
}

/** All that a bucket holds of a block that reaches beyond it. */
export type Edge = Sum & { readonly blockId: number };

/** What is known of the points in a bucket. */
interface Gathered {
  readonly summary: Summary;
  /** At most two: whoever sums up the bucket anew need not unpack their blocks. */
  readonly edges: readonly Edge[];
}

export interface KnownBucket extends Gathered {
  readonly startMs: number;
  /** No block has a point between the end of the bucket and this, where another one begins. */
  nextMs: number;
  /** The points of the head that are in the sum. */
  readonly late: PointColumns;
}

/** Buckets of equal length; one of them begins at `startMs`. */
interface Buckets {
  readonly startMs: number;
  readonly bucketMs: number;
}

/** What is known of the buckets of one length and phase of a series. */
export class Grid {
  readonly bucketMs: number;
  /** The first bucket at or after 1970 begins here. */
  readonly phaseMs: number;
  bytes = gridBytes;
  /** Ascending; each ends, with what is known to be empty behind it, before the next one begins. */
  readonly #known: KnownBucket[] = [];

  constructor(bucketMs: number, phaseMs: number) {
    this.bucketMs = bucketMs;
    this.phaseMs = phaseMs;
  }

  /** Where the bucket of that time begins. */
  bucketOf(timeMs: number): number {
    return this.phaseMs + Math.floor((timeMs - this.phaseMs) / this.bucketMs) * this.bucketMs;
  }

  /** The known bucket that begins then; the points of the head in it may be others now. */
  at(startMs: number): KnownBucket | undefined {
    const known = this.#known[this.#placeOf(startMs)];
    return known?.startMs === startMs ? known : undefined;
  }

  /** Whether the head has the same points in the bucket as when it was summed up. */
  isFresh({ startMs, late }: KnownBucket, head: PointColumns): boolean {
    const from = firstAtOrAfter(head.times, startMs);
    const to = firstAtOrAfter(head.times, startMs + this.bucketMs, from);
    return isCutOf(late, head, { from, to });
  }

  /** Where the first known bucket that begins at or after that time does. */
  nextFrom(timeMs: number): number {
    return this.#known[this.#placeOf(timeMs)]?.startMs ?? Infinity;
  }

  put(bucket: KnownBucket): void {
    const at = this.#placeOf(bucket.startMs);
    const isKnown = this.#known[at]?.startMs === bucket.startMs;
    for (const one of this.#known.splice(at, isKnown ? 1 : 0, bucket)) this.bytes -= bytesOf(one);
    this.bytes += bytesOf(bucket);
    const before = this.#known[at - 1];
    // Points of the head may come where the one before says that no block has any.
    if (before !== undefined && before.nextMs > bucket.startMs) before.nextMs = bucket.startMs;
  }

  /** Forgets the buckets for which points in [firstMs, lastMs] count, or that say that there are none. */
  forget(firstMs: number, lastMs: number): void {
    let from = this.#placeOf(firstMs);
    if (from > 0 && this.#known[from - 1]!.nextMs > firstMs) from--;
    let to = from;
    while (to < this.#known.length && this.#known[to]!.startMs <= lastMs) to++;
    if (to > from) for (const one of this.#known.splice(from, to - from)) this.bytes -= bytesOf(one);
  }

  /** Index of the first known bucket that begins at or after the time. */
  #placeOf(timeMs: number): number {
    let [low, high] = [0, this.#known.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#known[middle]!.startMs < timeMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

export class KnownBuckets {
  /** The series asked about last is the last one, and of each its grid asked for last. */
  readonly #series = new Map<SeriesId, Grid[]>();
  #bytes = 0;

  /** What is known of such buckets of a series; what is learnt next is of these. */
  of(series: SeriesId, { startMs, bucketMs }: Buckets): Grid {
    const phaseMs = startMs - Math.floor(startMs / bucketMs) * bucketMs;
    const others = this.#series.get(series) ?? [];
    const at = others.findIndex((one) => one.bucketMs === bucketMs && one.phaseMs === phaseMs);
    const [found] = at < 0 ? [] : others.splice(at, 1);
    const grid = found ?? new Grid(bucketMs, phaseMs);
    this.#series.delete(series);
    this.#series.set(series, [...others, grid]);
    if (found === undefined) this.#bytes += grid.bytes;
    if (others.length === gridsMax) this.#drop(series);
    while (this.#bytes > bytesMax && this.#dropOldest(grid));
    return grid;
  }

  /** Keeps what a walk has found of the grid asked for last, as far as there is room. */
  put(grid: Grid, bucket: KnownBucket): void {
    if (bucket.late.times.length > keptLate) return;
    while (this.#bytes + bytesOf(bucket) > bytesMax) if (!this.#dropOldest(grid)) return;
    this.#bytes -= grid.bytes;
    grid.put(bucket);
    this.#bytes += grid.bytes;
  }

  /** Blocks with points in [firstMs, lastMs] come or go. */
  forget(series: SeriesId, firstMs: number, lastMs: number): void {
    for (const grid of this.#series.get(series) ?? []) {
      this.#bytes -= grid.bytes;
      grid.forget(firstMs, lastMs);
      this.#bytes += grid.bytes;
    }
  }

  /** Whether there was another one than that asked for last. */
  #dropOldest(last: Grid): boolean {
    const [[series, grids]] = this.#series as unknown as [[SeriesId, Grid[]]];
    if (grids[0] === last) return false;
    this.#drop(series);
    return true;
  }

  /** Drops the grid of a series that was not asked for longest. */
  #drop(series: SeriesId): void {
    const grids = this.#series.get(series)!;
    this.#bytes -= grids.shift()!.bytes;
    if (grids.length === 0) this.#series.delete(series);
  }
}

/** Told of each bucket, and of a whole one where the next begins that has points. */
type Tell = (gathered: Gathered, nextMs: number | undefined) => void;

/** Puts together what a walk over a grid finds: one summary a bucket, the same as when it is known. */
export class Gathering {
  readonly #grid: Grid;
  readonly #tell: Tell;
  /** What came of the bucket that begins at `#openMs`, and whether that is all so far. */
  #open: Summary | undefined;
  #edges: Edge[] = [];
  #openMs = Number.NaN;
  #isWhole = true;

  constructor(grid: Grid, tell: Tell) {
    this.#grid = grid;
    this.#tell = tell;
  }

  /** The next points, all of one bucket. */
  add(sum: Sum): void {
    const { summary } = sum;
    const startMs = this.#grid.bucketOf(summary.firstMs);
    if (startMs !== this.#openMs) this.#begin(startMs, true);
    this.#open = this.#open === undefined ? summary : joinSummaries(this.#open, summary);
    if (isEdge(sum)) this.#edges.push(sum);
  }

  /** The next points are not summed up: nothing is told of them. */
  pass(firstMs: number, lastMs: number): void {
    const startMs = this.#grid.bucketOf(firstMs);
    if (startMs === this.#openMs) this.#isWhole = false;
    this.#begin(startMs, false);
    this.#openMs = this.#grid.bucketOf(lastMs);
  }

  end(endMs: number): void {
    this.#begin(endMs, true);
  }

  #begin(startMs: number, isWhole: boolean): void {
    const summary = this.#open;
    if (summary !== undefined)
      this.#tell({ summary, edges: this.#edges }, this.#isWhole ? startMs : undefined);
    this.#open = undefined;
    this.#edges = [];
    this.#openMs = startMs;
    this.#isWhole = isWhole;
  }
}

const isEdge = (sum: Sum): sum is Edge => sum.blockId !== undefined;

function bytesOf({ summary, edges, late }: KnownBucket): number {
  // Where a block fills the bucket alone, both have one summary.
  const others = edges.filter((edge) => edge.summary !== summary).length;
  return summaryBytes * (1 + others) + (late.times.length === 0 ? 0 : summaryBytes + 16 * late.times.length);
}

/** Whether these are, bit for bit, the points of the others with indexes in [from, to). */
function isCutOf(
  { times, values }: PointColumns,
  others: PointColumns,
  { from, to }: { from: number; to: number },
): boolean {
  if (times.length !== to - from) return false;
  for (let at = 0; at < times.length; at++) {
    if (times[at] !== others.times[from + at] || !Object.is(values[at], others.values[from + at]))
      return false;
  }
  return true;
}
