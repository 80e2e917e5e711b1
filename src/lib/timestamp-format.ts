// Times in milliseconds since 1970 and their text in a format: `to_timestamp` and `from_timestamp` of SQL,
// and the times of imported files.
import { LruCache } from "./lru-cache.ts";
import { TimeFormatRefusal, ZoneClock } from "./zone-clock.ts";

/** An argument of the functions in SQL. */
type Argument = string | number | null;

const months = "January February March April May June July August September October November December".split(
  " ",
);

/** The parts of a time on a clock, by the letters of a format. */
interface Clock {
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
  ms: number;
  isAfternoon?: boolean;
  /** The offset that the text has. */
  offsetMs?: number;
}

interface Field {
  /** A pattern of the text, without groups. */
  readonly pattern: string;
  readonly read: (clock: Clock, text: string) => void;
  readonly write: (clock: Clock) => string;
}

const two = (value: number): string => String(value).padStart(2, "0");

type NumberName = "year" | "month" | "day" | "hour" | "minute" | "second" | "ms";

const number = (name: NumberName, pattern: string, digits: number): Field => ({
  pattern,
  read: (clock, text) => {
    clock[name] = Number(text);
  },
  write: (clock) => String(clock[name]).padStart(digits, "0"),
});

const monthNames = (length: number): Field => ({
  pattern: months.map((name) => name.slice(0, length)).join("|"),
  read: (clock, text) => {
    clock.month = 1 + months.findIndex((name) => name.slice(0, length).toLowerCase() === text.toLowerCase());
  },
  write: ({ month }) => months[month - 1]!.slice(0, length),
});

const offset: Field = {
  pattern: "Z|[+-]\\d\\d:?\\d\\d",
  read: (clock, text) => {
    const [, sign, hours, minutes] = /^([+-])(\d\d):?(\d\d)$/.exec(text) ?? ["", "+", "0", "0"];
    clock.offsetMs = (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
  },
  write: ({ offsetMs = 0 }) => {
    const minutes = Math.abs(offsetMs) / 60_000;
    return `${offsetMs < 0 ? "-" : "+"}${two(Math.floor(minutes / 60))}:${two(Math.floor(minutes % 60))}`;
  },
};

const fields: Readonly<Record<string, Field>> = {
  yyyy: number("year", "\\d{4}", 4),
  yy: {
    pattern: "\\d{2}",
    read: (clock, text) => {
      clock.year = 2000 + Number(text);
    },
    write: ({ year }) => two(year % 100),
  },
  MMMM: monthNames(9),
  MMM: monthNames(3),
  MM: number("month", "\\d{2}", 2),
  M: number("month", "\\d{1,2}", 1),
  dd: number("day", "\\d{2}", 2),
  d: number("day", "\\d{1,2}", 1),
  HH: number("hour", "\\d{2}", 2),
  H: number("hour", "\\d{1,2}", 1),
  hh: halfDay("\\d{2}", 2),
  h: halfDay("\\d{1,2}", 1),
  mm: number("minute", "\\d{2}", 2),
  m: number("minute", "\\d{1,2}", 1),
  ss: number("second", "\\d{2}", 2),
  s: number("second", "\\d{1,2}", 1),
  SSS: number("ms", "\\d{3}", 3),
  a: {
    pattern: "[AaPp]\\.?[Mm]\\.?",
    read: (clock, text) => {
      clock.isAfternoon = /^p/i.test(text);
    },
    write: ({ hour }) => (hour < 12 ? "AM" : "PM"),
  },
  ["X".repeat(3)]: offset,
};

/** The hours 1 to 12 of half a day. */
function halfDay(pattern: string, digits: number): Field {
  return {
    pattern,
    read: (clock, text) => {
      clock.hour = Number(text) >= 1 && Number(text) <= 12 ? Number(text) % 12 : Number.NaN;
      clock.isAfternoon ??= false;
    },
    write: ({ hour }) => String(hour % 12 === 0 ? 12 : hour % 12).padStart(digits, "0"),
  };
}

interface Format {
  readonly parts: readonly (Field | string)[];
  readonly pattern: RegExp;
}

const letters = /'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']+/g;
const formatLengthMax = 200;

