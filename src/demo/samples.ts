// Reads the series of the plant as instruments measure them: with noise, range, resolution and outages.
import type { Rate, SeriesRow } from "./description.ts";
import { dayMs, hourMs, minuteMs, type Noise } from "./simulation/conditions.ts";
import type { Plant } from "./simulation/plant.ts";

/** In days before the end of the history. All of them come again every `everyDays`. */
interface Outage {
  readonly names: RegExp;
  readonly before: number;
  readonly lasts: number;
}

const outageEveryDays = 90;

/** A sensor was out, or the historian of a unit was not connected. */
const outages: readonly Outage[] = [
  { names: /^24-AT-/, before: 12.3, lasts: 1.1 },
  { names: /^23-LT-1201$/, before: 33.4, lasts: 0.4 },
  { names: /^24-TT-2025$/, before: 19.6, lasts: 2.3 },
  { names: /^26-AT-3016$/, before: 70.2, lasts: 5 },
  { names: /^26-/, before: 47.3, lasts: 0.035 },
  { names: /^23-PT-1312A$/, before: 0.62, lasts: 0.06 },
];

/**
 * How often a series of this rate is measured. Series that are written on change are read with the fast ones.
 */
export interface Resolution {
  readonly fastMs: number;
  readonly slowMs: number;
  /** A series that does not change has a point at least this often. */
  readonly unchangedMs: number;
}

export const historyResolution: Resolution = {
  fastMs: minuteMs,
  slowMs: 5 * minuteMs,
  unchangedMs: 6 * hourMs,
};
export const lastDayResolution: Resolution = { fastMs: 10_000, slowMs: minuteMs, unchangedMs: hourMs };
export const liveResolution: Resolution = { fastMs: 1000, slowMs: 1000, unchangedMs: minuteMs };

const driftMs = 11 * minuteMs;

const labEveryMs = 8 * hourMs;

export type Value = number | string;

export class Instrument {
  readonly row: SeriesRow;
  /** The position of its series in the description. */
  readonly at: number;
  readonly #holder: Readonly<Record<string, Value>>;
  readonly #field: string;
  readonly #channel: number;
  readonly #noise: Noise;
  readonly #scale: number;
  readonly #outages: readonly Outage[];
  #last: Value | undefined;
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor(row: SeriesRow, at: number, plant: Plant) {
    this.row = row;
    this.at = at;
    const fields = row.signal.split(".");
    this.#field = fields.pop()!;
    let holder: unknown = plant;
    for (const field of fields) holder = (holder as Readonly<Record<string, unknown>>)[field];
    this.#holder = holder as Readonly<Record<string, Value>>;
    this.#channel = 1000 + at;
    this.#noise = plant.conditions.noise;
    this.#scale = 10 ** row.decimals;
    this.#outages = outages.filter(({ names }) => names.test(row.name));
  }

  /** The value that a series written on change has now, if it is a new one or the last is old. */
  changed(ms: number, { unchangedMs }: Resolution): Value | undefined {
    const value = this.value(ms);
    if (value === this.#last && ms - this.#lastMs < unchangedMs) return undefined;
    this.#last = value;
    this.#lastMs = ms;
    return value;
  }

  value(ms: number): Value {
    const { row } = this;
    const value = this.#holder[this.#field]!;
    if (typeof value === "string") return value;
    const noisy = row.noise === 0 ? value : value + row.noise * this.#deviation(ms);
    const { low, high } = row;
    const measured = noisy < low ? low : noisy > high ? high : noisy;
    return Math.round(measured * this.#scale) / this.#scale;
  }

  /** Mostly from point to point, and a slow drift. */
  #deviation(ms: number): number {
    const drift = this.#noise.wander(this.#channel, ms, driftMs);
    return 0.8 * this.#noise.normal(this.#channel, ms / 1000) + drift;
  }

  isOut(ms: number, endMs: number): boolean {
    if (this.#outages.length === 0) return false;
    for (const { before, lasts } of this.#outages) {
      const since = (ms - endMs) / dayMs + before;
      if (since - Math.floor(since / outageEveryDays) * outageEveryDays < lasts) return true;
    }
    return false;
  }
}

/** The rates whose series have a point at this time, a whole second. */
export function ratesDue(ms: number, { fastMs, slowMs }: Resolution): readonly Rate[] {
  const due: Rate[] = [];
  if (ms % fastMs === 0) due.push("fast", "change");
  if (ms % slowMs === 0) due.push("slow");
  if (ms % labEveryMs === 6 * hourMs) due.push("lab");
  return due;
}
