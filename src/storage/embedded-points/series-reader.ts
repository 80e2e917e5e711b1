// Reads one series from its blocks and its head together. Of two points with the same time, the head's is
// newer and wins.
//
// `aggregate` goes through the buckets of a query in order of time:
//
// 1. A bucket in the bucket cache whose head points are unchanged adds its cached summary.
// 2. For the buckets up to the next cached one, `#aggregateRange` goes through blocks and head points. If
//    each summary in a block's row is of one bucket, these are added. Otherwise the block is decoded, and its
//    points are summarised for each bucket. The summaries make new cached buckets (`bucket-summarizer.ts`).
//    In buckets of whole days of UTC, stored summaries of days replace those of blocks (`day-summaries.ts`).
// 3. A block that overlaps more buckets than `summarisedBucketsMax` is decoded, and its points are added.
//
// Other threads help to decode the blocks of a long read (`shared-blocks.ts`).
//
// `storage/aggregation.ts` makes the rows of the result from these summaries and points.
import { fail } from "../../errors.ts";
import type { TimeRange } from "../../lib/time.ts";
import { Aggregation, type NumberPoint, needsNeighbours, summaryNeeds } from "../aggregation.ts";
import {
  concatRanges,
  firstAtOrAfter,
  mergePoints,
  noPointsOf,
  numberKind,
  type PointRange,
  viewPoints,
} from "../point-columns.ts";
import type { AggregateColumns, AggregateQuery, Point, PointColumns, ScanQuery } from "../points.ts";
import { hasSquares, ofTimes, type Summary, summariesPerSpan } from "../summary.ts";
import type { BlockRow, PointSetKey } from "./block-row.ts";
import type { BlockTable } from "./block-table.ts";
import type { BucketGrid, BucketSummary, CachedBucket, PartSummary } from "./bucket-cache.ts";
import { BucketSummarizer } from "./bucket-summarizer.ts";
import { areDaysOf, type DaySummary, endOfDay } from "./day-summaries.ts";
import { readBlocksMax } from "./decoded-blocks.ts";
import type { Head } from "./head.ts";
import {
  type BucketRange,
  isSummarised,
  knownSummaries,
  neededUntilMs,
  type ReadPart,
  wholeBlockOf,
} from "./read-parts.ts";
import { mayShare, type SharedBlock, type SharedBlocks, sharedBlocksMax } from "./shared-blocks.ts";

/** A part before its turn, or the summary of a whole day instead of its parts. */
interface WaitingPart {
  readonly part?: ReadPart;
  /** The range that the part is clipped to. */
  readonly range: BucketRange;
  /** Whether it touches few enough buckets for summaries. */
  readonly isSummarised: boolean;
  /** Summaries that need no points. */
  readonly known?: readonly PartSummary[] | undefined;
  readonly shared?: SharedBlock | undefined;
}

/** The search for the last point before a time, in the head or in a block that is decoded up to `untilMs`. */
interface LastSearch {
  readonly inHead: Point | undefined;
  readonly beforeMs: number;
  untilMs(block: BlockRow): number;
}

interface SummarisedPart {
  readonly part: ReadPart | undefined;
  readonly range: BucketRange;
  /** One for each bucket; undefined when the part touches too many buckets. */
  readonly summaries: readonly PartSummary[] | undefined;
}

const noPoints = noPointsOf(numberKind);
const noValues = new Float64Array();
/** Blocks that a read decodes before it requests help: about 0.5 ms, the time until help arrives. */
const unsharedBlocks = 6;

/** Made for one read: nothing is written while it is used. */
export class SeriesReader {
  readonly #table: BlockTable;
  readonly #key: PointSetKey;
  readonly #head: Head | undefined;
  readonly #sharing: SharedBlocks | undefined;
  /** Blocks that were summarised, and blocks whose points were aggregated. */
  #summarised = 0;
  #aggregated = 0;

  /** Without `sharing`, no other thread helps. */
  constructor(
    { table, sharing }: { readonly table: BlockTable; readonly sharing: SharedBlocks | undefined },
    key: PointSetKey,
    head: Head | undefined,
  ) {
    this.#table = table;
    this.#key = key;
    this.#head = head;
    this.#sharing = sharing;
  }

