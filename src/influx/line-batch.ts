// The points of a slice with their resolved series: refuses lines, and makes the batch to append.
import { freeChunk } from "../lib/free-memory.ts";
import { shortened } from "../lib/text.ts";
import type { WritePlan } from "../resources/timeseries/series-cache.ts";
import type { SeriesRef } from "../resources/timeseries/timeseries.ts";
import type { PointBatch } from "../storage/points.ts";
import type { LineColumns } from "./line-columns.ts";
import type { NameList, SeriesName } from "./series-names.ts";

/** A series to create. */
export interface MissingSeries {
  /** Its number in the slice. */
  readonly number: number;
  readonly name: SeriesName;
  readonly isString: boolean;
}

type Resolved = SeriesRef | string | undefined;

export class LineBatch {
  readonly #columns: LineColumns;
  readonly #list: NameList;
  /** Of the whole slice, if no series was missing. */
  readonly #plan: WritePlan | undefined;
  /** By number: the series, the reason why there is none, or undefined if it is missing. */
  readonly #series: Resolved[];
  /** The reasons of lines that are not stored. */
  readonly #refused = new Map<number, string>();
  #made: PointBatch = {};

  constructor(columns: LineColumns, list: NameList, series: WritePlan | readonly Resolved[]) {
    this.#columns = columns;
    this.#list = list;
    this.#plan = "ids" in series ? series : undefined;
    this.#series = "ids" in series ? [...series.series] : [...series];
  }

