// Flushes the points of a head to blocks: new full blocks after the existing ones, or, when the head must be
// emptied, merged into the blocks with their times.

import { freeChunk } from "../../lib/free-memory.ts";
import {
  concatPoints,
  firstAtOrAfter,
  mergePoints,
  slicePoints,
  stringKind,
  viewPoints,
} from "../point-columns.ts";
import type { PointColumns } from "../points.ts";
import type { BlockRow, PointSetKey } from "./block-row.ts";
import type { BlockTable } from "./block-table.ts";
import type { Head } from "./head.ts";

/** A block may grow to this multiple of a full one before it is split. */
const oversizeMax = 1.5;
/** A block of strings is also full when it has this many characters. */
const blockCharacters = 2 ** 17;
/**
 * A block that is not full is rewritten with newer points if it has at most this multiple of their number.
 */
const rewriteRatioMax = 4;
/**
 * Late points are merged into blocks when they would fill more than this; until then they stay in the head.
 */
const lateBlocksMax = 8;
/** Blocks written in one batch, or up to half as many more when that completes the flush. */
const blocksPerBatch = 4;
/** Blocks rewritten for late points in one batch, however few points each gets. */
const mergesPerBatch = 16;

/** The points of a head with indexes in [from, to), which are in blocks when the transaction commits. */
export interface Flushed {
  readonly head: Head;
  readonly from: number;
  readonly to: number;
  /** More points remain than fit into one batch. */
  readonly hasMore: boolean;
}

/**
 * Writes full blocks of the oldest points that are newer than all blocks. The other points stay in the head,
 * and so do late points until there are many. So blocks are usually written once. Inside a transaction;
 * throws `DamageFound`.
 */
export function flushFullBlocks(table: BlockTable, head: Head): Flushed {
  const points = head.points();
  const last = table.lastBefore(head, Infinity);
  const from = last === undefined ? 0 : firstAtOrAfter(points.times, last.lastMs + 1);
  const newer = points.times.length - from;
  const isLate = from > lateBlocksMax * table.blockPoints;
  if (newer < table.blockPoints)
    return isLate ? flushOldest(table, head) : { head, from, to: from, hasMore: false };
  const count = batchSize(table, newer);
  const rewritten = smallBlocksBefore(table, head, { last, count });
  const to = from + count - ((countOf(rewritten) + count) % table.blockPoints);
  replaceBlocks(table, head, rewritten, (older) =>
    concatPoints([...older, viewPoints(points, from, to)], head.kind),
  );
  return { head, from, to, hasMore: count < newer || isLate };
}

/** Writes the oldest points of the head to blocks. Inside a transaction; throws `DamageFound`. */
export function flushOldest(table: BlockTable, head: Head): Flushed {
  const points = head.points();
  const count = batchSize(table, points.times.length);
  let from = 0;
  for (let merges = 0; from < count && merges < mergesPerBatch; merges++) {
    const firstMs = points.times[from]!;
    const block = table.lastBefore(head, firstMs + 1);
    const next = table.firstFrom(head, firstMs + 1);
    const to = next === undefined ? count : firstAtOrAfter(points.times, next.firstMs, from, count);
    const late = viewPoints(points, from, to);
    if (block !== undefined && block.lastMs >= firstMs) {
      replaceBlocks(table, head, [block], ([older]) => mergePoints(older!, late));
    } else {
      const rewritten = smallBlocksBefore(table, head, { last: block, count: to - from });
      replaceBlocks(table, head, rewritten, (older) => concatPoints([...older, late], head.kind));
    }
    from = to;
  }
  return { head, from: 0, to: from, hasMore: from < points.times.length };
}

/** How many of `count` points are written in this batch. */
function batchSize({ blockPoints }: BlockTable, count: number): number {
  const most = blocksPerBatch * blockPoints;
  return count <= 1.5 * most ? count : most;
}

/**
 * The block `last` and the blocks directly before it that are small enough to be rewritten together with
 * `count` points after them. Together they are less than a full block, so the cost of a flush does not grow
 * with the series.
 */
function smallBlocksBefore(
  table: BlockTable,
  key: PointSetKey,
  { last, count }: { last: BlockRow | undefined; count: number },
): BlockRow[] {
  const small: BlockRow[] = [];
  let older = 0;
  for (let row = last; row; row = table.lastBefore(key, row.firstMs)) {
    if (older + row.count >= table.blockPoints || row.count > (older + count) * rewriteRatioMax) break;
    if (isFullOfCharacters(table, key, row)) break;
    small.unshift(row);
    older += row.count;
  }
  return small;
}

/** Blocks that were split by their number of characters have at least half of the maximum. */
function isFullOfCharacters(table: BlockTable, key: PointSetKey, row: BlockRow): boolean {
  return key.kind === stringKind && 2 * charactersOf(table.read(key, row)) >= blockCharacters;
}

const countOf = (rows: readonly BlockRow[]): number => rows.reduce((sum, row) => sum + row.count, 0);

/**
 * Replaces the blocks by blocks of about equal size, with the points that `combine` returns. These are views
 * of a head when there are no blocks to replace, and else columns of their own.
 */
function replaceBlocks(
  table: BlockTable,
  key: PointSetKey,
  rows: readonly BlockRow[],
  combine: (older: readonly PointColumns[]) => PointColumns,
): void {
  const older = rows.map((row) => table.read(key, row));
  const points = combine(older);
  for (const row of rows) table.remove(key, row);
  const count = points.times.length;
  const blocks = Math.min(count, blockCountOf(points, table.blockPoints));
  for (let block = 0; block < blocks; block++) {
    const [from, to] = [Math.floor((count * block) / blocks), Math.floor((count * (block + 1)) / blocks)];
    table.insert(key, viewPoints(points, from, to));
  }
  if (rows.length > 0) for (const one of [points, ...older]) freePoints(one);
}

/** Left to the garbage collector, they take memory until it runs. */
function freePoints({ times, values }: PointColumns): void {
  freeChunk(times);
  if (values instanceof Float64Array) freeChunk(values);
}

function blockCountOf({ times, values }: PointColumns, blockPoints: number): number {
  const count = times.length <= oversizeMax * blockPoints ? 1 : Math.ceil(times.length / blockPoints);
  return Math.max(count, Math.ceil(charactersOf({ times, values }) / blockCharacters));
}

function charactersOf({ values }: PointColumns): number {
  if (!Array.isArray(values)) return 0;
  return (values as string[]).reduce((sum, value) => sum + value.length, 0);
}

/**
 * Deletes the points in [startMs, endMs) from the blocks. Inside a transaction; throws `DamageFound`. A
 * quarantined block that is only partly in the range stays quarantined.
 */
export function deleteFromBlocks(table: BlockTable, key: PointSetKey, startMs: number, endMs: number): void {
  table.deleteDamaged(key, startMs, endMs);
  for (const row of [...table.overlapping(key, startMs, endMs)]) {
    const isWhole = row.firstMs >= startMs && row.lastMs < endMs;
    const points = isWhole ? undefined : table.read(key, row);
    table.remove(key, row);
    if (points === undefined) continue;
    const from = firstAtOrAfter(points.times, startMs);
    const to = firstAtOrAfter(points.times, endMs, from);
    const count = points.times.length;
    if (from + count - to > 0)
      table.insert(
        key,
        concatPoints([slicePoints(points, 0, from), slicePoints(points, to, count)], key.kind),
      );
  }
}
