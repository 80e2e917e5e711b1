// Answers queries about one series from its blocks and its head together; where both have a point, the head
// wins.
import { fail } from "../../errors.ts";
import type { TimeRange } from "../../lib/time.ts";
import type { AggregateColumns, AggregateQuery, PointColumns, ScanQuery } from "../points.ts";
import { Aggregation } from "./aggregate.ts";
import type { BlockRow, BlockTable, Owner } from "./block-table.ts";
import { emptyColumns, firstAtOrAfter, gather, merge, numbers, type Stretch, view } from "./columns.ts";
import type { Head } from "./head.ts";
import { type Edge, Gathering, type Grid, type KnownBucket, type Sum } from "./known-buckets.ts";
import { type Summary, summarise } from "./summary.ts";

export interface FoundPoint {
  readonly timeMs: number;
  readonly value: number | string;
}

type NumberPoint = FoundPoint & { readonly value: number };

/** A block not yet unpacked, with what came late in between. */
interface BlockPiece {
  readonly block: BlockRow;
  readonly late: PointColumns | undefined;
}

/** Points in ascending time. */
type Piece = BlockPiece | { readonly points: PointColumns };

/** Over whole buckets; where the only one with points of blocks was known, with its edges. */
interface Walk extends TimeRange {
  readonly grid: Grid;
  readonly edges: readonly Edge[];
}

const none = emptyColumns(numbers);
/** What touches more buckets than this is read point by point. */
const partsMax = 16;

export class SeriesReader {
  readonly #table: BlockTable;
  readonly #owner: Owner;
  readonly #head: Head | undefined;

  constructor(table: BlockTable, owner: Owner, head: Head | undefined) {
    this.#table = table;
    this.#owner = owner;
    this.#head = head;
  }

