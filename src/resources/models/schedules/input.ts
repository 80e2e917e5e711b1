// Reads the input of a schedule's window, with the rights of the schedule's account, in the form that model
// code receives.
import type { RequestContext } from "../../../context.ts";
import { fail } from "../../../errors.ts";
import { type TimeRange, wholeBuckets } from "../../../lib/time.ts";
import { limits } from "../../../limits.ts";
import type { RunFile } from "../../../model-runner/model-runner.ts";
import { readDataFrame } from "../../datapoints/data-frame.ts";
import { prepareReads, type SeriesQuery } from "../../datapoints/datapoints.ts";
import { attachmentBytes } from "../../files/attachments/attachments.ts";
import { fillGaps } from "./gaps.ts";
import { filesOf } from "./schedules.ts";
import { granularityOf, type InputFrame, type InputSeries, type ScheduleSpec } from "./spec.ts";

interface Input {
  readonly timeSeries: Readonly<Record<string, Points>>;
  readonly dataFrames: Readonly<Record<string, Columns>>;
  /** The paths of files for the code, by alias. */
  readonly files: Readonly<Record<string, string>>;
}

interface Points {
  readonly timestamps: readonly number[];
  readonly values: readonly (number | string | null)[];
}

type Columns = Readonly<Record<string, readonly (number | null)[]>>;

/**
 * Refuses series and files that the account may not read any more, and windows with more points than one
 * read returns.
 */
export async function readInput(
  ctx: RequestContext,
  spec: ScheduleSpec,
  window: TimeRange,
): Promise<{ readonly data: Input; readonly files: readonly RunFile[] }> {
  const dataFrames: Record<string, Columns> = {};
  for (const frame of spec.frames) dataFrames[frame.label] = await readColumns(ctx, frame, window);
  const existing = new Map((await filesOf(ctx, spec)).map((file) => [file.id, file]));
  const files = spec.files.map(({ alias, id }) => ({
    name: alias,
    open: () => attachmentBytes(ctx, ctx.projectId, existing.get(id)!),
  }));
  const paths = Object.fromEntries(spec.files.map(({ alias }) => [alias, `files/${alias}`]));
  return {
    data: { timeSeries: await readSeries(ctx, spec.series, window), dataFrames, files: paths },
    files,
  };
}

async function readSeries(
  ctx: RequestContext,
  series: readonly InputSeries[],
  window: TimeRange,
): Promise<Record<string, Points>> {
  const answers = await prepareReads(
    ctx,
    series.map((one) => datapointsQuery(one, window)),
  );
  const found: Record<string, Points> = {};
  for (const [index, { rows, query: question }] of answers.entries()) {
    const { alias } = series[index]!;
    const points = { timestamps: [] as number[], values: [] as (number | string | null)[] };
    for await (const { times, columns } of rows.read()) {
      for (const time of times) points.timestamps.push(time);
      for (const value of columns[0]!) points.values.push(Number.isNaN(value) ? null : value);
    }
    refuseMore(alias, points.timestamps.length, question.limit);
    found[alias] = points;
  }
  return found;
}

function datapointsQuery(
  { id, aggregate, granularity, includeOutside = false }: InputSeries,
  range: TimeRange,
): SeriesQuery {
  if (aggregate === undefined || granularity === undefined)
    return { key: id, range, limit: limits.pointsPerReadMax, includeOutside };
  const aggregates = { names: [aggregate], granularity: granularityOf(granularity) };
  return { key: id, range, limit: limits.bucketsPerReadMax, aggregates };
}

/** A result with as many points as the limit may be incomplete. */
function refuseMore(name: string, got: number, limit: number): void {
  if (got < limit) return;
  const expected = `fewer than ${limit} points in the window`;
  throw fail("field-invalid", { field: name, expected, got: "as many or more" });
}

/** One row for each bucket of the window; gaps are filled as specified, otherwise `null`. */
async function readColumns(
  ctx: RequestContext,
  { label, granularity: text, series }: InputFrame,
  range: TimeRange,
): Promise<Columns> {
  const granularity = granularityOf(text);
  const { startMs, endMs } = wholeBuckets(range, granularity);
  const count = (endMs - startMs) / granularity.bucketMs;
  refuseMore(label, count, limits.frameRowsMax);
  const times = Array.from({ length: count }, (_, row) => startMs + row * granularity.bucketMs);
  const wanted = series.flatMap((one) => one.aggregates.map((aggregate) => ({ ...one, aggregate })));
  const frame = await readDataFrame(ctx, {
    columns: wanted.map(({ id, aggregate }) => ({ key: id, aggregate })),
    ...{ range, granularity, limit: limits.frameRowsMax },
  });
  const columns = wanted.map(() => new Float64Array(count).fill(Number.NaN));
  for await (const rows of frame.rows.read())
    for (let row = 0; row < rows.times.length; row += 1)
      for (const [index, column] of columns.entries())
        column[(rows.times[row]! - startMs) / granularity.bucketMs] = rows.columns[index]![row]!;
  const named = wanted.map(({ label: own, aggregate, fill }, index) => {
    const name = `${own ?? frame.columns[index]!.series.name}|${aggregate}`;
    return [name, fillGaps(columns[index]!, fill)] as const;
  });
  return { timestamp: times, ...Object.fromEntries(named) };
}

type Json = Readonly<Record<string, unknown>>;

/**
 * The data spec of one window, as model code and libraries for models read it: in the form of the schedule,
 * with the times of the window.
 */
export function instanceOf(spec: ScheduleSpec, window: TimeRange): Json {
  return spec.frames.length > 0 ? inputByPosition(spec, window) : inputByName(spec, window);
}

function inputByName({ series, files }: ScheduleSpec, { startMs, endMs }: TimeRange): Json {
  const timeSeries = series.map(({ alias, id, aggregate, granularity, includeOutside }) => {
    const outside = includeOutside && { includeOutsidePoints: true };
    const aggregateOptions = aggregate !== undefined && { aggregate, granularity };
    return [alias, { id, start: startMs, end: endMs, ...aggregateOptions, ...outside }] as const;
  });
  return {
    timeSeries: Object.fromEntries(timeSeries),
    files: Object.fromEntries(files.map(({ alias, id }) => [alias, { id }])),
    metadata: {},
  };
}

function inputByPosition({ frames, files }: ScheduleSpec, { startMs, endMs }: TimeRange): Json {
  return {
    timeSeriesDataSpecs: frames.map(({ label, granularity, series }) => ({
      ...{ label, granularity, start: startMs, end: endMs },
      aggregates: series[0]?.aggregates ?? [],
      timeSeries: series.map(({ id, label: own, aggregates, fill }) => ({
        ...{ id, aggregates },
        ...(own !== undefined && { label: own }),
        ...(fill !== undefined && { missingDataStrategy: fill }),
      })),
    })),
    filesDataSpec: { fileIds: Object.fromEntries(files.map(({ alias, id }) => [alias, id])) },
  };
}
