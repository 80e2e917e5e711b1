// The destination datapoints: points of series that exist, by name, external id or id. A deletion takes one
// time, or a range.
import type { RequestContext } from "../../../context.ts";
import { Failure, fail } from "../../../errors.ts";
import { limits } from "../../../limits.ts";
import type { RecordValues } from "../../../query/evaluate.ts";
import { oneOf } from "../../../query/filter.ts";
import type { PointSeries } from "../../../storage/points.ts";
import {
  deleteRanges,
  hasPoint,
  type PointValue,
  valuesAt,
  writePoints,
} from "../../datapoints/by-time/points-by-time.ts";
import { listTimeSeries, resolveSeries, type SeriesRef } from "../../timeseries/timeseries.ts";
import { rowErrorOf, shown } from "../runs/rows.ts";
import { actions, type RowError, type TransformationAction } from "../schema.ts";
import {
  type Candidate,
  type ColumnType,
  type RecordDestination,
  type RowComparison,
  unguarded,
} from "./destination.ts";

const seriesColumns = ["name", "externalId", "id"] as const;
const range = ["inclusiveBegin", "exclusiveEnd"] as const;

const time: readonly ColumnType[] = ["number"];

/** The destination of one run: a comparison keeps the points of its rows for the write. */
export function pointsDestination(action: TransformationAction): RecordDestination {
  const isDeletion = action === "delete";
  let places: Places = new Map();
  return {
    acl: "timeSeriesAcl",
    keys: seriesColumns.flatMap((name) => [[name, "timestamp"], ...(isDeletion ? [[name, ...range]] : [])]),
    columns: {
      ...{ name: ["text"], externalId: ["text"], id: ["number"], timestamp: time },
      ...(isDeletion && { inclusiveBegin: time, exclusiveEnd: time }),
      value: ["number", "text"],
    },
    actions,
    isWrittenBeforeCommit: true,
    keyOf: (values) => {
      const parts = [nameIn(values), values["timestamp"] ?? range.map((name) => values[name])].flat();
      return parts.includes(undefined) || parts.includes(null) ? undefined : parts.join(" ");
    },
    async compare(ctx, action, rows) {
      const { found, refused } = await placesOf(ctx, action, rows);
      places = found;
      const compared = await comparePlaces(ctx, action, found);
      return { ...compared, refused: [...refused, ...compared.refused] };
    },
    async write(ctx, { creations, changes, deletions }) {
      const points = [...creations, ...changes].map(({ key, values }) => {
        const { series, isString, startMs } = places.get(key)!;
        return { series, isString, timeMs: startMs, value: values["value"] as PointValue };
      });
      if (points.length > 0) await writePoints(ctx, points);
      await deleteRanges(
        ctx,
        deletions.map(({ key }) => places.get(key)!),
      );
    },
    guard: unguarded,
  };
}

const nameIn = (values: RecordValues) =>
  values[seriesColumns.find((name) => (values[name] ?? null) !== null) ?? "name"];

/** A point of a series, or a range of them. */
interface Place extends PointSeries {
  readonly row: Candidate;
  readonly startMs: number;
  readonly endMs: number;
}

/** By the key of the row. */
type Places = ReadonlyMap<string, Place>;

/** Refuses rows of series that the caller may not read and write, and rows whose time or value is none. */
async function placesOf(ctx: RequestContext, action: TransformationAction, rows: readonly Candidate[]) {
  const refused: RowError[] = [];
  const found = new Map<string, Place>();
  const series = await seriesOf(ctx, rows);
  for (const row of rows)
    try {
      found.set(row.key, placeOf(action, row, series.get(nameIn(row.values))));
    } catch (problem) {
      if (!(problem instanceof Failure)) throw problem;
      refused.push(rowErrorOf(row, problem));
    }
  return { found, refused };
}

/** The series by the name, external id or id that the rows have. */
async function seriesOf(
  ctx: RequestContext,
  rows: readonly Candidate[],
): Promise<ReadonlyMap<unknown, SeriesRef>> {
  const column = seriesColumns.find((name) => rows.some(({ values }) => name in values)) ?? "name";
  const names = [...new Set(rows.map(({ values }) => values[column]))].filter((name) => name !== undefined);
  const page = { limit: Math.max(1, names.length) };
  const query = { filter: oneOf(column, names as string[]), page, fields: ["id", "name", "externalId"] };
  const { items } = await listTimeSeries(ctx, query);
  const writable = await resolveSeries(
    ctx,
    items.map(({ id }) => id),
    "WRITE",
  );
  return new Map(
    items.flatMap((one, at) => {
      const series = writable[at];
      return series ? [[one[column], series] as const] : [];
    }),
  );
}

