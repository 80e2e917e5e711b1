// Uploads: from the permission to send a file's bytes to the moment when they are the file's, all at once.
//
// The bytes gather under a blob of their own. Only when all are on disk does the record of the file name that
// blob, so that nobody ever reads half a file. A file that existed before keeps its old bytes and its old
// description until then, and gets the new ones in the same transaction.

import { scopeOf } from "../../access/caller.ts";
import { notAfter } from "../../access/credentials.ts";
import { refuseOutsideScope } from "../../access/write-scope.ts";
import type { RequestContext, Services } from "../../context.ts";
import { Failure, fail } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { between, equals, oneOf } from "../../query/filter.ts";
import { byId } from "../../query/page.ts";
import type { BlobKey } from "../../storage/blobs.ts";
import type { CatalogReader, CatalogWriter, Table } from "../../storage/catalog.ts";
import { existingAssets } from "../assets/assets.ts";
import { commonOverwriteOf } from "../common/changes.ts";
import { refuseTakenExternalIds, takenExternalIds } from "../common/external-ids.ts";
import { projectIds } from "../projects/projects.ts";
import { changeFile } from "./changes.ts";
import { type BlobStores, recordRemovals, removeBlobs } from "./removals.ts";
import { fileNamed, fileOfSource, fileRecords, refuseNewLinks, visibleRows, writeFiles } from "./rows.ts";
import {
  attachmentTable,
  type FileContent,
  fileTable,
  type NewFile,
  removalTable,
  type StoredFile,
  type Upload,
  uploadTable,
} from "./schema.ts";

export interface UploadInput {
  readonly file: NewFile;
  readonly resumable: boolean;
  readonly overwrite: boolean;
  readonly contentType: string | undefined;
  /** Where the link shall lead to. */
  readonly baseUrl: string;
}

/**
 * Makes the record of a file, or takes the one of this directory and name: when its bytes have not come yet,
 * or to overwrite them. That one changes when the new bytes have come. Returns an absolute address that takes
 * the bytes without credentials, within 30 s, or a week when they may come in pieces. Refuses (409) a name, a
 * source and source id, and an external id that are taken.
 */
export async function startUpload(
  ctx: RequestContext,
  { file, resumable, overwrite, contentType, baseUrl }: UploadInput,
): Promise<{ readonly fileId: number; readonly url: string }> {
  const scope = scopeOf(ctx.caller, "filesAcl", "WRITE");
  const nowMs = ctx.system.nowMs();
  const lifeMs = resumable ? limits.resumableLinkMs : limits.uploadLinkMs;
  const upload = await writeFiles(ctx, scope, async (tx, planned) => {
    const held = await fileNamed(tx, file);
    const isVisible = held && (await visibleRows(tx, scope, [held.id])).has(held.id);
    const mayTake = isVisible && (overwrite || held.content === undefined);
    if (held && !mayTake) throw fail("file-exists", { names: [file.name] });
    const row = held ? overwritten(held, file, nowMs) : newRow(ctx.ids.next(), file, nowMs);
    planned.push(row);
    await refuseNewLinks(ctx, tx, planned, held ? [held] : []);
    await refuseTakenExternalIds(tx, fileRecords, planned);
    await tx[held ? "replace" : "insert"](fileTable, planned);
    await refuseOutsideScope(tx, fileTable, scope, { acl: "filesAcl", rows: planned });
    // The write has checked uniqueness and rights; the old record is valid until the bytes are there.
    if (held) await tx.replace(fileTable, [held]);
    const upload: Upload = {
      id: ctx.ids.next(),
      fileId: row.id,
      ...{ resumable, overwrite, received: 0 },
      ...(held && { replacement: file }),
      ...(contentType !== undefined && { contentType }),
      expiresTime: notAfter(ctx.caller.credential, nowMs + lifeMs),
    };
    await tx.insert(uploadTable, [upload]);
    return upload;
  });
  const key = { project: ctx.project, id: upload.id };
  const url = ctx.blobs.link({ purpose: "upload", key, expiresMs: upload.expiresTime }, baseUrl);
  return { fileId: upload.fileId, url };
}

const newRow = (id: number, file: NewFile, nowMs: number): StoredFile => ({
  id,
  ...file,
  createdTime: nowMs,
  lastUpdatedTime: nowMs,
});

