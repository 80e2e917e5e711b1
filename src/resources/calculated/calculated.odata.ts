// Declares calculated series for OData: the results of the functions that a filter names.
import type { RequestContext } from "../../context.ts";
import type { TimeRange } from "../../lib/time.ts";
import { limits } from "../../limits.ts";
import { type EntityModelPart, entitySet, entityType, type Property } from "../../odata/model.ts";
import { column } from "../../odata/operand.ts";
import { required, text, time } from "../../odata/property.ts";
import { rangeIn, valuesIn } from "../../query/conjuncts.ts";
import type { Filter } from "../../query/filter.ts";
import type { Page, PageQuery } from "../../query/page.ts";
import { calculate } from "./calculated.ts";

/** One result of a function over series by id, such as `[123] * 2`. */
interface ResultRow {
  readonly function: string;
  readonly timeMs: number;
  readonly value: number;
}

/** A read of these functions in sequence, each in ascending time. */
interface Plan {
  readonly functions: readonly string[];
  readonly range: TimeRange;
}

/** The plan of a filter. A filter without functions reads nothing. */
function planOf(filter: Filter): Plan {
  const { values = [], rest } = valuesIn(filter, "function");
  const { start, end } = rangeIn(rest, "timeMs");
  const range = { startMs: Math.max(start, limits.timeMsMin), endMs: Math.min(end, limits.timeMsMax + 1) };
  return { functions: values.map(String), range };
}

/** Reads results from a position of the plan on. The reader takes about `most` of them. */
async function* resultsFrom(
  ctx: RequestContext,
  { functions, range }: Plan,
  { after = [], most }: { readonly after?: readonly number[] | undefined; readonly most: number },
): AsyncGenerator<{ readonly at: number; readonly rows: readonly ResultRow[] }> {
  const [firstAt = 0, afterMs] = after;
  const limit = Math.min(most, limits.pointsPerReadMax);
  let startMs = afterMs === undefined ? range.startMs : afterMs + 1;
  for (let at = firstAt; at < functions.length; at += 1, startMs = range.startMs)
    for (let count = limit; count === limit && startMs < range.endMs; ) {
      count = 0;
      const query = {
        text: functions[at]!,
        aliases: [],
        functionsTakePoints: false,
        range: { ...range, startMs },
        limit,
        field: "Id",
      };
      const [results] = await calculate(ctx, [query]);
      for await (const { times, columns } of results!.read()) {
        const rows = Array.from(times, (timeMs, i) => ({
          ...{ function: functions[at]!, timeMs },
          value: columns[0]![i] as number,
        }));
        count += rows.length;
        startMs = (times.at(-1) ?? startMs) + 1;
        yield { at, rows };
      }
    }
}

async function pageOf(ctx: RequestContext, plan: Plan, page: PageQuery): Promise<Page<ResultRow>> {
  const items: ResultRow[] = [];
  let lastAt = 0;
  const after = page.after as readonly number[] | undefined;
  for await (const { at, rows } of resultsFrom(ctx, plan, { after, most: page.limit + 1 })) {
    const room = page.limit - items.length;
    if (room > 0 && rows.length > 0) lastAt = at;
    items.push(...rows.slice(0, room));
    if (rows.length > room) return { items, next: [lastAt, items.at(-1)!.timeMs] };
  }
  return { items };
}

async function countOf(ctx: RequestContext, plan: Plan): Promise<number> {
  let count = 0;
  for await (const { rows } of resultsFrom(ctx, plan, { most: limits.pointsPerReadMax }))
    count += rows.length;
  return count;
}

const value: Property<ResultRow> = {
  ...{ name: "Value", type: "Edm.Double", get: (row) => row.value },
  queryable: { kind: "value", operand: column("value", "Edm.Double") },
};

export const calculatedModel: EntityModelPart = {
  types: [
    entityType<ResultRow>({
      ...{ name: "DataPointSynthetic", key: "Id" },
      properties: [
        required(text("Id", (row) => row.function, column("function"))),
        required(time<ResultRow>("TimeStamp", (row) => row.timeMs, "timeMs")),
        value,
        text("Error", () => undefined, column("error")),
      ],
    }),
  ],
  sets: [
    entitySet<ResultRow>({
      ...{ name: "DataPointsSynthetic", type: "DataPointSynthetic", isHidden: true },
      ...{ pageMax: limits.odataPointsPageMax, nonFilterable: ["Value", "Error"] },
      read: (ctx, { filter, page }) => pageOf(ctx, planOf(filter), page),
      count: (ctx, filter) => countOf(ctx, planOf(filter)),
      position: (row) => [row.function, row.timeMs],
    }),
  ],
};
