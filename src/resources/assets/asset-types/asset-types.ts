// Creates, changes and deletes asset types and their fields.
//
// Types are not linked to assets, so the capability alone decides, whichever assets the caller
// may see.
import { requireCapability } from "../../../access/caller.ts";
import type { RequestContext } from "../../../context.ts";
import { fail } from "../../../errors.ts";
import { limits } from "../../../limits.ts";
import { everything, type Filter, hasMember, hasOneOf, oneOf, or } from "../../../query/filter.ts";
import { mapInSlices } from "../../../query/map-in-slices.ts";
import { byId, type Page, type PageQuery } from "../../../query/page.ts";
import { readInBatches } from "../../../query/read-within.ts";
import type { CatalogReader } from "../../../storage/catalog.ts";
import {
  existingRecords,
  type IdsNamed,
  refuseUnknownIds,
  refuseUnlessAll,
} from "../../../storage/existing-records.ts";
import { readPage } from "../../../storage/read-page.ts";
import { type AssetRow, assetTable } from "../schema.ts";
import { type AssetType, assetTypeTable, type TypeField } from "./schema.ts";

export type { AssetType } from "./schema.ts";

export type NewField = Omit<TypeField, "id">;
export type NewAssetType = Omit<AssetType, "id" | "fields"> & { readonly fields: readonly NewField[] };

/**
 * Values to set; `null` clears a value, an absent member leaves it. The value type of a field never
 * changes.
 */
export interface NameChange {
  readonly id: number;
  readonly name?: string | undefined;
  readonly description?: string | null | undefined;
}

/** Creates all types or none, and returns them in the order of the request. Types may share a name. */
export async function createAssetTypes(
  ctx: RequestContext,
  items: readonly NewAssetType[],
): Promise<AssetType[]> {
  requireCapability(ctx.caller, "assetsAcl", "WRITE");
  const rows = await mapInSlices(items, (item) => ({
    ...item,
    id: ctx.ids.next(),
    fields: item.fields.map((field) => ({ ...field, id: ctx.ids.next() })),
  }));
  await ctx.catalog.write(ctx.projectId, (tx) => tx.insert(assetTypeTable, rows));
  return rows;
}

/** Returns one page of all types, oldest first. */
export async function listAssetTypes(ctx: RequestContext, page: PageQuery): Promise<Page<AssetType>> {
  requireCapability(ctx.caller, "assetsAcl", "READ");
  const query = { filter: everything, order: byId, page };
  return ctx.catalog.read(ctx.projectId, (tx) => readPage(tx, assetTypeTable, query));
}

/** Refuses (404) an unknown id. */
export async function getAssetType(ctx: RequestContext, id: number): Promise<AssetType> {
  const [found] = await read(ctx, oneNamed(id));
  return found!;
}

/** Reads types in the order of the ids, in batches. Refuses (400) unknown and repeated ids. */
export function getAssetTypes(
  ctx: RequestContext,
  ids: readonly number[],
): AsyncGenerator<readonly AssetType[]> {
  const check = (ids: readonly number[]) => {
    const named = { ids, field: "items" };
    return ctx.catalog.read(ctx.projectId, (tx) => refuseUnknownIds(tx, assetTypeTable, everything, named));
  };
  return readInBatches(ctx.memory, ids, {
    check,
    read: (ids, bound) => read(ctx, { ids, field: "items", bound }),
  });
}

const oneNamed = (id: number) => ({ ids: [id], field: "typeId", status: 404 }) as const;

async function read(ctx: RequestContext, named: IdsNamed): Promise<AssetType[]> {
  requireCapability(ctx.caller, "assetsAcl", "READ");
  return ctx.catalog.read(ctx.projectId, (tx) => existingRecords(tx, assetTypeTable, everything, named));
}

/**
 * Changes all types or none, and returns them in the order of the changes. Refuses (400) unknown and
 * repeated ids.
 */
export async function updateAssetTypes(
  ctx: RequestContext,
  changes: readonly NameChange[],
): Promise<AssetType[]> {
  return replaceTypes(ctx, { ids: changes.map(({ id }) => id), field: "items" }, async (_tx, types) =>
    types.map((type, index) => changeName(type, changes[index]!)),
  );
}

/**
 * Deletes all types or none. Refuses (400) unknown and repeated ids, and (409) types in use, so that no
 * asset loses values.
 */
