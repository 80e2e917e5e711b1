// Says how many series have recent values.
import { countText } from "../../lib/format.ts";

export interface SeriesChecked {
  /** The series that were checked. */
  readonly checked: number;
  /** Those of them without a value in the last hour. */
  readonly silent: number;
  /** Whether there are more series than were checked. */
  readonly hasMore: boolean;
}

export function freshnessText({ checked, silent, hasMore }: SeriesChecked): string {
  const count = countText(checked);
  if (!hasMore && checked === 1)
    return `The only series has ${silent === 0 ? "a" : "no"} value from the last hour.`;
  const all = hasMore ? `Of the first ${count} series` : `Of the ${count} series`;
  const end = `value from the last hour.${hasMore ? " The other series were not checked." : ""}`;
  if (silent === 0) return `${all}, all have a ${end}`;
  if (silent === checked) return `${all}, none has a ${end}`;
  return `${all}, ${countText(silent)} ${silent === 1 ? "has" : "have"} no ${end}`;
}
