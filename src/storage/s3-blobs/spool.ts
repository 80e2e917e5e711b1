// A temporary file for the bytes of one part. A part is sent only when it is whole, and again after a
// failure, so it must be kept; a file keeps the memory of an upload small, however slowly its client sends.
import { createHash, randomUUID } from "node:crypto";
import { type FileHandle, mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { invariant } from "../../lib/invariant.ts";
import { type Content, digestOf } from "./content.ts";

const readChunkBytes = 256 * 1024;

export class Spool implements AsyncDisposable {
  readonly #file: FileHandle;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** The file is removed from the folder at once, so that a crash leaves nothing. */
  static async create(folder: string): Promise<Spool> {
    await mkdir(folder, { recursive: true });
    const path = join(folder, randomUUID());
    const file = await open(path, "wx+");
    await rm(path);
    return new Spool(file);
  }

  async write(chunk: Uint8Array, position: number): Promise<void> {
    for (let done = 0; done < chunk.length; ) {
      const { bytesWritten } = await this.#file.write(chunk, done, chunk.length - done, position + done);
      done += bytesWritten;
    }
  }

  /** The bytes from `start` to `end` (exclusive) with their checksums. */
  async content(start: number, end: number): Promise<Content> {
    const hashes = { md5: createHash("md5"), sha256: createHash("sha256") };
    for await (const chunk of this.#read(start, end)) {
      hashes.md5.update(chunk);
      hashes.sha256.update(chunk);
    }
    const read = () => Readable.from(this.#read(start, end), { objectMode: false });
    return { bytes: end - start, ...digestOf(hashes), read };
  }

  /** A stream of the file would close it, or end with an error when it is not read to its end. */
  async *#read(start: number, end: number): AsyncGenerator<Buffer> {
    for (let at = start; at < end; ) {
      const buffer = Buffer.allocUnsafeSlow(Math.min(readChunkBytes, end - at));
      const { bytesRead } = await this.#file.read(buffer, 0, buffer.length, at);
      invariant(bytesRead > 0, "a spool has all bytes of its part");
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#file.close();
  }
}
