// The parts of a read of one series: its blocks, and the points of its head between them. Says which parts
// are summarised for the buckets of a query, and which summaries need no points.
import type { TimeRange } from "../../lib/time.ts";
import type { SummaryNeeds } from "../aggregation.ts";
import type { PointColumns } from "../points.ts";
import type { Summary } from "../summary.ts";
import type { BlockRow } from "./block-row.ts";
import type { BlockSummary, BucketGrid, PartSummary } from "./bucket-cache.ts";
import { sharedSummariesMax } from "./shared-blocks.ts";

/** A block, not yet decoded, and the points of the head within its times. */
interface BlockPart {
  readonly block: BlockRow;
  readonly overlappingHead: PointColumns | undefined;
}

/** Points of the head between two blocks. */
interface HeadPart {
  readonly points: PointColumns;
}

export type ReadPart = BlockPart | HeadPart;

/**
 * Whole buckets to aggregate, or a part of one (`isCut`). `blockSummaries` is empty unless the range
 * refreshes one stale cached bucket. Then it has the cached summaries of blocks that extend beyond the
 * bucket, so that these need not be decoded.
 */
export interface BucketRange extends TimeRange {
  readonly grid: BucketGrid;
  readonly isCut: boolean;
  /** The end of all ranges of the query. */
  readonly queryEndMs: number;
  /** For whole buckets (cached): `means` or `squares`. */
  readonly needs: SummaryNeeds;
  readonly blockSummaries: readonly BlockSummary[];
}

/** A block that touches more buckets than this is aggregated point by point, without summaries to cache. */
const summarisedBucketsMax = sharedSummariesMax;
/** So is a part of the head that touches more, unless it has so many points for each. */
const summarisedHeadPointsMin = 256;
const boundsOf = ({ times }: PointColumns) => ({ firstMs: times[0]!, lastMs: times.at(-1)! });

/** The block, unless the head has points within its times. */
export const wholeBlockOf = (part: ReadPart): BlockRow | undefined =>
  "block" in part && part.overlappingHead === undefined ? part.block : undefined;

/** Whether the part touches few enough buckets for its points. */
export function isSummarised(part: ReadPart, { grid }: BucketRange): boolean {
  const { firstMs, lastMs } = "block" in part ? part.block : boundsOf(part.points);
  const buckets = (grid.bucketStart(lastMs) - grid.bucketStart(firstMs)) / grid.bucketMs + 1;
  if (buckets <= summarisedBucketsMax) return true;
  return "points" in part && part.points.times.length >= summarisedHeadPointsMin * buckets;
}

/** The summaries of a block that need no points: those in its row, or the cached ones. */
export function knownSummaries(part: ReadPart, range: BucketRange): readonly PartSummary[] | undefined {
  const block = wholeBlockOf(part);
  const stored = block && storedSummaries(block, range);
  if (stored !== undefined) return stored;
  const cached = range.blockSummaries.find(({ blockId }) => blockId === block?.id);
  return cached && [cached];
}

/**
 * The end of the points of a block that a range needs, The points after a cut
 * bucket are not read if the rest of the block has summaries in its row.
 */
export const neededUntilMs = (
  { summaries }: BlockRow,
  { grid, isCut, endMs, queryEndMs }: BucketRange,
): number =>
  isCut && summaries.length > 0 && summaries.every((one) => isInOneBucket(one, grid)) ? endMs : queryEndMs;

const isInOneBucket = ({ firstMs, lastMs }: Summary, grid: BucketGrid): boolean =>
  grid.bucketStart(firstMs) === grid.bucketStart(lastMs);

/** The summaries in the block's row; undefined when one is of several buckets, or of points outside, too. */
function storedSummaries(
  { summaries }: BlockRow,
  { grid, startMs, endMs }: BucketRange,
): readonly PartSummary[] | undefined {
  if (summaries.length === 0 || !summaries.every((one) => isInOneBucket(one, grid))) return undefined;
  const inRange = summaries.filter(({ firstMs, lastMs }) => lastMs >= startMs && firstMs < endMs);
  if (!inRange.every(({ firstMs, lastMs }) => firstMs >= startMs && lastMs < endMs)) return undefined;
  return inRange.map((summary) => ({ blockId: undefined, summary }));
}