  /** The result has arrays of its own. */
  scan({ startMs, endMs, limit, includeOutside = false }: ScanQuery): PointColumns {
    const before = includeOutside ? this.lastBefore(startMs, () => endMs) : undefined;
    const ranges: PointRange[] = before === undefined ? [] : [{ points: columnsOf(before), from: 0, to: 1 }];
    let count = ranges.length;
    const stopMs = includeOutside ? Infinity : endMs;
    for (const part of this.#parts(startMs, stopMs)) {
      if (count >= limit) break;
      const needs = { isKept: true, endMs };
      const { range, isLastPart } = this.#withPoints(part, needs, (all) => {
        const { points, from, to: inside } = clip(all, { startMs, endMs });
        const isLastPart = inside < points.times.length;
        const to = Math.min(includeOutside && isLastPart ? inside + 1 : inside, from + limit - count);
        const copy = concatRanges([{ points, from, to }], this.#key.kind);
        return { range: { points: copy, from: 0, to: to - from }, isLastPart };
      });
      if (range.to > 0) ranges.push(range);
      count += range.to;
      if (isLastPart) break;
    }
    const last = ranges.at(-1);
    const lastMs = last?.points.times[last.to - 1] ?? -Infinity;
    const isCut = count >= limit || lastMs >= endMs;
    this.#refuseIfDamaged(startMs, isCut ? lastMs : includeOutside ? Infinity : endMs - 1);
    return ranges.length === 1 ? last!.points : concatRanges(ranges, this.#key.kind);
  }

  /**
   * The last point strictly before `beforeMs`. If a block must be decoded for it, then at once up to
   * `untilMs`, for the read that follows.
   */
  lastBefore(beforeMs: number, untilMs: (block: BlockRow) => number = () => beforeMs): Point | undefined {
    const head = this.#head?.points();
    const index = head === undefined ? -1 : firstAtOrAfter(head.times, beforeMs) - 1;
    const inHead = index < 0 ? undefined : pointAt(head!, index);
    const block = this.#table.lastBefore(this.#key, beforeMs);
    const isHeadNewer = block === undefined || (inHead !== undefined && inHead.timeMs >= block.lastMs);
    const last = isHeadNewer ? inHead : this.#lastInBlockOrHead(block, { inHead, beforeMs, untilMs });
    this.#refuseIfDamaged(last?.timeMs ?? -Infinity, beforeMs - 1);
    return last;
  }

  /** Whether no point is at or after `timeMs`, and no damaged block that could have one. */
  hasNoPointFrom(timeMs: number): boolean {
    const inHead = this.#head?.points().times.at(-1) ?? -Infinity;
    const inBlocks = this.#table.lastBefore(this.#key, Infinity)?.lastMs ?? -Infinity;
    const isUndamaged = this.#table.damagedIn(this.#key, timeMs, Infinity) === undefined;
    return isUndamaged && Math.max(inHead, inBlocks) < timeMs;
  }

