// Uploads of file bytes.
//
// Each upload writes a blob of its own. When all bytes are on disk, one transaction points the file record
// to the blob, so readers never see part of a file. An existing file keeps its old bytes and metadata until
// then.

import { permittedRecords } from "../../../access/caller.ts";
import { notAfter } from "../../../access/credentials.ts";
import { refuseNotPermitted } from "../../../access/refuse-not-permitted.ts";
import type { RequestContext, Services } from "../../../context.ts";
import { Failure, fail } from "../../../errors.ts";
import { limits } from "../../../limits.ts";
import { equals } from "../../../query/filter.ts";
import { byId } from "../../../query/page.ts";
import type { BlobKey } from "../../../storage/blobs.ts";
import type { CatalogReader, CatalogWriter, Table } from "../../../storage/catalog.ts";
import { existingAssets } from "../../assets/assets.ts";
import { commonOverwriteOf } from "../../common/changes.ts";
import { refuseTakenExternalIds, takenExternalIds } from "../../common/external-ids.ts";
import { changeFile } from "../changes.ts";
import { recordRemovals, removeBlobsOfRequest, unlessAway } from "../removals.ts";
import { fileNamed, fileOfSource, fileRecords, refuseNewLinks, visibleRows, writeFiles } from "../rows.ts";
import {
  attachmentTable,
  type FileContent,
  fileTable,
  type NewFile,
  type StoredFile,
  type Upload,
  uploadTable,
} from "../schema.ts";
import { UploadBody, type UploadRequest } from "./upload-body.ts";

export interface UploadInput {
  readonly file: NewFile;
  readonly resumable: boolean;
  readonly overwrite: boolean;
  readonly contentType: string | undefined;
  /** The base of the upload URL. */
  readonly baseUrl: string;
}

/**
 * Starts an upload. Creates the file's record, or uses the record with this directory and name if it has no
 * bytes yet or is to be overwritten; that record changes when the upload is complete. Returns an absolute
 * URL that accepts the bytes without credentials, for 30 s, or for a week if the upload is resumable.
 * Refuses (409) a name, a source and source id, or an external id in use.
 */
export async function startUpload(
  ctx: RequestContext,
  { file, resumable, overwrite, contentType, baseUrl }: UploadInput,
): Promise<{ readonly fileId: number; readonly url: string }> {
  const permitted = permittedRecords(ctx.caller, "filesAcl", "WRITE");
  const nowMs = ctx.system.nowMs();
  const lifeMs = resumable ? limits.resumableLinkMs : limits.uploadLinkMs;
  const upload = await writeFiles(ctx, permitted, async (tx, planned) => {
    const existing = await fileNamed(tx, file);
    const isVisible = existing && (await visibleRows(tx, permitted, [existing.id])).has(existing.id);
    const mayTake = isVisible && (overwrite || existing.content === undefined);
    if (existing && !mayTake) throw fail("file-exists", { names: [file.name] });
    const row = existing ? overwritten(existing, file, nowMs) : newRow(ctx.ids.next(), file, nowMs);
    planned.push(row);
    await refuseNewLinks(ctx, tx, { files: planned, before: existing ? [existing] : [] });
    await refuseTakenExternalIds(tx, fileRecords, planned);
    await tx[existing ? "replace" : "insert"](fileTable, planned);
    await refuseNotPermitted(tx, fileTable, permitted, { acl: "filesAcl", rows: planned });
    // The write above checked uniqueness and rights. The old record stays valid until the upload is
    // complete.
    if (existing) await tx.replace(fileTable, [existing]);
    const upload: Upload = {
      id: ctx.ids.next(),
      fileId: row.id,
      ...{ resumable, overwrite, received: 0 },
      ...(existing && { replacement: file }),
      ...(contentType !== undefined && { contentType }),
      expiresTime: notAfter(ctx.caller.credential, nowMs + lifeMs),
    };
    await tx.insert(uploadTable, [upload]);
    return upload;
  });
  const key = { project: ctx.projectId, id: upload.id };
  const url = ctx.blobs.link({ purpose: "upload", key, expiresMs: upload.expiresTime }, baseUrl);
  return { fileId: upload.fileId, url };
}

const newRow = (id: number, file: NewFile, nowMs: number): StoredFile => ({
  id,
  ...file,
  createdTime: nowMs,
  lastUpdatedTime: nowMs,
});

