// Memory that all threads of a store see: a change lies here once, as the frame that goes to the journal,
// until its shards have taken from it what is theirs.
//
// The places are parts of one ring, so that a stream of requests allocates nothing. What does not fit into it
// gets memory of its own.
const ringBytesDefault = 4 * 2 ** 20;
const alignment = 8;

/** Where a frame lies. */
export interface Place {
  readonly buffer: SharedArrayBuffer;
  readonly offset: number;
  readonly length: number;
}

export const bytesAt = ({ buffer, offset, length }: Place): Uint8Array =>
  new Uint8Array(buffer, offset, length);

export class FrameMemory {
  readonly #ringBytes: number;
  /** Made when it is first needed. */
  #ring: SharedArrayBuffer | undefined;
  /** The places taken from the ring in order, of which the first is not free yet. */
  readonly #taken: Place[] = [];
  readonly #freed = new Set<Place>();
  /** Behind the last place. */
  #end = 0;

  constructor(ringBytes = ringBytesDefault) {
    this.#ringBytes = ringBytes;
  }

  /** Room for so many bytes of any content, from a multiple of 8 on, until it is given to `free`. */
  take(length: number): Place {
    const offset = this.#room(Math.ceil(length / alignment) * alignment);
    if (offset === undefined) return { buffer: new SharedArrayBuffer(length), offset: 0, length };
    this.#ring ??= new SharedArrayBuffer(this.#ringBytes);
    const place = { buffer: this.#ring, offset, length };
    this.#taken.push(place);
    return place;
  }

  free(place: Place): void {
    if (place.buffer !== this.#ring) return;
    this.#freed.add(place);
    while (this.#taken.length > 0 && this.#freed.delete(this.#taken[0]!)) this.#taken.shift();
  }

  /** Where the next place begins; undefined when the ring has no room for it in one piece. */
  #room(bytes: number): number | undefined {
    const oldest = this.#taken[0]?.offset;
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
