// Files: documents and other bytes, with links to assets.

import { permittedRecords } from "../../access/caller.ts";
import { notAfter } from "../../access/credentials.ts";
import { refuseNotPermitted } from "../../access/refuse-not-permitted.ts";
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { and, between, equals, type Filter, not, oneOf } from "../../query/filter.ts";
import { mapInSlices } from "../../query/map-in-slices.ts";
import { byId, type Page, type PageQuery } from "../../query/page.ts";
import type { TextSearch } from "../../query/text-search.ts";
import type { CatalogWriter } from "../../storage/catalog.ts";
import { readPage } from "../../storage/read-page.ts";
import { searchByText } from "../../storage/search-by-text.ts";
import { limitToVisibleSubtrees } from "../assets/assets.ts";
import { type RecordName, recordsByName, refuseTakenExternalIds } from "../common/external-ids.ts";
import { changeFile, type FileChange } from "./changes.ts";
import { recordRemovals, removeBlobs } from "./removals.ts";
import { existingRows, fileRecords, refuseNewLinks, visibleRows, writeFiles } from "./rows.ts";
import { fileTable, type StoredFile, uploadTable } from "./schema.ts";

/** Returns one page of the files that the caller may see, oldest or newest first. */
export async function listFiles(
  ctx: RequestContext,
  query: { readonly filter: Filter; readonly newestFirst: boolean; readonly page: PageQuery },
): Promise<Page<StoredFile>> {
  const permitted = permittedRecords(ctx.caller, "filesAcl", "READ");
  const order = query.newestFirst ? [{ field: "id", direction: "descending" } as const] : byId;
  return ctx.catalog.read(ctx.projectId, async (tx) => {
    const filter = and(permitted, await limitToVisibleSubtrees(ctx, tx, "filesAcl", query.filter));
    return readPage(tx, fileTable, { filter, order, page: query.page });
  });
}

/**
 * Returns the directories of the files that the caller may see, in their order, at most `limit` of them
 * after `after`. One query finds the next directory in an index, however many files the last one has.
 */
export async function listDirectories(
  ctx: RequestContext,
  { after, limit }: { readonly after: string | undefined; readonly limit: number },
): Promise<string[]> {
  const permitted = permittedRecords(ctx.caller, "filesAcl", "READ");
  const order = [{ field: "directory", direction: "ascending" }, ...byId] as const;
  return ctx.catalog.read(ctx.projectId, async (tx) => {
    const found: string[] = [];
    for (let last = after ?? ""; found.length < limit; ) {
      ctx.signal.throwIfAborted();
      const next = between("directory", { from: { value: last, inclusive: false } });
      const query = { filter: and(permitted, next), order, page: { limit: 1 }, fields: ["id", "directory"] };
      const [file] = await tx.find(fileTable, query);
      if (!file) break;
      last = file.directory;
      found.push(last);
    }
    return found;
  });
}

/** Counts the matching files that the caller may see. */
export async function countFiles(ctx: RequestContext, filter: Filter): Promise<number> {
  const permitted = permittedRecords(ctx.caller, "filesAcl", "READ");
  return ctx.catalog.read(ctx.projectId, async (tx) =>
    tx.count(fileTable, and(permitted, await limitToVisibleSubtrees(ctx, tx, "filesAcl", filter))),
  );
}

/** Best matches first. Files have no description to search. */
export async function searchFiles(
  ctx: RequestContext,
  query: Omit<TextSearch, "description" | "query">,
): Promise<StoredFile[]> {
  const permitted = permittedRecords(ctx.caller, "filesAcl", "READ");
  return ctx.catalog.read(ctx.projectId, async (tx) => {
    const filter = and(permitted, await limitToVisibleSubtrees(ctx, tx, "filesAcl", query.filter));
    return searchByText(tx, fileTable, { ...query, filter });
  });
}

/** Refuses (404) an unknown file. */
export async function getFile(ctx: RequestContext, id: number): Promise<StoredFile> {
  const permitted = permittedRecords(ctx.caller, "filesAcl", "READ");
  const [found] = await ctx.catalog.read(ctx.projectId, (tx) =>
    existingRows(tx, permitted, { ids: [id], field: "fileId", status: 404 }),
  );
  return found!;
}

/** Reads files in the order of the names, in batches. Refuses (400) unknown and repeated names. */
export const getFiles = (ctx: RequestContext, names: readonly RecordName[]) => {
  const permitted = permittedRecords(ctx.caller, "filesAcl", "READ");
  return recordsByName(ctx, { ...fileRecords, permitted }, names, async (_tx, rows) => rows);
};

/**
 * An absolute URL under `baseUrl` from which anyone can download the bytes for a few minutes. Refuses an
 * unknown file (404) and a file whose upload is not complete (400).
 */
export async function downloadLink(ctx: RequestContext, id: number, baseUrl: string): Promise<string> {
  const { content, name } = await getFile(ctx, id);
  if (content === undefined) throw fail("file-not-uploaded", { name });
  return linkTo(ctx, content, baseUrl);
}