function placeOf(action: TransformationAction, row: Candidate, series: SeriesRef | undefined): Place {
  const { values } = row;
  const refused = (field: string, expected: string, got: unknown) =>
    fail("field-invalid", { field, expected, got: JSON.stringify(got) });
  if (!series) {
    const column = seriesColumns.find((name) => name in values)!;
    throw refused(column, "a series that the account may read and write", values[column]);
  }
  const { id, isString } = series;
  const timeIn = (column: string, most = limits.timeMsMax) => {
    const timeMs = values[column];
    const isTime = Number.isInteger(timeMs) && Number(timeMs) >= limits.timeMsMin && Number(timeMs) <= most;
    if (!isTime) throw refused(column, `an integer from ${limits.timeMsMin} to ${most}`, timeMs);
    return Number(timeMs) + 0;
  };
  if ("timestamp" in values) {
    const startMs = timeIn("timestamp");
    const value = action === "delete" ? undefined : valueFor(series, values["value"]);
    return {
      row: { ...row, values: value === undefined ? {} : { value } },
      series: id,
      isString,
      startMs,
      endMs: startMs + 1,
    };
  }
  const place = { row, series: id, isString, startMs: timeIn("inclusiveBegin") };
  const endMs = timeIn("exclusiveEnd", limits.timeMsMax + 1);
  if (endMs <= place.startMs) throw refused("exclusiveEnd", "a time after inclusiveBegin", endMs);
  return { ...place, endMs };
}

/** Refuses a value of another type than that of the series. A number becomes a string of a string series. */
function valueFor({ isString }: SeriesRef, value: unknown): PointValue | null | undefined {
  if (value === undefined || value === null) return value;
  const expected = isString
    ? `a string of at most ${limits.stringValueLengthMax} characters`
    : "a number, as the series has numbers";
  if (!isString && typeof value === "number") return value;
  if (isString && String(value).length <= limits.stringValueLengthMax) return String(value);
  throw fail("field-invalid", { field: "value", expected, got: shown(value) });
}

/** The effect of the rows on the stored points. */
async function comparePlaces(
  ctx: RequestContext,
  action: TransformationAction,
  places: Places,
): Promise<RowComparison> {
  const stored = await storedValues(ctx, [...places.values()]);
  const done = { creations: [], changes: [], deletions: [], unchanged: [], refused: [], repeated: 0 } as {
    -readonly [Name in keyof RowComparison]: RowComparison[Name] extends readonly (infer Row)[]
      ? Row[]
      : number;
  };
  for (const place of places.values()) {
    const { row, key, values } = { ...place.row };
    const old = stored.get(place);
    const change = { row, key, current: old === undefined ? {} : { value: old }, values };
    const refuse = (reason: string) => done.refused.push({ row, key, column: "value", reason });
    const { value } = values;
    if (old !== undefined && action === "create") refuse("A point with this time exists");
    else if (action === "delete" || value === null) {
      if (old === undefined) done.unchanged.push(place.row);
      else done.deletions.push(change);
    } else if (old === undefined && action === "update") refuse("No point has this time");
    else if (old === undefined && value === undefined) refuse("A new point needs a value");
    else if (value === undefined || old === value) done.unchanged.push(place.row);
    else if (old === undefined) done.creations.push({ row, key, values });
    else done.changes.push(change);
  }
  return done;
}

/** The value at the time of a place, or any value of its range. */
async function storedValues(
  ctx: RequestContext,
  places: readonly Place[],
): Promise<ReadonlyMap<Place, PointValue>> {
  const found = new Map<Place, PointValue>();
  const single = places.filter(({ startMs, endMs }) => endMs === startMs + 1);
  const bySeries = Map.groupBy(single, ({ series }) => series);
  const reads = [...bySeries.values()].map((group) => async () => {
    const sorted = group.toSorted((one, other) => one.startMs - other.startMs);
    const { series, isString } = group[0]!;
    const times = [...new Set(sorted.map(({ startMs }) => startMs))];
    const values = await valuesAt(ctx, { series, isString, times });
    for (const place of group) {
      const value = values.get(place.startMs);
      if (value !== undefined) found.set(place, value);
    }
  });
  const ranges = places.filter(({ startMs, endMs }) => endMs > startMs + 1);
  const looks = ranges.map((place) => async () => {
    if (await hasPoint(ctx, place, place)) found.set(place, "");
  });
  const all = [...reads, ...looks];
  for (let from = 0; from < all.length; from += limits.seriesReadAtOnce)
    await Promise.all(all.slice(from, from + limits.seriesReadAtOnce).map((read) => read()));
  return found;
}
