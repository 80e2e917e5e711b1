// The points of one slice of lines in columns, as scanned, and the memory for them that requests share.
import { freeChunk } from "../lib/free-memory.ts";

/** Points of numbers, and the indexes of names that had no number in the slice before. */
export interface ScannedPoints {
  readonly times: Float64Array;
  readonly values: Float64Array;
  readonly lines: Uint32Array;
  readonly series: Uint32Array;
  readonly names: Uint32Array;
}

/** Columns that grow. Point `i` is `values[i]` at `times[i]` of the series number `series[i]`. */
export class LineColumns {
  series = new Uint32Array(1024);
  times = new Float64Array(1024);
  values = new Float64Array(1024);
  /** The number of the line of each point. */
  lines = new Uint32Array(1024);
  count = 0;
  readonly strings: StringPoint[] = [];
  /** Of the distinct series of the slice, by their numbers: the indexes of their names. */
  #names = new Uint32Array(1024);
  nameCount = 0;

  clear(): void {
    this.count = 0;
    this.strings.length = 0;
    this.nameCount = 0;
  }

  /** The indexes of the names, by the numbers of the series; valid until the next name. */
  get names(): Uint32Array {
    return this.#names.subarray(0, this.nameCount);
  }

  /** Adds a series; returns its number in the slice. */
  addName(index: number): number {
    if (this.nameCount === this.#names.length) this.#names = doubled(this.#names);
    this.#names[this.nameCount] = index;
    this.nameCount += 1;
    return this.nameCount - 1;
  }

  /** Adds copies of the points. */
  add({ times, values, lines, series, names }: ScannedPoints): void {
    const { count, nameCount } = this;
    while (count + times.length > this.times.length) this.grow();
    while (nameCount + names.length > this.#names.length) this.#names = doubled(this.#names);
    this.times.set(times, count);
    this.values.set(values, count);
    this.lines.set(lines, count);
    this.series.set(series, count);
    this.#names.set(names, nameCount);
    this.count += times.length;
    this.nameCount += names.length;
  }

  /** Doubles the space for points. */
  grow(): void {
    this.series = doubled(this.series);
    this.times = doubled(this.times);
    this.values = doubled(this.values);
    this.lines = doubled(this.lines);
  }
}

export interface StringPoint {
  readonly value: string;
  series: number;
  timeMs: number;
  readonly line: number;
}

function doubled<Column extends Float64Array | Uint32Array>(column: Column): Column {
  const larger = new (column.constructor as new (length: number) => Column)(column.length * 2);
  larger.set(column);
  freeChunk(column);
  return larger;
}

/** Idle columns that are kept: as many as a usual writer has connections. New ones grow step by step. */
const idleMax = 4;

/** Columns that no request uses. One for each server. */
export class LineColumnsPool {
  readonly #idle: LineColumns[] = [];

  take(): LineColumns {
    return this.#idle.pop() ?? new LineColumns();
  }

  putBack(columns: LineColumns): void {
    columns.clear();
    if (this.#idle.length < idleMax) this.#idle.push(columns);
  }
}
