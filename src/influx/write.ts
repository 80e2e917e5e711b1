// Writes the lines of a request: scans them, resolves or creates their series, and appends their points.
import type { RequestContext } from "../context.ts";
import { fail } from "../errors.ts";
import { TimeSlice } from "../lib/time-slice.ts";
import { limits } from "../limits.ts";
import { tryPlanWrite } from "../resources/timeseries/timeseries.ts";
import { type AssetLinks, createMissing } from "./create-series.ts";
import { LineBatch } from "./line-batch.ts";
import type { LineColumns } from "./line-columns.ts";
import { LineScanner } from "./line-scanner.ts";
import type { NameTemplate } from "./name-template.ts";
import type { Precision } from "./precision.ts";
import { RefusedLines } from "./refused-lines.ts";
import type { NameList } from "./series-names.ts";

export interface WriteOptions extends AssetLinks {
  readonly precision: Precision;
  /** Gives the name of a series. */
  readonly seriesTemplate: NameTemplate;
}

export interface WriteResult {
  /** Points whose time was rounded down to a millisecond. */
  readonly cutPoints: number;
}

/**
 * Stores all valid lines; they are on disk when it resolves. Then refuses (400) the request if a line was not
 * stored, with the first reasons. A line is stored whole or not at all.
 */
export async function writeLines(
  ctx: RequestContext,
  bytes: Buffer,
  options: WriteOptions,
): Promise<WriteResult> {
  const { names, columns: pool } = ctx.influx;
  const refused = new RefusedLines();
  const columns = pool.take();
  const scanner = new LineScanner(bytes, {
    names,
    columns,
    scope: { template: options.seriesTemplate, db: options.db },
    precision: options.precision,
    nowMs: ctx.system.nowMs(),
    refuse: (line, reason) => refused.add(line, reason),
  });
  const slice = new TimeSlice(limits.timeSliceMs);
  while (!scanner.isAtEnd) {
    ctx.signal.throwIfAborted();
    scanner.scanSlice();
    await storeSlice(ctx, columns, { list: names.listOf(columns.names), options, refused });
    if (!scanner.isAtEnd) await slice.next();
  }
  pool.putBack(columns);
  if (refused.count > 0) throw fail("lines-refused", { problem: refused.message });
  return { cutPoints: scanner.cutPoints };
}

interface Storing {
  /** The series of the slice. */
  readonly list: NameList;
  readonly options: WriteOptions;
  readonly refused: RefusedLines;
}

/** Stores the points of a slice, except those of lines that their series refuse. */
async function storeSlice(ctx: RequestContext, columns: LineColumns, storing: Storing): Promise<void> {
  const { keys } = storing.list;
  if (keys.length === 0) return;
  const { plan, series } = await tryPlanWrite(ctx, keys, ctx.seriesCache.planOf(ctx.projectId, keys));
  const batch = new LineBatch(columns, storing.list, plan ?? series);
  batch.refuseWrongKinds();
  if (plan === undefined) await addMissing(ctx, batch, storing.options);
  for (const [line, reason] of batch.refused) storing.refused.add(line, () => reason);
  const points = batch.points();
  if (points.numbers ?? points.strings) await ctx.points.append(points);
  batch.free();
}

/** Creates the series that points need, and refuses the lines of those that the caller may not create. */
async function addMissing(ctx: RequestContext, batch: LineBatch, options: WriteOptions): Promise<void> {
  batch.add(await createMissing(ctx, batch.missing(), options));
  batch.refuseWrongKinds();
}