  /** Whether all points are numbers of series that hold numbers: then no line is refused. */
  get #isNumeric(): boolean {
    return this.#plan?.isNumeric === true && this.#columns.strings.length === 0;
  }

  /** In the order of the lines. */
  get refused(): readonly (readonly [line: number, reason: string])[] {
    return [...this.#refused].sort(([a], [b]) => a - b);
  }

  /** Refuses lines with values of another kind than that of their series, and those without a series. */
  refuseWrongKinds(): void {
    if (this.#isNumeric) return;
    const { count, series, lines, values, strings } = this.#columns;
    const isRefusing = this.#series.map((one) => typeof one === "string" || one?.isString === true);
    if (isRefusing.includes(true))
      for (let at = 0; at < count; at += 1)
        if (isRefusing[series[at]!]) this.#refuse(lines[at]!, series[at]!, values[at]!);
    for (const { series: number, line, value } of strings) {
      const one = this.#series[number];
      if (typeof one === "string" || one?.isString === false) this.#refuse(line, number, value);
    }
  }

  #refuse(line: number, number: number, value: number | string): void {
    if (this.#refused.has(line)) return;
    const series = this.#series[number]!;
    const { field, measurement, name } = this.#list.names[number]!;
    const [got, existing] = typeof value === "string" ? ["string", "float"] : ["float", "string"];
    const conflict =
      `field type conflict: input field "${field}" on measurement "${measurement}" is type ${got}, ` +
      `already exists as type ${existing} (series ${name}, value ${shortened(JSON.stringify(value))})`;
    this.#refused.set(line, typeof series === "string" ? series : conflict);
  }

  /** The missing series of lines that are stored, with the kind of the first value. */
  missing(): MissingSeries[] {
    const { count, series, lines, strings } = this.#columns;
    const found = new Map<number, { readonly line: number; readonly isString: boolean }>();
    const add = (number: number, line: number, isString: boolean) => {
      if (this.#series[number] !== undefined || this.#refused.has(line)) return;
      const earlier = found.get(number);
      if (!earlier || line < earlier.line) found.set(number, { line, isString });
    };
    for (let at = 0; at < count; at += 1) add(series[at]!, lines[at]!, false);
    for (const { series: number, line } of strings) add(number, line, true);
    const inOrder = [...found].sort(([, a], [, b]) => a.line - b.line);
    return inOrder.map(([number, { isString }]) => ({ number, name: this.#list.names[number]!, isString }));
  }

  /** Adds series that were created, or the reasons why they were not, by number. */
  add(created: ReadonlyMap<number, SeriesRef | string>): void {
    for (const [number, one] of created) this.#series[number] = one;
  }

  /** The points of all lines that are not refused, in one run for each series, in the order of the lines. */
  points(): PointBatch {
    const { count, lines, times, values } = this.#columns;
    const strings = this.#columns.strings.filter(({ line }) => !this.#refused.has(line));
    if (this.#plan && this.#isNumeric && this.#isInOrder) return this.#wholeColumns(this.#plan);
    const isStored = (at: number) => this.#refused.size === 0 || !this.#refused.has(lines[at]!);
    const runs = new Runs(this.#plan?.ids ?? this.#series.map(idOf));
    const series = this.#runNumbers;
    for (let at = 0; at < count; at += 1) if (isStored(at)) runs.count(series[at]!);
    const stored = runs.start();
    const [sortedTimes, sortedValues] = [new Float64Array(stored), new Float64Array(stored)];
    for (let at = 0; at < count; at += 1) {
      if (!isStored(at)) continue;
      const to = runs.next(series[at]!);
      sortedTimes[to] = times[at]!;
      sortedValues[to] = values[at]!;
    }
    this.#made = {
      ...(stored > 0 && { numbers: { times: sortedTimes, values: sortedValues, ...runs.columns() } }),
      ...(strings.length > 0 && { strings: this.#stringRuns(strings) }),
    };
    return this.#made;
  }

  /** Whether the points of each series follow each other, as in a scan cycle, or a part of one series. */
  get #isInOrder(): boolean {
    const { count, series } = this.#columns;
    for (let at = 1; at < count; at += 1) if (series[at]! < series[at - 1]!) return false;
    return true;
  }

  /** By point: the number of its run. Series with one name share the run of the first of them. */
  get #runNumbers(): Uint32Array {
    const { count, series } = this.#columns;
    const { firsts } = this.#list;
    return firsts ? series.subarray(0, count).map((number) => firsts[number]!) : series;
  }

  /** The points are in one run for each series already, or in runs in the order of the lines. */
  #wholeColumns({ ids }: WritePlan): PointBatch {
    const { count, series, times, values } = this.#columns;
    const ends = new Uint32Array(ids.length);
    for (let at = 0; at < count; at += 1) ends[series[at]!] = at + 1;
    this.#made = {
      numbers: { times: times.slice(0, count), values: values.slice(0, count), series: ids, ends },
    };
    return this.#made;
  }

  #stringRuns(strings: LineColumns["strings"]): NonNullable<PointBatch["strings"]> {
    const runs = new Runs(this.#plan?.ids ?? this.#series.map(idOf));
    const { firsts } = this.#list;
    const runOf = (series: number) => firsts?.[series] ?? series;
    for (const { series } of strings) runs.count(runOf(series));
    const times = new Float64Array(runs.start());
    const values = new Array<string>(times.length).fill("");
    for (const { series, timeMs, value } of strings) {
      const to = runs.next(runOf(series));
      times[to] = timeMs;
      values[to] = value;
    }
    return { times, values, ...runs.columns() };
  }

  /** Frees the columns of numbers once they are stored, as `freePoints` does. */
  free(): void {
    const { numbers } = this.#made;
    if (numbers) for (const column of [numbers.times, numbers.values, numbers.ends]) freeChunk(column);
  }
}

/** Not a number for a series without an id: no point of it is stored. */
const idOf = (one: Resolved): number => (typeof one === "object" ? one.id : Number.NaN);

/** Sorts points by series: first counts them, then gives each its position. */
class Runs {
  /** By number. */
  readonly #ids: ArrayLike<number>;
  /** First the number of points of each series, then the position of its next point. */
  readonly #positions: Uint32Array;

  constructor(ids: ArrayLike<number>) {
    this.#ids = ids;
    this.#positions = new Uint32Array(ids.length);
  }

  count(series: number): void {
    this.#positions[series]! += 1;
  }

  /** Ends the counting; returns the number of all points. */
  start(): number {
    let sum = 0;
    for (let at = 0; at < this.#positions.length; at += 1) {
      const count = this.#positions[at]!;
      this.#positions[at] = sum;
      sum += count;
    }
    return sum;
  }

  next(series: number): number {
    return this.#positions[series]!++;
  }

  /** The series with points, and the ends of their runs; call it after the last `next`. */
  columns(): { readonly series: Float64Array; readonly ends: Uint32Array } {
    const positions = this.#positions;
    const [series, ends] = [new Float64Array(positions.length), new Uint32Array(positions.length)];
    let count = 0;
    for (let number = 0, start = 0; number < positions.length; number += 1) {
      const end = positions[number]!;
      if (end === start) continue;
      series[count] = this.#ids[number]!;
      ends[count] = end;
      count += 1;
      start = end;
    }
    return { series: series.slice(0, count), ends: ends.slice(0, count) };
  }
}
