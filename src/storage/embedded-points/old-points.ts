// Counts the old points of a series that can be deleted without reading a block: those of whole blocks, and
// those of the head before the first block that stays.
import { firstAtOrAfter } from "../point-columns.ts";
import type { OldPoints, OldPointsQuery } from "../points.ts";
import type { PointSetKey } from "./block-row.ts";
import type { BlockTable } from "./block-table.ts";
import type { Head } from "./head.ts";

interface PointSet {
  readonly key: PointSetKey;
  readonly head: Head | undefined;
}

/** `endMs` cuts no block, and is `beforeMs` unless a block has points on both sides of it. */
export function findOldPoints(
  table: BlockTable,
  { key, head }: PointSet,
  { fromMs = -Infinity, beforeMs }: OldPointsQuery,
  blocksMax: number,
): OldPoints {
  const old = table.wholeBlocks(key, { startMs: fromMs, endMs: beforeMs }, blocksMax);
  const hasMore = old.nextMs !== undefined && old.nextMs < beforeMs && !old.isNextCut;
  const endMs = Math.min(beforeMs, old.nextMs ?? beforeMs);
  const times = head?.points().times ?? new Float64Array(0);
  const from = firstAtOrAfter(times, fromMs);
  const inHead = firstAtOrAfter(times, endMs, from) - from;
  const firstMs = Math.min(old.firstMs ?? Infinity, inHead > 0 ? times[from]! : Infinity);
  return {
    ...{ endMs, points: old.points + inHead, blocks: old.blocks, hasMore },
    ...(firstMs < Infinity && { firstMs }),
  };
}
