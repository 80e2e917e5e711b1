// Reads events as the measurement `events`, for annotations.
import { hasCapability } from "../../access/caller.ts";
import type { RequestContext } from "../../context.ts";
import { limits } from "../../limits.ts";
import { oneOf } from "../../query/filter.ts";
import type { Position } from "../../query/page.ts";
import { type Event, listEvents } from "../../resources/events/events.ts";
import { AssetTags, type TagsOfAsset } from "./asset-tags.ts";
import type { Select } from "./ast.ts";
import { expandedColumns, fieldsIn, hasFunctions, rawColumn } from "./columns.ts";
import { impliedFilter, passes, type ResultCell, type Test, testOf } from "./conditions.ts";
import { matcherOf } from "./pattern.ts";
import { statementProblem } from "./problems.ts";
import type { RawColumn } from "./raw-select.ts";
import { type ResultRows, type ResultSeries, windowed } from "./rows.ts";
import { eventsMeasurement, type Measurement, ownValue } from "./series-model.ts";
import { millisecondsOf } from "./time-range.ts";

export const eventTags = ["source", "subtype", "type"] as const;
/** `end` and `duration` are in ms. `assets` has the names of the assets that the caller may see. */
export const eventFields = ["assets", "description", "duration", "end", "externalId", "id"] as const;

const measurement: Measurement = {
  name: eventsMeasurement,
  tagSets: [],
  tagKeys: eventTags,
  fieldKeys: eventFields,
};

/** Whether the caller may read any events. */
export const mayReadEvents = ({ caller }: RequestContext): boolean =>
  hasCapability(caller, "eventsAcl", "READ");

/** One series of all events that pass the condition, by their start. */
export function* selectEvents(ctx: RequestContext, select: Select): Generator<ResultSeries> {
  const from = select.from.flatMap((pattern) => matcherOf(pattern).only ?? "");
  if (from.some((name) => name !== eventsMeasurement))
    throw statementProblem("events and other measurements in one SELECT are not supported");
  if (hasFunctions(select)) throw statementProblem("functions of events are not supported");
  if (select.dimensions.length > 0) throw statementProblem("GROUP BY of events is not supported");
  if (select.series.offset > 0) return;
  const named = expandedColumns(select.columns, measurement, new Set());
  if (!named.some(({ expression }) => fieldsIn(expression, measurement).length > 0)) return;
  const columns = named.map((one) => rawColumn(one, measurement));
  const rows = windowed(eventRows(ctx, select, columns), select.rows);
  const { timeZone } = select;
  yield { name: eventsMeasurement, timeZone, columns: ["time", ...named.map(({ name }) => name)], rows };
}

async function* eventRows(
  ctx: RequestContext,
  select: Select,
  columns: readonly RawColumn[],
): AsyncGenerator<ResultRows> {
  const test = testOf(select.where.condition);
  const { startMs = -limits.eventTimeMsMax, endMs } = millisecondsOf(select.where.time);
  const assets = new AssetTags(ctx, "eventsAcl");
  const { limit = limits.influxEventsPerPage, offset } = select.rows;
  const pageLimit = Math.min(limits.influxEventsPerPage, limit + offset);
  for (let after: Position | undefined; ; ) {
    ctx.signal.throwIfAborted();
    const found = await listEvents(ctx, {
      filter: impliedFilter(test, (name, values) => (isTag(name) ? oneOf(name, values) : undefined)),
      startFrom: startMs,
      startTo: endMs === undefined ? undefined : endMs - 1,
      direction: select.isDescending ? "descending" : "ascending",
      page: { limit: pageLimit, ...(after && { after }) },
    });
    const tagsOf = await assets.of(found.items.flatMap(({ assetIds }) => assetIds));
    const rows = rowsOf(found.items, { test, columns, tagsOf });
    if (rows.times!.length > 0) yield rows;
    if (!found.next) return;
    after = found.next;
  }
}

const isTag = (name: string): boolean => (eventTags as readonly string[]).includes(name);

interface Shown {
  readonly test: Test;
  readonly columns: readonly RawColumn[];
  readonly tagsOf: TagsOfAsset;
}

function rowsOf(events: readonly Event[], { test, columns, tagsOf }: Shown): ResultRows {
  const rows = events
    .map((event) => ({ timeMs: event.startTime!, tags: tagsOfEvent(event), fields: fieldsOf(event, tagsOf) }))
    .filter(({ tags, fields }) =>
      passes(test, (name) => (isTag(name) ? (tags[name] ?? "") : (ownValue(fields, name) ?? null))),
    );
  return {
    times: Float64Array.from(rows, ({ timeMs }) => timeMs),
    columns: columns.map(({ value }) =>
      rows.map(({ fields, tags }) => value((name) => ownValue(fields, name) ?? null, tags)),
    ),
  };
}

const tagsOfEvent = ({ source, subtype, type }: Event): Record<string, string> => ({
  ...(source !== undefined && { source }),
  ...(subtype !== undefined && { subtype }),
  ...(type !== undefined && { type }),
});

function fieldsOf(event: Event, tagsOf: TagsOfAsset): Record<string, ResultCell> {
  const { id, description, startTime, endTime, externalId, assetIds } = event;
  const names = assetIds.map((assetId) => tagsOf(assetId).asset).filter((name) => name !== undefined);
  return {
    id,
    description: description ?? null,
    end: endTime ?? null,
    duration: endTime === undefined ? null : endTime - startTime!,
    externalId: externalId ?? null,
    assets: names.length > 0 ? names.join(", ") : null,
  };
}
