// Applies a change to the record of a series.
import { limits } from "../../limits.ts";
import {
  type CommonChange,
  changeList,
  changeRecord,
  type ListChange,
  nullIfEmpty,
} from "../common/changes.ts";
import type { TimeSeries } from "./schema.ts";

/** Values to set; `null` clears a member, an absent one stays. Kind and step of a series never change. */
export interface SeriesChange extends CommonChange {
  readonly name?: string | undefined;
  readonly description?: string | null | undefined;
  readonly unit?: string | null | undefined;
  readonly assetId?: number | null | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly securityCategories?: ListChange<number> | undefined;
}

/** The changed record; the same object if nothing changes. */
export function changeSeries(series: TimeSeries, change: SeriesChange, nowMs: number): TimeSeries {
  const bounds = { field: "securityCategories", limit: limits.securityCategoriesMax };
  const categories = changeList(series.securityCategories, change.securityCategories, bounds);
  return changeRecord(series, { ...change, securityCategories: nullIfEmpty(categories) }, nowMs);
}
