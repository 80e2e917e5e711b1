// Relationships: named links between two resources.

import { permittedRecords } from "../../access/caller.ts";
import type { Action } from "../../access/capabilities.ts";
import { refuseNotPermitted } from "../../access/refuse-not-permitted.ts";
import type { RequestContext } from "../../context.ts";
import { and, equals, type Filter, nothing, oneOf, or } from "../../query/filter.ts";
import { mapInSlices } from "../../query/map-in-slices.ts";
import { byId, type Page, type PageQuery } from "../../query/page.ts";
import { readInBatches } from "../../query/read-within.ts";
import type { CatalogReader } from "../../storage/catalog.ts";
import { readPage } from "../../storage/read-page.ts";
import { visibleAssetRows } from "../assets/assets.ts";
import {
  type ExternalIdsQuery,
  existingByExternalId,
  namesOnly,
  refuseTakenExternalIds,
} from "../common/external-ids.ts";
import { type Relationship, relationshipTable } from "./schema.ts";

export type { Relationship } from "./schema.ts";

export type NewRelationship = Omit<Relationship, "id" | "createdTime" | "lastUpdatedTime">;

const relationshipType = { table: relationshipTable, noun: "relationship" };

const permittedFor = (ctx: RequestContext, action: Action) =>
  permittedRecords(ctx.caller, "relationshipsAcl", action);

/**
 * Creates all relationships or none, and returns them in the same order. Refuses (409) external ids that
 * repeat or belong to another relationship, visible to the caller or not.
 */
export async function createRelationships(
  ctx: RequestContext,
  items: readonly NewRelationship[],
): Promise<Relationship[]> {
  const permitted = permittedFor(ctx, "WRITE");
  return ctx.catalog.write(ctx.projectId, async (tx) => {
    const nowMs = ctx.system.nowMs();
    const times = { createdTime: nowMs, lastUpdatedTime: nowMs };
    const rows = await mapInSlices(items, (item) => ({ ...item, id: ctx.ids.next(), ...times }));
    await refuseTakenExternalIds(tx, relationshipType, rows);
    await tx.insert(relationshipTable, rows);
    await refuseNotPermitted(tx, relationshipTable, permitted, { acl: "relationshipsAcl", rows });
    return rows;
  });
}

export interface RelationshipsQuery {
  readonly filter: Filter;
  /** Only relationships with this asset at either end. */
  readonly assetId?: number | undefined;
  readonly page: PageQuery;
}

/** Returns one page of the relationships that the caller may see, by id. */
export async function listRelationships(
  ctx: RequestContext,
  { filter, assetId, page }: RelationshipsQuery,
): Promise<Page<Relationship>> {
  return ctx.catalog.read(ctx.projectId, async (tx) => {
    const ofAsset = assetId === undefined ? undefined : await touching(ctx, tx, assetId);
    const visible = and(permittedFor(ctx, "READ"), filter, ofAsset);
    return readPage(tx, relationshipTable, { filter: visible, order: byId, page });
  });
}

/**
 * Matches relationships with this asset at either end; nothing if the caller may not see the asset or it
 * has no external id.
 */
async function touching(ctx: RequestContext, tx: CatalogReader, assetId: number): Promise<Filter> {
  const asset = (await visibleAssetRows(ctx, tx, "relationshipsAcl", [assetId])).get(assetId);
  const externalId = asset && (asset.externalId ?? asset.sourceId);
  if (externalId === undefined) return nothing;
  const atEnd = (type: string, id: string) => and(equals(type, "asset"), equals(id, externalId));
  return or(atEnd("sourceType", "sourceExternalId"), atEnd("targetType", "targetExternalId"));
}

/** Counts the matching relationships that the caller may see. */
export async function countRelationships(ctx: RequestContext, filter: Filter): Promise<number> {
  const visible = and(permittedFor(ctx, "READ"), filter);
  return ctx.catalog.read(ctx.projectId, (tx) => tx.count(relationshipTable, visible));
}

/** Refuses (404) an unknown relationship. */
export async function getRelationship(ctx: RequestContext, externalId: string): Promise<Relationship> {
  const [found] = await read(ctx, { externalIds: [externalId], status: 404 });
  return found!;
}

/**
 * Reads relationships in the order of the external ids, in batches. Refuses (400) unknown and repeated
 * external ids.
 */
export function getRelationships(
  ctx: RequestContext,
  externalIds: readonly string[],
): AsyncGenerator<readonly Relationship[]> {
  return readInBatches(ctx.memory, externalIds, {
    check: (externalIds) => read(ctx, { externalIds, fields: namesOnly }),
    read: (externalIds, bound) => read(ctx, { externalIds, bound }),
  });
}

async function read(ctx: RequestContext, named: ExternalIdsQuery): Promise<Relationship[]> {
  const permitted = permittedFor(ctx, "READ");
  return ctx.catalog.read(ctx.projectId, (tx) =>
    existingByExternalId(tx, { ...relationshipType, permitted }, named),
  );
}

/** Deletes all relationships or none. Refuses (400) unknown and repeated external ids. */
export async function deleteRelationships(
  ctx: RequestContext,
  externalIds: readonly string[],
): Promise<void> {
  return remove(ctx, { externalIds });
}

/** Like `deleteRelationships` for a single relationship. Refuses (404) an unknown one. */
export async function deleteRelationship(ctx: RequestContext, externalId: string): Promise<void> {
  return remove(ctx, { externalIds: [externalId], status: 404 });
}

async function remove(ctx: RequestContext, named: ExternalIdsQuery): Promise<void> {
  const permitted = permittedFor(ctx, "WRITE");
  await ctx.catalog.write(ctx.projectId, async (tx) => {
    const type = { ...relationshipType, permitted };
    const rows = await existingByExternalId(tx, type, { ...named, fields: namesOnly });
    const ids = rows.map((row) => row.id);
    await tx.remove(relationshipTable, oneOf("id", ids));
  });
}
