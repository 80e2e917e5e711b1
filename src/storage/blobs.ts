// Port: stores the bytes of files under keys, and streams them in and out without loading a file into memory.
//
// Contract:
// - A blob is written by one `put` or by several, and becomes readable with `complete`. It never changes
// after that.
// - `put` and `complete` resolve when the change is on disk. A crash loses nothing acknowledged, and never
// makes an incomplete blob readable.
// - The caller must not run two changes of one key at the same time. A stream that is being read survives the
// removal of its blob.
// - A write that the disk refuses fails with `file-not-stored`, and keeps the bytes of earlier puts.
// - While a store on another machine is not available, all functions fail with `file-store-away`. The caller
// may repeat them.
import type { Readable } from "node:stream";
import type { ProjectId } from "./catalog.ts";

/** A key is never reused for another blob. */
export interface BlobKey {
  readonly project: ProjectId;
  readonly id: number;
}

export interface BlobPart {
  readonly key: BlobKey;
  /**
   * Bytes of earlier puts to keep; the rest is cut off before this part is appended. Either 0, or from the
   * offset of the latest put to its end.
   */
  readonly offset: number;
  /**
   * Read to its end, no faster than the disk accepts it. When it fails, the put fails with the same error.
   * Each chunk belongs to the store from then on.
   */
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** A range of bytes of a blob. */
export interface ByteRange {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
}

/** The operation that a link permits, and its expiry in milliseconds since 1970. */
export interface BlobLink {
  readonly purpose: "upload" | "download";
  readonly key: BlobKey;
  readonly expiresMs: number;
}

export interface BlobStore {
  /** Resolves with the size of the incomplete blob after this part. */
  put(part: BlobPart): Promise<number>;
  /** Makes the blob readable. A second call changes nothing. */
  complete(key: BlobKey): Promise<void>;
  /**
   * The bytes of a complete blob, or a range of them; undefined when it does not exist. Each chunk belongs to
   * the reader from then on.
   */
  open(key: BlobKey, range?: ByteRange): Promise<Readable | undefined>;
  /** The size of a complete blob; undefined when it does not exist or is incomplete. */
  stat(key: BlobKey): Promise<{ readonly bytes: number } | undefined>;
  /** Rejects while nothing can be stored. */
  check(): Promise<void>;
  /** Removes a blob, complete or not. Does nothing when it does not exist. */
  remove(key: BlobKey): Promise<void>;
  /** An absolute URL below `baseUrl` that works without credentials: a capability for anyone who has it. */
  link(link: BlobLink, baseUrl: string): string;
  /** Ends the store's connections and background work. */
  close(): Promise<void>;
  /** Decodes the last path segment of such a URL, expired or not; undefined when its signature is wrong. */
  readLink(token: string): BlobLink | undefined;
}