const overwritten = (held: StoredFile, file: NewFile, nowMs: number): StoredFile =>
  changeFile(
    held,
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

/** What one request brings: a question how far the upload is, or bytes. */
export interface UploadRequest {
  /** Where the first byte belongs. */
  readonly start: number;
  /** How many bytes there should be; unknown when they simply end. 0 with a total is a question. */
  readonly length: number | undefined;
  /** The size of the whole file, when known. */
  readonly total: number | undefined;
  /** A request with the whole file and nothing but it. */
  readonly isWhole: boolean;
  readonly body: AsyncIterable<Uint8Array>;
  readonly contentType: string | undefined;
}

/** How far an upload has come: `received` bytes are on disk; when it is complete they are the file's. */
export interface UploadProgress {
  readonly isComplete: boolean;
  readonly received: number;
}

/**
 * Takes bytes to the upload of this key. A request that comes while another one writes to the same upload
 * ends that one (409). Refuses an upload that is unknown (404) or complete (409), bytes that end early (400),
 * and pieces where only a whole file may come (400). Whatever it refuses, no file changes.
 */
export function receiveUpload(
  services: Services,
  key: BlobKey,
  sent: UploadRequest,
): Promise<UploadProgress> {
  return services.uploads.run(key.id, async (signal) => {
    const { upload, file } = await services.catalog.read(key.project, (tx) => findUpload(tx, key.id));
    const isQuestion = sent.length === 0 && !sent.isWhole;
    if (!upload) {
      if (!file) throw fail("link-gone", {});
      if (!isQuestion) throw fail("upload-complete", {});
      return { isComplete: true, received: file.contentBytes ?? 0 };
    }
    if (await services.blobs.stat(key)) return complete(services, key, sent);
    if (!upload.resumable && !sent.isWhole) throw fail("upload-not-resumable", {});
    if (isQuestion && sent.total !== upload.received) return { isComplete: false, received: upload.received };
    if (sent.start > upload.received) return { isComplete: false, received: upload.received };
    const received = await writeBody(services, { key, upload, sent, signal });
    const isLast = sent.isWhole || received === sent.total;
    return isLast ? complete(services, key, sent) : { isComplete: false, received };
  });
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
  readonly sent: UploadRequest;
  readonly signal: AbortSignal;
}

/** Adds what is sent to the blob; what breaks off is kept if the client may go on with it, else removed. */
async function writeBody(services: Services, { key, upload, sent, signal }: UploadWrite): Promise<number> {
  const at = sent.isWhole ? 0 : upload.received;
  if (at < upload.received) await saveReceived(services, key, at);
  const taken = new UploadBody(sent, at - sent.start, signal);
  const received = await services.blobs.put({ key, offset: at, bytes: taken.bytes() });
  const problem = taken.problem();
  if (problem && !upload.resumable) await services.blobs.remove(key);
  else await saveReceived(services, key, taken.isTooLong ? at : received);
  if (problem) throw problem;
  return received;
}

/** The bytes of one request: without those that are there already, counted, and ended when they break off. */
class UploadBody {
  readonly #sent: UploadRequest;
  readonly #skip: number;
  readonly #signal: AbortSignal;
  #arrived = 0;
  #problem: Error | undefined;

  constructor(sent: UploadRequest, skip: number, signal: AbortSignal) {
    this.#sent = sent;
    this.#skip = skip;
    this.#signal = signal;
  }

  async *bytes(): AsyncGenerator<Uint8Array> {
    const { length = Number.POSITIVE_INFINITY } = this.#sent;
    const limit = limits.fileBytesMax;
    const stopped = () => fail("upload-taken-over", {});
    try {
      for await (const chunk of interruptible(this.#sent.body, this.#signal)) {
        const before = this.#arrived;
        this.#arrived += chunk.length;
        if (this.#sent.start + this.#arrived > limit) throw fail("body-too-large", { what: "sent", limit });
        const piece = chunk.subarray(Math.max(0, this.#skip - before), Math.max(0, length - before));
        if (piece.length > 0) yield piece;
      }
    } catch (problem) {
      this.#problem = this.#signal.aborted ? stopped() : incompleteBody(problem);
    }
    if (this.#signal.aborted) this.#problem ??= stopped();
  }

  /** More came than was announced: nobody can say which bytes are meant. */
  get isTooLong(): boolean {
    return this.#arrived > (this.#sent.length ?? this.#arrived);
  }

  /** Why the request cannot count as received. */
  problem(): Error | undefined {
    const { length = this.#arrived } = this.#sent;
    if (this.#problem) return this.#problem;
    if (this.#arrived < length) return incompleteBody(undefined);
    if (this.isTooLong)
      return fail("field-invalid", { field: "body", expected: `${length} bytes`, got: `${this.#arrived}` });
    return undefined;
  }
}

const incompleteBody = (problem: unknown): Error => {
  if (problem instanceof Error && problem.name === "Failure") return problem;
  return fail("request-malformed", { problem: "the body ends before its announced length" });
};

/** Ends when the signal is aborted, though the source may have nothing to say for a long time. */
async function* interruptible(source: AsyncIterable<Uint8Array>, signal: AbortSignal) {
  const chunks = source[Symbol.asyncIterator]();
  let stop = () => {};
  let isRefused = true;
  signal.addEventListener("abort", () => stop(), { once: true });
  try {
    while (!signal.aborted) {
      // A promise of its own for each chunk: one that outlives them all would hold on to every one of them.
      const chunk = await new Promise<Uint8Array | undefined>((resolve, reject) => {
        stop = () => resolve(undefined);
        chunks.next().then(({ done, value }) => resolve(done ? undefined : value), reject);
      });
      if (!chunk) break;
      yield chunk;
    }
    isRefused = false;
  } finally {
    if (isRefused) discard(chunks);
  }
}

/** Reads on, as a client that still sends would see a broken connection in place of the refusal. */
function discard(chunks: AsyncIterator<Uint8Array>, left: number = limits.refusedBytesReadMax): void {
  chunks.next().then(
    ({ done, value }) => {
      if (done) return;
      if (value.length < left) discard(chunks, left - value.length);
      else chunks.return?.().catch(() => undefined);
    },
    () => undefined, // The client has gone.
  );
}

async function saveReceived({ catalog }: Services, key: BlobKey, received: number): Promise<void> {
  await catalog.write(key.project, async (tx) => {
    const [upload] = await tx.get(uploadTable, [key.id]);
    if (upload && upload.received !== received) await tx.replace(uploadTable, [{ ...upload, received }]);
  });
}

/** Makes the bytes the file's. They are all on disk. */
async function complete(services: Services, key: BlobKey, sent: UploadRequest): Promise<UploadProgress> {
  await services.blobs.complete(key);
  const { bytes } = (await services.blobs.stat(key))!;
  const given = { id: key.id, bytes, contentType: sent.contentType, nowMs: services.system.nowMs() };
  const { gone, refusal } = await services.catalog.write(key.project, async (tx) => {
    const [upload] = await tx.get(uploadTable, [key.id]);
    return upload?.isAttachment
      ? assignContent(tx, attachmentTable, { upload, given })
      : assignContent(tx, fileTable, { upload, given, describe: describeFile });
  });
  // Not through `removeBlobs`, which would wait for the very request that this is.
  for (const id of gone) await services.blobs.remove({ project: key.project, id });
  await services.catalog.write(key.project, (tx) => tx.remove(removalTable, oneOf("id", gone)));
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
  readonly given: NewContent;
  /** The file as its upload describes it; a failure when it cannot be that any more. */
  readonly describe?: (tx: CatalogReader, file: File, upload: Upload) => Promise<File | Failure>;
}

/** Leaves out assets that were deleted during the upload, as their deletion does in records of files. */
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

/** What has to go: the bytes that the file had, or these, when the file may not have them any more. */
async function assignContent<File extends FileContent>(
  tx: CatalogWriter,
  table: Table<File>,
  { upload, given, describe }: Assignment<File>,
): Promise<{ gone: number[]; refusal?: Error }> {
  const [file] = upload ? await tx.get(table, [upload.fileId]) : [];
  // Who took the upload away has noted its blob and waits for this request to end.
  if (!upload || !file) return { gone: [], refusal: fail("link-gone", {}) };
  const isTaken = file.content !== undefined && !upload.overwrite;
  const described = isTaken
    ? fail("file-exists", { names: [file.name] })
    : ((await describe?.(tx, file, upload)) ?? file);
  if (described instanceof Failure) {
    await recordRemovals(tx, [given.id]);
    return { gone: [given.id], refusal: described };
  }
  const { contentType: _, ...rest } = described;
  const contentType = upload.contentType ?? given.contentType;
  const after = {
    ...rest,
    content: given.id,
    contentBytes: given.bytes,
    ...(contentType !== undefined && { contentType }),
    uploadedTime: given.nowMs,
    lastUpdatedTime: given.nowMs,
  };
  await tx.replace(table, [after as unknown as File]);
  await tx.remove(uploadTable, equals("id", given.id));
  const gone = file.content === undefined ? [] : [file.content];
  await recordRemovals(tx, gone);
  return { gone };
}

/** Ends uploads whose links have expired, and takes away what came of them; those under way may finish. */
export async function deleteExpiredUploads(stores: BlobStores & Pick<Services, "system">): Promise<void> {
  const filter = between("expiresTime", { to: { value: stores.system.nowMs(), inclusive: true } });
  const page = { limit: limits.itemsPerWriteMax };
  for (const project of await projectIds(stores)) {
    const ids = await stores.catalog.write(project, async (tx) => {
      const expired = await tx.find(uploadTable, { filter, order: byId, page });
      const idle = expired.map(({ id }) => id).filter((id) => !stores.uploads.has(id));
      await recordRemovals(tx, idle);
      return idle;
    });
    await removeBlobs(stores, project, ids);
  }
}

/** The file whose bytes a blob holds, and their number; refuses (404) a blob that is no file's any more. */
export async function contentToRead(
  services: Services,
  key: BlobKey,
): Promise<{ readonly file: FileContent; readonly bytes: number }> {
  const { file } = await services.catalog.read(key.project, (tx) => findUpload(tx, key.id));
  const found = file && (await services.blobs.stat(key));
  if (!file || !found) throw fail("link-gone", {});
  return { file, bytes: found.bytes };
}
