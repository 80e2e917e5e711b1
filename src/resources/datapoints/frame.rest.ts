// The REST operation that reads data frames (docs/reference/datapoints.md#data-frames).

import { Type } from "typebox";
import { fail } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { Continuation, continuationQuery } from "../../rest/continuation.ts";
import { cellTextFor, csvQuery } from "../../rest/csv.ts";
import { apiVersions, type Route, route } from "../../rest/route.ts";
import { type FrameQuestion, readFrame } from "./frame.ts";
import {
  askedFields,
  askedIn,
  keyFields,
  keyOf,
  rangeOf,
  type SentAsked,
  type SentKey,
} from "./queries.rest.ts";
import { csvType, frameAnswer } from "./responses.rest.ts";

const frameSchema = Type.Object({
  items: Type.Array(Type.Object({ ...keyFields, aggregates: askedFields.aggregates }), {
    maxItems: limits.seriesPerReadMax,
  }),
  start: askedFields.start,
  end: askedFields.end,
  aggregates: askedFields.aggregates,
  granularity: askedFields.granularity,
  limit: askedFields.limit,
});

type SentFrame = SentAsked & { readonly items: readonly (SentKey & Pick<SentAsked, "aggregates">)[] };

/** An item without aggregates, or with an empty list, has those of the body: the Python SDKs send `[]`. */
function frameIn(nowMs: number, body: SentFrame): FrameQuestion {
  const { aggregates: common = [], granularity, limit, start, end } = askedIn(body, "");
  if (!granularity) throw fail("fields-missing", { fields: ["granularity"] });
  const columns = body.items.flatMap((item, i) => {
    const at = `items[${i}].`;
    const key = keyOf(item, at);
    const own = askedIn({ ...(item.aggregates && { aggregates: item.aggregates }) }, at).aggregates ?? [];
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
  const range = rangeOf(nowMs, { start, end });
  return { columns, range, granularity, limit: limit ?? limits.pointsPerReadDefault };
}

export const frameRoutes: readonly Route[] = [
  route({
    method: "POST",
    versions: apiVersions,
    capability: ["timeSeriesAcl", "READ"],
    path: "/timeseries/dataframe",
    summary: "Aggregates of many series side by side, as CSV",
    query: { ...csvQuery, ...continuationQuery },
    body: { kind: "json", schema: frameSchema },
    response: () => ({ schema: Type.String(), otherContentTypes: [csvType], hasNextLink: true }),
    handle: async (ctx, { query, body }) => {
      const continuation = new Continuation(ctx, body, query.cursor);
      const question = frameIn(continuation.nowMs, body as SentFrame);
      const frame = await readFrame(ctx, continuation.rest(question));
      return frameAnswer(ctx, { ...frame, limit: question.limit }, cellTextFor(query), continuation);
    },
  }),
];
