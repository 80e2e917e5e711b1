// The memory of the loop over repeated lines, in WebAssembly: scripts/kernels/lines.ts is its source, and
// describes its records.
//
// Clients send the same series in each cycle, and only values and times differ. The loop compares a line with
// the one that followed the head last time, in words of eight bytes, and reads its numbers. The records of a
// cycle are one after the other in memory: in JavaScript, they were spread over the heap, and waiting for
// memory took most of the time of a line. Records are never removed: a full cache is replaced whole.
import { instantiated, memoryPageBytes, type WebAssemblyMemory } from "../lib/web-assembly.ts";
import { limits } from "../limits.ts";
import type { LineColumns } from "./line-columns.ts";
import { kernelsBinary } from "./line-kernel-binary.ts";
import type { Precision } from "./precision.ts";

interface Instance {
  readonly memory: WebAssemblyMemory;
  readonly scanLines: (...parameters: readonly number[]) => void;
}

/** The place of a record in the memory. */
export type RecordPlace = number;

/** The place of a scanner in a body, and its counts. */
export interface LinePosition {
  /** The start of a line. */
  at: number;
  /** Its number. */
  line: number;
  /** The record of the head of the line before. */
  head: RecordPlace;
  /** How many more points and lines fit into the slice. */
  left: number;
  /** Points whose time was rounded down to a millisecond. */
  cutPoints: number;
}

interface RepeatedOptions {
  readonly columns: LineColumns;
  readonly precision: Precision;
  readonly slice: number;
  /** No line of the slice starts from here on. */
  readonly end: number;
}

const [wordBytes, numberBytes] = [4, 8];
const powersOfTen = Float64Array.from({ length: 16 }, (_, exponent) => 10 ** exponent);
const resultWords = 7;
/** The loop reads at most so many bytes after the input; they are zeros. */
const besideBytes = 64;
/** A part of a body, and the columns of its points, which stay in the processor's cache together. */
const inputBytes = 2 ** 17;
const capacity = 2 ** 13;

const resultsAt = 64;
const powersAt = resultsAt + numberBytes * resultWords;
const inputAt = powersAt + powersOfTen.byteLength;
const columnsAt = inputAt + inputBytes + besideBytes;
const [timesAt, valuesAt] = [columnsAt, columnsAt + numberBytes * capacity];
const linesAt = valuesAt + numberBytes * capacity;
const seriesAt = linesAt + wordBytes * capacity;
const newNamesAt = seriesAt + wordBytes * capacity;
const recordsAt = newNamesAt + wordBytes * capacity;
/** The memory grows by so many pages. */
const growthPages = 16;

export class LineKernel {
  readonly #instance = instantiated<Instance>(kernelsBinary);
  #bytes = new Uint8Array();
  #words = new Uint32Array();
  #numbers = new Float64Array();
  /** Everything before this is in use. */
  #used = recordsAt;
  /** The part of a body that is in the memory. */
  #input: { readonly slice: number; readonly from: number; readonly to: number } | undefined;

  constructor() {
    this.#reserve(0);
    this.#numbers.set(powersOfTen, powersAt / numberBytes);
  }

  addHead(): RecordPlace {
    return this.#add(2);
  }

  addName(index: number): RecordPlace {
    const name = this.#add(3);
    this.#words[name / wordBytes + 2] = index;
    return name;
  }

  /** `bytes` precede the value of the field. */
  addField(name: RecordPlace, bytes: Buffer): RecordPlace {
    const paddedWords = 2 * Math.ceil(bytes.length / numberBytes);
    const field = this.#add(3 + paddedWords);
    this.#words[field / wordBytes + 1] = name;
    this.#words[field / wordBytes + 2] = bytes.length;
    this.#bytes.set(bytes, field + 3 * wordBytes);
    return field;
  }

