// Reads an object as a stream. After a broken connection it continues at the same byte, and it verifies the
// checksum of bytes that are read from the first to the last.
import { createHash, type Hash } from "node:crypto";
import { Readable } from "node:stream";
import { limits } from "../../limits.ts";
import type { ByteRange } from "../blobs.ts";
import { partAt } from "./part-sizes.ts";
import { ChecksumMismatch } from "./retry.ts";
import type { ObjectBytes, S3Bucket } from "./s3-bucket.ts";

/** Reads an object or a range of it, which must not be empty; undefined when there is no such object. */
export async function readObject(
  bucket: S3Bucket,
  key: string,
  range?: ByteRange,
): Promise<Readable | undefined> {
  const first = await bucket.get(key, { ...(range && { range }), isDownload: true });
  return first && new ObjectStream(bucket, { key, range, first });
}

interface Source {
  readonly key: string;
  readonly range: ByteRange | undefined;
  readonly first: ObjectBytes;
}

class ObjectStream extends Readable {
  readonly #bucket: S3Bucket;
  readonly #source: Source;
  readonly #checksum: EtagChecksum | undefined;
  #stream: Readable;
  #chunks: AsyncIterator<Buffer>;
  /** The offset in the object of the next byte. */
  #position: number;
  #failures = 0;

  constructor(bucket: S3Bucket, source: Source) {
    super();
    const { range, first } = source;
    this.#bucket = bucket;
    this.#source = source;
    this.#checksum = range || !first.hasChecksum ? undefined : new EtagChecksum(first.etag);
    this.#position = range?.start ?? 0;
    this.#stream = first.stream;
    this.#chunks = chunksOf(first.stream);
  }

  override _read(): void {
    this.#next().then(
      (chunk) => this.push(chunk),
      (problem: Error) => this.destroy(problem),
    );
  }

  override _destroy(problem: Error | null, done: (problem: Error | null) => void): void {
    this.#stream.destroy();
    done(problem);
  }

  async #next(): Promise<Buffer | null> {
    for (;;) {
      try {
        const { done, value } = await this.#chunks.next();
        if (done) {
          this.#checksum?.verify();
          return null;
        }
        this.#failures = 0;
        this.#position += value.length;
        this.#checksum?.update(value);
        return value;
      } catch (problem) {
        if (problem instanceof ChecksumMismatch || this.destroyed) throw problem;
        await this.#resume(problem);
      }
    }
  }

  /** Requests the rest of the same object. */
  async #resume(problem: unknown): Promise<void> {
    this.#failures += 1;
    if (this.#failures >= limits.s3AttemptsMax) throw problem;
    this.#stream.destroy();
    const { key, range, first } = this.#source;
    const left = { start: this.#position, ...(range && { end: range.end }) };
    const rest = await this.#bucket.get(key, { range: left, etag: first.etag, isDownload: true });
    if (!rest) throw problem;
    this.#stream = rest.stream;
    this.#chunks = chunksOf(rest.stream);
    if (this.destroyed) rest.stream.destroy();
  }
}

const chunksOf = (stream: Readable): AsyncIterator<Buffer> =>
  stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;

/** An ETag is the MD5 of the bytes or, after a multipart upload, the MD5 of the MD5s of its parts. */
class EtagChecksum {
  readonly #etag: string;
  readonly #parts: Buffer[] = [];
  #hash: Hash = createHash("md5");
  #position = 0;

  constructor(etag: string) {
    this.#etag = etag;
  }

  update(chunk: Uint8Array): void {
    if (!this.#etag.includes("-")) {
      this.#hash.update(chunk);
      return;
    }
    for (let done = 0; done < chunk.length; ) {
      const { start, bytes } = partAt(this.#position);
      const segment = chunk.subarray(done, done + start + bytes - this.#position);
      this.#hash.update(segment);
      done += segment.length;
      this.#position += segment.length;
      if (this.#position === start + bytes) this.#endPart();
    }
  }

  verify(): void {
    if (this.#digest() !== this.#etag)
      throw new ChecksumMismatch("the store returned other bytes than it was sent");
  }

  #digest(): string {
    if (!this.#etag.includes("-")) return this.#hash.digest("hex");
    if (this.#position > partAt(this.#position).start) this.#endPart();
    const all = createHash("md5").update(Buffer.concat(this.#parts)).digest("hex");
    return `${all}-${this.#parts.length}`;
  }

  #endPart(): void {
    this.#parts.push(this.#hash.digest());
    this.#hash = createHash("md5");
  }
}