const overwritten = (existing: StoredFile, file: NewFile, nowMs: number): StoredFile =>
  changeFile(
    existing,
    {
      source: file.source ?? null,
      sourceId: file.sourceId ?? null,
      fileType: file.fileType ?? null,
      metadata: file.metadata,
      assetIds: { set: file.assetIds ?? [] },
      tags: { set: file.tags ?? [] },
      ...commonOverwriteOf(file),
    },
    nowMs,
  );

/** The progress of an upload: the number of bytes on disk. Once complete, they belong to the file. */
export interface UploadProgress {
  readonly isComplete: boolean;
  readonly received: number;
}

/**
 * Receives bytes of an upload. A second request to the same upload aborts the first (409). Refuses an
 * unknown (404) or complete (409) upload, bodies that end early (400), and chunks of uploads that are not
 * resumable (400), or that state another total than earlier ones or end after it (400). A refused request
 * changes no file.
 */
export function receiveUpload(
  services: Services,
  key: BlobKey,
  request: UploadRequest,
): Promise<UploadProgress> {
  return services.uploads.run(key.id, async (signal) => {
    const { upload, file } = await services.catalog.read(key.project, (tx) => findUpload(tx, key.id));
    const isProgressQuery = request.length === 0 && !request.isWhole;
    if (!upload) {
      if (!file) throw fail("link-gone", {});
      if (!isProgressQuery) throw fail("upload-complete", {});
      return { isComplete: true, received: file.contentBytes ?? 0 };
    }
    if (await services.blobs.stat(key)) return complete(services, key, request);
    if (!upload.resumable && !request.isWhole) throw fail("upload-not-resumable", {});
    if (!request.isWhole) refuseOtherTotal(upload, request);
    const total = request.total ?? upload.total;
    if (isProgressQuery && total !== upload.received) return { isComplete: false, received: upload.received };
    if (request.start > upload.received) return { isComplete: false, received: upload.received };
    const received = await writeBody(services, { key, upload, request, signal });
    const isLast = request.isWhole || received === total;
    return isLast ? complete(services, key, request) : { isComplete: false, received };
  });
}

/**
 * Refuses (400) a total that is not that of an earlier chunk, or less than the bytes on disk, and a chunk
 * that ends after the total of an earlier one.
 */
function refuseOtherTotal({ received, total }: Upload, { start, length = 0, ...sent }: UploadRequest): void {
  const invalid = (expected: string, got: number) =>
    fail("field-invalid", { field: "Content-Range", expected, got: `${got}` });
  const stated = sent.total;
  if (total === undefined) {
    if (stated === undefined || stated >= received) return;
    throw invalid(`a total of at least ${received}, which are stored,`, stated);
  }
  if (stated !== undefined && stated !== total) throw invalid(`a total ${total}, as before,`, stated);
  if (start + length > total) throw invalid(`at most ${total} bytes in all, as before,`, start + length);
}

async function findUpload(tx: CatalogReader, id: number): Promise<{ upload?: Upload; file?: FileContent }> {
  const [upload] = await tx.get(uploadTable, [id]);
  if (upload) return { upload };
  const filter = equals("content", id);
  const query = { filter, order: byId, page: { limit: 1 } };
  const [file = (await tx.find(attachmentTable, query))[0]] = await tx.find(fileTable, query);
  return file ? { file } : {};
}

interface UploadWrite {
  readonly key: BlobKey;
  readonly upload: Upload;
  readonly request: UploadRequest;
  readonly signal: AbortSignal;
}

/**
 * Appends the body to the blob. If the body breaks off, keeps the received bytes of a resumable upload and
 * removes others. The total of a refused request does not count: the client may correct it.
 */
async function writeBody(services: Services, { key, upload, request, signal }: UploadWrite): Promise<number> {
  const at = request.isWhole ? 0 : upload.received;
  const before = request.isWhole ? undefined : upload.total;
  const save = (received: number, total = before) => saveReceived(services, key, { received, total });
  if (at < upload.received) await save(at);
  const taken = new UploadBody(request, at - request.start, signal);
  const received = await services.blobs.put({ key, offset: at, bytes: taken.bytes() });
  const problem = taken.problem();
  // The bytes that remain belong to an upload that starts at 0 again.
  if (problem && !upload.resumable) await unlessAway(() => services.blobs.remove(key));
  else if (problem) await save(taken.isTooLong ? at : received);
  else await save(received, request.total);
  if (problem) throw problem;
  return received;
}

