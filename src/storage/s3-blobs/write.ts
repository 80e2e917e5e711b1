// Writes an incomplete blob, part by part, and completes it.
import { randomUUID } from "node:crypto";
import { fail } from "../../errors.ts";
import { freeChunk } from "../../lib/free-memory.ts";
import { invariant } from "../../lib/invariant.ts";
import type { DiskSpace } from "../disk-space.ts";
import { type Part, partAt } from "./part-sizes.ts";
import { readObject } from "./read.ts";
import { S3Refusal } from "./retry.ts";
import type { S3Bucket } from "./s3-bucket.ts";
import { Spool } from "./spool.ts";
import {
  type BlobObjects,
  firstBytesOf,
  type Segment,
  UploadRecord,
  type UploadState,
} from "./upload-record.ts";

/** More segments are joined into one, so that completing a blob needs few requests. */
const segmentsMax = 16;

export interface WriteTarget {
  readonly bucket: S3Bucket;
  readonly objects: BlobObjects;
  /** Where the bytes of one part are kept until the store has them. */
  readonly spoolFolder: string;
  /** The disk of that folder. */
  readonly disk: DiskSpace;
}

/** Appends the bytes after the first `offset` ones. Returns the number of stored bytes. */
export async function appendBytes(
  target: WriteTarget,
  { offset, bytes }: { readonly offset: number; readonly bytes: AsyncIterable<Uint8Array> },
): Promise<number> {
  const record = await UploadRecord.load(target.bucket, target.objects);
  const { state } = record;
  if (state === undefined && offset > 0) throw fail("link-gone", {});
  const kept = state ? firstBytesOf(state, offset) : { parts: [], latest: { bytes: 0, segments: [] } };
  invariant(kept !== undefined, "a put continues within the bytes of the latest put");
  if (state && offset < state.latest.bytes) await record.commit(kept);
  await using spool = await Spool.create(target.spoolFolder);
  const writer = new PartWriter(target, { record, spool, kept });
  for await (const chunk of bytes) {
    await writer.append(chunk);
    freeChunk(chunk);
  }
  return await writer.finish(); // Before the spool is closed.
}

/** Makes the blob readable. Refuses a blob that was not written. */
export async function completeBlob(target: WriteTarget): Promise<void> {
  const { bucket, objects } = target;
  const { state } = await UploadRecord.load(bucket, objects);
  if (state === undefined) {
    invariant((await bucket.head(objects.blob)) !== undefined, "a blob is written before it is completed");
    return;
  }
  await using spool = await Spool.create(target.spoolFolder);
  const { segments } = state.latest;
  await loadSegments(target, spool, segments);
  const content = await spool.content(0, bytesOf(segments));
  if (state.upload === undefined || state.parts.length === 0) {
    await bucket.put(objects.blob, content);
    if (state.upload !== undefined) await bucket.abortUpload(objects.blob, state.upload);
  } else {
    const part = { key: objects.blob, upload: state.upload, number: state.parts.length + 1 };
    await unlessCompleted(target, state, async () => {
      const last = content.bytes > 0 ? [await bucket.uploadPart(part, content)] : [];
      await bucket.completeUpload(objects.blob, part.upload, [...state.parts, ...last]);
    });
  }
  if ((await bucket.head(objects.blob))?.bytes !== state.latest.bytes)
    throw fail("file-store-away", { problem: "the store has another size than it acknowledged" });
  await removeStaging(target);
}

/** Removes the blob, complete or not. */
export async function removeBlob(target: WriteTarget): Promise<void> {
  const { state } = await UploadRecord.load(target.bucket, target.objects);
  await target.bucket.delete(target.objects.blob);
  if (state?.upload !== undefined) await target.bucket.abortUpload(target.objects.blob, state.upload);
  await removeStaging(target);
}

/** A multipart upload ends when it is completed, also by a server that ended before it could say so. */
async function unlessCompleted(
  { bucket, objects }: WriteTarget,
  { latest }: UploadState,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (problem) {
    if (!(problem instanceof S3Refusal)) throw problem;
    // Otherwise the parts were removed, for example by a lifecycle rule of the bucket.
    if ((await bucket.head(objects.blob))?.bytes !== latest.bytes) throw fail("link-gone", {});
  }
}

/** The record last, so that an interrupted removal is repeated. */
async function removeStaging({ bucket, objects }: WriteTarget): Promise<void> {
  const keys: string[] = [];
  for await (const { key } of bucket.list(objects.staging)) keys.push(key);
  // The name of the record comes before those of segments.
  for (const key of keys.sort().reverse()) await bucket.delete(key);
}