function linkTo(ctx: RequestContext, content: number, baseUrl: string): string {
  const expiresMs = notAfter(ctx.caller.credential, ctx.system.nowMs() + limits.downloadLinkMs);
  const key = { project: ctx.projectId, id: content };
  return ctx.blobs.link({ purpose: "download", key, expiresMs }, baseUrl);
}

/** A download link, valid for a few minutes. */
export interface Download {
  readonly fileId: number;
  readonly url: string;
  readonly contentType?: string;
}

/** Like `downloadLink` for each of these files; skips unknown files and files without bytes. */
export async function downloadLinks(
  ctx: RequestContext,
  ids: readonly number[],
  baseUrl: string,
): Promise<Download[]> {
  if (ids.length === 0) return [];
  const filter = and(oneOf("id", ids), not(equals("content", null)));
  const { items } = await listFiles(ctx, { filter, newestFirst: false, page: { limit: ids.length } });
  return items.map(({ id, content, contentType }) => ({
    fileId: id,
    url: linkTo(ctx, content!, baseUrl),
    ...(contentType !== undefined && { contentType }),
  }));
}

/**
 * Changes all files or none, and returns them in the same order. Refuses (400) unknown and repeated ids and
 * unknown assets, and (409) a directory and name, a source and source id, or an external id of another
 * file.
 */
export async function updateFiles(
  ctx: RequestContext,
  changes: readonly { readonly id: number; readonly change: FileChange }[],
): Promise<StoredFile[]> {
  return update(ctx, changes, { field: "items" });
}

/** Like `updateFiles` for a single file. Refuses (404) an unknown file. */
export async function updateFile(ctx: RequestContext, id: number, change: FileChange): Promise<StoredFile> {
  const [changed] = await update(ctx, [{ id, change }], { field: "fileId", status: 404 });
  return changed!;
}

async function update(
  ctx: RequestContext,
  changes: readonly { readonly id: number; readonly change: FileChange }[],
  named: { readonly field: string; readonly status?: 404 },
): Promise<StoredFile[]> {
  const permitted = permittedRecords(ctx.caller, "filesAcl", "WRITE");
  return writeFiles(ctx, permitted, (tx, planned) => changeFilesIn(ctx, tx, { changes, named, planned }));
}

interface FilesChange {
  readonly changes: readonly { readonly id: number; readonly change: FileChange }[];
  readonly named: { readonly field: string; readonly status?: 404 };
  /** Gets the changed files before they are written. */
  readonly planned: StoredFile[];
}

/** As `updateFiles`, in a transaction of the caller, which refuses conflicts itself. */
export async function changeFilesIn(
  ctx: RequestContext,
  tx: CatalogWriter,
  { changes, named, planned }: FilesChange,
): Promise<StoredFile[]> {
  if (changes.length === 0) return [];
  const permitted = permittedRecords(ctx.caller, "filesAcl", "WRITE");
  const before = await existingRows(tx, permitted, { ids: changes.map(({ id }) => id), ...named });
  const nowMs = ctx.system.nowMs();
  planned.push(
    ...(await mapInSlices(before, (row, index) => changeFile(row, changes[index]!.change, nowMs))),
  );
  const placeOf = (index: number) => (named.field === "items" ? `items[${index}].` : "");
  await refuseNewLinks(ctx, tx, { files: planned, before }, placeOf);
  await refuseTakenExternalIds(tx, fileRecords, planned);
  await tx.replace(fileTable, planned);
  await refuseNotPermitted(tx, fileTable, permitted, { acl: "filesAcl", rows: planned });
  return planned;
}

export interface DeletedFiles {
  readonly deleted: readonly number[];
  /** Ids of the request without a file. */
  readonly failed: readonly number[];
}

/**
 * Deletes the existing files with their bytes, cancels uploads to them, and returns unknown ids. Once the
 * records are deleted, the bytes follow even if the process crashes in between.
 */
export async function deleteFiles(ctx: RequestContext, sentIds: readonly number[]): Promise<DeletedFiles> {
  const permitted = permittedRecords(ctx.caller, "filesAcl", "WRITE");
  const ids = [...new Set(sentIds)];
  const { found, blobs } = await ctx.catalog.write(ctx.projectId, async (tx) => {
    const found = await visibleRows(tx, permitted, ids);
    const existing = [...found.keys()];
    const filter = oneOf("fileId", existing);
    const limit = await tx.count(uploadTable, filter);
    const uploads = await tx.find(uploadTable, { filter, order: byId, page: { limit } });
    const contents = [...found.values()].flatMap(({ content }) => content ?? []);
    const blobs = [...contents, ...uploads.map(({ id }) => id)];
    await tx.remove(fileTable, oneOf("id", existing));
    await recordRemovals(tx, blobs);
    return { found, blobs };
  });
  await removeBlobs(ctx, ctx.projectId, blobs);
  return { deleted: ids.filter((id) => found.has(id)), failed: ids.filter((id) => !found.has(id)) };
}
