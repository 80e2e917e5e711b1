// A ring buffer in memory that all threads of a store share. A journal record is encoded into it once: the
// main thread writes the record to disk from there, and each shard reads its part from there.
//
// Slices are allocated and freed on the main thread only. Within the ring, a stream of requests allocates no
// memory; a slice that does not fit gets a buffer of its own.
const ringBytesDefault = 4 * 2 ** 20;
const alignment = 8;

/** A part of a shared buffer. It can be sent to another thread without a copy. */
export interface SharedSlice {
  readonly buffer: SharedArrayBuffer;
  readonly offset: number;
  readonly length: number;
}

export const viewOf = ({ buffer, offset, length }: SharedSlice): Uint8Array =>
  new Uint8Array(buffer, offset, length);

export class SharedRing {
  readonly #ringBytes: number;
  /** Created by the first allocation. */
  #ring: SharedArrayBuffer | undefined;
  /** Slices of the ring in order of allocation. The first one is always in use. */
  readonly #slices: SharedSlice[] = [];
  /** Slices that are free, but allocated after one that is still in use. */
  readonly #freed = new Set<SharedSlice>();
  /** End of the last slice. */
  #end = 0;

  constructor(ringBytes = ringBytesDefault) {
    this.#ringBytes = ringBytes;
  }

  /** Returns a slice of undefined content, aligned to 8 bytes. Its last user passes it to `free`. */
  allocate(length: number): SharedSlice {
    const offset = this.#reserve(Math.ceil(length / alignment) * alignment);
    if (offset === undefined) return { buffer: new SharedArrayBuffer(length), offset: 0, length };
    this.#ring ??= new SharedArrayBuffer(this.#ringBytes);
    const slice = { buffer: this.#ring, offset, length };
    this.#slices.push(slice);
    return slice;
  }

  /** No thread may use the slice after this. */
  free(slice: SharedSlice): void {
    if (slice.buffer !== this.#ring) return;
    this.#freed.add(slice);
    while (this.#slices.length > 0 && this.#freed.delete(this.#slices[0]!)) this.#slices.shift();
  }

  /** The offset of so many contiguous bytes; undefined when the ring has none. */
  #reserve(bytes: number): number | undefined {
    const oldest = this.#slices[0]?.offset;
    if (oldest === undefined) this.#end = 0;
    const isWrapped = oldest !== undefined && this.#end <= oldest;
    let from = this.#end;
    let until = isWrapped ? oldest : this.#ringBytes;
    if (from + bytes > until && !isWrapped) {
      from = 0;
      until = oldest ?? 0;
    }
    if (from + bytes > until) return undefined;
    this.#end = from + bytes;
    return from;
  }
}