  /** The fields of the last line with this head. */
  linkFields(head: RecordPlace, fields: readonly RecordPlace[]): void {
    this.#words[head / wordBytes + 1] = fields[0] ?? 0;
    for (const [at, field] of fields.entries()) this.#words[field / wordBytes] = fields[at + 1] ?? 0;
  }

  linkHeads(head: RecordPlace, next: RecordPlace): void {
    this.#words[head / wordBytes] = next;
  }

  /** The number of the series in the slice; a new one has the next number, and is added to the columns. */
  numberOf(name: RecordPlace, slice: number, columns: LineColumns): number {
    const at = name / wordBytes;
    if (this.#words[at] === slice) return this.#words[at + 1]!;
    this.#words[at] = slice;
    this.#words[at + 1] = columns.nameCount;
    return columns.addName(this.#words[at + 2]!);
  }

  /** Adds the points of repeated lines to the columns, and moves `position` to the first other line. */
  scanRepeated(body: Buffer, position: LinePosition, options: RepeatedOptions): void {
    while (position.at < options.end && position.left > 0) {
      const from = position.at;
      this.#load(body, from, options.slice);
      this.#scan(body, position, options);
      if (position.at === from) return;
    }
  }

  #scan(body: Buffer, position: LinePosition, { columns, precision, slice, end }: RepeatedOptions): void {
    const { at, line, head, left } = position;
    const { digits, factor } = precision;
    const { from, to } = this.#input!;
    const place = (bodyAt: number) => inputAt + bodyAt - from;
    this.#instance.scanLines(
      ...[resultsAt, place(at), place(Math.min(end, to)), place(to), Number(to === body.length)],
      ...[head, line, slice, columns.nameCount, left, digits, 10 ** digits, factor, limits.timeMsMax],
      ...[powersAt, columnsAt, capacity],
    );
    const results = this.#words.subarray(resultsAt / wordBytes, resultsAt / wordBytes + resultWords);
    const [nextAt, nextLine, nextHead, count, names, cutPoints] = results as unknown as number[];
    position.at = nextAt! - inputAt + from;
    position.line = nextLine!;
    position.head = nextHead!;
    position.cutPoints += cutPoints!;
    position.left = results[6]! | 0;
    columns.add({
      times: this.#numbers.subarray(timesAt / numberBytes, timesAt / numberBytes + count!),
      values: this.#numbers.subarray(valuesAt / numberBytes, valuesAt / numberBytes + count!),
      lines: this.#words.subarray(linesAt / wordBytes, linesAt / wordBytes + count!),
      series: this.#words.subarray(seriesAt / wordBytes, seriesAt / wordBytes + count!),
      names: this.#words.subarray(newNamesAt / wordBytes, newNamesAt / wordBytes + names!),
    });
  }

  /** Copies the body from here on, unless half of the input is there already. */
  #load(body: Buffer, at: number, slice: number): void {
    const input = this.#input;
    if (input?.slice === slice && at >= input.from && at < input.to) {
      if (input.to === body.length || input.to - at >= inputBytes / 2) return;
    }
    const to = Math.min(body.length, at + inputBytes);
    this.#bytes.set(body.subarray(at, to), inputAt);
    this.#bytes.fill(0, inputAt + to - at, inputAt + to - at + besideBytes);
    this.#input = { slice, from: at, to };
  }

  /** A new record of so many words, all 0. */
  #add(words: number): RecordPlace {
    // The loop reads words of eight bytes.
    this.#reserve(wordBytes * words + besideBytes);
    const place = this.#used;
    this.#used += wordBytes * words;
    return place;
  }

  #reserve(bytes: number): void {
    const { memory } = this.#instance;
    const missing = Math.ceil((this.#used + bytes - memory.buffer.byteLength) / memoryPageBytes);
    if (missing > 0) memory.grow(Math.max(missing, growthPages));
    if (this.#bytes.buffer === memory.buffer) return;
    this.#bytes = new Uint8Array(memory.buffer);
    this.#words = new Uint32Array(memory.buffer);
    this.#numbers = new Float64Array(memory.buffer);
  }
}
