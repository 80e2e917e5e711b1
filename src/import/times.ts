// Times as data files write them: ISO 8601, a pattern, or a number of units since an epoch that may differ by
// run.
import { toTimestamp } from "../lib/timestamp-format.ts";
import { ZoneClock } from "../lib/zone-clock.ts";

export const timeFormats = ["iso", "w", "d", "h", "min", "s", "ms", "us", "ns"] as const;
type NamedFormat = (typeof timeFormats)[number];

/** As `to_timestamp` of transformations has it: `dd.MM.yyyy HH:mm`. */
interface TimePattern {
  readonly pattern: string;
}
export type TimeFormat = NamedFormat | TimePattern;

export const formatName = (format: TimeFormat): string =>
  typeof format === "string" ? format : format.pattern;

/** Whether cells are dates, which may be of a time zone, and not numbers. */
export const isDateFormat = (format: TimeFormat): boolean => format === "iso" || typeof format !== "string";

const unitMs: Readonly<Record<Exclude<NamedFormat, "iso">, number>> = {
  w: 604_800_000,
  d: 86_400_000,
  h: 3_600_000,
  min: 60_000,
  s: 1_000,
  ms: 1,
  us: 1e-3,
  ns: 1e-6,
};

/** Every value of a column has its own epoch: the first one `startMs`, each further one `stepMs` later. */
export interface EpochBy {
  readonly column: string;
  readonly startMs: number;
  readonly stepMs: number;
}

/** Milliseconds of the time in a cell; `epochMs` counts for numbers only. Undefined when unreadable. */
export type TimeReader = (cell: string, epochMs: number) => number | undefined;

/** Reads cells of one format. A date without an offset is on the clock of `zone`. */
export function timeReader(format: TimeFormat, zone = "UTC"): TimeReader {
  if (format === "iso") return zone === "UTC" ? (cell) => parseIso(cell) : isoReader(zone);
  if (typeof format !== "string") return patternReader(format, zone);
  const unit = unitMs[format];
  return (cell, epochMs) => {
    if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(cell)) return undefined;
    const timeMs = epochMs + Math.round(Number(cell) * unit);
    return Number.isSafeInteger(timeMs) ? timeMs : undefined;
  };
}

function isoReader(zone: string): TimeReader {
  const clock = new ZoneClock(zone);
  return (cell) => parseIso(cell, (clockMs) => clock.timeMs(clockMs));
}

function patternReader({ pattern }: TimePattern, zone: string): TimeReader {
  return (cell) => {
    const timeMs = toTimestamp(cell, pattern, zone);
    return timeMs === null ? undefined : Number(timeMs);
  };
}

/** Detects the format of a first cell: a date, or a plausible recent timestamp in milliseconds or seconds. */
export function detectTimeFormat(cell: string): TimeFormat | undefined {
  if (parseIso(cell) !== undefined) return "iso";
  if (!/^-?\d+(\.\d+)?$/.test(cell)) return undefined;
  return Math.abs(Number(cell)) < 1e11 ? "s" : "ms";
}

const isoPattern =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?)? ?(Z|[+-]\d\d(?::?\d\d)?)?$/i;

/**
 * ISO 8601 with a `T` or a space; finer than milliseconds is cut. Without a zone it is UTC, or the time that
 * `timeOfClock` returns.
 */
export function parseIso(cell: string, timeOfClock?: (clockMs: number) => number): number | undefined {
  const found = isoPattern.exec(cell);
  if (!found) return undefined;
  const [, year, month, day, hour = "0", minute = "0", second = "0", fraction = "", zone] = found;
  const [y, mo, d, h, mi, s] = [year, month, day, hour, minute, second].map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const dayMs = Date.UTC(y, mo - 1, d);
  const date = new Date(dayMs);
  const isDay = date.getUTCMonth() === mo - 1 && date.getUTCDate() === d;
  if (!isDay || y < 100 || h > 23 || mi > 59 || s > 59) return undefined;
  const inDayMs = ((h * 60 + mi) * 60 + s) * 1000 + Number(fraction.padEnd(3, "0").slice(0, 3));
  const clockMs = dayMs + inDayMs;
  if (zone !== undefined) return clockMs - zoneMs(zone);
  return timeOfClock ? timeOfClock(clockMs) : clockMs;
}

function zoneMs(zone: string): number {
  if (/^z$/i.test(zone)) return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3).replace(":", "") || 0);
  return (zone.startsWith("-") ? -minutes : minutes) * 60_000;
}

/** Reads `COLUMN=DATE+STEP`, such as `scenario=2026-01-01+1d`. */
export function parseEpochBy(text: string): EpochBy | undefined {
  const found = /^(.+)=(.+)\+(\d+)(w|d|h|min|s|ms)$/.exec(text);
  if (!found) return undefined;
  const [, column = "", start = "", count, unit] = found;
  const startMs = parseIso(start);
  const stepMs = Number(count) * unitMs[unit as "d"];
  return startMs === undefined || stepMs === 0 ? undefined : { column, startMs, stepMs };
}

/** Hands out the epochs of an EpochBy; `values` are those met so far, in order. */
export class Epochs {
  readonly #by: EpochBy;
  readonly #positions: Map<string, number>;

  constructor(by: EpochBy, values: readonly string[]) {
    this.#by = by;
    this.#positions = new Map(values.map((value, position) => [value, position]));
  }

  epochOf(value: string): number {
    let position = this.#positions.get(value);
    if (position === undefined) {
      position = this.#positions.size;
      this.#positions.set(value, position);
    }
    return this.#by.startMs + position * this.#by.stepMs;
  }

  /** How long each epoch lasts: times beyond would be those of the next one. */
  get stepMs(): number {
    return this.#by.stepMs;
  }

  get values(): readonly string[] {
    return [...this.#positions.keys()];
  }
}
