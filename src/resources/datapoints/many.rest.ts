// The REST operations that read many series: multi-series queries and data frames (client-endpoints 9.3,
// 9.5).
import { Type } from "typebox";
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { itemsOf } from "../../rest/envelope.ts";
import { apiVersions, type Route, route } from "../../rest/route.ts";
import { csvType, frameAnswer, jsonAnswer, pointsShape } from "./answers.rest.ts";
import { readMany, type SeriesQuestion } from "./datapoints.ts";
import { type FrameQuestion, readFrame } from "./frame.ts";
import {
  askedFields,
  askedIn,
  askedOver,
  keyFields,
  keyOf,
  questionOf,
  rangeOf,
  type SentAsked,
  type SentKey,
} from "./questions.rest.ts";

const querySchema = Type.Object({
  items: Type.Array(
    Type.Object({
      ...keyFields,
      ...askedFields,
      function: Type.Optional(Type.String({ description: "Calculated series are not served yet" })),
    }),
    { maxItems: limits.seriesPerReadMax },
  ),
  ...askedFields,
});

type SentItem = SentKey & SentAsked & { readonly function?: string };

/**
 * Members of an item go before those of the body; `"aggregates":""` asks for points (client-endpoints
 * 9.3).
 */
function questionsIn(ctx: RequestContext, body: SentAsked & { readonly items: readonly SentItem[] }) {
  const common = askedIn(body, "");
  return body.items.map((item, i): SeriesQuestion => {
    const at = `items[${i}].`;
    if (item.function !== undefined) throw fail("function-not-served", { field: `${at}function` });
    return questionOf(ctx, keyOf(item, at), { asked: askedOver(askedIn(item, at), common), at });
  });
}

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

/** An item without aggregates of its own, or with none in its list, has the body's ((b) 12). */
function frameIn(ctx: RequestContext, body: SentFrame): FrameQuestion {
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
    throw fail("too-many", { field: "aggregates", limit: limits.frameColumnsMax, got: columns.length });
  const range = rangeOf(ctx, { start, end });
  return { columns, range, granularity, limit: limit ?? limits.pointsPerReadDefault };
}

const reading = { method: "POST", versions: apiVersions, capability: ["timeSeriesAcl", "READ"] } as const;

export const manyRoutes: readonly Route[] = [
  route({
    ...reading,
    path: "/timeseries/dataquery",
    summary: "Points or aggregates of many series",
    source: "client-endpoints 9.3",
    body: { kind: "json", schema: querySchema },
    answer: (version) => ({ schema: itemsOf(pointsShape(version)) }),
    handle: async (ctx, { version, body }) =>
      jsonAnswer(await readMany(ctx, questionsIn(ctx, body as SentAsked & { items: SentItem[] })), version),
  }),
  route({
    ...reading,
    path: "/timeseries/dataframe",
    summary: "Aggregates of many series side by side, as CSV",
    source: "platform-api Time series and datapoints, client-endpoints 9.5",
    body: { kind: "json", schema: frameSchema },
    answer: () => ({ schema: Type.String(), otherContentTypes: [csvType] }),
    handle: async (ctx, { body }) => frameAnswer(await readFrame(ctx, frameIn(ctx, body as SentFrame))),
  }),
];
