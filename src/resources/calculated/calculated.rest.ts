// The REST operation that reads several series, stored (docs/reference/datapoints.md#reading-several-series)
// and calculated ones (docs/calculated.md).
import { Type } from "typebox";
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { duplicatesIn } from "../../lib/duplicates.ts";
import { limits } from "../../limits.ts";
import { Continuation, continuationQuery } from "../../rest/continuation.ts";
import { itemsSchema } from "../../rest/envelope.ts";
import { type ApiVersion, apiVersions, type Route, route } from "../../rest/route.ts";
import { prepareReads, type SeriesQuery } from "../datapoints/datapoints.ts";
import {
  mergeOptions,
  type OptionsInput,
  optionFields,
  type ReadOptions,
  readAggregate,
  readGranularity,
  readOptions,
  seriesQuery,
  timeRange,
} from "../datapoints/queries.rest.ts";
import {
  cellBytes,
  jsonResponse,
  type NamedRows,
  namedRows,
  seriesPointsSchema,
} from "../datapoints/responses.rest.ts";
import { type KeyInput, keyFields, refuseOtherIds, seriesKey } from "../timeseries/series-keys.rest.ts";
import { type Alias, type CalculatedQuery, calculate } from "./calculated.ts";

const aliasSchema = Type.Object(
  {
    alias: Type.String({ description: "The name of the series in the function, without the brackets" }),
    id: Type.Integer({ description: "The id of the series" }),
    aggregate: Type.Optional(
      Type.String({
        description: "The aggregate to read, with a granularity. Absent or `none`: points",
      }),
    ),
    granularity: Type.Optional(Type.String({ description: "The time that an aggregate covers" })),
  },
  { title: "FunctionAlias" },
);

const querySchema = Type.Object({
  items: Type.Array(
    Type.Object({
      ...keyFields,
      ...optionFields,
      function: Type.Optional(
        Type.String({
          description:
            "In 0.5 and 0.6, an expression over series in square brackets; `name` is the name of the result",
          examples: ["([123] - 32) * 5 / 9", "max([a], [b])"],
        }),
      ),
      aliases: Type.Optional(
        Type.Array(aliasSchema, { maxItems: limits.functionLeavesMax, description: "For `function`" }),
      ),
    }),
    { maxItems: limits.seriesPerReadMax },
  ),
  ...optionFields,
});

type AliasInput = Pick<Alias, "alias" | "id"> & {
  readonly aggregate?: string;
  readonly granularity?: string;
};

type ItemInput = KeyInput &
  OptionsInput & { readonly function?: string; readonly aliases?: readonly AliasInput[] };

type Body = OptionsInput & { readonly items: readonly ItemInput[] };

type ItemQuery =
  | { readonly kind: "stored"; readonly query: SeriesQuery }
  | { readonly kind: "calculated"; readonly name: string; readonly query: CalculatedQuery };

/** Members of an item override those of the body. `"aggregates":""` reads points. */
function readQueries(continuation: Continuation, body: Body, version: ApiVersion): ItemQuery[] {
  const { nowMs } = continuation;
  const common = readOptions(body, "");
  return body.items.map((item, i): ItemQuery => {
    const at = `items[${i}].`;
    const own = readOptions(item, at);
    const options = mergeOptions(own, common);
    if (item.function === undefined) {
      refuseAliases(item, at);
      return {
        kind: "stored",
        query: continuation.remaining(seriesQuery(nowMs, seriesKey(item, at), { options, at, version }), i),
      };
    }
    if (version === "0.4") {
      const expected = "a version that has functions, 0.5 or 0.6,";
      throw fail("field-invalid", { field: `${at}function`, expected, got: version });
    }
    const name = item.name ?? item.tagId;
    if (name === undefined) throw fail("fields-missing", { fields: [`${at}name`] });
    refuseAggregates(own, at);
    const calculated = calculatedQuery(nowMs, item, { options, at, version });
    return { kind: "calculated", name, query: continuation.remaining(calculated, i) };
  });
}

/** Only a function has aliases: an item with a misspelt `function` would read the series of its name. */
function refuseAliases({ aliases = [] }: ItemInput, at: string): void {
  if (aliases.length === 0) return;
  const got = aliases.map(({ alias }) => alias).join(", ");
  throw fail("field-invalid", { field: `${at}aliases`, expected: "a function that names them", got });
}

