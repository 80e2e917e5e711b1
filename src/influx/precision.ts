// Units of timestamps in line protocol.
import { fail } from "../errors.ts";

/** A timestamp is cut by `digits` decimal digits, then multiplied by `factor`, to give milliseconds. */
export interface Precision {
  readonly digits: number;
  readonly factor: number;
}

const nanoseconds: Precision = { digits: 6, factor: 1 };
const microseconds: Precision = { digits: 3, factor: 1 };

const byName: ReadonlyMap<string, Precision> = new Map([
  ["", nanoseconds],
  ["n", nanoseconds],
  ["ns", nanoseconds],
  ["u", microseconds],
  ["us", microseconds],
  ["µ", microseconds],
  ["ms", { digits: 0, factor: 1 }],
  ["s", { digits: 0, factor: 1_000 }],
  ["m", { digits: 0, factor: 60_000 }],
  ["h", { digits: 0, factor: 3_600_000 }],
]);

/** Nanoseconds if absent. Refuses (400) an unknown unit. */
export function precisionOf(name: string | undefined): Precision {
  const found = byName.get(name ?? "");
  if (found) return found;
  throw fail("field-invalid", { field: "precision", expected: "n, ns, u, us, ms, s, m or h", got: name! });
}
