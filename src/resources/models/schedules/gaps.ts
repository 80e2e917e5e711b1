// Fills gaps in a column with equidistant rows (docs/reference/models.md#data-specs).
import type { GapFilling } from "../../analytics/matching/grid-rows.ts";

/**
 * `ffill` repeats the value before a gap; `linearInterpolation` interpolates between its neighbours. Rows
 * that still have no value become `null`: rows before the first value, and with interpolation rows after
 * the last.
 */
export function fillGaps(column: Float64Array, how: GapFilling | undefined): (number | null)[] {
  const filled: (number | null)[] = Array.from(column, (value) => (Number.isNaN(value) ? null : value));
  if (how === undefined) return filled;
  for (let last = -1, row = 0; row <= column.length; row += 1) {
    const isGap = row < column.length && Number.isNaN(column[row]!);
    if (isGap) continue;
    if (last >= 0 && (how === "ffill" || row < column.length))
      for (let gap = last + 1; gap < row; gap += 1) {
        const share = how === "ffill" ? 0 : (gap - last) / (row - last);
        filled[gap] = share === 0 ? column[last]! : column[last]! * (1 - share) + column[row]! * share;
      }
    last = row;
  }
  return filled;
}