export async function deleteAssetTypes(ctx: RequestContext, ids: readonly number[]): Promise<void> {
  requireCapability(ctx.caller, "assetsAcl", "WRITE");
  await ctx.catalog.write(ctx.projectId, async (tx) => {
    const types = await existingRecords(tx, assetTypeTable, everything, { ids, field: "items" });
    const isOf = ({ id }: AssetType, asset: AssetRow) => asset.typeIds!.includes(id);
    await refuseInUse(tx, types, { filter: hasOneOf("typeIds", ids), isOf });
    await tx.remove(assetTypeTable, oneOf("id", ids));
  });
}

/**
 * Adds fields to a type and returns the type. Refuses (404) an unknown type, and (400) too many fields.
 */
export async function addFields(
  ctx: RequestContext,
  typeId: number,
  added: readonly NewField[],
): Promise<AssetType> {
  return changeFields(ctx, typeId, async (_tx, { fields }) => {
    const [got, limit] = [fields.length + added.length, limits.assetTypeFieldsMax];
    if (got > limit) throw fail("too-many", { field: "fields", limit, got });
    return [...fields, ...added.map((field) => ({ ...field, id: ctx.ids.next() }))];
  });
}

/**
 * Changes fields of a type and returns the type. Refuses (404) an unknown type, and (400) unknown and
 * repeated fields.
 */
export async function updateFields(
  ctx: RequestContext,
  typeId: number,
  changes: readonly NameChange[],
): Promise<AssetType> {
  const changeOf = new Map(changes.map((change) => [change.id, change]));
  return changeFields(ctx, typeId, async (_tx, type) => {
    fieldsNamed(type, changes);
    return type.fields.map((field) => changeName(field, changeOf.get(field.id) ?? { id: field.id }));
  });
}

/**
 * Removes fields from a type. Refuses (404) an unknown type, (400) unknown and repeated fields, and (409)
 * fields of which an asset has a value.
 */
export async function deleteFields(
  ctx: RequestContext,
  typeId: number,
  ids: readonly number[],
): Promise<void> {
  await changeFields(ctx, typeId, async (tx, type) => {
    const removed = fieldsNamed(
      type,
      ids.map((id) => ({ id })),
    );
    const filter = or(...ids.map((id) => hasMember("fieldValues", `${id}`)));
    const isOf = ({ id }: TypeField, asset: AssetRow) => Object.hasOwn(asset.fieldValues!, id);
    await refuseInUse(tx, [...removed], { filter, isOf });
    return type.fields.filter((field) => !removed.has(field));
  });
}

async function changeFields(
  ctx: RequestContext,
  typeId: number,
  plan: (tx: CatalogReader, type: AssetType) => Promise<readonly TypeField[]>,
): Promise<AssetType> {
  const [changed] = await replaceTypes(ctx, oneNamed(typeId), async (tx, [type]) => [
    { ...type!, fields: await plan(tx, type!) },
  ]);
  return changed!;
}

async function replaceTypes(
  ctx: RequestContext,
  named: IdsNamed,
  plan: (tx: CatalogReader, types: readonly AssetType[]) => Promise<readonly AssetType[]>,
): Promise<AssetType[]> {
  requireCapability(ctx.caller, "assetsAcl", "WRITE");
  return ctx.catalog.write(ctx.projectId, async (tx) => {
    const types = await existingRecords(tx, assetTypeTable, everything, named);
    const changed = await plan(tx, types);
    await tx.replace(assetTypeTable, changed);
    return [...changed];
  });
}

function changeName<Term extends AssetType | TypeField>(term: Term, { name, description }: NameChange): Term {
  const { description: before, ...others } = term;
  const after = description === undefined ? before : description;
  const changed = { ...others, ...(name !== undefined && { name }), ...(after && { description: after }) };
  return changed as Term;
}

function fieldsNamed(type: AssetType, named: readonly { readonly id: number }[]): Set<TypeField> {
  const known = new Map(type.fields.map((field) => [field.id, field]));
  const ids = named.map(({ id }) => id);
  refuseUnlessAll(known, { ids, field: "items" });
  return new Set(ids.map((id) => known.get(id)!));
}

/** Checks the assets of the whole project: assets that the caller may not see would lose values, too. */
async function refuseInUse<Removed extends AssetType | TypeField>(
  tx: CatalogReader,
  removed: readonly Removed[],
  { filter, isOf }: { filter: Filter; isOf: (one: Removed, asset: AssetRow) => boolean },
): Promise<void> {
  const [asset] = await tx.find(assetTable, { filter, order: byId, page: { limit: 1 } });
  if (!asset) return;
  const inUse = removed.filter((one) => isOf(one, asset));
  throw fail("asset-type-in-use", { inUse: inUse.map(({ id, name }) => ({ id, name })) });
}
