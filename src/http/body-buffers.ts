// Memory for the bodies of requests, used again as soon as a body has been read: a stream of inserts would
// otherwise have the collector walk through all of memory ten times a second.

/** A body that is not larger mostly arrives in one piece, and is read where it lies. */
export const onePieceBytesMax = 2 ** 16;
/** Together, of those that lie idle. */
const idleBytesMax = 8 * 2 ** 20;

export class BodyBuffers {
  /** By size, each a power of two. */
  readonly #idle = new Map<number, ArrayBuffer[]>();
  #idleBytes = 0;

  /** So many bytes of any content; they are the borrower's until given to `giveBack`. */
  lend(length: number): Buffer {
    const size = 2 ** Math.ceil(Math.log2(length));
    const found = this.#idle.get(size)?.pop();
    if (found !== undefined) this.#idleBytes -= size;
    return Buffer.from(found ?? new ArrayBuffer(size), 0, length);
  }

  /** Takes back what was lent; nothing may look at it any more. */
  giveBack({ buffer }: Buffer): void {
    const size = buffer.byteLength;
    if (this.#idleBytes + size > idleBytesMax) return;
    const idle = this.#idle.get(size) ?? [];
    idle.push(buffer as ArrayBuffer);
    this.#idle.set(size, idle);
    this.#idleBytes += size;
  }
}
