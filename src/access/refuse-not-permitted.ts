// Refuses a write that leaves records which its caller may not write.
import { fail } from "../errors.ts";
import { and, type Filter, oneOf } from "../query/filter.ts";
import type { CatalogReader, Stored, Table } from "../storage/catalog.ts";
import type { Acl } from "./capabilities.ts";

/** Refuses (403) rows that do not meet `permitted`, the filter of the records that the caller may write. */
export async function refuseNotPermitted<Row extends Stored>(
  tx: CatalogReader,
  table: Table<Row>,
  permitted: Filter,
  { acl, rows }: { readonly acl: Acl; readonly rows: readonly Row[] },
): Promise<void> {
  if (permitted.kind === "everything" || rows.length === 0) return;
  const ids = rows.map((row) => row.id);
  const inside = await tx.count(table, and(permitted, oneOf("id", ids)));
  if (inside < rows.length) throw fail("outside-scope", { acl, action: "WRITE" });
}
