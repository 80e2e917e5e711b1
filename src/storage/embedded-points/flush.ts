// Turns the points of a head into blocks: full ones at the newest end, and where a head must be emptied,
// merged into the blocks they fall into.
import type { PointColumns } from "../points.ts";
import type { BlockRow, BlockTable, Owner } from "./block-table.ts";
import { cut, firstAtOrAfter, join, merge, strings } from "./columns.ts";
import type { Head } from "./head.ts";

/** A block may grow to so many times a full one before it is split. */
const oversizeMax = 1.5;
/** A block of strings is also full with so many characters. */
const blockCharacters = 2 ** 17;
/**
 * A block that is not full is written anew with newer points unless it is this many times larger than they
 * are.
 */
const absorbedAtMost = 4;
/** Late points that would fill more blocks than this are merged into those they fall into. */
const lateBlocksMax = 8;
/** Blocks written in one go, and up to half as many again where nothing would be left then. */
const blocksAtOnce = 4;
/** So many blocks are written anew for the sake of late points in one go, however few fall into each. */
const mergesAtOnce = 16;

/** The points of a head, by index, that are in blocks once the transaction commits. */
export interface Flushed {
  readonly head: Head;
  readonly from: number;
  readonly to: number;
  /** There was more to write than is written in one go. */
  readonly hasMore: boolean;
}

/**
 * Writes full blocks of the oldest points that are newer than all blocks; the rest and late points, until
 * they are many, stay in the head, so that blocks are written once in the usual case. Inside a transaction;
 * throws `DamageFound`.
 */
export function flushNewest(table: BlockTable, head: Head): Flushed {
  const points = head.points();
  const last = table.lastBefore(head, Infinity);
  const from = last === undefined ? 0 : firstAtOrAfter(points.times, last.lastMs + 1);
  const newer = points.times.length - from;
  const isLate = from > lateBlocksMax * table.blockPoints;
  if (newer < table.blockPoints)
    return isLate ? flushOldest(table, head) : { head, from, to: from, hasMore: false };
  const count = atOnce(table, newer);
  const absorbed = absorb(table, head, { last, count });
  const to = from + count - ((countOf(absorbed) + count) % table.blockPoints);
  rewrite(table, head, absorbed, (older) => join([...older, cut(points, from, to)], head.kind));
  return { head, from, to, hasMore: count < newer || isLate };
}

/** Writes the oldest points of the head into blocks. Inside a transaction; throws `DamageFound`. */
export function flushOldest(table: BlockTable, head: Head): Flushed {
  const points = head.points();
  const count = atOnce(table, points.times.length);
  let from = 0;
  for (let merges = 0; from < count && merges < mergesAtOnce; merges++) {
    const firstMs = points.times[from]!;
    const block = table.lastBefore(head, firstMs + 1);
    const next = table.firstFrom(head, firstMs + 1);
    const to = next === undefined ? count : firstAtOrAfter(points.times, next.firstMs, from, count);
    const late = cut(points, from, to);
    if (block !== undefined && block.lastMs >= firstMs) {
      rewrite(table, head, [block], ([older]) => merge(older!, late));
    } else {
      const absorbed = absorb(table, head, { last: block, count: to - from });
      rewrite(table, head, absorbed, (older) => join([...older, late], head.kind));
    }
    from = to;
  }
  return { head, from: 0, to: from, hasMore: from < points.times.length };
}

/** So many of `count` points are written in one go. */
function atOnce({ blockPoints }: BlockTable, count: number): number {
  const most = blocksAtOnce * blockPoints;
  return count <= 1.5 * most ? count : most;
}

/**
 * The block `last` and those directly before it that are small enough to be written anew together with
 * `count` points behind them: together less than a full block, so that what a flush costs does not grow with
 * the series.
 */
function absorb(
  table: BlockTable,
  owner: Owner,
  { last, count }: { last: BlockRow | undefined; count: number },
): BlockRow[] {
  const absorbed: BlockRow[] = [];
  let older = 0;
  for (let row = last; row; row = table.lastBefore(owner, row.firstMs)) {
    if (older + row.count >= table.blockPoints || row.count > (older + count) * absorbedAtMost) break;
    if (isFullOfText(table, owner, row)) break;
    absorbed.unshift(row);
    older += row.count;
  }
  return absorbed;
}

/** Blocks cut to a number of characters hold about as many, and at least half of it. */
function isFullOfText(table: BlockTable, owner: Owner, row: BlockRow): boolean {
  return owner.kind === strings && 2 * charactersOf(table.read(owner, row)) >= blockCharacters;
}

const countOf = (rows: readonly BlockRow[]): number => rows.reduce((sum, row) => sum + row.count, 0);

/** Replaces the blocks by blocks of about equal size with the points that `combine` makes of theirs. */
function rewrite(
  table: BlockTable,
  owner: Owner,
  rows: readonly BlockRow[],
  combine: (older: readonly PointColumns[]) => PointColumns,
): void {
  const points = combine(rows.map((row) => table.read(owner, row)));
  for (const row of rows) table.remove(owner, row);
  const count = points.times.length;
  const pieces = Math.min(count, piecesOf(points, table.blockPoints));
  for (let piece = 0; piece < pieces; piece++) {
    const [from, to] = [Math.floor((count * piece) / pieces), Math.floor((count * (piece + 1)) / pieces)];
    table.insert(owner, cut(points, from, to));
  }
}

function piecesOf({ times, values }: PointColumns, blockPoints: number): number {
  const count = times.length <= oversizeMax * blockPoints ? 1 : Math.ceil(times.length / blockPoints);
  return Math.max(count, Math.ceil(charactersOf({ times, values }) / blockCharacters));
}

function charactersOf({ values }: PointColumns): number {
  if (!Array.isArray(values)) return 0;
  return (values as string[]).reduce((sum, text) => sum + text.length, 0);
}

/**
 * Removes the points in [startMs, endMs) from the blocks. Inside a transaction. A block known to be damaged
 * that lies only partly in the range stays where it is put aside: no answer can come from it. Throws
 * `DamageFound`.
 */
export function eraseFromBlocks(table: BlockTable, owner: Owner, startMs: number, endMs: number): void {
  table.forgetDamaged(owner, startMs, endMs);
  for (const row of [...table.covering(owner, startMs, endMs)]) {
    const isWhole = row.firstMs >= startMs && row.lastMs < endMs;
    const points = isWhole ? undefined : table.read(owner, row);
    table.remove(owner, row);
    if (points === undefined) continue;
    const from = firstAtOrAfter(points.times, startMs);
    const to = firstAtOrAfter(points.times, endMs, from);
    const count = points.times.length;
    if (from + count - to > 0)
      table.insert(owner, join([cut(points, 0, from), cut(points, to, count)], owner.kind));
  }
}
