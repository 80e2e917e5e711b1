// Retention rules over REST 0.6 (docs/reference/retention.md).
import { limits } from "../../limits.ts";
import { and } from "../../query/filter.ts";
import { mapInSlices } from "../../query/map-in-slices.ts";
import type { PageQuery } from "../../query/page.ts";
import {
  dataResponse,
  dataSchema,
  emptyResponse,
  emptySchema,
  itemsResponse,
  itemsSchema,
  listResponse,
  pageQueryOf,
  pageSchema,
} from "../../rest/envelope.ts";
import { idsBody } from "../../rest/fields.ts";
import { id } from "../../rest/parameters.ts";
import { type Route, route } from "../../rest/route.ts";
import { equalTo } from "../common/fields.rest.ts";
import { previewRule } from "./preview.ts";
import { createRules, deleteRules, getRule, listRules, type ShownRule, updateRules } from "./retention.ts";
import {
  listQuery,
  newRuleOf,
  newRules,
  previewJson,
  previewSchema,
  ruleChangeOf,
  ruleChanges,
  ruleJson,
  ruleSchema,
  ruleToPreview,
  targetFrom,
} from "./schemas.rest.ts";

const versions = ["0.6"] as const;
const read = { versions, capability: ["timeSeriesAcl", "READ"] } as const;
/** A rule is a setting of the project; `retention.ts` requires the right to delete the points too. */
const write = { versions, capability: ["projectsAcl", "UPDATE"] } as const;
const items = () => ({ schema: itemsSchema(ruleSchema) });
const response = (rules: readonly ShownRule[]) => itemsResponse(rules.map(ruleJson));

export const retentionRoutes: readonly Route[] = [
  route({
    ...write,
    method: "POST",
    path: "/retentionrules",
    summary: "Create retention rules, which remove old points from a day later on",
    body: newRules,
    response: items,
    handle: async (ctx, { body }) =>
      response(await createRules(ctx, await mapInSlices(body.items, newRuleOf))),
  }),
  route({
    ...read,
    method: "GET",
    path: "/retentionrules",
    summary: "List retention rules, ordered by id",
    query: listQuery,
    response: () => ({ schema: pageSchema(ruleSchema) }),
    handle: (ctx, { query: { seriesId, assetId, ...place } }) => {
      const filter = and(equalTo("seriesId", seriesId), equalTo("assetId", assetId));
      const collection = ["retention rules", ctx.projectId, { seriesId, assetId }];
      const read = (page: PageQuery) => listRules(ctx, { filter, page });
      return listResponse(ctx, { ...place, collection }, read, ruleJson);
    },
  }),
  route({
    ...write,
    method: "POST",
    path: "/retentionrules/update",
    summary: "Change names and days of retention rules",
    body: ruleChanges,
    response: items,
    handle: async (ctx, { body }) =>
      response(await updateRules(ctx, await mapInSlices(body.items, ruleChangeOf))),
  }),
  route({
    ...write,
    effect: "read",
    method: "POST",
    path: "/retentionrules/preview",
    summary: "Count what a retention rule would remove now; changes nothing",
    body: ruleToPreview,
    response: () => ({ schema: dataSchema(previewSchema) }),
    handle: async (ctx, { body }) => {
      const { keepDays, cursor, limit = limits.retentionPreviewSeriesMax } = body;
      const rule = { ...targetFrom(body), keepDays };
      const collection = ["retention preview", ctx.projectId, rule];
      const page = pageQueryOf(ctx, collection, { cursor, limit });
      const { next, ...counted } = await previewRule(ctx, rule, page);
      const nextCursor = next && ctx.cursors.sign(collection, { after: next });
      return dataResponse({ ...previewJson(counted), ...(nextCursor !== undefined && { nextCursor }) });
    },
  }),
  route({
    ...write,
    method: "POST",
    path: "/retentionrules/delete",
    summary: "Delete retention rules; their series keep what they have, or come under another rule",
    body: idsBody("Which retention rule"),
    response: () => ({ schema: emptySchema }),
    handle: async (ctx, { body }) => {
      await deleteRules(ctx, body.items);
      return emptyResponse;
    },
  }),
  route({
    ...read,
    method: "GET",
    path: "/retentionrules/{retentionRuleId}",
    summary: "Read a retention rule",
    parameters: { retentionRuleId: id("The retention rule") },
    response: items,
    handle: async (ctx, { path }) => response([await getRule(ctx, path.retentionRuleId)]),
  }),
];
