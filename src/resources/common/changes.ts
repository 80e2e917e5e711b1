// Applies changes to records: new values, and lists with elements set, added and removed.
import { isDeepStrictEqual } from "node:util";
import { fail } from "../../errors.ts";
import { limits } from "../../limits.ts";
import type { CommonFields, CommonFieldsInput } from "./schema.ts";

/** Replaces the elements with `set`, then adds elements, then removes elements. */
export interface ListChange<Item> {
  readonly set?: readonly Item[] | undefined;
  readonly add?: readonly Item[] | undefined;
  readonly remove?: readonly Item[] | undefined;
}

/** Values to set; `null` clears a field, `undefined` leaves it. */
export interface CommonChange {
  readonly externalId?: string | null | undefined;
  readonly dataSetId?: number | null | undefined;
  readonly labels?: ListChange<string> | undefined;
  readonly sourceCreatedTime?: number | null | undefined;
  readonly sourceModifiedTime?: number | null | undefined;
}

/** Overwrites a record. Absent common fields stay, because published clients do not know them. */
export const commonOverwriteOf = (given: CommonFieldsInput): CommonChange => ({
  externalId: given.externalId,
  dataSetId: given.dataSetId,
  labels: given.labels && { set: given.labels },
  sourceCreatedTime: given.sourceCreatedTime,
  sourceModifiedTime: given.sourceModifiedTime,
});

type ChangedValues = Readonly<Record<string, unknown>>;

/**
 * Applies values to a record; `null` clears a field, `undefined` leaves it. Returns the same object if
 * nothing changes.
 */
export function changeValues<Row extends { readonly lastUpdatedTime: number }>(
  row: Row,
  values: ChangedValues,
  nowMs: number,
): Row {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  const members = Object.entries({ ...row, ...Object.fromEntries(given) });
  const changed = Object.fromEntries(members.filter(([, value]) => value !== null)) as Row;
  return isDeepStrictEqual(changed, row) ? row : { ...changed, lastUpdatedTime: nowMs };
}

/** Like `changeValues`, for records with the common fields. */
export function changeRecord<Row extends CommonFields & { readonly lastUpdatedTime: number }>(
  row: Row,
  { labels, ...values }: CommonChange & ChangedValues,
  nowMs: number,
): Row {
  const changed = changeList(row.labels, labels, { field: "labels", limit: limits.labelsMax });
  return changeValues(row, { ...values, labels: nullIfEmpty(changed) }, nowMs);
}

/**
 * The elements after the change, without duplicates; `undefined` if there is no change. Refuses (400) more
 * than the limit.
 */
export function changeList<Item>(
  existing: readonly Item[] | undefined,
  change: ListChange<Item> | undefined,
  { field, limit }: { readonly field: string; readonly limit: number },
): readonly Item[] | undefined {
  if (!change) return undefined;
  const removed = new Set(change.remove);
  const items = [...new Set([...(change.set ?? existing ?? []), ...(change.add ?? [])])];
  const left = items.filter((item) => !removed.has(item));
  if (left.length > limit) throw fail("too-many", { field, limit, got: left.length });
  return left;
}

/** An empty list is stored as an absent field. */
export const nullIfEmpty = <Item>(list: readonly Item[] | undefined): readonly Item[] | null | undefined =>
  list?.length === 0 ? null : list;
