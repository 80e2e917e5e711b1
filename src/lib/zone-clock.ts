// Converts between times and the clock of a time zone, fast enough for a million rows.
import { isTimeZone } from "./clock-buckets.ts";

/** A time zone, or a format of times, is not valid. */
export class TimeFormatRefusal extends Error {}

/** A span of time in which the zone has one offset from UTC. */
interface Span {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly offsetMs: number;
}

const dayMs = 86_400_000;
/** Most rows are of a few years. */
const spansMax = 100;

export class ZoneClock {
  readonly #zone: string;
  readonly #spans: Span[] = [];
  readonly #format: Intl.DateTimeFormat | undefined;

  constructor(zone: string) {
    if (!isTimeZone(zone)) throw new TimeFormatRefusal(`The time zone ${JSON.stringify(zone)} is not known`);
    this.#zone = zone;
    if (typeof Temporal === "undefined") this.#format = clockFormat(zone);
  }

  offsetMs(timeMs: number): number {
    const known = this.#spans.find(({ fromMs, untilMs }) => timeMs >= fromMs && timeMs < untilMs);
    if (known) return known.offsetMs;
    const span = this.#spanAt(timeMs);
    if (this.#spans.length === spansMax) this.#spans.shift();
    this.#spans.push(span);
    return span.offsetMs;
  }

  /**
   * The time at which the clock shows `clockMs`. A time that is repeated when the clock is put back is the
   * first one; one that is skipped is as much later as the clock is put forward.
   */
  timeMs(clockMs: number): number {
    const before = this.offsetMs(clockMs - dayMs);
    const after = this.offsetMs(clockMs + dayMs);
    const isAfter = this.offsetMs(clockMs - before) !== before && this.offsetMs(clockMs - after) === after;
    return clockMs - (isAfter ? after : before);
  }

  #spanAt(timeMs: number): Span {
    if (this.#format) return quarterHourAt(timeMs, this.#format);
    const zoned = Temporal.Instant.fromEpochMilliseconds(timeMs).toZonedDateTimeISO(this.#zone);
    const start = zoned.add({ nanoseconds: 1 }).getTimeZoneTransition("previous");
    const end = zoned.getTimeZoneTransition("next");
    return {
      fromMs: start?.epochMilliseconds ?? Number.NEGATIVE_INFINITY,
      untilMs: end?.epochMilliseconds ?? Number.POSITIVE_INFINITY,
      offsetMs: zoned.offsetNanoseconds / 1e6,
    };
  }
}

const quarterHourMs = 900_000;

/**
 * The span of a quarter of an hour around a time, for browsers without Temporal. Since 1973 clocks are
 * changed at whole quarters of an hour only.
 */
export function quarterHourAt(timeMs: number, format: Intl.DateTimeFormat): Span {
  const fromMs = Math.floor(timeMs / quarterHourMs) * quarterHourMs;
  const parts = format.formatToParts(fromMs);
  const partOf = (type: string) => Number(parts.find((part) => part.type === type)!.value);
  const [year, month, day] = [partOf("year"), partOf("month"), partOf("day")];
  const clockMs = Date.UTC(year, month - 1, day, partOf("hour"), partOf("minute"), partOf("second"));
  return { fromMs, untilMs: fromMs + quarterHourMs, offsetMs: clockMs - fromMs };
}

/** Makes the format that `quarterHourAt` reads. Making one takes fifty times as long as using it. */
export const clockFormat = (zone: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat("en-US", {
    ...{ timeZone: zone, calendar: "gregory", numberingSystem: "latn", hourCycle: "h23" },
    ...{ year: "numeric", month: "numeric", day: "numeric" },
    ...{ hour: "numeric", minute: "numeric", second: "numeric" },
  });
