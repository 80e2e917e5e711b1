// Source packages: archives of Python code that trains models and predicts.
import { requireCapability } from "../../../access/caller.ts";
import type { RequestContext } from "../../../context.ts";
import { fail } from "../../../errors.ts";
import { equals, everything } from "../../../query/filter.ts";
import type { Page, PageQuery } from "../../../query/page.ts";
import type { CatalogReader } from "../../../storage/catalog.ts";
import {
  type Attachment,
  attachmentLink,
  attachments,
  deleteAttachments,
  expectBytes,
  uploadLink,
} from "../../files/attachments/attachments.ts";
import { removeBlobs } from "../../files/removals.ts";
import { changeDescription, changeRecord, listRecords, requireRecord } from "../records.ts";
import { type SourcePackage, sourcePackageTable } from "../schema.ts";

export type { SourcePackage } from "../schema.ts";

export type NewSourcePackage = Omit<
  SourcePackage,
  "id" | "createdTime" | "isDeprecated" | "codeId" | "accountId"
>;

/** A package, and whether its archive was uploaded. */
export interface SourcePackageState {
  readonly source: SourcePackage;
  readonly isUploaded: boolean;
}

const named = (id: number) => ({ id, field: "sourcePackageId" });

/**
 * Creates the record, and returns a URL for the upload of the archive, valid for a week without
 * credentials.
 */
export async function createSourcePackage(
  ctx: RequestContext,
  item: NewSourcePackage,
  baseUrl: string,
): Promise<{ readonly id: number; readonly uploadUrl: string }> {
  requireCapability(ctx.caller, "modelHostingAcl", "WRITE");
  return ctx.catalog.write(ctx.projectId, async (tx) => {
    const id = ctx.ids.next();
    const upload = await expectBytes(tx, ctx, { name: `${item.packageName}.tar.gz` });
    const { userId } = ctx.caller;
    const source: SourcePackage = {
      ...item,
      ...{ id, isDeprecated: false, codeId: upload.fileId, createdTime: ctx.system.nowMs() },
      ...(userId !== undefined && { accountId: userId }),
    };
    await tx.insert(sourcePackageTable, [source]);
    return { id, uploadUrl: uploadLink(ctx, upload, baseUrl) };
  });
}

/** Returns one page, oldest first. */
export async function listSourcePackages(
  ctx: RequestContext,
  page: PageQuery,
): Promise<Page<SourcePackageState>> {
  const found = await listRecords(ctx, sourcePackageTable, everything, page);
  return { ...found, items: await statesOf(ctx, found.items) };
}

/** Refuses (404) an unknown package. */
export async function getSourcePackage(ctx: RequestContext, id: number): Promise<SourcePackageState> {
  const [state] = await statesOf(ctx, [await read(ctx, id)]);
  return state!;
}

const read = (ctx: RequestContext, id: number): Promise<SourcePackage> =>
  ctx.catalog.read(ctx.projectId, (tx) =>
    requireRecord(tx, ctx, { table: sourcePackageTable, action: "READ" }, named(id)),
  );

async function statesOf(
  ctx: RequestContext,
  sources: readonly SourcePackage[],
): Promise<SourcePackageState[]> {
  const codes = await ctx.catalog.read(ctx.projectId, (tx) =>
    attachments(
      tx,
      sources.flatMap(({ codeId }) => codeId ?? []),
    ),
  );
  const uploaded = new Set(codes.filter(({ content }) => content !== undefined).map(({ id }) => id));
  return sources.map((source) => ({ source, isUploaded: uploaded.has(source.codeId ?? 0) }));
}

/** Refuses (404) an unknown package. */
export async function deprecateSourcePackage(ctx: RequestContext, id: number): Promise<SourcePackageState> {
  const deprecate = (row: SourcePackage) => changeDescription(row, { isDeprecated: true });
  const [state] = await statesOf(ctx, [await changeRecord(ctx, sourcePackageTable, named(id), deprecate)]);
  return state!;
}

/** The archive of a package. Refuses (400) an archive that was deleted or is not uploaded yet. */
export async function codeOf(tx: CatalogReader, { codeId, name }: SourcePackage): Promise<Attachment> {
  const [code] = codeId === undefined ? [] : await attachments(tx, [codeId]);
  if (!code) throw fail("source-code-deleted", { name });
  if (code.content === undefined) throw fail("file-not-uploaded", { name: code.name });
  return code;
}

/** A download link of the archive, valid for a few minutes. Has the refusals of `codeOf`. */
export function codeLink(ctx: RequestContext, id: number, baseUrl: string): Promise<string> {
  return ctx.catalog.read(ctx.projectId, async (tx) => {
    const source = await requireRecord(tx, ctx, { table: sourcePackageTable, action: "READ" }, named(id));
    return attachmentLink(ctx, await codeOf(tx, source), baseUrl);
  });
}

/** Deletes the archive. The record stays, and versions of the package cannot run any more. */
export async function deleteCode(ctx: RequestContext, id: number): Promise<void> {
  let blobs: number[] = [];
  await changeRecord(ctx, sourcePackageTable, named(id), async ({ codeId, ...row }, tx) => {
    if (codeId === undefined) throw fail("source-code-deleted", { name: row.name });
    blobs = await deleteAttachments(tx, [codeId]);
    return row;
  });
  await removeBlobs(ctx, ctx.projectId, blobs);
}

/** Deletes a package with its archive. Refuses (404) an unknown package. */
export async function deleteSourcePackage(ctx: RequestContext, id: number): Promise<void> {
  const blobs = await ctx.catalog.write(ctx.projectId, async (tx) => {
    const source = await requireRecord(tx, ctx, { table: sourcePackageTable, action: "WRITE" }, named(id));
    await tx.remove(sourcePackageTable, equals("id", id));
    return deleteAttachments(tx, source.codeId === undefined ? [] : [source.codeId]);
  });
  await removeBlobs(ctx, ctx.projectId, blobs);
}
