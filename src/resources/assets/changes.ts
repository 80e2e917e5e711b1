// Applies updates to asset rows: new field values, and new positions in the tree.
import { fail } from "../../errors.ts";
import type { Filter } from "../../query/filter.ts";
import { mapInSlices } from "../../query/map-in-slices.ts";
import type { CatalogReader } from "../../storage/catalog.ts";
import { type CommonChange, changeRecord } from "../common/changes.ts";
import {
  changeTypes,
  type TypeInput,
  type TypesChange,
  typeDefinitions,
  typeIdsIn,
} from "./asset-types/values.ts";
import { type AssetWrite, existingRows, rowsUnder, visibleRows } from "./rows.ts";
import type { AssetRow } from "./schema.ts";
import { treePositions } from "./tree.ts";

/**
 * Values to set; `null` clears a value, `undefined` leaves it. A new `parentId` moves the asset; `null`
 * makes it a root.
 */
export interface AssetChange extends CommonChange {
  readonly id: number;
  readonly name?: string | undefined;
  readonly description?: string | null | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly source?: string | null | undefined;
  readonly sourceId?: string | null | undefined;
  readonly parentId?: number | null | undefined;
  /** A list replaces all types of the asset. */
  readonly types?: readonly TypeInput[] | TypesChange | undefined;
}

interface ChangeBatch {
  readonly changes: readonly AssetChange[];
  readonly nowMs: number;
  /** The prefix of the field names of this change in refusals: `items[0].`. */
  readonly fieldPrefix: (index: number) => string;
}

/** Applies the changes to the rows, in the same order. */
export async function changeRows(
  tx: CatalogReader,
  rows: readonly AssetRow[],
  { changes, nowMs, fieldPrefix: placeOf }: ChangeBatch,
): Promise<AssetRow[]> {
  const typeIds = changes.map(({ types }, index) =>
    types ? [...typeIdsIn(types), ...(rows[index]!.typeIds ?? [])] : [],
  );
  const definitions = await typeDefinitions(tx, typeIds.flat());
  return mapInSlices(rows, (row, index) => {
    const { types, ...change } = changes[index]!;
    if (!types) return changeRecord(row, change, nowMs);
    const place = `${placeOf(index)}types`;
    const typed = changeTypes(row, types, { definitions, place });
    return changeRecord(row, { ...change, typeIds: null, fieldValues: null, ...typed }, nowMs);
  });
}

/**
 * Sets the paths and depths of moved assets, and of all assets in their subtrees. Only assets of the
 * request count as updated; the others keep their `lastUpdatedTime`.
 */
export async function moveSubtrees(
  tx: CatalogReader,
  permitted: Filter,
  { before, after }: { readonly before: readonly AssetRow[]; readonly after: readonly AssetRow[] },
): Promise<AssetWrite> {
  const moved = after.filter((row, index) => row.parentId !== before[index]!.parentId);
  if (moved.length === 0) return { rows: after, descendants: [] };
  if (permitted.kind !== "everything") await refuseMovesNotPermitted(tx, permitted, { before, moved });
  const nodes = new Map<number, AssetRow>();
  for await (const row of rowsUnder(
    tx,
    moved.map((one) => one.id),
  ))
    nodes.set(row.id, row);
  for (const row of after) if (nodes.has(row.id)) nodes.set(row.id, row);
  const outside = await parentsOutside(tx, permitted, moved, nodes);
  const positions = treePositions([...nodes.values()], outside);
  const requested = new Set(after.map((row) => row.id));
  const positioned = (row: AssetRow): AssetRow => ({ ...row, ...positions.get(row.id) });
  const descendants = [...nodes.values()].filter((row) => !requested.has(row.id));
  return { rows: after.map(positioned), descendants: descendants.map(positioned) };
}

/**
 * Refuses (403) to move an asset away from a parent that the caller may not write, and to make it a root: a
 * move changes the parent's subtree, even if the caller may write the asset itself.
 */
async function refuseMovesNotPermitted(
  tx: CatalogReader,
  permitted: Filter,
  { before, moved }: { readonly before: readonly AssetRow[]; readonly moved: readonly AssetRow[] },
): Promise<void> {
  const ids = new Set(moved.map((row) => row.id));
  const parentIds = before.filter((row) => ids.has(row.id)).map((row) => row.parentId ?? 0);
  const writable = await visibleRows(tx, permitted, parentIds);
  const areWritable = parentIds.every((id) => writable.has(id));
  const haveParents = moved.every((row) => row.parentId !== undefined);
  if (!areWritable || !haveParents) throw fail("outside-scope", { acl: "assetsAcl", action: "WRITE" });
}

async function parentsOutside(
  tx: CatalogReader,
  permitted: Filter,
  moved: readonly AssetRow[],
  nodes: ReadonlyMap<number, AssetRow>,
): Promise<Map<number, AssetRow>> {
  const ids = moved.map((row) => row.parentId).filter((id) => id !== undefined && !nodes.has(id)) as number[];
  const rows = await existingRows(tx, permitted, { ids: [...new Set(ids)], field: "parentId" });
  return new Map(rows.map((row) => [row.id, row]));
}
