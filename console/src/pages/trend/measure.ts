// The measuring cursors in the address.
import type { TimeWindow } from "../../ui/chart/columns.ts";
import type { Measure } from "../../ui/chart/measure-cursors.tsx";
import type { TrendSearch } from "./search.ts";

export function measureOf({ cursors = [] }: TrendSearch): Measure | undefined {
  const [a, b] = cursors.map((cursor) => Date.parse(cursor));
  return a === undefined || b === undefined ? undefined : [a, b];
}

export const measureSearch = ([aMs, bMs]: Measure): Pick<TrendSearch, "cursors"> => ({
  cursors: [new Date(aMs).toISOString(), new Date(bMs).toISOString()],
});

/** Where the cursors begin: at a third and at two thirds of the window. */
export function measureIn({ startMs, endMs }: TimeWindow): Measure {
  const third = (endMs - startMs) / 3;
  return [Math.round(startMs + third), Math.round(endMs - third)];
}
