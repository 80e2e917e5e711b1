// Holds what was written against the scope of who wrote it.
import { fail } from "../errors.ts";
import { and, type Filter, oneOf } from "../query/filter.ts";
import type { CatalogReader, Stored, Table } from "../storage/catalog.ts";
import type { Acl } from "./capabilities.ts";

/** Refuses (403) records that now lie outside of `scope`, which is what the caller may write. */
export async function refuseOutsideScope<Row extends Stored>(
  tx: CatalogReader,
  table: Table<Row>,
  scope: Filter,
  { acl, rows }: { readonly acl: Acl; readonly rows: readonly Row[] },
): Promise<void> {
  if (scope.kind === "everything" || rows.length === 0) return;
  const ids = rows.map((row) => row.id);
  const inside = await tx.count(table, and(scope, oneOf("id", ids)));
  if (inside < rows.length) throw fail("outside-scope", { acl, action: "WRITE" });
}
