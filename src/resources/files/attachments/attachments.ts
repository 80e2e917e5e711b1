// Attachments: bytes of records of other resources, uploaded and downloaded by the links of files.
//
// The resource module of the record checks rights; functions of this file do not.
import type { Readable } from "node:stream";
import { notAfter } from "../../../access/credentials.ts";
import type { RequestContext, Services } from "../../../context.ts";
import { fail } from "../../../errors.ts";
import { limits } from "../../../limits.ts";
import { and, equals, oneOf } from "../../../query/filter.ts";
import { byId } from "../../../query/page.ts";
import type { CatalogReader, CatalogWriter, ProjectId } from "../../../storage/catalog.ts";
import { recordRemovals } from "../removals.ts";
import { type Attachment, attachmentTable, type Upload, uploadTable } from "../schema.ts";

export type { Attachment } from "../schema.ts";

/**
 * Prepares an upload with the link of `uploadLink`, which ends no later than the credential of the request.
 * The uploaded bytes replace existing ones.
 */
export async function expectBytes(
  tx: CatalogWriter,
  { ids, system, caller }: RequestContext,
  attachment: { readonly id?: number; readonly name: string },
): Promise<Upload> {
  const nowMs = system.nowMs();
  const id = attachment.id ?? ids.next();
  const times = { createdTime: nowMs, lastUpdatedTime: nowMs };
  if (attachment.id === undefined)
    await tx.insert(attachmentTable, [{ id, name: attachment.name, ...times }]);
  const upload: Upload = {
    ...{ id: ids.next(), fileId: id, isAttachment: true },
    ...{ resumable: true, overwrite: true, received: 0 },
    expiresTime: notAfter(caller.credential, nowMs + limits.resumableLinkMs),
  };
  await tx.insert(uploadTable, [upload]);
  return upload;
}

/** The attachments with these ids; missing ones are skipped. */
export const attachments = (tx: CatalogReader, ids: readonly number[]): Promise<Attachment[]> =>
  tx.get(attachmentTable, ids);

/**
 * An absolute URL that accepts the bytes without credentials, like that of a resumable upload of a file.
 */
export const uploadLink = (ctx: RequestContext, { id, expiresTime }: Upload, baseUrl: string): string =>
  ctx.blobs.link({ purpose: "upload", key: { project: ctx.projectId, id }, expiresMs: expiresTime }, baseUrl);

/** Like `downloadLink` of files. Refuses (400) an attachment whose upload is not complete. */
export function attachmentLink(ctx: RequestContext, { content, name }: Attachment, baseUrl: string): string {
  if (content === undefined) throw fail("file-not-uploaded", { name });
  const expiresMs = notAfter(ctx.caller.credential, ctx.system.nowMs() + limits.downloadLinkMs);
  const key = { project: ctx.projectId, id: content };
  return ctx.blobs.link({ purpose: "download", key, expiresMs }, baseUrl);
}

/**
 * Reads the bytes. Refuses an attachment whose upload is not complete (400) or whose bytes are gone (404).
 */
export async function attachmentBytes(
  { blobs }: Pick<Services, "blobs">,
  projectId: ProjectId,
  { content, name }: Pick<Attachment, "content" | "name">,
): Promise<Readable> {
  if (content === undefined) throw fail("file-not-uploaded", { name });
  const bytes = await blobs.open({ project: projectId, id: content });
  if (!bytes) throw fail("link-gone", {});
  return bytes;
}

/**
 * Stores bytes that the server produced. `give` writes the record that owns them in the same transaction;
 * if the transaction fails, the bytes are removed within a day.
 */
export async function storeAttachment(
  { catalog, blobs, ids, system }: Services,
  projectId: ProjectId,
  given: { readonly name: string; readonly bytes: AsyncIterable<Uint8Array> },
  give: (tx: CatalogWriter, attachment: Attachment) => Promise<void>,
): Promise<void> {
  const key = { project: projectId, id: ids.next() };
  const attachmentId = ids.next();
  // If the process ends before the record exists, the sweep removes the bytes as those of an expired upload.
  const upload: Upload = {
    ...{ id: key.id, fileId: attachmentId, isAttachment: true },
    ...{ resumable: false, overwrite: true, received: 0 },
    expiresTime: system.nowMs() + limits.uploadMsMax,
  };
  await catalog.write(projectId, (tx) => tx.insert(uploadTable, [upload]));
  const contentBytes = await blobs.put({ key, offset: 0, bytes: given.bytes });
  await blobs.complete(key);
  const nowMs = system.nowMs();
  const times = { uploadedTime: nowMs, createdTime: nowMs, lastUpdatedTime: nowMs };
  const attachment = { id: attachmentId, name: given.name, content: key.id, contentBytes, ...times };
  await catalog.write(projectId, async (tx) => {
    await tx.insert(attachmentTable, [attachment]);
    await tx.remove(uploadTable, equals("id", key.id));
    await give(tx, attachment);
  });
}

/**
 * Cancels uploads to these attachments. Returns the blobs to pass to `removeBlobs` after the transaction.
 */
export async function cancelUploadsTo(tx: CatalogWriter, attachments: readonly number[]): Promise<number[]> {
  const filter = and(equals("isAttachment", true), oneOf("fileId", attachments));
  const limit = await tx.count(uploadTable, filter);
  const uploads = await tx.find(uploadTable, { filter, order: byId, page: { limit } });
  const blobs = uploads.map(({ id }) => id);
  await recordRemovals(tx, blobs);
  return blobs;
}

/** Deletes these attachments. Returns the blobs to pass to `removeBlobs` after the transaction. */
export async function deleteAttachments(
  tx: CatalogWriter,
  attachments: readonly number[],
): Promise<number[]> {
  const uploads = await cancelUploadsTo(tx, attachments);
  const existing = await tx.get(attachmentTable, attachments);
  const contents = existing.flatMap(({ content }) => content ?? []);
  await recordRemovals(tx, contents);
  await tx.remove(attachmentTable, oneOf("id", attachments));
  return [...uploads, ...contents];
}
