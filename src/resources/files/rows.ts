// File records inside a transaction: only those a caller may touch, and what must hold before a write.
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { existingRecords, type IdsNamed } from "../../query/existing.ts";
import { and, equals, type Filter, oneOf } from "../../query/filter.ts";
import { byId } from "../../query/page.ts";
import { type CatalogReader, type CatalogWriter, UniqueViolation } from "../../storage/catalog.ts";
import { refuseUnknownAssets } from "../assets/assets.ts";
import { fileTable, type StoredFile } from "./schema.ts";

/** With the noun for them in a refusal. */
export const fileRecords = { table: fileTable, noun: "file" };

/** Of these files the ones in `scope`, by id. */
export async function visibleRows(
  tx: CatalogReader,
  scope: Filter,
  ids: readonly number[],
): Promise<Map<number, StoredFile>> {
  const distinct = [...new Set(ids)];
  const filter = and(scope, oneOf("id", distinct));
  const rows = await tx.find(fileTable, { filter, order: byId, page: { limit: distinct.length } });
  return new Map(rows.map((row) => [row.id, row]));
}

/** These files in the order asked. Refuses repeated ids, and ids outside of `scope`, which look unknown. */
export const existingRows = (tx: CatalogReader, scope: Filter, query: IdsNamed): Promise<StoredFile[]> =>
  existingRecords(tx, fileTable, scope, query);

/** The file of this directory and name, seen by the caller or not. */
export async function fileNamed(
  tx: CatalogReader,
  { directory, name }: Pick<StoredFile, "directory" | "name">,
): Promise<StoredFile | undefined> {
  const filter = and(equals("directory", directory), equals("name", name));
  const [found] = await tx.find(fileTable, { filter, order: byId, page: { limit: 1 } });
  return found;
}

/** The file of this source and source id, seen by the caller or not. */
export async function fileOfSource(
  tx: CatalogReader,
  { source, sourceId }: { readonly source: string; readonly sourceId: string },
): Promise<StoredFile | undefined> {
  const filter = and(equals("source", source), equals("sourceId", sourceId));
  const [found] = await tx.find(fileTable, { filter, order: byId, page: { limit: 1 } });
  return found;
}

/** Refuses new links to assets that do not exist or that the caller may not see. */
export function refuseNewLinks(
  ctx: RequestContext,
  tx: CatalogReader,
  files: readonly StoredFile[],
  before: readonly StoredFile[],
): Promise<void> {
  const held = new Map(before.map(({ id, assetIds }) => [id, new Set(assetIds)]));
  const assetIds = files.flatMap(({ id, assetIds = [] }) =>
    assetIds.filter((one) => !held.get(id)?.has(one)),
  );
  return refuseUnknownAssets(ctx, tx, "filesAcl", [{ field: "assetIds", assetIds }]);
}

/** Runs a write of file records; a clash of names or sources is refused (409) with nothing changed. */
export async function writeFiles<Answer>(
  ctx: RequestContext,
  scope: Filter,
  work: (tx: CatalogWriter, planned: StoredFile[]) => Promise<Answer>,
): Promise<Answer> {
  const planned: StoredFile[] = [];
  try {
    return await ctx.catalog.write(ctx.project, (tx) => work(tx, planned));
  } catch (problem) {
    if (!(problem instanceof UniqueViolation)) throw problem;
    throw await ctx.catalog.read(ctx.project, (tx) => conflictError(tx, scope, planned));
  }
}

/** Of files that the caller may not write the answer tells no more than what was sent: no id. */
async function conflictError(
  tx: CatalogReader,
  scope: Filter,
  planned: readonly StoredFile[],
): Promise<Error> {
  const ids = new Set(planned.map(({ id }) => id));
  const taken = new Set<string>();
  const duplicates: { id?: number; source: string; sourceId: string }[] = [];
  for (const { source, sourceId } of planned) {
    if (source === undefined || sourceId === undefined) continue;
    const held = await fileOfSource(tx, { source, sourceId });
    const key = JSON.stringify([source, sourceId]);
    const isSeen = held && (await visibleRows(tx, scope, [held.id])).has(held.id);
    if (held && !ids.has(held.id)) duplicates.push({ ...(isSeen && { id: held.id }), source, sourceId });
    else if (taken.has(key)) duplicates.push({ source, sourceId });
    taken.add(key);
  }
  if (duplicates.length > 0) return fail("file-duplicates", { duplicates });
  const places = planned.map(({ directory, name }) => `${directory}/${name}`);
  const clashing: string[] = [];
  for (const [at, file] of planned.entries()) {
    const held = await fileNamed(tx, file);
    if ((held && !ids.has(held.id)) || places.indexOf(places[at]!) < at) clashing.push(file.name);
  }
  return fail("file-exists", { names: clashing });
}
