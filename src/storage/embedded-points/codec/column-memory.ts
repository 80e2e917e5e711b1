// Memory of decoded columns that is used again. A read of a month of seconds decodes hundreds of blocks one
// after another; new memory for each takes as long as decoding its values.

/** The two columns of a block, and two that are decoded for them. */
const keptMax = 4;
/** Of a column whose memory is kept: small ones are cheap, and the store makes no larger blocks. */
const keptBytesMin = 2 ** 13;
const keptBytesMax = 2 ** 18;

export class ColumnMemory {
  readonly #kept: ArrayBuffer[] = [];

  /** A column with arbitrary numbers. */
  column(count: number): Float64Array {
    const buffer = count * 8 < keptBytesMin ? undefined : this.#kept.pop();
    return buffer !== undefined && buffer.byteLength >= count * 8
      ? new Float64Array(buffer, 0, count)
      : new Float64Array(count);
  }

  /** The caller must not use the column, or a view of it, after this. */
  release({ buffer }: Float64Array): void {
    const { byteLength } = buffer;
    const isKept = this.#kept.length < keptMax && byteLength >= keptBytesMin && byteLength <= keptBytesMax;
    if (isKept && buffer instanceof ArrayBuffer) this.#kept.push(buffer);
  }
}
