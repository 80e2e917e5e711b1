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
import { readMany, type SeriesQuestion } from "../datapoints/datapoints.ts";
import {
  type Asked,
  askedFields,
  askedIn,
  askedOver,
  granularityIn,
  keyFields,
  keyOf,
  questionOf,
  rangeOf,
  readAggregate,
  type SentAsked,
  type SentKey,
} from "../datapoints/queries.rest.ts";
import {
  cellBytes,
  jsonAnswer,
  type NamedRows,
  namedRows,
  pointsShape,
} from "../datapoints/responses.rest.ts";
import { type Alias, type CalculatedQuestion, calculate } from "./calculated.ts";

const aliasShape = Type.Object(
  {
    alias: Type.String({ description: "What the function calls the series, without the brackets" }),
    id: Type.Integer({ description: "The id of the series" }),
    aggregate: Type.Optional(
      Type.String({
        description: "Read as this aggregate; needs a granularity. Absent or `none`: the points",
      }),
    ),
    granularity: Type.Optional(Type.String({ description: "How long an aggregate reaches" })),
  },
  { title: "FunctionAlias" },
);

const querySchema = Type.Object({
  items: Type.Array(
    Type.Object({
      ...keyFields,
      ...askedFields,
      function: Type.Optional(
        Type.String({
          description:
            "In 0.5 and 0.6, an expression over series in square brackets; `name` is the name of the result",
          examples: ["([123] - 32) * 5 / 9", "max([a], [b])"],
        }),
      ),
      aliases: Type.Optional(
        Type.Array(aliasShape, { maxItems: limits.functionLeavesMax, description: "For `function`" }),
      ),
    }),
    { maxItems: limits.seriesPerReadMax },
  ),
  ...askedFields,
});

type SentAlias = Pick<Alias, "alias" | "id"> & { readonly aggregate?: string; readonly granularity?: string };

type SentItem = SentKey & SentAsked & { readonly function?: string; readonly aliases?: readonly SentAlias[] };

type Body = SentAsked & { readonly items: readonly SentItem[] };

type Question =
  | { readonly kind: "stored"; readonly question: SeriesQuestion }
  | { readonly kind: "calculated"; readonly name: string; readonly question: CalculatedQuestion };

/** Members of an item override those of the body; `"aggregates":""` requests points. */
function questionsIn(continuation: Continuation, body: Body, version: ApiVersion): Question[] {
  const { nowMs } = continuation;
  const common = askedIn(body, "");
  return body.items.map((item, i): Question => {
    const at = `items[${i}].`;
    const own = askedIn(item, at);
    const asked = askedOver(own, common);
    if (item.function === undefined)
      return {
        kind: "stored",
        question: continuation.rest(questionOf(nowMs, keyOf(item, at), { asked, at }), i),
      };
    if (version === "0.4") {
      const expected = "a version that has functions, 0.5 or 0.6,";
      throw fail("field-invalid", { field: `${at}function`, expected, got: version });
    }
    const name = item.name ?? item.tagId;
    if (name === undefined) throw fail("fields-missing", { fields: [`${at}name`] });
    refuseAggregates(own, at);
    const question = calculatedIn(nowMs, item, { asked, at, version });
    return { kind: "calculated", name, question: continuation.rest(question, i) };
  });
}

/** A function says itself what it reads of a series; aggregates beside it would be passed over silently. */
function refuseAggregates({ aggregates = [] }: Asked, at: string): void {
  if (aggregates.length === 0) return;
  const expected = "nothing beside a function, whose aliases name aggregates,";
  throw fail("field-invalid", { field: `${at}aggregates`, expected, got: aggregates.join(",") });
}

function calculatedIn(
  nowMs: number,
  item: SentItem,
  { asked, at, version }: { readonly asked: Asked; readonly at: string; readonly version: ApiVersion },
): CalculatedQuestion {
  const range = rangeOf(nowMs, asked, { start: `${at}start`, end: `${at}end` });
  const aliases = (item.aliases ?? []).map((alias, i) => aliasIn(alias, `${at}aliases[${i}].`));
  const [repeated] = duplicatesIn(aliases.map(({ alias }) => alias));
  if (repeated !== undefined) {
    const again = aliases.findLastIndex(({ alias }) => alias === repeated);
    const field = `${at}aliases[${again}].alias`;
    throw fail("field-invalid", { field, expected: "a name of its own", got: repeated });
  }
  const limit = asked.limit ?? limits.pointsPerReadDefault;
  // The Grafana data source sends functions of points to 0.5 (docs/calculated.md#the-language).
  const functionsTakePoints = version === "0.5";
  return { text: item.function!, aliases, functionsTakePoints, range, limit, field: `${at}function` };
}

/** The Grafana data source also sends the aggregate `none`, with a granularity, for points. */
function aliasIn({ alias, id, ...sent }: SentAlias, at: string): Alias {
  const isRaw = sent.aggregate === undefined || ["", "none"].includes(sent.aggregate.toLowerCase());
  const granularity = sent.granularity ? granularityIn(sent.granularity, `${at}granularity`) : undefined;
  if (!isRaw && !granularity) throw fail("fields-missing", { fields: [`${at}granularity`] });
  return {
    alias,
    id,
    ...(!isRaw && { aggregate: readAggregate(sent.aggregate!, `${at}aggregate`) }),
    ...(granularity && { granularity }),
  };
}

/** In the order asked. */
async function answersTo(
  ctx: RequestContext,
  questions: readonly Question[],
  version: ApiVersion,
): Promise<NamedRows[]> {
  const stored = questions.filter((one) => one.kind === "stored").map(({ question }) => question);
  const calculated = questions.filter((one) => one.kind === "calculated").map(({ question }) => question);
  const [read, results] = [await readMany(ctx, stored), await calculate(ctx, calculated)];
  return questions.map((one) => {
    if (one.kind === "stored") return namedRows(read[stored.indexOf(one.question)]!, version);
    const rows = results[calculated.indexOf(one.question)]!;
    const bytesMax = Math.min(one.question.limit, limits.pointsPerReadMax) * cellBytes;
    return { name: one.name, members: [["value"]], rows, read: () => rows.read(), bytesMax };
  });
}

export const calculatedRoutes: readonly Route[] = [
  route({
    method: "POST",
    versions: apiVersions,
    capability: ["timeSeriesAcl", "READ"],
    path: "/timeseries/dataquery",
    summary: "Points or aggregates of many series, and results of functions over series",
    query: continuationQuery,
    body: { kind: "json", schema: querySchema },
    response: (version) => ({ schema: itemsSchema(pointsShape(version)), hasNextLink: true }),
    handle: async (ctx, { version, query, body }) => {
      const continuation = new Continuation(ctx, body, query.cursor);
      const questions = questionsIn(continuation, body as Body, version);
      return jsonAnswer(ctx, await answersTo(ctx, questions, version), version, continuation);
    },
  }),
];
