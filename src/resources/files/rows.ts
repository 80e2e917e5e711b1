// File rows in a transaction: reads of visible rows, and checks before a write.
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { and, equals, type Filter, oneOf } from "../../query/filter.ts";
import { mapInSlices } from "../../query/map-in-slices.ts";
import { byId } from "../../query/page.ts";
import { type CatalogReader, type CatalogWriter, UniqueViolation } from "../../storage/catalog.ts";
import { existingRecords, type IdsNamed } from "../../storage/existing-records.ts";
import { refuseUnknownAssets } from "../assets/assets.ts";
import { fileTable, type StoredFile } from "./schema.ts";

/** The file table, with the noun for its records in refusals. */
export const fileRecords = { table: fileTable, noun: "file" };

/** The rows of `ids` in `permitted`, by id. */
export async function visibleRows(
  tx: CatalogReader,
  permitted: Filter,
  ids: readonly number[],
): Promise<Map<number, StoredFile>> {
  const distinct = [...new Set(ids)];
  const filter = and(permitted, oneOf("id", distinct));
  const rows = await tx.find(fileTable, { filter, order: byId, page: { limit: distinct.length } });
  return new Map(rows.map((row) => [row.id, row]));
}

/**
 * The rows of the ids, in the same order. Refuses repeated and unknown ids; ids outside `permitted` count as
 * unknown.
 */
export const existingRows = (tx: CatalogReader, permitted: Filter, query: IdsNamed): Promise<StoredFile[]> =>
  existingRecords(tx, fileTable, permitted, query);

/** The file with this directory and name, visible to the caller or not. */
export async function fileNamed(
  tx: CatalogReader,
  { directory, name }: Pick<StoredFile, "directory" | "name">,
): Promise<StoredFile | undefined> {
  const filter = and(equals("directory", directory), equals("name", name));
  const [found] = await tx.find(fileTable, { filter, order: byId, page: { limit: 1 } });
  return found;
}

/** The file with this source and source id, visible to the caller or not. */
export async function fileOfSource(
  tx: CatalogReader,
  { source, sourceId }: { readonly source: string; readonly sourceId: string },
): Promise<StoredFile | undefined> {
  const filter = and(equals("source", source), equals("sourceId", sourceId));
  const [found] = await tx.find(fileTable, { filter, order: byId, page: { limit: 1 } });
  return found;
}

/** Refuses new links to assets that do not exist or that the caller may not see. */
export async function refuseNewLinks(
  ctx: RequestContext,
  tx: CatalogReader,
  { files, before }: { readonly files: readonly StoredFile[]; readonly before: readonly StoredFile[] },
  placeOf = (_: number) => "",
): Promise<void> {
  const heldBy = new Map(before.map(({ id, assetIds }) => [id, assetIds]));
  const links = await mapInSlices(files, ({ id, assetIds = [] }, index) => {
    const held = new Set(heldBy.get(id));
    const field = `${placeOf(index)}assetIds`;
    return { field, assetIds: assetIds.filter((one) => !held.has(one)) };
  });
  await refuseUnknownAssets(ctx, tx, "filesAcl", links);
}

/** Runs a write of file rows. Refuses (409) conflicting names and sources, with nothing changed. */
export async function writeFiles<Result>(
  ctx: RequestContext,
  permitted: Filter,
  work: (tx: CatalogWriter, planned: StoredFile[]) => Promise<Result>,
): Promise<Result> {
  const planned: StoredFile[] = [];
  try {
    return await ctx.catalog.write(ctx.projectId, (tx) => work(tx, planned));
  } catch (problem) {
    if (!(problem instanceof UniqueViolation)) throw problem;
    throw await ctx.catalog.read(ctx.projectId, (tx) => conflictError(tx, permitted, planned));
  }
}

/**
 * For files that the caller may not write, the refusal contains only values that the caller sent, and no id.
 */
async function conflictError(
  tx: CatalogReader,
  permitted: Filter,
  planned: readonly StoredFile[],
): Promise<Error> {
  const ids = new Set(planned.map(({ id }) => id));
  const taken = new Set<string>();
  const duplicates: { id?: number; source: string; sourceId: string }[] = [];
  for (const { source, sourceId } of planned) {
    if (source === undefined || sourceId === undefined) continue;
    const existing = await fileOfSource(tx, { source, sourceId });
    const key = JSON.stringify([source, sourceId]);
    const isSeen = existing && (await visibleRows(tx, permitted, [existing.id])).has(existing.id);
    if (existing && !ids.has(existing.id))
      duplicates.push({ ...(isSeen && { id: existing.id }), source, sourceId });
    else if (taken.has(key)) duplicates.push({ source, sourceId });
    taken.add(key);
  }
  if (duplicates.length > 0) return fail("file-duplicates", { duplicates });
  const paths = planned.map(({ directory, name }) => `${directory}/${name}`);
  const clashing: string[] = [];
  for (const [at, file] of planned.entries()) {
    const existing = await fileNamed(tx, file);
    if ((existing && !ids.has(existing.id)) || paths.indexOf(paths[at]!) < at) clashing.push(file.name);
  }
  return fail("file-exists", { names: clashing });
}
