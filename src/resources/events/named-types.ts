// Event transformers and semantic types: records with a name that events refer to.
//
// They are not linked to assets, so the capability alone decides, whichever events the caller may see.
import { requireCapability } from "../../access/caller.ts";
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { everything, oneOf, some } from "../../query/filter.ts";
import { byId, type Page, type PageQuery } from "../../query/page.ts";
import type { CatalogReader, Table } from "../../storage/catalog.ts";
import { existingRecords } from "../../storage/existing-records.ts";
import { readPage } from "../../storage/read-page.ts";
import { type EventNamedType, eventTable, eventTransformerTable, semanticTypeTable } from "./schema.ts";

export type { EventNamedType as Term } from "./schema.ts";

const tables = { transformers: eventTransformerTable, semanticTypes: semanticTypeTable };
export type NamedTypeKind = keyof typeof tables;

export async function listNamedTypes(
  ctx: RequestContext,
  kind: NamedTypeKind,
  page: PageQuery,
): Promise<Page<EventNamedType>> {
  requireCapability(ctx.caller, "eventsAcl", "READ");
  const query = { filter: everything, order: byId, page };
  return ctx.catalog.read(ctx.projectId, (tx) => readPage(tx, tables[kind], query));
}

/** Refuses (404) an unknown id. */
export async function getNamedType(
  ctx: RequestContext,
  kind: NamedTypeKind,
  id: number,
): Promise<EventNamedType> {
  requireCapability(ctx.caller, "eventsAcl", "READ");
  const which = { ids: [id], field: "id", status: 404 } as const;
  const [term] = await ctx.catalog.read(ctx.projectId, (tx) =>
    existingRecords<EventNamedType>(tx, tables[kind], everything, which),
  );
  return term!;
}

/** Creates all records or none, in the order of the request. Names may repeat. */
export async function createNamedTypes(
  ctx: RequestContext,
  kind: NamedTypeKind,
  items: readonly Omit<EventNamedType, "id">[],
): Promise<EventNamedType[]> {
  requireCapability(ctx.caller, "eventsAcl", "WRITE");
  const rows = items.map((item) => ({ ...item, id: ctx.ids.next() }));
  await ctx.catalog.write(ctx.projectId, (tx) => tx.insert(tables[kind], rows));
  return rows;
}

/**
 * Deletes all records or none. Refuses (400) unknown and repeated ids, and (409) semantic types of which an
 * event has a phrase, even if the caller may not see the event. Events keep their references to deleted
 * transformers.
 */
export async function deleteNamedTypes(
  ctx: RequestContext,
  kind: NamedTypeKind,
  ids: readonly number[],
): Promise<void> {
  requireCapability(ctx.caller, "eventsAcl", "WRITE");
  const table: Table<EventNamedType> = tables[kind];
  await ctx.catalog.write(ctx.projectId, async (tx) => {
    const terms = await existingRecords(tx, table, everything, { ids, field: "items" });
    if (kind === "semanticTypes") await refuseInUse(tx, terms);
    await tx.remove(table, oneOf("id", ids));
  });
}

async function refuseInUse(tx: CatalogReader, types: readonly EventNamedType[]): Promise<void> {
  const ids = types.map(({ id }) => id);
  const filter = some("semanticPhrases", oneOf("semanticTypeId", ids));
  const [event] = await tx.find(eventTable, { filter, order: byId, page: { limit: 1 } });
  if (!event) return;
  const used = new Set(event.semanticPhrases!.map(({ semanticTypeId }) => semanticTypeId));
  const inUse = types.filter(({ id }) => used.has(id)).map(({ id, name }) => ({ id, name }));
  throw fail("semantic-type-in-use", { inUse });
}