/** Copies the segments into the spool, one after the other. */
async function loadSegments(
  { bucket, objects }: WriteTarget,
  spool: Spool,
  segments: readonly Segment[],
): Promise<void> {
  let position = 0;
  for (const { name, bytes } of segments) {
    const range = { start: 0, end: bytes };
    const stream = await readObject(bucket, objects.staging + name, range);
    if (!stream) throw fail("link-gone", {});
    for await (const chunk of stream) {
      await spool.write(chunk as Buffer, position);
      position += (chunk as Buffer).length;
    }
  }
}

const bytesOf = (segments: readonly Segment[]): number => segments.reduce((sum, { bytes }) => sum + bytes, 0);

interface WriterStart {
  readonly record: UploadRecord;
  readonly spool: Spool;
  readonly kept: UploadState;
}

/** Collects bytes in the spool and sends each part when it is whole. */
class PartWriter {
  readonly #target: WriteTarget;
  readonly #record: UploadRecord;
  readonly #spool: Spool;
  readonly #kept: UploadState;
  readonly #parts: string[];
  #segments: Segment[];
  #part: Part;
  /** The spool has the bytes of the part from `#from` to `#position`; the segments have those before. */
  #from: number;
  #position: number;

  constructor(target: WriteTarget, { record, spool, kept }: WriterStart) {
    this.#target = target;
    this.#record = record;
    this.#spool = spool;
    this.#kept = kept;
    this.#parts = [...kept.parts];
    this.#segments = [...kept.latest.segments];
    this.#part = partAt(kept.latest.bytes);
    this.#from = this.#position = kept.latest.bytes - this.#part.start;
  }

  async append(chunk: Uint8Array): Promise<void> {
    for (let done = 0; done < chunk.length; ) {
      const taken = chunk.subarray(done, done + this.#part.bytes - this.#position);
      await this.#spool.write(taken, this.#position);
      done += taken.length;
      this.#position += taken.length;
      if (this.#position === this.#part.bytes) await this.#sendPart();
    }
  }

  /** Stores the rest of the bytes and commits. Returns the number of stored bytes. */
  async finish(): Promise<number> {
    const { bucket, objects } = this.#target;
    if (this.#segments.length >= segmentsMax) await this.#loadSegments();
    if (this.#position > this.#from) {
      const content = await this.#spool.content(this.#from, this.#position);
      const name = `segment-${randomUUID()}`;
      await bucket.put(objects.staging + name, content);
      this.#segments.push({ name, bytes: content.bytes });
    }
    const { upload } = this.#record.state ?? {};
    const before = this.#kept.latest;
    const isInOtherPart = partAt(before.bytes).number !== this.#part.number;
    const bytes = this.#part.start + this.#position;
    await this.#record.commit({
      ...(upload !== undefined && { upload }),
      parts: this.#parts,
      latest: { bytes, segments: this.#segments },
      ...(isInOtherPart && before.segments.length > 0 && { before }),
    });
    return bytes;
  }

  async #sendPart(): Promise<void> {
    const { bucket, objects, disk } = this.#target;
    if (disk.problem !== undefined) throw fail("file-not-stored", { problem: disk.problem });
    await this.#loadSegments();
    const content = await this.#spool.content(0, this.#part.bytes);
    const upload = this.#record.state?.upload ?? (await this.#startUpload());
    const part = { key: objects.blob, upload, number: this.#part.number };
    this.#parts.push(await unlessGone(bucket.uploadPart(part, content)));
    this.#part = partAt(this.#part.start + this.#part.bytes);
    this.#position = 0;
  }

  /** Commits the id before there are parts, so that a removal of the blob finds all of them. */
  async #startUpload(): Promise<string> {
    const { bucket, objects } = this.#target;
    const upload = await bucket.createUpload(objects.blob);
    await this.#record.commit({ ...this.#kept, upload });
    return upload;
  }

  async #loadSegments(): Promise<void> {
    if (this.#from > 0) await loadSegments(this.#target, this.#spool, this.#segments);
    this.#segments = [];
    this.#from = 0;
  }
}

/** Refuses (404) when the store no longer has the multipart upload. */
async function unlessGone<Result>(result: Promise<Result>): Promise<Result> {
  try {
    return await result;
  } catch (problem) {
    throw problem instanceof S3Refusal ? fail("link-gone", {}) : problem;
  }
}
