// JSON schemas of the data specs of schedules, in the newer and the older form
// (docs/reference/models.md#data-specs).
import { type Static, type TSchema, Type } from "typebox";
import type { RequestContext } from "../../../context.ts";
import { fail } from "../../../errors.ts";
import { parseTimePoint, timePointMs } from "../../../lib/time.ts";
import { limits } from "../../../limits.ts";
import { fileAlias, idField, nameField, seriesAlias } from "../../../rest/fields.ts";
import { gapFillings } from "../../analytics/matching/grid-rows.ts";
import { readAggregate, readGranularity } from "../../datapoints/queries.rest.ts";
import { orNull } from "../schemas.rest.ts";
import {
  type FrameColumns,
  granularityOf,
  type InputFrame,
  type InputSeries,
  type ScheduleSpec,
} from "./spec.ts";

const optional = <Value extends TSchema>(value: Value) => Type.Optional(orNull(value));
type ByName<Item extends TSchema> = Readonly<Record<string, Static<Item>>>;

const byName = <Item extends TSchema>(item: Item, pattern: string) =>
  Type.Unsafe<ByName<Item>>({
    ...{ type: "object", maxProperties: limits.seriesPerReadMax },
    propertyNames: { type: "string", pattern },
    additionalProperties: item,
  });

const timestamp = Type.Union([Type.Integer(), Type.String()]);
const strings = Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 20 })]);
const wholeMs = (minimum: number) => Type.Integer({ minimum, maximum: limits.timeMsMax });

const inputSeries = Type.Object({
  id: idField("The time series"),
  aggregate: optional(Type.String()),
  granularity: optional(Type.String()),
  includeOutsidePoints: optional(Type.Boolean()),
});

const outputs = byName(
  Type.Object({
    id: idField("The time series to write"),
    offset: optional(Type.Integer({ description: "The offset of its points' window, in ms" })),
  }),
  seriesAlias,
);

const times = {
  stride: optional(wholeMs(1)),
  windowSize: optional(wholeMs(1)),
  start: optional(timestamp),
  slack: optional(wholeMs(-1)),
};

const frame = Type.Object({
  timeSeries: Type.Array(
    Type.Object({
      id: idField("The time series"),
      aggregates: optional(strings),
      missingDataStrategy: optional(Type.Enum([...gapFillings])),
      label: optional(nameField("The label of its columns")),
    }),
    { maxItems: limits.seriesPerReadMax },
  ),
  aggregates: optional(strings),
  granularity: optional(Type.String()),
  missingDataStrategy: optional(Type.Enum([...gapFillings])),
  start: optional(timestamp),
  end: optional(timestamp),
  label: optional(nameField("The label of the table; default: default")),
});

const older = {
  timeSeriesDataSpecs: optional(Type.Array(frame, { maxItems: limits.seriesPerReadMax })),
  filesDataSpec: optional(Type.Object({ fileIds: optional(byName(idField("The file"), fileAlias)) })),
};

const input = Type.Object({
  timeSeries: optional(byName(inputSeries, seriesAlias)),
  files: optional(byName(Type.Object({ id: idField("The file") }), seriesAlias)),
});
const output = Type.Object({ timeSeries: optional(outputs) });

/** The members of a new schedule that define its input and output. */
export const dataSpecs = {
  dataSpec: optional(Type.Object({ ...times, ...older, input: optional(input), output: optional(output) })),
  inputDataSpec: optional(Type.Object({ ...times, ...older })),
  outputDataSpec: optional(Type.Object({ ...older, timeSeries: optional(outputs) })),
};

const dataSpecsInput = () => Type.Object(dataSpecs);
export type DataSpecsInput = Static<ReturnType<typeof dataSpecsInput>>;

/** Reads the data specs as sent. Refuses (400) specs that are incomplete or inconsistent. */
export function specIn(ctx: RequestContext, sent: DataSpecsInput): ScheduleSpec {
  const nowMs = ctx.system.nowMs();
  const at = sent.inputDataSpec ? "inputDataSpec." : "dataSpec.";
  const given = sent.inputDataSpec ?? sent.dataSpec ?? {};
  const { input: newer } = sent.dataSpec ?? {};
  const series = Object.entries(newer?.timeSeries ?? {}).map(([name, one]) => seriesIn(name, one));
  const frames = framesIn(given.timeSeriesDataSpecs ?? [], `${at}timeSeriesDataSpecs`);
  const fileIds = Object.entries(given.filesDataSpec?.fileIds ?? {}).map(([name, id]) => ({
    alias: name,
    id,
  }));
  const files = Object.entries(newer?.files ?? {}).map(([name, { id }]) => ({ alias: name, id }));
  const spec = {
    ...{ series, frames, files: [...fileIds, ...files], outputs: outputsIn(sent) },
    ...timesIn(given, { at, nowMs }),
  };
  refuseUnfitting(spec, at);
  return spec;
}

function seriesIn(name: string, sent: Static<typeof inputSeries>): InputSeries {
  const at = `dataSpec.input.timeSeries.${name}.`;
  const { id, aggregate, granularity, includeOutsidePoints } = sent;
  const outside = includeOutsidePoints ? { includeOutside: true } : {};
  if (aggregate == null) return { alias: name, id, ...outside };
  if (granularity == null) throw fail("fields-missing", { fields: [`${at}granularity`] });
  readGranularity(granularity, `${at}granularity`);
  return { alias: name, id, aggregate: readAggregate(aggregate, `${at}aggregate`), granularity };
}

