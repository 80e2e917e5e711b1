// Answers questions about one series from its blocks and its head together; where both have a point, the head
// wins.
import { fail } from "../../errors.ts";
import type { AggregateColumns, AggregateQuestion, PointColumns, ScanQuestion } from "../points.ts";
import { Aggregation } from "./aggregate.ts";
import type { BlockRow, BlockTable, Owner } from "./block-table.ts";
import { cut, emptyColumns, firstAtOrAfter, gather, merge, type Stretch } from "./columns.ts";
import type { Head } from "./head.ts";
import type { Summary } from "./summary.ts";

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

/** A block that touches more buckets than this is read point by point. */
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

  scan({ startMs, endMs, limit, includeOutside = false }: ScanQuestion): PointColumns {
    const before = includeOutside ? this.#lastBefore(startMs) : undefined;
    const found: Stretch[] = before === undefined ? [] : [{ points: columnsOf(before), from: 0, to: 1 }];
    let count = found.length;
    const stopMs = includeOutside ? Infinity : endMs;
    for (const piece of this.#pieces(startMs, stopMs)) {
      if (count >= limit) break;
      const points = this.#pointsOf(piece);
      const from = firstAtOrAfter(points.times, startMs);
      const inside = firstAtOrAfter(points.times, endMs, from);
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

  aggregate(question: AggregateQuestion): AggregateColumns {
    const { startMs, endMs } = question;
    const aggregation = new Aggregation(question, this.#lastBefore(startMs) as NumberPoint | undefined);
    let readMs = -Infinity;
    for (const piece of this.#pieces(startMs, endMs)) {
      if (aggregation.full) break;
      const summaries = "block" in piece ? this.#summariesOf(piece, question) : undefined;
      if (summaries !== undefined) {
        for (const summary of summaries) aggregation.addSummary(summary);
        readMs = summaries.at(-1)!.lastMs;
      } else {
        const { times, values } = this.#pointsOf(piece);
        const from = firstAtOrAfter(times, startMs);
        aggregation.addPoints(times, values as Float64Array, from, firstAtOrAfter(times, endMs, from));
        readMs = times.at(-1)!;
      }
    }
    const after = aggregation.full ? undefined : this.#firstFrom(endMs);
    this.#refuseDamage(startMs, aggregation.full ? readMs : (after?.timeMs ?? Infinity));
    return aggregation.finish(after as NumberPoint | undefined);
  }

  /** The block bucket by bucket, where it lies within the range and touches so few that this pays. */
  #summariesOf({ block, late }: BlockPiece, question: AggregateQuestion): readonly Summary[] | undefined {
    const { startMs, endMs, bucketMs } = question;
    if (block.firstMs < startMs || block.lastMs >= endMs) return undefined;
    const first = Math.floor((block.firstMs - startMs) / bucketMs);
    const buckets = Math.floor((block.lastMs - startMs) / bucketMs) - first + 1;
    if (buckets === 1 && late === undefined) return [this.#table.readSummary(this.#owner, block)];
    return buckets <= partsMax ? this.#table.readParts(this.#owner, block, question, late) : undefined;
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
      if (from > at) yield { points: cut(head, at, from) };
      at = Math.min(end, firstAtOrAfter(head.times, block.lastMs + 1, from));
      yield { block, late: at > from ? cut(head, from, at) : undefined };
    }
    if (end > at) yield { points: cut(head, at, end) };
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
   * Never a wrong answer: no question is answered whose answer could lie in a stretch that cannot be read.
   */
  #refuseDamage(startMs: number, endMs: number): void {
    const stretch = this.#table.damagedIn(this.#owner, startMs, endMs);
    if (stretch === undefined) return;
    const { series, firstMs, lastMs } = stretch;
    throw fail("points-damaged", { series, startMs: firstMs, endMs: lastMs });
  }
}

const pointAt = ({ times, values }: PointColumns, index: number): FoundPoint => ({
  timeMs: times[index]!,
  value: values[index]!,
});

const columnsOf = ({ timeMs, value }: FoundPoint): PointColumns => ({
  times: Float64Array.of(timeMs),
  values: typeof value === "string" ? [value] : Float64Array.of(value),
});
