// The record of an incomplete blob: a JSON object in the store. Writing it is the commit of a `put`.
//
// The store keeps whole parts in a multipart upload, where they cannot be read. The bytes after the last
// whole part are segments: objects of their own, in order. The record also keeps the segments of the put
// before, because the caller may not have recorded the latest one when its server ended.
import { randomUUID } from "node:crypto";
import { text } from "node:stream/consumers";
import { fail } from "../../errors.ts";
import { invariant } from "../../lib/invariant.ts";
import { parseJson } from "../../lib/json.ts";
import type { BlobKey } from "../blobs.ts";
import { contentOf } from "./content.ts";
import { partAt } from "./part-sizes.ts";
import { S3Refusal } from "./retry.ts";
import type { S3Bucket } from "./s3-bucket.ts";

/** The keys of the objects of one blob. */
export interface BlobObjects {
  /** The complete blob. */
  readonly blob: string;
  /** Begins the keys of the record and of the segments. */
  readonly staging: string;
}

export const blobsPrefix = "files/";
export const stagingPrefix = "uploads/";
export const recordName = "record.json";

export const objectsOf = (prefix: string, { project, id }: BlobKey): BlobObjects => ({
  blob: `${prefix}${blobsPrefix}${project}/${id}`,
  staging: `${prefix}${stagingPrefix}${project}/${id}/`,
});

/** The first `bytes` bytes of an object in the staging area. */
export interface Segment {
  readonly name: string;
  readonly bytes: number;
}

/** The first `bytes` bytes of the blob. The segments begin with the part that contains the next byte. */
export interface Extent {
  readonly bytes: number;
  readonly segments: readonly Segment[];
}

export interface UploadState {
  /** The id of the multipart upload, once there is a whole part. */
  readonly upload?: string;
  /** The ETags of the whole parts, in order. */
  readonly parts: readonly string[];
  readonly latest: Extent;
  /** The bytes before the latest put, if their segments are not part of the latest ones. */
  readonly before?: Extent;
}

interface Stored extends UploadState {
  readonly format: 1;
  /** Distinguishes this write from those of other servers. */
  readonly nonce: string;
}

export class UploadRecord {
  readonly #bucket: S3Bucket;
  readonly #staging: string;
  #etag: string | undefined;
  #state: UploadState | undefined;

  private constructor(bucket: S3Bucket, staging: string) {
    this.#bucket = bucket;
    this.#staging = staging;
  }

  static async load(bucket: S3Bucket, { staging }: BlobObjects): Promise<UploadRecord> {
    const record = new UploadRecord(bucket, staging);
    await record.#read();
    return record;
  }

  /** Undefined when nothing is stored of the blob, or when the blob is complete. */
  get state(): UploadState | undefined {
    return this.#state;
  }

  /**
   * Replaces the state and removes segments that it no longer names. Refuses (409) after another server's
   * write.
   */
  async commit(state: UploadState): Promise<void> {
    const nonce = randomUUID();
    const before = this.#state;
    const content = contentOf(JSON.stringify({ format: 1, nonce, ...state } satisfies Stored));
    try {
      this.#etag = await this.#bucket.put(this.#staging + recordName, content, { etag: this.#etag });
    } catch (problem) {
      if (!(problem instanceof S3Refusal)) throw problem;
      // An attempt whose response was lost has changed the record, so the next attempt is refused.
      if ((await this.#read())?.nonce !== nonce) throw fail("upload-taken-over", {});
    }
    this.#state = state;
    const kept = new Set(namesIn(state));
    for (const name of namesIn(before)) if (!kept.has(name)) await this.#bucket.delete(this.#staging + name);
  }

  async #read(): Promise<Stored | undefined> {
    const found = await this.#bucket.get(this.#staging + recordName);
    const stored = found && (parseJson(await text(found.stream)) as Stored);
    invariant(stored === undefined || stored.format === 1, "the record of an upload has format 1");
    this.#etag = found?.etag;
    this.#state = stored;
    return stored;
  }
}

/** The names of all segments. */
export const namesIn = (state: UploadState | undefined): string[] =>
  [...(state?.latest.segments ?? []), ...(state?.before?.segments ?? [])].map(({ name }) => name);

/** The first `offset` bytes of a state; undefined when the store cannot keep exactly these. */
export function firstBytesOf(state: UploadState, offset: number): UploadState | undefined {
  const { number, start } = partAt(offset);
  const { upload, parts, latest, before } = state;
  if (offset > latest.bytes) return undefined;
  const isIn = (extent: Extent) => partAt(extent.bytes).start === start && offset <= extent.bytes;
  const extent = [latest, ...(before ? [before] : [])].find(isIn);
  if (!extent && offset !== start) return undefined;
  const segments = extent ? firstSegments(extent.segments, offset - start) : [];
  const kept = { parts: parts.slice(0, number - 1), latest: { bytes: offset, segments } };
  return { ...kept, ...(upload !== undefined && { upload }) };
}

function firstSegments(segments: readonly Segment[], bytes: number): Segment[] {
  const kept: Segment[] = [];
  let left = bytes;
  for (const { name, bytes } of segments) {
    if (left === 0) break;
    kept.push({ name, bytes: Math.min(bytes, left) });
    left -= kept.at(-1)!.bytes;
  }
  invariant(left === 0, "segments contain all bytes after the last whole part");
  return kept;
}
