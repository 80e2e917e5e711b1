// Counts the points that a retention rule would remove now, from the rows of blocks.
import type { RequestContext } from "../../context.ts";
import type { PageQuery, Position } from "../../query/page.ts";
import { byId } from "../../query/page.ts";
import { readPage } from "../../storage/read-page.ts";
import { timeSeriesTable } from "../timeseries/schema.ts";
import type { TimeSeries } from "../timeseries/timeseries.ts";
import { refuseUnpreviewable } from "./retention.ts";
import type { RetentionRule, RetentionTarget } from "./schema.ts";
import { seriesOf } from "./targets.ts";

const dayMs = 86_400_000;

/** Points before this time are too old for the rule. */
export const cutoffOf = ({ keepDays }: Pick<RetentionRule, "keepDays">, nowMs: number): number =>
  nowMs - keepDays * dayMs;

export interface SeriesPreview {
  readonly seriesId: number;
  readonly name: string;
  readonly points: number;
  readonly blocks: number;
  /** The time of the oldest point now. */
  readonly oldestTime: number;
  /** After the removal; absent if no point is left. */
  readonly oldestTimeAfter?: number;
}

export interface RetentionPreview {
  readonly cutoffTime: number;
  /** The series of this page for which the rule counts. */
  readonly examined: number;
  /** Those that would lose points. */
  readonly series: readonly SeriesPreview[];
  readonly next?: Position;
}

/** Counts for the next series for which a rule with this target would count. Refuses as the rule itself. */
export async function previewRule(
  ctx: RequestContext,
  rule: RetentionTarget & Pick<RetentionRule, "keepDays">,
  page: PageQuery,
): Promise<RetentionPreview> {
  const cutoffTime = cutoffOf(rule, ctx.system.nowMs());
  const found = await ctx.catalog.read(ctx.projectId, async (tx) => {
    await refuseUnpreviewable(ctx, tx, rule);
    const query = { filter: await seriesOf(tx, rule), order: byId, page, fields: ["id", "name", "isString"] };
    return readPage(tx, timeSeriesTable, query);
  });
  const series: SeriesPreview[] = [];
  for (let at = 0; at < found.items.length; at += seriesAtOnce) {
    ctx.signal.throwIfAborted();
    const some = found.items.slice(at, at + seriesAtOnce);
    series.push(...(await previewsOf(ctx, some, cutoffTime)));
  }
  return { cutoffTime, examined: found.items.length, series, ...(found.next && { next: found.next }) };
}

/** So that a shard is busy for some milliseconds at a time. */
const seriesAtOnce = 20;
const blocksAtOnce = 1_000;

interface Counted {
  points: number;
  blocks: number;
  endMs: number;
  oldestTime: number | undefined;
}

async function previewsOf(
  ctx: RequestContext,
  series: readonly TimeSeries[],
  beforeMs: number,
): Promise<SeriesPreview[]> {
  const counts = await countAll(ctx, series, beforeMs);
  const previews = series.map(async ({ id, name, isString }, i): Promise<SeriesPreview[]> => {
    const { endMs, oldestTime, ...counted } = counts[i]!;
    if (oldestTime === undefined) return [];
    const rest = { series: id, isString, startMs: endMs, endMs: Number.POSITIVE_INFINITY, limit: 1 };
    const [oldestTimeAfter] = (await ctx.points.scan(rest)).times;
    const after = oldestTimeAfter !== undefined && { oldestTimeAfter };
    return [{ seriesId: id, name, ...counted, oldestTime, ...after }];
  });
  return (await Promise.all(previews)).flat();
}

async function countAll(
  { points, signal }: RequestContext,
  series: readonly TimeSeries[],
  beforeMs: number,
): Promise<Counted[]> {
  const counts = series.map((): Counted => {
    return { points: 0, blocks: 0, endMs: Number.NEGATIVE_INFINITY, oldestTime: undefined };
  });
  for (let open = [...series.keys()]; open.length > 0; ) {
    signal.throwIfAborted();
    const queries = open.map((i) => {
      const { id, isString } = series[i]!;
      return { series: id, isString, fromMs: counts[i]!.endMs, beforeMs };
    });
    const steps = await points.oldPoints(queries, blocksAtOnce);
    for (const [at, i] of open.entries()) {
      const [count, step] = [counts[i]!, steps[at]!];
      count.points += step.points;
      count.blocks += step.blocks;
      count.endMs = step.endMs;
      count.oldestTime ??= step.firstMs;
    }
    open = open.filter((_, at) => steps[at]!.hasMore);
  }
  return counts;
}
