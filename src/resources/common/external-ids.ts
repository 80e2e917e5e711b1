// External ids: unique among the records of one type, and a second name by which a caller reads a record.
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { duplicatesIn } from "../../lib/duplicates.ts";
import { existingRecords, refuseUnknownIds } from "../../query/existing.ts";
import { and, type Filter, oneOf } from "../../query/filter.ts";
import type { LengthBound } from "../../query/length-bound.ts";
import { byId } from "../../query/page.ts";
import { readInBatches } from "../../query/read-within.ts";
import type { CatalogReader, Stored, Table } from "../../storage/catalog.ts";

/** The records of one type, and the noun for them in a refusal. */
export interface RecordType<Row extends Stored & { readonly externalId?: string }> {
  readonly table: Table<Row>;
  readonly noun: string;
}

/** How a caller names a record to read. */
export type RecordName = number | { readonly externalId: string };

/**
 * Refuses (409) records to be written whose external id another record has, visible to the caller or not, or
 * of which two have the same one. A record that gives up its external id in the same request still has it.
 */
export async function refuseTakenExternalIds<Row extends Stored & { readonly externalId?: string }>(
  tx: CatalogReader,
  { table, noun }: RecordType<Row>,
  rows: readonly Row[],
): Promise<void> {
  const externalIds = await takenExternalIds(tx, { table, noun }, rows);
  if (externalIds.length > 0) throw fail("external-ids-taken", { what: noun, externalIds });
}

/** The external ids for which `refuseTakenExternalIds` would refuse these records. */
export async function takenExternalIds<Row extends Stored & { readonly externalId?: string }>(
  tx: CatalogReader,
  { table }: RecordType<Row>,
  rows: readonly Row[],
): Promise<string[]> {
  const named = rows.filter((row) => row.externalId !== undefined);
  if (named.length === 0) return [];
  const externalIds = named.map((row) => row.externalId!);
  const held = await rowsByExternalId(tx, table, externalIds);
  const holders = new Map(held.map((row) => [row.externalId, row.id]));
  const isHeld = (row: Row) => holders.has(row.externalId) && holders.get(row.externalId) !== row.id;
  return [...new Set([...named.filter(isHeld).map((row) => row.externalId!), ...duplicatesIn(externalIds)])];
}

/** Which records, and how unknown external ids are refused; 400 when absent. */
export interface ExternalIdsQuery {
  readonly externalIds: readonly string[];
  readonly status?: 404;
  /** What is needed of the records, `namesOnly` included; all of them when absent. */
  readonly fields?: readonly string[];
  /** Refuses records that are too long together. */
  readonly bound?: LengthBound | undefined;
}

/** What the records of every type are known by. */
export const namesOnly = ["id", "externalId"];

/**
 * The records with these external ids, in the same order. Refuses repeated external ids, and those outside of
 * `scope` as unknown ones.
 */
export async function existingByExternalId<Row extends Stored & { readonly externalId?: string }>(
  tx: CatalogReader,
  { table, noun, scope }: RecordType<Row> & { readonly scope: Filter },
  { externalIds, fields, bound, ...how }: ExternalIdsQuery,
): Promise<Row[]> {
  const repeated = duplicatesIn(externalIds);
  if (repeated.length > 0) throw fail("external-ids-repeated", { field: "items", externalIds: repeated });
  const rows = await rowsByExternalId(tx, table, externalIds, { scope, fields, bound });
  const found = new Map(rows.map((row) => [row.externalId, row]));
  const unknown = externalIds.filter((one) => !found.has(one));
  if (unknown.length > 0) throw fail("external-ids-unknown", { what: noun, externalIds: unknown, ...how });
  return externalIds.map((one) => found.get(one)!);
}

/** The ids of these records, in the same order; ids are not looked up. Refuses as `existingByExternalId`. */
export async function idsOf<Row extends Stored & { readonly externalId?: string }>(
  tx: CatalogReader,
  type: RecordType<Row> & { readonly scope: Filter },
  names: readonly RecordName[],
): Promise<number[]> {
  const externalIds = names.flatMap((name) => (typeof name === "number" ? [] : [name.externalId]));
  const rows =
    externalIds.length > 0 ? await existingByExternalId(tx, type, { externalIds, fields: namesOnly }) : [];
  const ids = new Map(rows.map((row) => [row.externalId, row.id]));
  return names.map((name) => (typeof name === "number" ? name : ids.get(name.externalId)!));
}

interface RowOptions {
  readonly scope?: Filter;
  readonly fields?: readonly string[] | undefined;
  readonly bound?: LengthBound | undefined;
}

async function rowsByExternalId<Row extends Stored>(
  tx: CatalogReader,
  table: Table<Row>,
  externalIds: readonly string[],
  { scope, fields = Object.keys(table.columns), bound }: RowOptions = {},
): Promise<Row[]> {
  const filter = and(scope, oneOf("externalId", [...new Set(externalIds)]));
  const page = { limit: externalIds.length, ...(bound && { bound }) };
  return tx.find(table, { filter, order: byId, page, fields });
}

/**
 * The records with these names in the same order, in batches, as `make` gives them to the caller. Refuses
 * (400) unknown and repeated ones.
 */
export function recordsByName<Row extends Stored & { readonly externalId?: string }, Item>(
  ctx: RequestContext,
  type: RecordType<Row> & { readonly scope: Filter },
  names: readonly RecordName[],
  make: (tx: CatalogReader, rows: readonly Row[]) => Promise<readonly Item[]>,
): AsyncGenerator<readonly Item[]> {
  const { table, scope } = type;
  return readInBatches(ctx.memory, names, {
    check: (names) =>
      ctx.catalog.read(ctx.project, async (tx) => {
        const ids = await idsOf(tx, type, names);
        await refuseUnknownIds(tx, table, scope, { ids, field: "items" });
      }),
    read: (names, bound) =>
      ctx.catalog.read(ctx.project, async (tx) => {
        const ids = await idsOf(tx, type, names);
        return make(tx, await existingRecords(tx, table, scope, { ids, field: "items", bound }));
      }),
  });
}
