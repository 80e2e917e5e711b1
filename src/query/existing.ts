// Reads records by ids that a caller has named, and refuses those that are not there.
import { fail } from "../errors.ts";
import { repeatedOf } from "../lib/repeated.ts";
import type { Reader, Stored, Table } from "../storage/catalog.ts";
import { and, type Filter, oneOf } from "./filter.ts";
import { byId } from "./page.ts";

export interface IdsNamed {
  readonly ids: readonly number[];
  /** What the caller named them in. */
  readonly field: string;
  /** How unknown ids are refused; 400 when absent. */
  readonly status?: 404;
}

/**
 * These records in the order asked. Refuses repeated ids, and ids outside of `scope`, which look like unknown
 * ones (client-endpoints (b) 21).
 */
export async function existingRecords<Row extends Stored>(
  tx: Reader,
  table: Table<Row>,
  scope: Filter,
  named: IdsNamed,
): Promise<Row[]> {
  const { ids } = named;
  if (ids.length === 0) return [];
  refuseRepeated(named);
  const filter = and(scope, oneOf("id", ids));
  const rows = await tx.find(table, { filter, order: byId, page: { limit: ids.length } });
  const found = new Map(rows.map((row) => [row.id, row]));
  refuseUnlessAll(found, named);
  return ids.map((id) => found.get(id)!);
}

/** Refuses repeated ids, and those that are not among the `known` ones. */
export function refuseUnlessAll(known: ReadonlyMap<number, unknown>, { ids, ...named }: IdsNamed): void {
  refuseRepeated({ ids, ...named });
  const unknown = ids.filter((id) => !known.has(id));
  if (unknown.length > 0) throw fail("ids-unknown", { ...named, ids: unknown });
}

function refuseRepeated({ ids, ...named }: IdsNamed): void {
  if (new Set(ids).size === ids.length) return;
  throw fail("ids-repeated", { ...named, ids: repeatedOf(ids) });
}
