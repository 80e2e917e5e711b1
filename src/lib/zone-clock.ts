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

  constructor(zone: string) {
    if (!isTimeZone(zone)) throw new TimeFormatRefusal(`The time zone ${JSON.stringify(zone)} is not known`);
    this.#zone = zone;
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
