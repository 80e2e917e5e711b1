// Tag matching over REST, which the Python SDKs use (docs/reference/tag-matching.md).
import { Type } from "typebox";
import type { RequestContext } from "../../context.ts";
import { bytesOrStream } from "../../lib/streams.ts";
import { limits } from "../../limits.ts";
import type { NameMatch } from "../../query/tags/similarity.ts";
import { itemsSchema } from "../../rest/envelope.ts";
import { textField } from "../../rest/fields.ts";
import { apiVersions, type Route, route } from "../../rest/route.ts";
import { matchTags } from "./tag-matching.ts";

const tagQuery = Type.Object({
  tagIds: Type.Array(textField("A tag", { max: limits.nameLengthMax }), { maxItems: limits.tagsPerMatchMax }),
  metadata: Type.Optional(
    Type.Object({
      fuzzyThreshold: Type.Optional(
        Type.Number({
          description:
            `The greatest score of a match; 0, as when absent, for tags that differ in case, separators ` +
            `and leading zeros alone; lowered to ${limits.tagEditsMax}`,
          minimum: 0,
        }),
      ),
      platform: Type.Optional(Type.String({ description: "Only assets with exactly this source" })),
    }),
  ),
});

const matchSchema = Type.Object({
  tagId: Type.String({ description: "The name of an asset" }),
  score: Type.Integer({
    description:
      "Letters to change, add or take away, case, separators and leading zeros aside; 0 is the best",
  }),
  platform: Type.Union([Type.String(), Type.Null()], { description: "The source of the asset" }),
});

const tagSchema = Type.Object({
  tagId: Type.String(),
  matches: Type.Array(matchSchema, { description: "Best first" }),
});

export const tagMatchingRoutes: readonly Route[] = [
  route({
    method: "POST",
    path: "/tagmatching",
    versions: apiVersions,
    capability: ["assetsAcl", "READ"],
    summary: "Find the assets with the names nearest to tags of other systems",
    body: { kind: "json", schema: tagQuery },
    response: () => ({ schema: itemsSchema(tagSchema) }),
    handle: async (ctx, { body }) => {
      const { tagIds, metadata = {} } = body;
      const { fuzzyThreshold: scoreMax = 0, platform } = metadata;
      const found = await matchTags(ctx, { tags: tagIds, scoreMax, platform });
      const pieces = itemsJson(ctx, tagIds, found);
      return { contentType, ...(await bytesOrStream(pieces, bytesInMemory)) };
    },
  }),
];

const contentType = "application/json; charset=utf-8";
const bytesInMemory = 512 * 1024;

/** The number of tags written in one step: with all matches about 2 ms. */
const tagsPerStep = 20;

/** Writes `{"data":{"items":[...]}}` in steps, as it can have 10 MB. */
async function* itemsJson(
  ctx: RequestContext,
  tagIds: readonly string[],
  found: readonly (readonly NameMatch[])[],
): AsyncGenerator<Buffer> {
  yield Buffer.from('{"data":{"items":[');
  for (let from = 0; from < tagIds.length; from += tagsPerStep)
    yield await ctx.computing.step(ctx, () => {
      const items = tagIds.slice(from, from + tagsPerStep).map((tagId, index) => ({
        tagId,
        matches: found[from + index]!.map(shown),
      }));
      return Buffer.from(`${from === 0 ? "" : ","}${JSON.stringify(items).slice(1, -1)}`);
    });
  yield Buffer.from("]}}");
}

const shown = ({ name, score, platform }: NameMatch) => ({
  ...{ tagId: name, score },
  platform: platform ?? null,
});
