// Points as one insert brings them, in columns, before anyone knows whether their series exist.
import { fail } from "../../errors.ts";
import { isPlain, type Pairs } from "../../lib/json-bytes.ts";
import { LruCache } from "../../lib/lru-cache.ts";
import { freeChunk } from "../../lib/streams.ts";
import { limits } from "../../limits.ts";
import type { PointBatch } from "../../storage/points.ts";
import type { SeriesKey } from "../timeseries/timeseries.ts";

/** Runs of points, each of one series, in the order of the request; numbers and texts apart. */
export interface ArrivedPoints {
  /** The series of each run; a series may have several. */
  readonly keys: readonly SeriesKey[];
  readonly numbers: ArrivedColumns<Float64Array>;
  readonly strings: ArrivedColumns<readonly string[]>;
  /** Where in the request the first number and the first text of a run that holds both stand. */
  readonly mixed: ReadonlyMap<number, { readonly number: number; readonly string: number }>;
  /** How the request's author finds a point's value: `items[3].value`. */
  readonly fieldOf: (run: number, point: number) => string;
}

interface ArrivedColumns<Values> {
  readonly times: Float64Array;
  readonly values: Values;
  /** Where each run ends in these columns. */
  readonly ends: Uint32Array;
}

/**
 * Columns that grow. The number columns are lent to one builder after another, so each takes its own
 * copy.
 */
const scratch = {
  times: new Float64Array(16_384),
  values: new Float64Array(16_384),
  count: 0,
  numberEnds: new Uint32Array(1024),
  stringEnds: new Uint32Array(1024),
};

/**
 * Collects the points of one request. Only one may be at work at a time: filling one never waits for
 * anything.
 */
export class ArrivedPointsBuilder {
  #keys: SeriesKey[] = [];
  /** The list of keys that began with the same one, as far as this one agrees with it. */
  #known: readonly SeriesKey[] | undefined;
  readonly #stringTimes: number[] = [];
  readonly #strings: string[] = [];
  readonly #mixed = new Map<number, { number: number; string: number }>();
  #runs = 0;

  constructor() {
    scratch.count = 0;
  }

  /** Minus zero is a value of its own, but no time. */
  addNumber(timeMs: number, value: number): void {
    if (scratch.count === scratch.times.length) growPoints();
    scratch.times[scratch.count] = timeMs + 0;
    scratch.values[scratch.count] = value;
    scratch.count += 1;
  }

  /** The numbers so far, with room for more. */
  numbers(): Pairs {
    if (scratch.count > scratch.times.length / 2) growPoints();
    return scratch;
  }

