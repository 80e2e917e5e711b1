// The loops over the points of a block, in WebAssembly, and the memory of the columns of one block.
//
// scripts/kernels/kernels.ts is their source, and compiles to kernels-binary.ts. They take a third of the
// time of the same loops in JavaScript, which checks the bounds of each access and has no words of 64 bits.
import { invariant } from "../lib/invariant.ts";
import { instantiated, memoryPageBytes, type WebAssemblyMemory } from "../lib/web-assembly.ts";
import { kernelsBinary } from "./kernels-binary.ts";
import { decodeSummary, encodeSummary, type Summariser, type Summary, summaryFields } from "./summary.ts";

/** A function of scripts/kernels/kernels.ts. */
type Kernel = (...numbers: readonly number[]) => number;

interface Instance {
  readonly memory: WebAssemblyMemory;
  readonly summaryAt: { readonly value: number };
  readonly fillNumbers: Kernel;
  readonly decodeBlock: Kernel;
  readonly decodeSymbols: Kernel;
  readonly unpack: Kernel;
  readonly fillResiduals: Kernel;
  readonly restoreNothing: Kernel;
  readonly restorePrevious: Kernel;
  readonly restoreSmoothed: Kernel;
  readonly fillTimes: Kernel;
  readonly summarise: Kernel;
  readonly summariseValues: Kernel;
  readonly aggregatePoints: Kernel;
  readonly summariseBuckets: Kernel;
  readonly aggregateSummaries: Kernel;
  readonly finishAggregation: Kernel;
}

/** The bytes that a kernel stores or loads at once. */
const alignment = 16;
/** A kernel also reads bytes beside packed bits, but uses none of them. */
const besideBytes = 8;
const numberBytes = Float64Array.BYTES_PER_ELEMENT;
/** The place of the summary that was calculated last. */
const summaryAt = alignment;
/** Fields of a summary that need no mean. */
const valueFields = 8;
/** The place of the state of an aggregation, and of its rows. */
export const aggregationAt = 2 * alignment + numberBytes * summaryFields;
export const aggregationBytes = 2 ** 17;
/** The place of summaries of several buckets, and how many there may be. */
const summariesAt = aggregationAt + aggregationBytes;
export const summariesMax = 64;
/** The place of the steps without symbols, of coders of up to 2^12 states. */
const numbersAt = summariesAt + numberBytes * summaryFields * summariesMax;
/** Of the columns. */
const firstByte = numbersAt + numberBytes * 2 ** 14;
/** The results of the kernel for a stream of symbols, by their number. */
const outcomes = ["exact", "ends early", "ends elsewhere", "has malformed levels"] as const;
/** Levels, steps and symbols of at most 256 symbols and 2^12 states; 16 bytes are stored at once. */
const tableBytes = 4 * 256 + 8 * 4096 + 4096 + 16;

/** `values` is undefined where the kernel decodes only the times. */
interface DecodedColumns {
  readonly times: Float64Array;
  readonly values: Float64Array | undefined;
}

/** A stream of symbols, as in FORMAT.md, "Symbols". */
interface SymbolStream {
  readonly bits: Uint8Array;
  /** Number of bits. */
  readonly end: number;
  /** Symbols in the table. */
  readonly kinds: number;
  readonly log: number;
  readonly coders: 1 | 4;
}

/** Parts of residuals of 32 bits, as in `Residuals` of column.ts. */
interface SmallResiduals {
  readonly base: number;
  readonly rawBits: number;
  readonly symbols: Uint8Array;
  readonly low: Uint32Array;
}

/** The points with indexes in [from, to). */
interface IndexedPoints {
  readonly times: Float64Array;
  readonly values: Float64Array;
  readonly from: number;
  readonly to: number;
}

/** An aggregation whose rows are in the memory. */
interface RowOwner {
  /** Copies them out of it. */
  copyRows(): void;
}

/** The kernels of one thread. Returned arrays are in their memory, and valid until the next block begins. */
export class Kernels {
  /** Made for the first block. */
  #instance: Instance | undefined;
  /** Everything before this is in use. */
  #used = firstByte;
  #begun = 0;
  /** Views of the memory, which are made again when it has grown. */
  #state = new Uint8Array();
  #summaryView: Float64Array = new Float64Array();
  #bytes = new Uint8Array();
  #rowOwner: RowOwner | undefined;

  /** Changes when a block begins, and the arrays of the block before are not valid any more. */
  get begun(): number {
    return this.#begun;
  }

  /** Begins a block, which needs at most so many bytes. */
  begin(bytes: number): void {
    this.#start();
    const { memory } = this.#all;
    this.#begun += 1;
    this.#used = firstByte;
    const missing = Math.ceil((bytes + firstByte - memory.buffer.byteLength) / memoryPageBytes);
    if (missing > 0) memory.grow(missing);
  }

