// Reads records of series in a transaction, and checks the conditions of a write.
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { duplicatesIn } from "../../lib/duplicates.ts";
import { and, type Filter, oneOf } from "../../query/filter.ts";
import type { LengthBound } from "../../query/length-bound.ts";
import type { OrderBy } from "../../query/page.ts";
import type { CatalogReader } from "../../storage/catalog.ts";
import { boundOfChange } from "../../storage/existing-records.ts";
import { foreignCategory } from "../groups/security-categories.ts";
import { type TimeSeries, timeSeriesTable } from "./schema.ts";
import type { SeriesKey } from "./series-cache.ts";

/** The table and the noun for refusals. */
export const seriesType = { table: timeSeriesTable, noun: "time series" };

export type SeriesKeys = { readonly names: readonly string[] } | { readonly ids: readonly number[] };

export const byName: readonly OrderBy[] = [{ field: "name", direction: "ascending" }];

const fieldAndKeys = (keys: SeriesKeys): readonly ["name" | "id", readonly SeriesKey[]] =>
  "names" in keys ? ["name", keys.names] : ["id", keys.ids];

/** Those of these series that are in `permitted`, in no particular order. A key may repeat. */
export async function visibleRows(
  tx: CatalogReader,
  permitted: Filter,
  keys: SeriesKeys,
  { fields, bound }: { readonly fields?: readonly string[] | undefined; readonly bound?: LengthBound } = {},
): Promise<TimeSeries[]> {
  const [field, wanted] = fieldAndKeys(keys);
  const distinct = [...new Set(wanted)];
  if (distinct.length === 0) return [];
  const filter = and(permitted, oneOf(field, distinct));
  const page = { limit: distinct.length, ...(bound && { bound }) };
  return tx.find(timeSeriesTable, { filter, order: byName, page, ...(fields && { fields }) });
}

export interface SeriesSelection {
  readonly keys: SeriesKeys;
  readonly status: 400 | 404;
  /** All fields by default. */
  readonly fields?: readonly string[] | undefined;
  /** Limits the length of all records together; by default to that of one change. */
  readonly bound?: LengthBound | undefined;
}

/**
 * These series, in the order of the keys. Refuses (400) repeated keys, and (with `status`) unknown series and
 * those outside of `permitted`.
 */
export async function existingRows(
  tx: CatalogReader,
  permitted: Filter,
  { keys, status, fields, bound = boundOfChange("items") }: SeriesSelection,
): Promise<TimeSeries[]> {
  const [field, wanted] = fieldAndKeys(keys);
  const repeated = duplicatesIn(wanted);
  if (repeated.length > 0) throw fail("series-repeated", { keys: repeated });
  const rows = await visibleRows(tx, permitted, keys, { fields, bound });
  const found = new Map<SeriesKey, TimeSeries>(rows.map((row) => [row[field], row]));
  const unknown = wanted.filter((key) => !found.has(key));
  if (unknown.length > 0) throw fail("series-unknown", { keys: unknown, status });
  return wanted.map((key) => found.get(key)!);
}

/**
 * Refuses names that repeat, or that another series has, whether the caller sees it or not. Lists all of them
 * in the order of the request, because clients continue without them.
 */
export async function refuseTakenNames(tx: CatalogReader, names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  const filter = oneOf("name", [...new Set(names)]);
  const held = await tx.find(timeSeriesTable, { filter, order: byName, page: { limit: names.length } });
  const taken = new Set([...held.map((row) => row.name), ...duplicatesIn(names)]);
  if (taken.size > 0)
    throw fail("series-exist", { names: [...new Set(names)].filter((name) => taken.has(name)) });
}

/** Refuses security categories that do not exist or that the caller is not a member of. */
export async function refuseForeignCategories(
  ctx: RequestContext,
  tx: CatalogReader,
  lists: readonly (readonly number[])[],
): Promise<void> {
  const foreign = await foreignCategory(ctx, tx, lists);
  if (foreign === undefined) return;
  const expected = "ids of security categories that you are a member of";
  throw fail("field-invalid", { field: "securityCategories", expected, got: `${foreign}` });
}