  aggregate(query: AggregateQuery): AggregateColumns {
    const { startMs, endMs } = query.clip ?? query;
    const hasNeighbours = needsNeighbours(query);
    const grid = this.#table.bucketCache.gridFor(this.#key.series, query);
    // The clip can cut the first bucket and the last one: their points are read, and nothing is cached.
    const firstMs = grid.bucketStart(startMs);
    const wholeFromMs = firstMs < startMs ? firstMs + grid.bucketMs : startMs;
    const wholeToMs = grid.bucketStart(endMs);
    const cut = { grid, isCut: true, needs: summaryNeeds(query), blockSummaries: [], queryEndMs: endMs };
    const first = { ...cut, startMs, endMs: Math.min(wholeFromMs, endMs) };
    const isFirstCut = startMs < wholeFromMs;
    const untilMs = (block: BlockRow) => (isFirstCut ? neededUntilMs(block, first) : endMs);
    const before = hasNeighbours ? this.lastBefore(startMs, untilMs) : undefined;
    const aggregation = new Aggregation(this.#table.kernels, query, before as NumberPoint | undefined);
    if (isFirstCut) this.#aggregateRange(aggregation, first);
    const needs = cut.needs === "squares" ? "squares" : "means";
    const whole = { grid, startMs: wholeFromMs, endMs: wholeToMs, needs, queryEndMs: endMs } as const;
    this.#aggregateBuckets(aggregation, whole);
    if (endMs > wholeToMs && wholeToMs >= wholeFromMs)
      this.#aggregateRange(aggregation, { ...cut, startMs: wholeToMs, endMs });
    this.#table.bucketCache.dropIfEmpty(this.#key.series, grid);
    const after = aggregation.isFull || !hasNeighbours ? undefined : this.#firstFrom(endMs);
    const readToMs = hasNeighbours ? (after?.timeMs ?? Infinity) : endMs - 1;
    this.#refuseIfDamaged(startMs, aggregation.isFull ? aggregation.completedByMs : readToMs);
    return aggregation.finish(after as NumberPoint | undefined);
  }

  /** Adds whole buckets, from the cache where it has them. */
  #aggregateBuckets(
    aggregation: Aggregation,
    { grid, startMs, endMs, needs, queryEndMs }: Omit<BucketRange, "isCut" | "blockSummaries">,
  ): void {
    const head = this.#head?.points() ?? noPoints;
    for (let atMs = startMs; atMs < endMs && !aggregation.isFull; ) {
      const cached = grid.get(atMs);
      const untilMs = Math.min(endMs, cached?.noBlocksUntilMs ?? grid.nextCachedFrom(atMs));
      const isEnough = cached !== undefined && (needs !== "squares" || hasSquares(cached.summary));
      if (isEnough && grid.isFresh(cached, this.#head)) {
        aggregation.addSummaries([cached.summary]);
        const headMs = head.times[firstAtOrAfter(head.times, atMs + grid.bucketMs)] ?? Infinity;
        atMs = headMs < untilMs ? grid.bucketStart(headMs) : untilMs;
      } else {
        const blockSummaries = isEnough ? cached.blockSummaries : [];
        const range: BucketRange = {
          grid,
          startMs: atMs,
          endMs: untilMs,
          isCut: false,
          needs,
          blockSummaries,
          queryEndMs,
        };
        this.#aggregateRange(aggregation, range);
        atMs = untilMs;
      }
    }
  }

  /** Adds the points of a range. Caches the buckets of which all points were summarised. */
  #aggregateRange(aggregation: Aggregation, range: BucketRange): void {
    const { grid, endMs, isCut } = range;
    const buckets: CachedBucket[] = [];
    let complete: Summary[] = [];
    const summarizer = new BucketSummarizer(grid, (bucket, nextStartMs) => {
      complete.push(bucket.summary);
      if (nextStartMs !== undefined && !isCut) buckets.push(this.#bucketToCache(grid, bucket, nextStartMs));
    });
    const addComplete = () => {
      if (complete.length === 0) return;
      aggregation.addSummaries(complete);
      complete = [];
    };
    for (const { part, range: clipTo, summaries } of this.#summarisedParts(range)) {
      if (aggregation.isFull) break;
      for (const summary of summaries ?? []) summarizer.add(summary);
      addComplete();
      if (summaries !== undefined || part === undefined) continue;
      // No summaries of these blocks are cached, so the first of them are.
      const isKept = this.#aggregated++ < readBlocksMax;
      this.#withPoints(part, { isKept, endMs: range.queryEndMs }, (all) => {
        const { points, from, to } = clip(all, clipTo);
        if (to > from) summarizer.skip(points.times[from]!, points.times[to - 1]!);
        addComplete();
        aggregation.addPoints(points.times, points.values as Float64Array, from, to);
      });
    }
    if (!aggregation.isFull) summarizer.end(endMs);
    addComplete();
    this.#table.bucketCache.put(grid, buckets);
  }

  #bucketToCache(
    grid: BucketGrid,
    { summary, blockSummaries }: BucketSummary,
    noBlocksUntilMs: number,
  ): CachedBucket {
    const startMs = grid.bucketStart(summary.firstMs);
    const headPoints = this.#head?.countBetween(startMs, startMs + grid.bucketMs) ?? 0;
    const headVersion = this.#head?.version ?? 0;
    return { summary, blockSummaries, noBlocksUntilMs, startMs, headPoints, headVersion };
  }

  /** The parts of a range in order. Blocks of a long read are shared before their turn. */
  *#summarisedParts(range: BucketRange): Generator<SummarisedPart> {
    const waiting: WaitingPart[] = [];
    const next = (): SummarisedPart => {
      const one = waiting.shift()!;
      return { part: one.part, range: one.range, summaries: this.#summariesOf(one) };
    };
    try {
      for (const one of this.#daysAndParts(range)) {
        waiting.push(one);
        const isFirst = waiting.length === 1 && one.shared === undefined;
        if (isFirst || waiting.length === sharedBlocksMax) yield next();
      }
      while (waiting.length > 0) yield next();
    } finally {
      this.#sharing?.end();
    }
  }

  /** The days of the range that have a summary, and the parts between them. */
  *#daysAndParts(range: BucketRange): Generator<WaitingPart> {
    let atMs = range.startMs;
    for (const day of this.#daysOf(range)) {
      if (day.startMs > atMs) yield* this.#preparedParts({ ...range, startMs: atMs, endMs: day.startMs });
      yield { range, isSummarised: true, known: [{ blockId: undefined, summary: day.summary }] };
      atMs = endOfDay(day);
    }
    if (atMs < range.endMs) yield* this.#preparedParts({ ...range, startMs: atMs });
  }

  /** The stored summaries of whole days in which the head has no point. */
  *#daysOf({ grid, isCut, startMs, endMs }: BucketRange): Generator<DaySummary> {
    if (isCut || !areDaysOf(grid)) return;
    for (const day of this.#table.days.between(this.#key.series, { startMs, endMs }))
      if (this.#head === undefined || this.#head.countBetween(day.startMs, endOfDay(day)) === 0) yield day;
  }

  *#preparedParts(range: BucketRange): Generator<WaitingPart> {
    for (const part of this.#parts(range.startMs, range.endMs)) {
      const isFew = isSummarised(part, range);
      const known = isFew ? knownSummaries(part, range) : undefined;
      const shared = isFew && !known ? this.#share(part, range) : undefined;
      yield { part, range, isSummarised: isFew, known, shared };
    }
  }

  /** Shares a block that must be decoded, after the first ones: a short read is over before help comes. */
  #share(part: ReadPart, { grid, startMs, endMs, needs }: BucketRange): SharedBlock | undefined {
    const block = wholeBlockOf(part);
    const sharing = this.#sharing;
    if (!sharing || !block || this.#table.hasCached(block) || this.#summarised++ < unsharedBlocks)
      return undefined;
    const bytes = this.#table.readBytes(this.#key, block);
    if (!mayShare(bytes)) return undefined;
    const { firstMs, lastMs } = block;
    const wantsSquares = needs === "squares";
    return sharing.publish({ bytes, firstMs, lastMs, startMs, endMs, grid, wantsSquares });
  }

  /**
   * Summaries of the points of the part in the range, one for each bucket; undefined when the part touches
   * too many buckets.
   */
  #summariesOf(waiting: WaitingPart): readonly PartSummary[] | undefined {
    const { part, range, isSummarised, known, shared } = waiting;
    if (!isSummarised || known || part === undefined) return known;
    const summaries = (shared && this.#sharing?.take(shared)) ?? this.#summarise(part, range);
    const blockId = wholeBlockOf(part)?.id;
    return summaries.map((summary) => ({ blockId, summary }));
  }

  #summarise(part: ReadPart, range: BucketRange): Summary[] {
    const { grid, needs } = range;
    const { kernels } = this.#table;
    const summarise = (all: PointColumns) => {
      const { points, from, to } = clip(all, range);
      const [times, values] = [points.times, points.values as Float64Array];
      if (needs === "means" || needs === "squares") {
        const buckets = { startMs: grid.phaseMs, bucketMs: grid.bucketMs };
        return kernels.summariseBuckets({ times, values, from, to }, buckets, needs === "squares");
      }
      const spanEnd = (timeMs: number) => grid.bucketStart(timeMs) + grid.bucketMs;
      const summariser = needs === "times" ? ofTimes : kernels.ofValues;
      return summariesPerSpan(times, values, { from, to, spanEnd }, summariser);
    };
    const block = wholeBlockOf(part);
    if (block === undefined) return summarise(this.#pointsOf(part));
    return needs === "times"
      ? this.#table.readTimesOnce(this.#key, block, (times) => summarise({ times, values: noValues }))
      : this.#table.readOnce(this.#key, block, summarise, neededUntilMs(block, range));
  }

  /**
   * Blocks and head as parts in order of time, each with a point in [startMs, endMs). A part may also have
   * points outside of the range.
   */
  *#parts(startMs: number, endMs: number): Generator<ReadPart> {
    const head = this.#head?.points() ?? noPointsOf(this.#key.kind);
    const end = firstAtOrAfter(head.times, endMs);
    let at = firstAtOrAfter(head.times, startMs);
    for (const block of this.#table.overlapping(this.#key, startMs, endMs)) {
      if (at === end || block.lastMs < head.times[at]!) {
        yield { block, overlappingHead: undefined };
        continue;
      }
      const from = firstAtOrAfter(head.times, block.firstMs, at);
      if (from > at) yield { points: viewPoints(head, at, from) };
      at = Math.min(end, firstAtOrAfter(head.times, block.lastMs + 1, from));
      yield { block, overlappingHead: at > from ? viewPoints(head, from, at) : undefined };
    }
    if (end > at) yield { points: viewPoints(head, at, end) };
  }

  /**
   * The last point before `beforeMs` in the block or the head, where the block extends beyond the head's
   * point.
   */
  #lastInBlockOrHead(block: BlockRow, { inHead, beforeMs, untilMs }: LastSearch): Point {
    if (block.summaries.length > 0 && block.lastMs < beforeMs)
      return { timeMs: block.lastMs, value: this.#table.readSummary(this.#key, block).lastValue };
    const lastOf = (points: PointColumns) => pointAt(points, firstAtOrAfter(points.times, beforeMs) - 1);
    const endMs = Math.max(beforeMs, untilMs(block));
    const inBlock = this.#table.readAgain(this.#key, block, lastOf, endMs);
    return inHead !== undefined && inHead.timeMs >= inBlock.timeMs ? inHead : inBlock;
  }

  #firstFrom(fromMs: number): Point | undefined {
    for (const part of this.#parts(fromMs, Infinity)) {
      const needs = { isKept: true, endMs: fromMs };
      return this.#withPoints(part, needs, (points) => pointAt(points, firstAtOrAfter(points.times, fromMs)));
    }
    return undefined;
  }

  /**
   * Passes the points of a part to `use`, which must not keep their arrays or read others. The cache may keep
   * the decoded block if `isKept`. Points after the first one at or after `endMs` may be missing.
   */
  #withPoints<Result>(
    part: ReadPart,
    { isKept, endMs }: { readonly isKept: boolean; readonly endMs: number },
    use: (points: PointColumns) => Result,
  ): Result {
    const block = wholeBlockOf(part);
    if (block === undefined) return use(this.#pointsOf(part));
    return isKept
      ? this.#table.readAgain(this.#key, block, use, endMs)
      : this.#table.readOnce(this.#key, block, use, endMs);
  }

  #pointsOf(part: ReadPart): PointColumns {
    if ("points" in part) return part.points;
    const inBlock = this.#table.readCached(this.#key, part.block);
    return part.overlappingHead === undefined ? inBlock : mergePoints(inBlock, part.overlappingHead);
  }

  /** Refuses a read whose result could depend on a damaged block, instead of returning a wrong result. */
  #refuseIfDamaged(startMs: number, endMs: number): void {
    const damaged = this.#table.damagedIn(this.#key, startMs, endMs);
    if (damaged === undefined) return;
    const { series, firstMs, lastMs } = damaged;
    throw fail("points-damaged", { series, startMs: firstMs, endMs: lastMs });
  }
}

/** The indexes of the points in the range. */
function clip(points: PointColumns, { startMs, endMs }: TimeRange): PointRange {
  const from = firstAtOrAfter(points.times, startMs);
  return { points, from, to: firstAtOrAfter(points.times, endMs, from) };
}

const pointAt = ({ times, values }: PointColumns, index: number): Point => ({
  timeMs: times[index]!,
  value: values[index]!,
});

const columnsOf = ({ timeMs, value }: Point): PointColumns => ({
  times: Float64Array.of(timeMs),
  values: typeof value === "string" ? [value] : Float64Array.of(value),
});