  #start(): void {
    if (this.#instance !== undefined) return;
    this.#instance = instantiated<Instance>(kernelsBinary);
    this.#instance.memory.grow(Math.ceil(firstByte / memoryPageBytes));
    invariant(this.#instance.summaryAt.value === summaryAt, "the kernels have the summary at the same place");
    this.#instance.fillNumbers(numbersAt);
  }

  /** `count` arbitrary numbers. */
  column(count: number): Float64Array {
    const at = this.#take(8 * count);
    return new Float64Array(this.#all.memory.buffer, at, count);
  }

  integers(count: number): Int32Array {
    const at = this.#take(4 * count);
    return new Int32Array(this.#all.memory.buffer, at, count);
  }

  /** A copy of these bytes. */
  bytes(bytes: Uint8Array): Uint8Array {
    const copy = new Uint8Array(this.#all.memory.buffer, this.#take(bytes.length), bytes.length);
    copy.set(bytes);
    return copy;
  }

  /**
   * Decodes a block of `count` points in one call, if it has the codecs of most series. `begin` has made
   * space for it and for its columns.
   */
  decodeBlock(block: Uint8Array, count: number, endMs: number): DecodedColumns | undefined {
    const { decodeBlock, memory } = this.#all;
    const at = this.#take(block.length);
    const timesAt = this.#take(numberBytes * count);
    const valuesAt = this.#used;
    if (this.#bytes.buffer !== memory.buffer) this.#bytes = new Uint8Array(memory.buffer);
    this.#bytes.set(block, at);
    const spaceAt = valuesAt + numberBytes * (count + 2);
    const decoded = decodeBlock(at, block.length, endMs, timesAt, valuesAt, spaceAt, numbersAt);
    if (decoded === 0) return undefined;
    const times = new Float64Array(memory.buffer, timesAt, count);
    return { times, values: decoded < 0 ? undefined : this.column(decoded) };
  }

  /** Unless the outcome is "exact", the symbols are arbitrary. */
  decodeSymbols(
    { bits, end, kinds, log, coders }: SymbolStream,
    count: number,
  ): { readonly symbols: Uint8Array; readonly outcome: (typeof outcomes)[number] } {
    const { decodeSymbols, memory } = this.#all;
    const tables = this.#take(tableBytes);
    const { byteOffset } = this.bytes(bits);
    const symbols = new Uint8Array(memory.buffer, this.#take(count), count);
    const to = [tables, symbols.byteOffset, count, numbersAt] as const;
    const outcome = decodeSymbols(byteOffset, end, kinds, log, coders, ...to);
    return { symbols, outcome: outcomes[outcome]! };
  }

  /** `count` numbers of `width` (1 to 32) bits. */
  unpack(packed: Uint8Array, count: number, width: number): Uint32Array {
    const numbers = new Uint32Array(this.#all.memory.buffer, this.#take(4 * count), count);
    this.#all.unpack(this.bytes(packed).byteOffset, count, width, numbers.byteOffset);
    return numbers;
  }

  smallResiduals({ base, rawBits, symbols, low }: SmallResiduals): Int32Array {
    const count = symbols.length;
    const residuals = this.integers(count);
    const at = residuals.byteOffset;
    this.#all.fillResiduals(symbols.byteOffset, low.byteOffset, rawBits, base, at, count);
    return residuals;
  }

  /** The loops of embedded-points/codec/predictor.ts. All arrays are in this memory. */
  get restore(): Pick<Instance, "restoreNothing" | "restorePrevious" | "restoreSmoothed"> {
    return this.#all;
  }

  /** Sets the times in [from, to) to startMs, startMs + stepMs and so on. */
  fillTimes(
    times: Float64Array,
    { from, to, startMs, stepMs }: { from: number; to: number; startMs: number; stepMs: number },
  ): void {
    this.#all.fillTimes(times.byteOffset + 8 * from, to - from, startMs, stepMs);
  }

  /**
   * Summarises the points with indexes in [from, to): at least one, in ascending order of time. Copies them
   * into the memory if they are elsewhere, in place of a decoded block.
   */
  summarise(times: Float64Array, values: Float64Array, from: number, to: number): Summary {
    return decodeSummary(this.#summarise("summarise", { times, values, from, to }));
  }

  /**
   * As `summarise`, in a fifth of its time: without mean, squares, variation and integrals, which are NaN.
   * Such a summary is for a query that needs none of these, and is never cached.
   */
  readonly ofValues: Summariser = {
    summarise: (times, values, from, to) => {
      const fields = this.#summarise("summariseValues", { times, values, from, to });
      return decodeSummary(fields.fill(Number.NaN, valueFields));
    },
  };

  /**
   * As `summarise`, a summary for each bucket that has points, one of which starts at `startMs`. Without
   * squares, which are NaN, it takes half of the time.
   */
  summariseBuckets(
    points: IndexedPoints,
    { startMs, bucketMs }: { readonly startMs: number; readonly bucketMs: number },
    needsSquares: boolean,
  ): Summary[] {
    const { timesAt, valuesAt, count } = this.#place(points);
    const buckets = [startMs, bucketMs, Number(needsSquares), summariesAt, summariesMax] as const;
    const summaries: Summary[] = [];
    for (let done = 0; done < count; ) {
      const [times, values] = [timesAt + numberBytes * done, valuesAt + numberBytes * done];
      const found = this.#all.summariseBuckets(times, values, count - done, ...buckets);
      const encoded = this.numbersAt(summariesAt, summaryFields * found);
      for (let at = 0; at < found; at++) {
        const summary = decodeSummary(encoded, at * summaryFields);
        summaries.push(summary);
        done += summary.count;
      }
    }
    return summaries;
  }

  #summarise(kernel: "summarise" | "summariseValues", points: IndexedPoints): Float64Array {
    invariant(points.from < points.to, "a summary has points");
    const { timesAt, valuesAt, count } = this.#place(points);
    this.#all[kernel](timesAt, valuesAt, count, summaryAt);
    return this.#summary;
  }

  /**
   * Adds points to an aggregation (`storage/aggregation.ts`) as `summarise` takes them. Returns the index of
   * the first one for whose rows there was no space, or `to`.
   */
  aggregatePoints(state: Uint8Array, points: IndexedPoints): number {
    const { timesAt, valuesAt, count } = this.#place(points);
    return (
      points.from + this.#withState(state, (at) => this.#all.aggregatePoints(at, timesAt, valuesAt, count))
    );
  }

  /**
   * Adds summaries, at most `summariesMax`, each of points in one bucket. Returns the number of those for
   * whose rows there was space.
   */
  aggregateSummaries(state: Uint8Array, summaries: readonly Summary[]): number {
    this.#start();
    const encoded = this.numbersAt(summariesAt, summaryFields * summaries.length);
    for (let at = 0; at < summaries.length; at++) encodeSummary(summaries[at]!, encoded, at * summaryFields);
    return this.#withState(state, (at) => this.#all.aggregateSummaries(at, summariesAt, summaries.length));
  }

  /** Completes the rows, or as many as there is space for. */
  finishAggregation(
    state: Uint8Array,
    after: { readonly timeMs: number; readonly value: number } | undefined,
  ) {
    this.#start();
    const { timeMs = 0, value = 0 } = after ?? {};
    this.#withState(state, (at) => this.#all.finishAggregation(at, after ? 1 : 0, timeMs, value));
  }

  /** Lets an aggregation keep its rows in the memory until another one takes it. */
  takeRows(by: RowOwner): void {
    if (this.#rowOwner === by) return;
    this.#rowOwner?.copyRows();
    this.#rowOwner = by;
  }

  giveUpRows(by: RowOwner): void {
    if (this.#rowOwner === by) this.#rowOwner = undefined;
  }

  /** A view of numbers in the memory. */
  numbersAt(at: number, count: number): Float64Array {
    return new Float64Array(this.#all.memory.buffer, at, count);
  }

  #withState(state: Uint8Array, run: (at: number) => number): number {
    const { buffer } = this.#all.memory;
    if (this.#state.buffer !== buffer || this.#state.length !== state.length)
      this.#state = new Uint8Array(buffer, aggregationAt, state.length);
    this.#state.set(state);
    const result = run(aggregationAt);
    state.set(this.#state);
    return result;
  }

  /** The summary that was calculated last. */
  get #summary(): Float64Array {
    const { buffer } = this.#all.memory;
    if (this.#summaryView.buffer !== buffer)
      this.#summaryView = new Float64Array(buffer, summaryAt, summaryFields);
    return this.#summaryView;
  }

  /** The place of these points in the memory: they are copied if they are elsewhere. */
  #place({ times, values, from, to }: IndexedPoints) {
    const count = to - from;
    const isElsewhere = this.#isElsewhere(times) || this.#isElsewhere(values);
    if (isElsewhere) this.begin(2 * numberBytes * count + 4 * alignment);
    const place = (column: Float64Array) =>
      isElsewhere ? this.#copy(column.subarray(from, to)) : column.byteOffset + numberBytes * from;
    return { timesAt: place(times), valuesAt: place(values), count };
  }

  #isElsewhere({ buffer }: Float64Array): boolean {
    return buffer !== this.#instance?.memory.buffer;
  }

  #copy(column: Float64Array): number {
    const copy = this.column(column.length);
    copy.set(column);
    return copy.byteOffset;
  }

  get #all(): Instance {
    return this.#instance!;
  }

  /** The place of so many bytes, with space for the bytes beside. */
  #take(bytes: number): number {
    const at = this.#used;
    this.#used = Math.ceil((at + bytes + besideBytes) / alignment) * alignment;
    return at;
  }
}
