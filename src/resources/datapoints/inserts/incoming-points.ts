// The points of one insert in columns, as decoded, before their series are resolved.
import type { RequestContext } from "../../../context.ts";
import { fail } from "../../../errors.ts";
import { freeChunk } from "../../../lib/free-memory.ts";
import { invariant } from "../../../lib/invariant.ts";
import { limits } from "../../../limits.ts";
import type { PointBatch } from "../../../storage/points.ts";
import { refuseOtherId, type SentId } from "../../timeseries/series-keys.rest.ts";
import type { SeriesKey, WritePlan } from "../../timeseries/timeseries.ts";
import { type InsertColumns, tooManyPoints } from "./insert-buffers.ts";
import type { RepeatedNames, RepeatedPoints } from "./insert-kernel.ts";

/**
 * Runs of points, each of one series, in the order of the request. Numbers and strings have columns of their
 * own.
 */
export interface IncomingPoints {
  /** The series of each run. A series may have several runs. */
  readonly keys: readonly SeriesKey[];
  /** The plan of an earlier insert with exactly these keys; it may be out of date. */
  readonly earlierPlan: WritePlan | undefined;
  readonly numbers: IncomingColumns<Float64Array>;
  /** Absent when all values are numbers. */
  readonly strings?: IncomingColumns<readonly string[]>;
  /** For each run with both kinds: the positions of its first number and its first string. */
  readonly mixed: ReadonlyMap<number, { readonly number: number; readonly string: number }>;
  /** For each run whose series was sent by name and by id: its id. */
  readonly sentIds: ReadonlyMap<number, SentId>;
  /** The field of a point's value in the request: `items[3].value`. */
  readonly fieldOf: (run: number, point: number) => string;
}

interface IncomingColumns<Values> {
  readonly times: Float64Array;
  readonly values: Values;
  /** The end of each run in these columns. */
  readonly ends: Uint32Array;
}

/** The parts of a request's context that decoding an insert needs. */
export type InsertContext = Pick<RequestContext, "insertBuffers" | "seriesCache" | "projectId">;

/**
 * Collects the points of one insert, and finds the write plan that its list of series repeats. It uses the
 * shared columns unless it gets others, and must then finish before anything else runs.
 */
export class IncomingPointsBuilder {
  readonly #columns: InsertColumns;
  readonly #ctx: InsertContext;
  /** The earlier plan whose list of keys starts with the keys so far, and that list. */
  #earlierPlan: WritePlan | undefined;
  #earlierKeys: readonly SeriesKey[] | undefined;
  /** All keys so far, if they are not those of a plan. */
  #keys: SeriesKey[] = [];
  readonly #stringTimes: number[] = [];
  readonly #strings: string[] = [];
  readonly #mixed = new Map<number, { number: number; string: number }>();
  readonly #sentIds = new Map<number, SentId>();
  #runs = 0;

  constructor(ctx: InsertContext, columns: InsertColumns = ctx.insertBuffers.columns) {
    this.#ctx = ctx;
    this.#columns = columns;
    columns.user = this;
    columns.count = 0;
  }

  /** Keeps the sign of a zero value, but not of a zero time. */
  addNumber(timeMs: number, value: number): void {
    const columns = this.#columns;
    if (columns.count === columns.times.length) columns.growPoints();
    columns.times[columns.count] = timeMs + 0;
    columns.values[columns.count] = value;
    columns.count += 1;
  }

  /** How many numbers may be added at once. */
  space(): number {
    const columns = this.#columns;
    const { count } = columns;
    if (count > columns.times.length / 2 && count <= limits.pointsPerWriteMax) columns.growPoints();
    return columns.times.length - count;
  }