function framesIn(sent: readonly Static<typeof frame>[], at: string): InputFrame[] {
  const labels = sent.map(({ label }) => label ?? "default");
  const repeated = labels.find((label, index) => labels.indexOf(label) < index);
  if (repeated !== undefined)
    throw fail("field-invalid", { field: at, expected: "different labels", got: repeated });
  return sent.map((one, index) => {
    const place = `${at}[${index}].`;
    if (one.granularity == null) throw fail("fields-missing", { fields: [`${place}granularity`] });
    readGranularity(one.granularity, `${place}granularity`);
    const series = one.timeSeries.map((item) => columnsIn(item, one, place));
    return { label: labels[index]!, granularity: one.granularity, series };
  });
}

/** Defaults of items come from their table. */
function columnsIn(
  item: Static<typeof frame>["timeSeries"][number],
  common: Static<typeof frame>,
  at: string,
): FrameColumns {
  const field = `${at}aggregates`;
  const sent = [item.aggregates ?? common.aggregates ?? []].flat().flatMap((word) => word.split(","));
  if (sent.length === 0) throw fail("fields-missing", { fields: [field] });
  const fill = item.missingDataStrategy ?? common.missingDataStrategy;
  return {
    id: item.id,
    aggregates: [...new Set(sent.map((word) => readAggregate(word.trim(), field)))],
    ...(item.label != null && { label: item.label }),
    ...(fill != null && { fill }),
  };
}

/** In the older form, outputs are the series of a table, by their labels. */
function outputsIn({ dataSpec, outputDataSpec }: DataSpecsInput): ScheduleSpec["outputs"] {
  const named = Object.entries(outputDataSpec?.timeSeries ?? dataSpec?.output?.timeSeries ?? {});
  const listed = (outputDataSpec?.timeSeriesDataSpecs ?? []).flatMap((one) => one.timeSeries);
  return [
    ...named.map(([name, { id, offset }]) => ({ alias: name, id, offsetMs: offset ?? 0 })),
    ...listed.map(({ id, label }) => ({ alias: label ?? String(id), id, offsetMs: 0 })),
  ];
}

type TimesInput = NonNullable<DataSpecsInput["inputDataSpec"]>;

/**
 * In the older form, `start` and `end` of the first table can define the first window; each next window
 * follows it with the same length.
 */
function timesIn(sent: TimesInput, { at, nowMs }: { readonly at: string; readonly nowMs: number }) {
  const [first] = sent.timeSeriesDataSpecs ?? [];
  const ms = (value: string | number | null | undefined, field: string) => {
    if (value == null) return undefined;
    const found = parseTimePoint(value);
    if (!found)
      throw fail("field-invalid", { field, expected: "a time in ms or such as 2h-ago", got: `${value}` });
    return timePointMs(found, nowMs);
  };
  const startMs = ms(first?.start, `${at}timeSeriesDataSpecs[0].start`);
  const endMs = ms(first?.end, `${at}timeSeriesDataSpecs[0].end`);
  const lengthMs = startMs !== undefined && endMs !== undefined ? endMs - startMs : undefined;
  const windowMs = sent.windowSize ?? lengthMs;
  const strideMs = sent.stride ?? lengthMs;
  const missing = [windowMs === undefined && `${at}windowSize`, strideMs === undefined && `${at}stride`];
  const fields = missing.filter((field) => typeof field === "string");
  if (windowMs === undefined || strideMs === undefined) throw fail("fields-missing", { fields });
  const firstEnd = ms(sent.start, `${at}start`) ?? endMs ?? nowMs;
  return { windowMs, strideMs, startMs: firstEnd, slackMs: sent.slack ?? 0 };
}

/** All times are multiples of the largest granularity, so that windows and buckets start together. */
function refuseUnfitting(spec: ScheduleSpec, at: string): void {
  const { strideMs, windowMs, startMs, slackMs, series, frames } = spec;
  if (spec.outputs.length === 0) throw fail("fields-missing", { fields: ["dataSpec.output.timeSeries"] });
  const strings = [...series, ...frames].flatMap(({ granularity }) => granularity ?? []);
  const largestMs = Math.max(1, ...strings.map((text) => granularityOf(text).bucketMs));
  for (const [name, value] of [
    ["stride", strideMs],
    ["windowSize", windowMs],
    ["slack", Math.max(0, slackMs)],
  ] as const) {
    const expected = `a multiple of the largest granularity (${largestMs} ms)`;
    if (value < 0 || value % largestMs !== 0)
      throw fail("field-invalid", { field: `${at}${name}`, expected, got: `${value}` });
  }
  const { timeMsMin, timeMsMax } = limits;
  if (startMs >= timeMsMin && startMs <= timeMsMax && windowMs > 0 && strideMs > 0) return;
  const expected = `a time from ${timeMsMin} to ${timeMsMax} (ms), and windows longer than nothing`;
  throw fail("field-invalid", { field: `${at}start`, expected, got: `${startMs}` });
}
