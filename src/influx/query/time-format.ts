// Writes the times of results: as text of RFC 3339, or as numbers of a unit.
import { fail } from "../../errors.ts";

/** The text of a time of a row. */
export type TimeText = (timeMs: number) => string;

const divisors: ReadonlyMap<string, number> = new Map([
  ["ms", 1],
  ["s", 1_000],
  ["m", 60_000],
  ["h", 3_600_000],
]);

/** Digits after those of the milliseconds. */
const finer: ReadonlyMap<string, string> = new Map([
  ["ns", "000000"],
  ["n", "000000"],
  ["u", "000"],
  ["us", "000"],
  ["µ", "000"],
]);

/** The text of times in the unit `epoch`; undefined without a unit. Refuses (400) others. */
export function epochText(epoch: string | undefined): TimeText | undefined {
  if (!epoch) return undefined;
  const divisor = divisors.get(epoch);
  if (divisor) return (timeMs) => String(Math.trunc(timeMs / divisor));
  const zeros = finer.get(epoch);
  if (zeros) return (timeMs) => (timeMs === 0 ? "0" : timeMs + zeros);
  throw fail("field-invalid", { field: "epoch", expected: "ns, u, ms, s, m or h", got: epoch });
}

/** `2024-03-01T10:00:00.5Z`: without zeros at the end of the fraction. */
export const utcText: TimeText = (timeMs) => new Date(timeMs).toISOString().replace(/\.?0*Z$/, "Z");

/** As `utcText`, with the time and the offset of a zone. */
export const zonedText =
  (timeZone: string): TimeText =>
  (timeMs) =>
    Temporal.Instant.fromEpochMilliseconds(timeMs).toString({ timeZone });