  scan({ startMs, endMs, limit, includeOutside = false }: ScanQuery): PointColumns {
    const before = includeOutside ? this.#lastBefore(startMs) : undefined;
    const found: Stretch[] = before === undefined ? [] : [{ points: columnsOf(before), from: 0, to: 1 }];
    let count = found.length;
    const stopMs = includeOutside ? Infinity : endMs;
    for (const piece of this.#pieces(startMs, stopMs)) {
      if (count >= limit) break;
      const { points, from, to: inside } = within(this.#pointsOf(piece), { startMs, endMs });
      const isLast = inside < points.times.length;
      const to = Math.min(includeOutside && isLast ? inside + 1 : inside, from + limit - count);
      if (to > from) found.push({ points, from, to });
      count += to - from;
      if (isLast) break;
    }
    const last = found.at(-1);
    const lastMs = last?.points.times[last.to - 1] ?? -Infinity;
    const isCut = count >= limit || lastMs >= endMs;
    this.#refuseDamage(startMs, isCut ? lastMs : includeOutside ? Infinity : endMs - 1);
    return gather(found, this.#owner.kind);
  }

  /** The last point strictly before `beforeMs`. */
  latest(beforeMs: number): FoundPoint | undefined {
    return this.#lastBefore(beforeMs);
  }

  /** Whether there is no point at or after `timeMs`, nor a stretch that cannot be read. */
  endsBefore(timeMs: number): boolean {
    const inHead = this.#head?.points().times.at(-1) ?? -Infinity;
    const inBlocks = this.#table.lastBefore(this.#owner, Infinity)?.lastMs ?? -Infinity;
    const isWhole = this.#table.damagedIn(this.#owner, timeMs, Infinity) === undefined;
    return isWhole && Math.max(inHead, inBlocks) < timeMs;
  }

  aggregate(query: AggregateQuery): AggregateColumns {
    const { startMs, endMs } = query;
    const aggregation = new Aggregation(query, this.#lastBefore(startMs) as NumberPoint | undefined);
    const grid = this.#table.known.of(this.#owner.series, query);
    const head = this.#head?.points() ?? none;
    for (let atMs = startMs; atMs < endMs && !aggregation.full; ) {
      const known = grid.at(atMs);
      const untilMs = Math.min(endMs, known?.nextMs ?? grid.nextFrom(atMs));
      if (known !== undefined && grid.isFresh(known, head)) {
        aggregation.addSummary(known.summary);
        const headMs = head.times[firstAtOrAfter(head.times, atMs + grid.bucketMs)] ?? Infinity;
        atMs = headMs < untilMs ? grid.bucketOf(headMs) : untilMs;
      } else {
        this.#walk(aggregation, { grid, startMs: atMs, endMs: untilMs, edges: known?.edges ?? [] });
        atMs = untilMs;
      }
    }
    const after = aggregation.full ? undefined : this.#firstFrom(endMs);
    this.#refuseDamage(startMs, aggregation.full ? aggregation.readMs : (after?.timeMs ?? Infinity));
    return aggregation.finish(after as NumberPoint | undefined);
  }

  /** Feeds what lies in a range of whole buckets; those that were all summed up are known from then on. */
  #walk(aggregation: Aggregation, walk: Walk): void {
    const { grid, startMs, endMs } = walk;
    const gathering = new Gathering(grid, (gathered, nextMs) => {
      aggregation.addSummary(gathered.summary);
      if (nextMs !== undefined) this.#learn(grid, { ...gathered, nextMs });
    });
    for (const piece of this.#pieces(startMs, endMs)) {
      if (aggregation.full) return;
      const sums = this.#sumsOf(piece, walk);
      for (const sum of sums ?? []) gathering.add(sum);
      if (sums !== undefined) continue;
      const { points, from, to } = within(this.#pointsOf(piece), walk);
      if (to > from) gathering.pass(points.times[from]!, points.times[to - 1]!);
      aggregation.addPoints(points.times, points.values as Float64Array, from, to);
    }
    gathering.end(endMs);
  }

  #learn(grid: Grid, found: Pick<KnownBucket, "summary" | "edges" | "nextMs">): void {
    const startMs = grid.bucketOf(found.summary.firstMs);
    const inHead = this.#head?.between(startMs, startMs + grid.bucketMs);
    const late = inHead?.times.length ? inHead : none;
    this.#table.known.put(grid, { ...found, startMs, late });
  }

  /** What of the piece lies in the walk, bucket by bucket; undefined where it touches too many of them. */
  #sumsOf(piece: Piece, walk: Walk): readonly Sum[] | undefined {
    const { grid, edges } = walk;
    const block = "block" in piece && piece.late === undefined ? piece.block : undefined;
    const { firstMs, lastMs } = "block" in piece ? piece.block : endsOf(piece.points);
    const buckets = (grid.bucketOf(lastMs) - grid.bucketOf(firstMs)) / grid.bucketMs + 1;
    if (buckets > partsMax) return undefined;
    if (buckets === 1 && block !== undefined)
      return [{ blockId: undefined, summary: this.#table.readSummary(this.#owner, block) }];
    const edge = edges.find(({ blockId }) => blockId === block?.id);
    if (edge !== undefined) return [edge];
    const summaries = summariesBy(grid, within(this.#pointsOf(piece), walk));
    return summaries.map((summary) => ({ blockId: block?.id, summary }));
  }

  /**
   * Pieces with a point in [startMs, endMs), ascending, blocks and head in one; they may begin before and
   * end behind.
   */
  *#pieces(startMs: number, endMs: number): Generator<Piece> {
    const head = this.#head?.points() ?? emptyColumns(this.#owner.kind);
    const end = firstAtOrAfter(head.times, endMs);
    let at = firstAtOrAfter(head.times, startMs);
    for (const block of this.#table.covering(this.#owner, startMs, endMs)) {
      if (at === end || block.lastMs < head.times[at]!) {
        yield { block, late: undefined };
        continue;
      }
      const from = firstAtOrAfter(head.times, block.firstMs, at);
      if (from > at) yield { points: view(head, at, from) };
      at = Math.min(end, firstAtOrAfter(head.times, block.lastMs + 1, from));
      yield { block, late: at > from ? view(head, from, at) : undefined };
    }
    if (end > at) yield { points: view(head, at, end) };
  }

  #lastBefore(beforeMs: number): FoundPoint | undefined {
    const head = this.#head?.points();
    const index = head === undefined ? -1 : firstAtOrAfter(head.times, beforeMs) - 1;
    const inHead = index < 0 ? undefined : pointAt(head!, index);
    const block = this.#table.lastBefore(this.#owner, beforeMs);
    const isNewest = block === undefined || (inHead !== undefined && inHead.timeMs >= block.lastMs);
    const found = isNewest ? inHead : this.#lastOf(block, { inHead, beforeMs });
    this.#refuseDamage(found?.timeMs ?? -Infinity, beforeMs - 1);
    return found;
  }

  #lastOf(
    block: BlockRow,
    { inHead, beforeMs }: { inHead: FoundPoint | undefined; beforeMs: number },
  ): FoundPoint {
    if (block.summary !== undefined && block.lastMs < beforeMs) {
      return { timeMs: block.lastMs, value: this.#table.readSummary(this.#owner, block).lastValue };
    }
    const points = this.#table.readKept(this.#owner, block);
    const found = pointAt(points, firstAtOrAfter(points.times, beforeMs) - 1);
    return inHead !== undefined && inHead.timeMs >= found.timeMs ? inHead : found;
  }

  #firstFrom(fromMs: number): FoundPoint | undefined {
    for (const piece of this.#pieces(fromMs, Infinity)) {
      const points = this.#pointsOf(piece);
      return pointAt(points, firstAtOrAfter(points.times, fromMs));
    }
    return undefined;
  }

  #pointsOf(piece: Piece): PointColumns {
    if ("points" in piece) return piece.points;
    const older = this.#table.readKept(this.#owner, piece.block);
    return piece.late === undefined ? older : merge(older, piece.late);
  }

  /**
   * Never a wrong answer: no query is answered whose answer could lie in a stretch that cannot be read.
   */
  #refuseDamage(startMs: number, endMs: number): void {
    const stretch = this.#table.damagedIn(this.#owner, startMs, endMs);
    if (stretch === undefined) return;
    const { series, firstMs, lastMs } = stretch;
    throw fail("points-damaged", { series, startMs: firstMs, endMs: lastMs });
  }
}

/** The points in the range. */
function within(points: PointColumns, { startMs, endMs }: TimeRange): Stretch {
  const from = firstAtOrAfter(points.times, startMs);
  return { points, from, to: firstAtOrAfter(points.times, endMs, from) };
}

const endsOf = ({ times }: PointColumns) => ({ firstMs: times[0]!, lastMs: times.at(-1)! });

/** A summary of each bucket that has some of the points, in order. */
function summariesBy(grid: Grid, { points, from, to }: Stretch): Summary[] {
  const { times, values } = points;
  const summaries: Summary[] = [];
  for (let first = from; first < to; ) {
    const end = firstAtOrAfter(times, grid.bucketOf(times[first]!) + grid.bucketMs, first, to);
    summaries.push(summarise(times, values as Float64Array, first, end));
    first = end;
  }
  return summaries;
}

const pointAt = ({ times, values }: PointColumns, index: number): FoundPoint => ({
  timeMs: times[index]!,
  value: values[index]!,
});

const columnsOf = ({ timeMs, value }: FoundPoint): PointColumns => ({
  times: Float64Array.of(timeMs),
  values: typeof value === "string" ? [value] : Float64Array.of(value),
});