function parseFormat(format: string): Format {
  if (format.length > formatLengthMax)
    throw new TimeFormatRefusal(`A time format has at most ${formatLengthMax} characters`);
  const parts = [...format.matchAll(letters)].map(([written, literal, letter]): Field | string => {
    if (letter === undefined) return literal === undefined ? written : literal.replaceAll("''", "'") || "'";
    const field = Object.hasOwn(fields, written) ? fields[written] : undefined;
    if (field) return field;
    const known = Object.keys(fields).join(" ");
    throw new TimeFormatRefusal(
      `A time format has no letters ${written}; it has ${known}, and '...' for text`,
    );
  });
  const pattern = parts.map((part) =>
    typeof part === "string" ? part.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&") : `(${part.pattern})`,
  );
  return { parts, pattern: new RegExp(`^${pattern.join("")}$`, "i") };
}

/** A query has few formats and zones, unless it makes them from rows. */
const knownMax = 100;
const formats = cached(parseFormat);
const zones = cached((zone: string) => new ZoneClock(zone));

function cached<Made extends object>(make: (name: string) => Made): (name: string) => Made {
  const known = new LruCache<string, Made>(knownMax);
  return (name) => {
    const found = known.get(name) ?? make(name);
    known.set(name, found);
    return found;
  };
}

const iso = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?)?(Z|[+-]\d\d:?\d\d)?$/i;

/**
 * The time of a text. Without a format, or with the format null, the text is in ISO 8601. Null if the text is
 * not in the format, or no such date exists. The zone counts for strings without an offset; default: UTC.
 */
export function toTimestamp(
  text: Argument = null,
  format: Argument = null,
  zone: Argument = "UTC",
): bigint | null {
  if (text === null || zone === null) return null;
  const clock: Clock = { year: 1970, month: 1, day: 1, hour: 0, minute: 0, second: 0, ms: 0 };
  const isRead =
    format === null ? readIso(clock, String(text).trim()) : read(clock, String(text), String(format));
  if (!isRead) return null;
  const hour = clock.isAfternoon ? clock.hour + 12 : clock.hour;
  const clockMs = Date.UTC(
    clock.year,
    clock.month - 1,
    clock.day,
    hour,
    clock.minute,
    clock.second,
    clock.ms,
  );
  const back = new Date(clockMs);
  const isDate =
    back.getUTCMonth() === clock.month - 1 &&
    back.getUTCDate() === clock.day &&
    hour < 24 &&
    clock.minute < 60 &&
    clock.second < 60;
  if (!isDate) return null;
  if (clock.offsetMs !== undefined) return BigInt(clockMs - clock.offsetMs);
  return BigInt(zone === "UTC" ? clockMs : zones(String(zone)).timeMs(clockMs));
}

function readIso(clock: Clock, text: string): boolean {
  const match = iso.exec(text);
  if (!match) return false;
  const [, year, month, day, hour = 0, minute = 0, second = 0, fraction = "", zone] = match;
  Object.assign(clock, {
    ...{ year: Number(year), month: Number(month), day: Number(day) },
    ...{ hour: Number(hour), minute: Number(minute), second: Number(second) },
    ms: Number(fraction.slice(0, 3).padEnd(3, "0")),
  });
  if (zone !== undefined) offset.read(clock, zone.toUpperCase());
  return true;
}

function read(clock: Clock, text: string, format: string): boolean {
  const { parts, pattern } = formats(format);
  const match = pattern.exec(text);
  if (!match) return false;
  let group = 0;
  for (const part of parts) if (typeof part !== "string") part.read(clock, match[++group]!);
  return true;
}

/** The text of a time in a format, on the clock of a zone; default: UTC. */
export function fromTimestamp(
  timeMs: Argument = null,
  format: Argument = null,
  zone: Argument = "UTC",
): Argument {
  if (timeMs === null || format === null || zone === null) return null;
  const time = Number(timeMs);
  const offsetMs = zone === "UTC" ? 0 : zones(String(zone)).offsetMs(time);
  const date = new Date(time + offsetMs);
  if (!Number.isFinite(date.getTime())) return null;
  const clock: Clock = {
    ...{ year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() },
    ...{ hour: date.getUTCHours(), minute: date.getUTCMinutes(), second: date.getUTCSeconds() },
    ...{ ms: date.getUTCMilliseconds(), offsetMs },
  };
  const { parts } = formats(String(format));
  return parts.map((part) => (typeof part === "string" ? part : part.write(clock))).join("");
}
