// Compares aggregates whose points may have been combined in another order.
import assert from "node:assert/strict";
import type { AggregateColumns } from "../../src/storage/points.ts";

/** The times are equal, and each value is equal or differs by a millionth at most. */
export function assertNear(actual: AggregateColumns, expected: AggregateColumns, query: object): void {
  assert.deepEqual(actual.times, expected.times, JSON.stringify(query));
  for (const [index, column] of expected.columns.entries())
    for (const [row, value] of column.entries()) {
      const found = actual.columns[index]![row]!;
      const isNear =
        Object.is(found, value) || Math.abs(found - value) <= 1e-6 * Math.max(1, Math.abs(value));
      assert.ok(isNear, `${found} and not ${value} in row ${row} of ${JSON.stringify({ ...query, index })}`);
    }
}
