// The time range of a statement, from its comparisons of `time`.

import type { TimeRange } from "../../lib/time.ts";
import { limits } from "../../limits.ts";
import type { NanosecondRange, QueryExpression } from "./ast.ts";
import type { TimeComparison } from "./parse-expression.ts";
import { queryProblem } from "./problems.ts";

interface Clock {
  readonly nowMs: number;
  /** The zone of times that are written without one. */
  readonly timeZone: string;
}

/** The range that all comparisons allow. */
export function rangeOf(times: readonly TimeComparison[], clock: Clock): NanosecondRange {
  let [start, end]: (bigint | undefined)[] = [undefined, undefined];
  for (const { is, value } of times) {
    const time = timeOf(value, clock);
    if (is === "!=") throw queryProblem("time != is not supported");
    const from = is === "=" || is === ">=" ? time : is === ">" ? time + 1n : undefined;
    const to = is === "=" || is === "<=" ? time + 1n : is === "<" ? time : undefined;
    if (from !== undefined && (start === undefined || from > start)) start = from;
    if (to !== undefined && (end === undefined || to < end)) end = to;
  }
  return { start, end };
}

const nanosecondsPerMs = 1_000_000n;

/** Times are stored in milliseconds: the range of those that are in the range of nanoseconds. */
export const millisecondsOf = ({ start, end }: NanosecondRange): Partial<TimeRange> => ({
  ...(start !== undefined && { startMs: clamped(start) }),
  ...(end !== undefined && { endMs: clamped(end) }),
});

/** Rounded up, within the times that points can have. */
function clamped(nanoseconds: bigint): number {
  const whole = Number(nanoseconds / nanosecondsPerMs);
  const isUp = nanoseconds > 0n && nanoseconds % nanosecondsPerMs > 0n;
  return Math.min(Math.max(whole + (isUp ? 1 : 0), limits.timeMsMin), limits.timeMsMax + 1);
}

/** The nanoseconds since 1970 of an expression such as `now() - 1h`. */
function timeOf(value: QueryExpression, clock: Clock): bigint {
  switch (value.kind) {
    case "number":
      return value.integer ?? BigInt(Math.trunc(value.value));
    case "duration":
      return value.nanoseconds;
    case "string":
      return instantOf(value.value, clock.timeZone);
    case "binary": {
      const [left, right] = [timeOf(value.left, clock), timeOf(value.right, clock)];
      if (value.operator === "+") return left + right;
      if (value.operator === "-") return left - right;
      if (value.operator === "*") return left * right;
      break;
    }
    case "call":
      if (value.name === "now" && value.parameters.length === 0)
        return BigInt(clock.nowMs) * nanosecondsPerMs;
      break;
    default:
  }
  throw queryProblem("a condition on time needs a time, a duration or now()");
}

/** `2024-03-01`, `2024-03-01 10:00:00.5`, `2024-03-01T10:00:00Z`; without a zone in that of the statement. */
function instantOf(text: string, timeZone: string): bigint {
  const [, date, time = "00:00", zone] =
    /^(\d{4}-\d\d?-\d\d?)(?:[ T](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?))?(Z|[+-]\d\d:\d\d)?$/.exec(text.trim()) ??
    [];
  try {
    const padded = date!.replaceAll(/-(\d)(?!\d)/g, "-0$1");
    if (zone) return Temporal.Instant.from(`${padded}T${time}${zone}`).epochNanoseconds;
    return Temporal.PlainDateTime.from(`${padded}T${time}`).toZonedDateTime(timeZone).epochNanoseconds;
  } catch {
    throw queryProblem(`invalid time ${JSON.stringify(text.slice(0, 100))}`);
  }
}
