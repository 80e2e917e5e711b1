// Reads values that have two names in requests, because published clients differ in them.
import { isDeepStrictEqual } from "node:util";
import { fail } from "../errors.ts";
import { shortened } from "../lib/text.ts";

/** A member of a request: its path, and its value if it was sent. */
type Sent<Value> = readonly [field: string, value: Value | undefined];

/** The value under either name. Refuses (400) two different values: one of them would have no effect. */
export function eitherOf<Value>(
  [field, value]: Sent<Value>,
  [otherField, other]: Sent<Value>,
): Value | undefined {
  if (value === undefined || other === undefined) return value ?? other;
  if (!isDeepStrictEqual(value, other))
    throw fail("field-invalid", {
      field: otherField,
      expected: `the same value as in ${field} (${shown(value)})`,
      got: shown(other),
    });
  return value;
}

const shown = (value: unknown): string => shortened(JSON.stringify(value));
