// The memory of the loop over points of JSON that are spelled alike, in WebAssembly:
// scripts/kernels/inserts.ts is its source, and describes its records.
//
// A client spells all points of a body alike, and in a scan cycle sends the names of the cycle before. The
// loop compares the bytes between numbers with those of earlier points, and a name with the bytes of the
// write plan.
import type { Gap } from "../../../lib/json-bytes.ts";
import { instantiated, memoryPageBytes, type WebAssemblyMemory } from "../../../lib/web-assembly.ts";
import { limits } from "../../../limits.ts";
import type { SeriesKey } from "../../timeseries/series-cache.ts";
import { kernelsBinary } from "./insert-kernel-binary.ts";

interface Instance {
  readonly memory: WebAssemblyMemory;
  readonly scanPoints: (...parameters: readonly number[]) => void;
}

/** Points that follow each other, in memory that the next scan overwrites. */
export interface RepeatedPoints {
  readonly times: Float64Array;
  readonly values: Float64Array;
  /** Where runs end among the points: the current one, then those of the next names. */
  readonly ends: Uint32Array;
  /** The end of the last value in the body. */
  readonly at: number;
}

/** The gaps in the order of the kernel. */
export interface Gaps {
  readonly valueToTime: Gap;
  readonly timeToValue: Gap;
  readonly valueToName: Gap;
  readonly nameToTime: Gap;
}

/** The names of a plan, and the index of the one that may follow. */
export interface RepeatedNames {
  readonly keys: readonly SeriesKey[];
  readonly next: number;
}

interface RepeatedOptions {
  /** The end of a value. */
  readonly at: number;
  readonly names: RepeatedNames | undefined;
  /** The most points. */
  readonly most: number;
}

const [wordBytes, numberBytes] = [4, 8];
const powersOfTen = Float64Array.from({ length: 20 }, (_, exponent) => 10 ** exponent);
/** The loop reads at most so many bytes after the input; they are zeros. */
const besideBytes = 64;
/** A part of a body, and the columns of its points, which stay in the processor's cache together. */
const inputBytes = 2 ** 17;
const capacity = 2 ** 13;
/** A gap of indented JSON has up to 100 bytes. */
const [gapBlockBytes, gapBlocks] = [16, 8];
const gapBytes = gapBlockBytes * (1 + 2 * gapBlocks);
/** All names are dropped when they would take more: then names of plans that are no longer in use go, too. */
const namesBytesMax = 4 * 2 ** 20;

const resultsAt = 64;
const powersAt = 128;
const gapsAt = powersAt + powersOfTen.byteLength;
const inputAt = gapsAt + 4 * gapBytes;
const columnsAt = inputAt + inputBytes + besideBytes;
const [timesAt, valuesAt] = [columnsAt, columnsAt + numberBytes * capacity];
const endsAt = valuesAt + numberBytes * capacity;
const namesAt = endsAt + wordBytes * capacity;
/** The memory grows by so many pages. */
const growthPages = 16;

/** One for each server. Only scans that never wait may use it. */
export class InsertKernel {
  #instance: Instance | undefined;
  #bytes = new Uint8Array();
  #words = new Uint32Array();
  #numbers = new Float64Array();
  /** The places of the names of a plan, by its keys. */
  #names = new WeakMap<readonly SeriesKey[], Uint32Array>();
  #namesEnd = namesAt;
  /** The part of the body that is in the memory. */
  #input = { from: 0, to: 0 };

  /** Call before the first scan of a body. */
  begin(): void {
    this.#input = { from: 0, to: 0 };
  }

  /** Call when the gaps have changed. Returns false if one of them is too long for the loop. */
  setGaps(body: Buffer, { valueToTime, timeToValue, valueToName, nameToTime }: Gaps): boolean {
    this.#reserve(0);
    const gaps = [valueToTime, timeToValue, valueToName, nameToTime];
    for (const [at, gap] of gaps.entries()) {
      if (gap.length > gapBlockBytes * gapBlocks) return false;
      this.#setGap(gapsAt + at * gapBytes, body, gap);
    }
    return true;
  }