  /**
   * Adds at most `space` numbers. The runs that end among them are those of the expected keys. The last run
   * has not ended.
   */
  addRepeated({ times, values, ends }: RepeatedPoints): void {
    const columns = this.#columns;
    const { count } = columns;
    columns.times.set(times, count);
    columns.values.set(values, count);
    columns.count = count + times.length;
    while (this.#runs + ends.length > columns.numberEnds.length) columns.growRuns();
    for (let i = 0; i < ends.length; i += 1) {
      columns.numberEnds[this.#runs + i] = count + ends[i]!;
      columns.stringEnds[this.#runs + i] = this.#strings.length;
    }
    this.#runs += ends.length;
  }

  addString(timeMs: number, value: string): void {
    if (this.#strings.length > limits.pointsPerWriteMax) throw tooManyPoints();
    this.#stringTimes.push(timeMs + 0);
    this.#strings.push(value);
  }

  /**
   * The likely name of the run after the next `ahead` runs. It is ASCII without characters that JSON escapes.
   */
  expectedKey(ahead = 0): string | undefined {
    return this.#earlierKeys?.[this.#runs + ahead] as string | undefined;
  }

  /**
   * The names that likely follow the run of `key`, which has not ended, and the index of the first of them.
   */
  expectedKeysAfter(key: SeriesKey | undefined): RepeatedNames | undefined {
    const keys = this.#earlierKeys;
    return keys !== undefined && keys[this.#runs] === key ? { keys, next: this.#runs + 1 } : undefined;
  }

  /** The run that has not ended was sent with this id beside its name. */
  addSentId(id: SentId): void {
    this.#sentIds.set(this.#runs, id);
  }

  /** Ends the run of the points added since the last one. */
  endRun(key: SeriesKey, mixed?: { number: number; string: number }): void {
    const run = this.#runs;
    const columns = this.#columns;
    if (mixed) this.#mixed.set(run, mixed);
    if (run === 0) {
      this.#earlierPlan = this.#ctx.seriesCache.planStartingWith(this.#ctx.projectId, key);
      this.#earlierKeys = this.#earlierPlan?.keys;
    }
    if (this.#earlierKeys !== undefined && this.#earlierKeys[run] !== key) {
      this.#keys = this.#earlierKeys.slice(0, run);
      this.#earlierKeys = undefined;
    }
    if (this.#earlierKeys === undefined) this.#keys.push(key);
    if (run === columns.numberEnds.length) columns.growRuns();
    columns.numberEnds[run] = columns.count;
    columns.stringEnds[run] = this.#strings.length;
    this.#runs += 1;
  }

  /** Refuses more runs or points than one insert may hold. */
  finish(fieldOf: IncomingPoints["fieldOf"]): IncomingPoints {
    const runs = this.#runs;
    const { user, times, values, count, numberEnds, stringEnds } = this.#columns;
    invariant(user === this, "no other insert has used the columns of this one");
    const got = Math.max(count + this.#strings.length, runs);
    if (got > limits.pointsPerWriteMax) throw tooManyPoints(got);
    const isSameList = this.#earlierKeys?.length === runs;
    return {
      keys: isSameList ? this.#earlierKeys! : (this.#earlierKeys?.slice(0, runs) ?? this.#keys),
      earlierPlan: isSameList ? this.#earlierPlan : undefined,
      numbers: {
        times: times.slice(0, count),
        values: values.slice(0, count),
        ends: numberEnds.slice(0, runs),
      },
      ...(this.#strings.length > 0 && {
        strings: {
          times: Float64Array.from(this.#stringTimes),
          values: this.#strings,
          ends: stringEnds.slice(0, runs),
        },
      }),
      mixed: this.#mixed,
      sentIds: this.#sentIds,
      fieldOf,
    };
  }
}

/**
 * Frees the columns of numbers once they are stored; the garbage collector would have to run often for them.
 */
export function freePoints({ numbers }: IncomingPoints): void {
  for (const column of [numbers.times, numbers.values, numbers.ends]) freeChunk(column);
}

/**
 * The batch to append. Refuses values of another kind than that of their series, and the id of another series
 * beside a name.
 */
export function batchOf(points: IncomingPoints, { series, ids, isNumeric }: WritePlan): PointBatch {
  const { numbers, strings } = points;
  for (const [run, id] of points.sentIds) refuseOtherId(series[run]!, id);
  if (!isNumeric || strings !== undefined)
    for (let run = 0; run < series.length; run += 1) refuseWrongKind(points, run, series[run]!.isString);
  return {
    ...(numbers.times.length > 0 && { numbers: { ...numbers, ...runsOf(numbers.ends, ids) } }),
    ...(strings !== undefined && { strings: { ...strings, ...runsOf(strings.ends, ids) } }),
  };
}

function refuseWrongKind(points: IncomingPoints, run: number, isString: boolean): void {
  const ends = isString ? points.numbers.ends : points.strings?.ends;
  if (ends === undefined || ends[run] === (run === 0 ? 0 : ends[run - 1])) return;
  const [got, expected] = isString
    ? (["number", "string, as the series has strings"] as const)
    : (["string", "number, as the series has numbers"] as const);
  const field = points.fieldOf(run, points.mixed.get(run)?.[got] ?? 0);
  throw fail("field-invalid", { field, expected, got });
}

/** The runs with points. An insert can have as many runs as points, so this is a plain loop. */
function runsOf(ends: Uint32Array, ids: Float64Array): { series: Float64Array; ends: Uint32Array } {
  let empty = 0;
  for (let run = 0, start = 0; run < ends.length; start = ends[run++]!) if (ends[run] === start) empty += 1;
  if (empty === 0) return { series: ids, ends };
  const hasPoints = (_: number, run: number) => ends[run] !== (run === 0 ? 0 : ends[run - 1]);
  return { series: ids.filter(hasPoints), ends: ends.filter(hasPoints) };
}
