// What an update does to the record of a series.
import { isDeepStrictEqual } from "node:util";
import { fail } from "../../errors.ts";
import { limits } from "../../limits.ts";
import type { TimeSeries } from "./schema.ts";

/** Values to set; `null` clears a member, an absent one stays. Kind and step of a series never change. */
export interface SeriesChange {
  readonly name?: string | undefined;
  readonly description?: string | null | undefined;
  readonly unit?: string | null | undefined;
  readonly assetId?: number | null | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly securityCategories?: CategoriesChange | undefined;
}

/** First `set`, or what the series has, then what to add, then what to take away. */
export interface CategoriesChange {
  readonly set?: readonly number[] | undefined;
  readonly add?: readonly number[] | undefined;
  readonly remove?: readonly number[] | undefined;
}

/** The record with the change in it; the very same record when nothing is new. */
export function changeSeries(series: TimeSeries, change: SeriesChange, nowMs: number): TimeSeries {
  const { securityCategories, ...members } = change;
  const asked = Object.entries(members).filter(([, value]) => value !== undefined);
  const categories = securityCategories && {
    securityCategories: changeCategories(series.securityCategories ?? [], securityCategories),
  };
  const present = Object.entries({ ...series, ...Object.fromEntries(asked), ...categories });
  const changed = Object.fromEntries(present.filter(([, value]) => value !== null)) as unknown as TimeSeries;
  return isDeepStrictEqual(changed, series) ? series : { ...changed, lastUpdatedTime: nowMs };
}

function changeCategories(held: readonly number[], { set, add, remove }: CategoriesChange): number[] | null {
  const removed = new Set(remove);
  const categories = [...new Set([...(set ?? held), ...(add ?? [])])].filter((id) => !removed.has(id));
  const limit = limits.securityCategoriesMax;
  if (categories.length > limit)
    throw fail("too-many", { field: "securityCategories", limit, got: categories.length });
  return categories.length === 0 ? null : categories;
}
