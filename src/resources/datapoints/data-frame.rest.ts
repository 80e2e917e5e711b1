// The REST operation that reads data frames (docs/reference/datapoints.md#data-frames).

import { Type } from "typebox";
import { fail } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { Continuation, continuationQuery } from "../../rest/continuation.ts";
import { cellTextFor, csvQuery } from "../../rest/csv.ts";
import { type ApiVersion, apiVersions, type Route, route } from "../../rest/route.ts";
import { type KeyInput, keyFields, refuseOtherIds, seriesKey } from "../timeseries/series-keys.rest.ts";
import { type DataFrameQuery, readDataFrame } from "./data-frame.ts";
import { granularityIn, type OptionsInput, optionFields, readOptions, timeRange } from "./queries.rest.ts";
import { csvType, dataFrameResponse } from "./responses.rest.ts";

const dataFrameSchema = Type.Object({
  items: Type.Array(Type.Object({ ...keyFields, aggregates: optionFields.aggregates }), {
    maxItems: limits.seriesPerReadMax,
  }),
  start: optionFields.start,
  end: optionFields.end,
  aggregates: optionFields.aggregates,
  granularity: optionFields.granularity,
  timeZone: optionFields.timeZone,
  limit: optionFields.limit,
});

type DataFrameInput = OptionsInput & {
  readonly items: readonly (KeyInput & Pick<OptionsInput, "aggregates">)[];
};

/** An item without aggregates, or with an empty list, has those of the body: the Python SDKs send `[]`. */
function readQuery(nowMs: number, body: DataFrameInput, version: ApiVersion): DataFrameQuery {
  const { aggregates: common = [], limit, start, end, ...buckets } = readOptions(body, "");
  const granularity = granularityIn(buckets, { version });
  if (!granularity) throw fail("fields-missing", { fields: ["granularity"] });
  const columns = body.items.flatMap((item, i) => {
    const at = `items[${i}].`;
    const key = seriesKey(item, at);
    const own = readOptions({ ...(item.aggregates && { aggregates: item.aggregates }) }, at).aggregates ?? [];
    const wanted = own.length > 0 ? own : common;
    if (wanted.length === 0) throw fail("fields-missing", { fields: ["aggregates"] });
    return wanted.map((aggregate) => ({ key, aggregate }));
  });
  if (columns.length > limits.frameColumnsMax)
    throw fail("frame-too-wide", {
      series: body.items.length,
      columns: columns.length,
      limit: limits.frameColumnsMax,
    });
  const range = timeRange(nowMs, { start, end });
  return { columns, range, granularity, limit: limit ?? limits.pointsPerReadDefault };
}

export const dataFrameRoutes: readonly Route[] = [
  route({
    method: "POST",
    versions: apiVersions,
    capability: ["timeSeriesAcl", "READ"],
    path: "/timeseries/dataframe",
    summary: "Read aggregates of several series as one table, in CSV",
    query: { ...csvQuery, ...continuationQuery },
    body: { kind: "json", schema: dataFrameSchema },
    response: () => ({ schema: Type.String(), otherContentTypes: [csvType], hasNextLink: true }),
    handle: async (ctx, { version, query, body }) => {
      const continuation = new Continuation(ctx, body, query.cursor);
      const frameQuery = readQuery(continuation.nowMs, body as DataFrameInput, version);
      await refuseOtherIds(ctx, (body as DataFrameInput).items);
      const frame = await readDataFrame(ctx, continuation.remaining(frameQuery));
      return dataFrameResponse(ctx, { ...frame, limit: frameQuery.limit }, cellTextFor(query), continuation);
    },
  }),
];
