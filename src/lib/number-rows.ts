// Writes rows of times and numbers as text: JSON objects, or lines of a table. The loop is WebAssembly, and
// scripts/kernels/rows.ts is its source.
//
// Most averages have 16 or 17 digits, which take 45 ns. The loop is fast from the first response of a process
// on, when most of JavaScript is not compiled yet.
import type { BufferWriter } from "./buffer-writer.ts";
import { kernelsBinary } from "./number-rows-binary.ts";
import { numberBytesMax } from "./number-text.ts";
import { instantiated, memoryPageBytes, type WebAssemblyMemory } from "./web-assembly.ts";

interface Instance {
  readonly memory: WebAssemblyMemory;
  readonly scalesAt: { readonly value: number };
  readonly freeAt: { readonly value: number };
  readonly fillTables: () => void;
  /** Returns the end of the text. */
  readonly writeRows: (layout: number, times: number, columns: number, count: number, at: number) => number;
}

/** The text of a row around its numbers. */
interface RowText {
  /** Before the time. */
  readonly start: string;
  /** Before each number. */
  readonly labels: readonly string[];
  readonly end: string;
  /** A cell without a finite number keeps its label; otherwise it is left out. */
  readonly isTable: boolean;
}

interface NumberRowColumns {
  readonly times: Float64Array;
  /** One for each label; neighbours may be the same. */
  readonly columns: readonly Float64Array[];
}

/** The memory of a step, about: it stays in the cache of the processor. A single row may need more. */
const stepBytes = 2 ** 17;
const rowsPerStep = 256;
const [wordBytes, numberBytes] = [4, 8];
/** Of a layout, before the places of its strings. */
const layoutWords = 2;
/** The loop reads and writes at most so many bytes after a text. */
const besideBytes = 32;

/** A row as the loop reads it. */
export class RowLayout {
  /** Words of four bytes, then the strings. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** No row takes more bytes. */
  readonly rowBytesMax: number;

  constructor({ start, labels, end, isTable }: RowText) {
    const strings = [start, end, ...labels];
    const lengths = strings.map((one) => Buffer.byteLength(one));
    const wordCount = layoutWords + 2 * strings.length;
    const from = wordBytes * wordCount;
    const textBytes = lengths.reduce((sum, length) => sum + length, 0);
    this.bytes = new Uint8Array(from + textBytes);
    const words = new Uint32Array(this.bytes.buffer, 0, wordCount);
    words[0] = Number(isTable);
    words[1] = labels.length;
    let at = from;
    for (const [index, length] of lengths.entries()) {
      words[layoutWords + 2 * index] = at;
      words[layoutWords + 2 * index + 1] = length;
      at += length;
    }
    Buffer.from(this.bytes.buffer).write(strings.join(""), from);
    this.rowBytesMax = textBytes + (labels.length + 1) * numberBytesMax;
  }
}

/** Has the memory of the loop. The same for all responses, as each call writes all of its rows. */
export class NumberRows {
  /** Made for the first rows. */
  #instance: Instance | undefined;
  #bytes = new Uint8Array();
  /** Everything before this is in use. */
  #used = 0;

  /** Writes at least one of the rows with indexes in [from, to), and returns the index of the next one. */
  write(
    writer: BufferWriter,
    layout: RowLayout,
    { times, columns }: NumberRowColumns,
    { from, to }: { readonly from: number; readonly to: number },
  ): number {
    const rowBytes = layout.rowBytesMax + numberBytes * (columns.length + 1);
    const count = Math.min(to - from, rowsPerStep, Math.max(1, Math.floor(stepBytes / rowBytes)));
    const next = from + count;
    const parts = columns.length + 4;
    this.#begin(count * rowBytes + layout.bytes.length + wordBytes * columns.length + besideBytes * parts);
    const layoutAt = this.#place(layout.bytes, layout.bytes.length);
    const timesAt = this.#placeNumbers(times, from, next);
    const places = new Uint32Array(columns.length);
    for (let at = 0; at < columns.length; at++) {
      const isSame = at > 0 && columns[at] === columns[at - 1];
      places[at] = isSame ? places[at - 1]! : this.#placeNumbers(columns[at]!, from, next);
    }
    const placesAt = this.#place(new Uint8Array(places.buffer), wordBytes * columns.length);
    const textAt = this.#used;
    const end = this.#instance!.writeRows(layoutAt, timesAt, placesAt, count, textAt);
    this.#copy(writer, textAt, end);
    return next;
  }

  #copy(writer: BufferWriter, from: number, to: number): void {
    writer.ensure(to - from);
    writer.bytes.set(this.#bytes.subarray(from, to), writer.at);
    writer.at += to - from;
  }

  /** Frees the memory, and makes sure that so many bytes fit. */
  #begin(bytes: number): void {
    this.#instance ??= newInstance();
    const { memory, freeAt } = this.#instance;
    this.#used = freeAt.value;
    const missing = Math.ceil((this.#used + bytes - memory.buffer.byteLength) / memoryPageBytes);
    if (missing > 0) memory.grow(missing);
    if (this.#bytes.buffer !== memory.buffer) this.#bytes = new Uint8Array(memory.buffer);
  }

  #placeNumbers({ buffer, byteOffset }: Float64Array, from: number, to: number): number {
    const length = numberBytes * (to - from);
    return this.#place(new Uint8Array(buffer, byteOffset + numberBytes * from, length), length);
  }

  #place(bytes: Uint8Array, length: number): number {
    const at = this.#used;
    this.#bytes.set(bytes, at);
    this.#used = Math.ceil((at + length + numberBytes) / numberBytes) * numberBytes;
    return at;
  }
}

function newInstance(): Instance {
  const instance = instantiated<Instance>(kernelsBinary);
  const { memory, freeAt, scalesAt, fillTables } = instance;
  memory.grow(Math.ceil(freeAt.value / memoryPageBytes));
  fillTables();
  new BigUint64Array(memory.buffer, scalesAt.value, 2 * scaleCount).set(scales());
  return instance;
}

const scaleMin = -292;
const scaleCount = 617;
const scaleBits = 128;
const word = 2n ** 64n;

/**
 * 10^-292 to 10^324, each divided by the power of two that leaves 128 bits, and rounded up: low word first.
 */
function scales(): BigUint64Array {
  const words = new BigUint64Array(2 * scaleCount);
  for (let at = 0; at < scaleCount; at++) {
    const exponent = at + scaleMin;
    const shift = Math.floor((exponent * 1_741_647) / 2 ** 19) + 1 - scaleBits;
    const above = (10n ** BigInt(Math.max(0, exponent))) << BigInt(Math.max(0, -shift));
    const below = (10n ** BigInt(Math.max(0, -exponent))) << BigInt(Math.max(0, shift));
    const scale = (above + below - 1n) / below;
    words[2 * at] = scale % word;
    words[2 * at + 1] = scale / word;
  }
  return words;
}
