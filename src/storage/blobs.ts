// Port: the bytes of files, streamed in and out by key, whatever their size never held in memory.
//
// Contract. A blob is put together under its key, in one put or in several, and can be read only once it is
// sealed; from then on it never changes. `put` and `seal` resolve when the change is on disk, so that a crash
// loses nothing they have answered for, and never makes half a blob readable. The caller sees to it that no
// two calls that change one key run at the same time; a stream that is being read outlives the removal of its
// blob. A write that the disk refuses is the failure `file-not-stored`, and leaves what was put before.
import type { Readable } from "node:stream";
import type { ProjectId } from "./catalog.ts";

/** Never used for a second blob. */
export interface BlobKey {
  readonly project: ProjectId;
  readonly id: number;
}

export interface Part {
  readonly key: BlobKey;
  /** How many bytes of earlier puts stay before these; what was put beyond goes. At most what is there. */
  readonly at: number;
  /**
   * Read to its end and no faster than the disk takes it; when it fails, the put fails with the same. Each
   * chunk belongs to the store from then on.
   */
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** A piece of a blob, in bytes. */
export interface ByteRange {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
}

/** What a link permits, and until when (milliseconds since 1970). */
export interface BlobLink {
  readonly purpose: "upload" | "download";
  readonly key: BlobKey;
  readonly expiresMs: number;
}

export interface BlobStore {
  /** Resolves with the number of bytes that the unsealed blob holds then. */
  put(part: Part): Promise<number>;
  /** Makes what was put readable; sealing twice changes nothing. */
  seal(key: BlobKey): Promise<void>;
  /**
   * The bytes of a sealed blob, or of a piece of it; undefined when there is no such blob. Each chunk belongs
   * to the reader from then on.
   */
  open(key: BlobKey, range?: ByteRange): Promise<Readable | undefined>;
  /** The size of a sealed blob; undefined when there is none, or none yet. */
  stat(key: BlobKey): Promise<{ readonly bytes: number } | undefined>;
  /** Rejects while nothing can be stored. */
  check(): Promise<void>;
  /** Takes a blob away, sealed or not; nothing happens when there is none. */
  remove(key: BlobKey): Promise<void>;
  /** An absolute address below `baseUrl` that works without credentials: whoever has it may use it. */
  link(link: BlobLink, baseUrl: string): string;
  /** What the last segment of such an address permits, expired or not; undefined when it is forged. */
  permitted(token: string): BlobLink | undefined;
}