async function saveReceived(
  { catalog }: Services,
  key: BlobKey,
  { received, total }: { readonly received: number; readonly total: number | undefined },
): Promise<void> {
  await catalog.write(key.project, async (tx) => {
    const [upload] = await tx.get(uploadTable, [key.id]);
    if (!upload || (upload.received === received && upload.total === total)) return;
    const { total: _, ...others } = upload;
    await tx.replace(uploadTable, [{ ...others, received, ...(total !== undefined && { total }) }]);
  });
}

/** Assigns the bytes, which are all on disk, to the file. */
async function complete(services: Services, key: BlobKey, request: UploadRequest): Promise<UploadProgress> {
  await services.blobs.complete(key);
  const { bytes } = (await services.blobs.stat(key))!;
  const newContent = { id: key.id, bytes, contentType: request.contentType, nowMs: services.system.nowMs() };
  const { obsolete, refusal } = await services.catalog.write(key.project, async (tx) => {
    const [upload] = await tx.get(uploadTable, [key.id]);
    return upload?.isAttachment
      ? assignContent(tx, attachmentTable, { upload, newContent })
      : assignContent(tx, fileTable, { upload, newContent, describe: describeFile });
  });
  await removeBlobsOfRequest(services, key.project, obsolete);
  if (refusal) throw refusal;
  return { isComplete: true, received: bytes };
}

interface NewContent {
  readonly id: number;
  readonly bytes: number;
  readonly contentType: string | undefined;
  readonly nowMs: number;
}

interface Assignment<File> {
  readonly upload: Upload | undefined;
  readonly newContent: NewContent;
  /** Applies the upload's metadata to the file, or returns the failure if that is no longer possible. */
  readonly describe?: (tx: CatalogReader, file: File, upload: Upload) => Promise<File | Failure>;
}

/** Skips assets that were deleted during the upload, as their deletion does in file records. */
async function describeFile(
  tx: CatalogReader,
  file: StoredFile,
  upload: Upload,
): Promise<StoredFile | Failure> {
  const { replacement } = upload;
  if (!replacement) return file;
  const { source, sourceId } = replacement;
  if (source !== undefined && sourceId !== undefined) {
    const taken = await fileOfSource(tx, { source, sourceId });
    if (taken && taken.id !== file.id) return fail("file-duplicates", { duplicates: [{ source, sourceId }] });
  }
  const assetIds = await existingAssets(tx, replacement.assetIds ?? []);
  const described = overwritten(file, { ...replacement, assetIds }, file.lastUpdatedTime);
  const externalIds = await takenExternalIds(tx, fileRecords, [described]);
  return externalIds.length > 0 ? fail("external-ids-taken", { what: "file", externalIds }) : described;
}

/** Assigns the new bytes to the file. Returns the blobs to remove: the old ones, or refused new ones. */
async function assignContent<File extends FileContent>(
  tx: CatalogWriter,
  table: Table<File>,
  { upload, newContent, describe }: Assignment<File>,
): Promise<{ obsolete: number[]; refusal?: Error }> {
  const [file] = upload ? await tx.get(table, [upload.fileId]) : [];
  // The deletion of the upload recorded the removal of its blob and waits for this request to end.
  if (!upload || !file) return { obsolete: [], refusal: fail("link-gone", {}) };
  const isTaken = file.content !== undefined && !upload.overwrite;
  const described = isTaken
    ? fail("file-exists", { names: [file.name] })
    : ((await describe?.(tx, file, upload)) ?? file);
  if (described instanceof Failure) {
    await recordRemovals(tx, [newContent.id]);
    return { obsolete: [newContent.id], refusal: described };
  }
  const { contentType: _, ...rest } = described;
  const contentType = upload.contentType ?? newContent.contentType;
  const after = {
    ...rest,
    content: newContent.id,
    contentBytes: newContent.bytes,
    ...(contentType !== undefined && { contentType }),
    uploadedTime: newContent.nowMs,
    lastUpdatedTime: newContent.nowMs,
  };
  await tx.replace(table, [after as unknown as File]);
  await tx.remove(uploadTable, equals("id", newContent.id));
  const obsolete = file.content === undefined ? [] : [file.content];
  await recordRemovals(tx, obsolete);
  return { obsolete };
}

/** The file of a blob, and the number of bytes. Refuses (404) a blob that belongs to no file any more. */
export async function contentToRead(
  services: Services,
  key: BlobKey,
): Promise<{ readonly file: FileContent; readonly bytes: number }> {
  const { file } = await services.catalog.read(key.project, (tx) => findUpload(tx, key.id));
  const found = file && (await services.blobs.stat(key));
  if (!file || !found) throw fail("link-gone", {});
  return { file, bytes: found.bytes };
}