  addString(timeMs: number, value: string): void {
    if (this.#strings.length > limits.pointsPerWriteMax) throw tooMany(this.#strings.length);
    this.#stringTimes.push(timeMs + 0);
    this.#strings.push(value);
  }

  /** The plain name that the series `ahead` of the next to be ended is likely to have. */
  expectedKey(ahead = 0): string | undefined {
    return this.#known?.[this.#runs + ahead] as string | undefined;
  }

  /** Ends the run of the points added since the last one. */
  endRun(key: SeriesKey, mixed?: { number: number; string: number }): void {
    const run = this.#runs;
    if (mixed) this.#mixed.set(run, mixed);
    if (run === 0) this.#known = keyLists.get(key);
    if (this.#known !== undefined && this.#known[run] !== key) {
      this.#keys = this.#known.slice(0, run);
      this.#known = undefined;
    }
    if (this.#known === undefined) this.#keys.push(key);
    if (run === scratch.numberEnds.length) growRuns();
    scratch.numberEnds[run] = scratch.count;
    scratch.stringEnds[run] = this.#strings.length;
    this.#runs += 1;
  }

  /** Refuses more runs or points than one insert may hold. */
  finish(fieldOf: ArrivedPoints["fieldOf"]): ArrivedPoints {
    const runs = this.#runs;
    const got = Math.max(scratch.count + this.#strings.length, runs);
    if (got > limits.pointsPerWriteMax) throw tooMany(got);
    return {
      keys: this.#known?.length === runs ? this.#known : noted(this.#known?.slice(0, runs) ?? this.#keys),
      numbers: {
        times: scratch.times.slice(0, scratch.count),
        values: scratch.values.slice(0, scratch.count),
        ends: scratch.numberEnds.slice(0, runs),
      },
      strings: {
        times: Float64Array.from(this.#stringTimes),
        values: this.#strings,
        ends: this.#strings.length === 0 ? noEnds(runs) : scratch.stringEnds.slice(0, runs),
      },
      mixed: this.#mixed,
      fieldOf,
    };
  }
}

/** Lists of names that inserts brought, by the first of them: a scan cycle brings the same one every time. */
const keyLists = new LruCache<SeriesKey, readonly SeriesKey[]>(64);
const notedLengths = { min: 8, max: 10_000 };

function noted(keys: readonly SeriesKey[]): readonly SeriesKey[] {
  const isOfUse = keys.length >= notedLengths.min && keys.length <= notedLengths.max;
  if (isOfUse && keys.every((key) => typeof key === "string" && isPlain(key))) keyLists.set(keys[0]!, keys);
  return keys;
}

/** Columns do not grow beyond what one insert may hold, so that no body is read on for nothing. */
function growPoints(): void {
  if (scratch.count > limits.pointsPerWriteMax) throw tooMany(scratch.count);
  scratch.times = twice(scratch.times);
  scratch.values = twice(scratch.values);
}

function growRuns(): void {
  if (scratch.numberEnds.length > limits.pointsPerWriteMax) throw tooMany(scratch.numberEnds.length);
  scratch.numberEnds = twice(scratch.numberEnds);
  scratch.stringEnds = twice(scratch.stringEnds);
}

const tooMany = (got: number) => fail("too-many", { field: "items", limit: limits.pointsPerWriteMax, got });

function twice<Column extends Float64Array | Uint32Array>(column: Column): Column {
  const larger = new (column.constructor as new (length: number) => Column)(column.length * 2);
  larger.set(column);
  return larger;
}

let zeros = new Uint32Array(1024);

/** Of runs without a point; nobody writes to it. */
function noEnds(runs: number): Uint32Array {
  if (runs > zeros.length) zeros = new Uint32Array(runs);
  return zeros.subarray(0, runs);
}

/** Frees the columns of numbers once they are stored: the collector would have to run often for them. */
export function freePoints({ numbers }: ArrivedPoints): void {
  for (const column of [numbers.times, numbers.values, numbers.ends]) freeChunk(column);
}

interface Written {
  readonly id: number;
  readonly isString: boolean;
}

/** What an append needs to know of a list of series, kept because a scan cycle resolves to the same list. */
interface SeriesColumn {
  readonly ids: Float64Array;
  readonly isNumeric: boolean;
}

const columns = new WeakMap<readonly Written[], SeriesColumn>();

function columnOf(series: readonly Written[]): SeriesColumn {
  const known = columns.get(series);
  if (known !== undefined) return known;
  const ids = Float64Array.from(series, ({ id }) => id);
  const column = { ids, isNumeric: !series.some(({ isString }) => isString) };
  columns.set(series, column);
  return column;
}

/**
 * What to append, `series[i]` being the series of run `i`. Refuses values that are not of their series'
 * kind.
 */
export function batchOf(points: ArrivedPoints, series: readonly Written[]): PointBatch {
  const { numbers, strings } = points;
  const { ids, isNumeric } = columnOf(series);
  if (!isNumeric || strings.times.length > 0)
    for (let run = 0; run < series.length; run += 1) refuseWrongKind(points, run, series[run]!.isString);
  return {
    ...(numbers.times.length > 0 && { numbers: { ...numbers, ...runsOf(numbers.ends, ids) } }),
    ...(strings.times.length > 0 && { strings: { ...strings, ...runsOf(strings.ends, ids) } }),
  };
}

function refuseWrongKind(points: ArrivedPoints, run: number, isString: boolean): void {
  const wrong = isString ? points.numbers.ends : points.strings.ends;
  if (wrong[run] === (run === 0 ? 0 : wrong[run - 1])) return;
  const [got, expected] = isString
    ? (["number", "string, as the series holds texts"] as const)
    : (["string", "number, as the series holds numbers"] as const);
  const field = points.fieldOf(run, points.mixed.get(run)?.[got] ?? 0);
  throw fail("field-invalid", { field, expected, got });
}

/** The runs that hold anything. An insert may have a run for each of its points, so this is a plain loop. */
function runsOf(ends: Uint32Array, ids: Float64Array): { series: Float64Array; ends: Uint32Array } {
  let empty = 0;
  for (let run = 0, start = 0; run < ends.length; start = ends[run++]!) if (ends[run] === start) empty += 1;
  if (empty === 0) return { series: ids, ends };
  const isFilled = (_: number, run: number) => ends[run] !== (run === 0 ? 0 : ends[run - 1]);
  return { series: ids.filter(isFilled), ends: ends.filter(isFilled) };
}
