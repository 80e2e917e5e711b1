// The points of one slice of lines in columns, as scanned, and the memory for them that requests share.
import { freeChunk } from "../lib/free-memory.ts";
import type { SeriesName } from "./series-names.ts";

/** Columns that grow. Point `i` is `values[i]` at `times[i]` of the series number `series[i]`. */
export class LineColumns {
  series = new Uint32Array(1024);
  times = new Float64Array(1024);
  values = new Float64Array(1024);
  /** The number of the line of each point. */
  lines = new Uint32Array(1024);
  count = 0;
  readonly strings: StringPoint[] = [];
  /** The distinct series of the slice, by their numbers. */
  readonly names: SeriesName[] = [];

  clear(): void {
    this.count = 0;
    this.strings.length = 0;
    this.names.length = 0;
  }

  /** The number of the series in the slice. */
  numberOf(name: SeriesName, slice: number): number {
    if (name.slice === slice) return name.number;
    name.slice = slice;
    name.number = this.names.length;
    this.names.push(name);
    return name.number;
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

/** Columns that no request uses, at most two. One for each server. */
export class LineColumnsPool {
  readonly #idle: LineColumns[] = [];

  take(): LineColumns {
    return this.#idle.pop() ?? new LineColumns();
  }

  putBack(columns: LineColumns): void {
    columns.clear();
    if (this.#idle.length < 2) this.#idle.push(columns);
  }
}
