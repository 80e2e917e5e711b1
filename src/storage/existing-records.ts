// Reads records by ids that a caller has named, and refuses those that are not there.
import { fail } from "../errors.ts";
import { duplicatesIn } from "../lib/duplicates.ts";
import { limits } from "../limits.ts";
import { and, type Filter, oneOf } from "../query/filter.ts";
import { LengthBound } from "../query/length-bound.ts";
import { byId } from "../query/page.ts";
import type { CatalogReader, Stored, Table } from "./catalog.ts";

export interface IdsNamed {
  readonly ids: readonly number[];
  /** The field of the request that has the ids. */
  readonly field: string;
  /** How unknown ids are refused; 400 when absent. */
  readonly status?: 404;
  /** Refuses records that are too long together; as records of one change when absent. */
  readonly bound?: LengthBound | undefined;
}

/**
 * These records in the order of the ids. Refuses repeated ids, unknown ids and those outside of `permitted`
 * (docs/reference/common.md#ids), and (413) records that are too long together.
 */
export async function existingRecords<Row extends Stored>(
  tx: CatalogReader,
  table: Table<Row>,
  permitted: Filter,
  named: IdsNamed,
): Promise<Row[]> {
  const { ids, bound = boundOfChange(named.field) } = named;
  if (ids.length === 0) return [];
  refuseRepeated(named);
  const filter = and(permitted, oneOf("id", ids));
  const rows = await tx.find(table, { filter, order: byId, page: { limit: ids.length, bound } });
  const found = new Map(rows.map((row) => [row.id, row]));
  refuseUnlessAll(found, named);
  return ids.map((id) => found.get(id)!);
}

/** The bound on the records that one request changes; `field` names them in a refusal (413). */
export function boundOfChange(field: string): LengthBound {
  const limit = limits.recordsPerChangeLengthMax;
  return new LengthBound(limit, () => {
    throw fail("records-too-long", { field, limit });
  });
}

/** As `existingRecords`, but reads only the ids and returns nothing. */
export async function refuseUnknownIds<Row extends Stored>(
  tx: CatalogReader,
  table: Table<Row>,
  permitted: Filter,
  named: IdsNamed,
): Promise<void> {
  const filter = and(permitted, oneOf("id", named.ids));
  const page = { limit: named.ids.length };
  const rows = await tx.find(table, { filter, order: byId, page, fields: ["id"] });
  refuseUnlessAll(new Map(rows.map((row) => [row.id, row])), named);
}

/** Refuses repeated ids, and those that are not among the `known` ones. */
export function refuseUnlessAll(known: ReadonlyMap<number, unknown>, { ids, field, status }: IdsNamed): void {
  refuseRepeated({ ids, field });
  const unknown = ids.filter((id) => !known.has(id));
  if (unknown.length > 0) throw fail("ids-unknown", { field, ids: unknown, ...(status && { status }) });
}

function refuseRepeated({ ids, field }: IdsNamed): void {
  if (new Set(ids).size === ids.length) return;
  throw fail("ids-repeated", { field, ids: duplicatesIn(ids) });
}
