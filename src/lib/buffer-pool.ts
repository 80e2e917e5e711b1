// A pool of large buffers, in size classes. Without it, each long body and response would be new memory: the
// garbage collector would run after every few of them, and the system would map their pages again.

interface PoolBounds {
  readonly bytesMin: number;
  readonly idleBytesMax: number;
  /** The size of short buffers, where many are in use at a time; smaller than `bytesMin`. */
  readonly shortBytes?: number;
}

export class BufferPool {
  /** No buffer is smaller, except short ones. */
  readonly bytesMin: number;
  readonly #shortBytes: number;
  readonly #idleBytesMax: number;
  /** By size, a power of two; the size that was used longest ago comes first. */
  readonly #idle = new Map<number, ArrayBuffer[]>();
  #idleBytes = 0;

  /** Keeps at most `idleBytesMax` bytes of unused buffers. */
  constructor({ bytesMin, idleBytesMax, shortBytes = 0 }: PoolBounds) {
    this.bytesMin = bytesMin;
    this.#shortBytes = shortBytes;
    this.#idleBytesMax = idleBytesMax;
  }

  /** A buffer of at least this many bytes. It holds bytes of earlier users: write before you read. */
  take(bytes: number): Buffer {
    const sizeMin = bytes <= this.#shortBytes ? this.#shortBytes : this.bytesMin;
    const size = 2 ** Math.ceil(Math.log2(Math.max(bytes, sizeMin)));
    const idle = this.#idle.get(size);
    if (!idle) return Buffer.allocUnsafeSlow(size);
    const found = idle.pop()!;
    this.#idleBytes -= size;
    this.#setIdle(size, idle);
    return Buffer.from(found);
  }

  /** Puts back the whole memory of a buffer that `take` returned. The caller must not use it afterwards. */
  putBack({ buffer }: Buffer): void {
    const size = buffer.byteLength;
    if (size > this.#idleBytesMax) return;
    const idle = this.#idle.get(size) ?? [];
    idle.push(buffer as ArrayBuffer);
    this.#idleBytes += size;
    this.#setIdle(size, idle);
    while (this.#idleBytes > this.#idleBytesMax) this.#dropOldest();
  }

  /** Drops a buffer of the size that was used longest ago, so that a change of workload empties its class. */
  #dropOldest(): void {
    const [size, idle] = this.#idle.entries().next().value!;
    idle.pop();
    this.#idleBytes -= size;
    if (idle.length === 0) this.#idle.delete(size);
  }

  #setIdle(size: number, idle: ArrayBuffer[]): void {
    this.#idle.delete(size);
    if (idle.length > 0) this.#idle.set(size, idle);
  }
}