  #setGap(place: number, body: Buffer, { from, length }: Gap): void {
    const bytes = this.#bytes;
    this.#words[place / wordBytes] = length;
    for (let i = 0; i < gapBlockBytes * Math.ceil(length / gapBlockBytes); i += 1) {
      const block = place + gapBlockBytes * (1 + 2 * Math.floor(i / gapBlockBytes));
      const at = block + (i % gapBlockBytes);
      bytes[at] = i < length ? body[from + i]! : 0;
      bytes[at + gapBlockBytes] = i < length ? 255 : 0;
    }
  }

  /** The points that follow `at` with the same gaps; undefined if there are none. */
  scan(body: Buffer, { at, names, most }: RepeatedOptions): RepeatedPoints | undefined {
    const places = names && this.#placesOf(names.keys);
    const left = places === undefined ? 0 : Math.max(0, places.length - names!.next);
    const { from, to } = this.#load(body, at);
    const first = left > 0 ? places![names!.next]! : 0;
    this.#instance!.scanPoints(
      ...[resultsAt, inputAt + at - from, inputAt + to - from, gapsAt, first, left, limits.timeMsMax],
      ...[powersAt, columnsAt, capacity, Math.min(most, capacity)],
    );
    const result = resultsAt / wordBytes;
    const [end, count, runs] = [this.#words[result]!, this.#words[result + 1]!, this.#words[result + 2]!];
    if (count === 0) return undefined;
    const [times, values] = [timesAt / numberBytes, valuesAt / numberBytes];
    return {
      times: this.#numbers.subarray(times, times + count),
      values: this.#numbers.subarray(values, values + count),
      ends: this.#words.subarray(endsAt / wordBytes, endsAt / wordBytes + runs),
      at: end - inputAt + from,
    };
  }

  /** Copies the body from here on, unless half of the input is there already. */
  #load(body: Buffer, at: number): { readonly from: number; readonly to: number } {
    const { from, to } = this.#input;
    if (at >= from && at < to && (to === body.length || to - at >= inputBytes / 2)) return this.#input;
    const end = Math.min(body.length, at + inputBytes);
    this.#bytes.set(body.subarray(at, end), inputAt);
    this.#bytes.fill(0, inputAt + end - at, inputAt + end - at + besideBytes);
    this.#input = { from: at, to: end };
    return this.#input;
  }

  /** The places of these plain names, one after the other; undefined if they take too much memory. */
  #placesOf(keys: readonly SeriesKey[]): Uint32Array | undefined {
    const existing = this.#names.get(keys);
    if (existing) return existing;
    const places = new Uint32Array(keys.length);
    let bytes = 0;
    for (const [at, key] of (keys as readonly string[]).entries()) {
      places[at] = bytes;
      bytes += numberBytes + numberBytes * Math.ceil((key.length + 2) / numberBytes);
    }
    if (bytes > namesBytesMax) return undefined;
    if (this.#namesEnd + bytes > namesAt + namesBytesMax) {
      this.#names = new WeakMap();
      this.#namesEnd = namesAt;
    }
    this.#reserve(bytes);
    for (const [at, key] of (keys as readonly string[]).entries()) {
      places[at]! += this.#namesEnd;
      this.#setName(places[at]!, key);
    }
    this.#namesEnd += bytes;
    this.#names.set(keys, places);
    return places;
  }

  #setName(place: number, name: string): void {
    const bytes = this.#bytes;
    const quote = 34;
    this.#words[place / wordBytes] = name.length + 2;
    let at = place + numberBytes;
    bytes[at++] = quote;
    for (let i = 0; i < name.length; i += 1) bytes[at++] = name.charCodeAt(i);
    bytes[at] = quote;
  }

  /** Makes the memory large enough for so many bytes after the names. */
  #reserve(bytes: number): void {
    if (this.#instance === undefined) {
      this.#instance = instantiated<Instance>(kernelsBinary);
      this.#grow(0);
      this.#numbers.set(powersOfTen, powersAt / numberBytes);
    }
    this.#grow(bytes);
  }

  #grow(bytes: number): void {
    const { memory } = this.#instance!;
    // The loop reads words of eight bytes.
    const missing = Math.ceil(
      (this.#namesEnd + bytes + besideBytes - memory.buffer.byteLength) / memoryPageBytes,
    );
    if (missing > 0) memory.grow(Math.max(missing, growthPages));
    if (this.#bytes.buffer === memory.buffer) return;
    this.#bytes = new Uint8Array(memory.buffer);
    this.#words = new Uint32Array(memory.buffer);
    this.#numbers = new Float64Array(memory.buffer);
  }
}