/** Aliases name the aggregates of a function. Aggregates and a time zone of the item would have no effect. */
function refuseAggregates({ aggregates = [], timeZone }: ReadOptions, at: string): void {
  const expected = "nothing beside a function, whose aliases name aggregates,";
  if (aggregates.length > 0)
    throw fail("field-invalid", { field: `${at}aggregates`, expected, got: aggregates.join(",") });
  if (timeZone) throw fail("field-invalid", { field: `${at}timeZone`, expected, got: timeZone });
}

function calculatedQuery(
  nowMs: number,
  item: ItemInput,
  {
    options,
    at,
    version,
  }: { readonly options: ReadOptions; readonly at: string; readonly version: ApiVersion },
): CalculatedQuery {
  const range = timeRange(nowMs, options, { start: `${at}start`, end: `${at}end` });
  const aliases = (item.aliases ?? []).map((alias, i) => readAlias(alias, `${at}aliases[${i}].`));
  const [repeated] = duplicatesIn(aliases.map(({ alias }) => alias));
  if (repeated !== undefined) {
    const again = aliases.findLastIndex(({ alias }) => alias === repeated);
    const field = `${at}aliases[${again}].alias`;
    throw fail("field-invalid", { field, expected: "a name of its own", got: repeated });
  }
  const limit = options.limit ?? limits.pointsPerReadDefault;
  // The Grafana data source sends functions of points to 0.5 (docs/calculated.md#the-language).
  const functionsTakePoints = version === "0.5";
  return { text: item.function!, aliases, functionsTakePoints, range, limit, field: `${at}function` };
}

/** The Grafana data source also sends the aggregate `none`, with a granularity, for points. */
function readAlias({ alias, id, ...input }: AliasInput, at: string): Alias {
  const isRaw = input.aggregate === undefined || ["", "none"].includes(input.aggregate.toLowerCase());
  const granularity = input.granularity ? readGranularity(input.granularity, `${at}granularity`) : undefined;
  if (!isRaw && !granularity) throw fail("fields-missing", { fields: [`${at}granularity`] });
  return {
    alias,
    id,
    ...(!isRaw && { aggregate: readAggregate(input.aggregate!, `${at}aggregate`) }),
    ...(granularity && { granularity }),
  };
}

/** Reads all items, in the order of the request. */
async function readResults(
  ctx: RequestContext,
  queries: readonly ItemQuery[],
  version: ApiVersion,
): Promise<NamedRows[]> {
  const stored = queries.filter((one) => one.kind === "stored").map(({ query }) => query);
  const calculated = queries.filter((one) => one.kind === "calculated").map(({ query }) => query);
  const [read, results] = [await prepareReads(ctx, stored), await calculate(ctx, calculated)];
  return queries.map((one) => {
    if (one.kind === "stored") return namedRows(read[stored.indexOf(one.query)]!, version);
    const rows = results[calculated.indexOf(one.query)]!;
    const bytesMax = Math.min(one.query.limit, limits.pointsPerReadMax) * cellBytes;
    return { name: one.name, members: [["value"]], rows, read: () => rows.read(), bytesMax };
  });
}

export const calculatedRoutes: readonly Route[] = [
  route({
    method: "POST",
    versions: apiVersions,
    capability: ["timeSeriesAcl", "READ"],
    path: "/timeseries/dataquery",
    summary: "Read points or aggregates of several series, and results of functions over series",
    query: continuationQuery,
    body: { kind: "json", schema: querySchema },
    response: (version) => ({ schema: itemsSchema(seriesPointsSchema(version)), hasNextLink: true }),
    handle: async (ctx, { version, query, body }) => {
      const continuation = new Continuation(ctx, body, query.cursor);
      const queries = readQueries(continuation, body as Body, version);
      // Beside a function, a name is that of the result.
      const stored = (body as Body).items.map((item) => (item.function === undefined ? item : {}));
      await refuseOtherIds(ctx, stored);
      return jsonResponse(ctx, await readResults(ctx, queries, version), version, continuation);
    },
  }),
];
