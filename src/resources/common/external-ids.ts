// External ids: unique per record type, and an alternative to the id when a caller reads a record.
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { duplicatesIn } from "../../lib/duplicates.ts";
import { and, type Filter, oneOf } from "../../query/filter.ts";
import type { LengthBound } from "../../query/length-bound.ts";
import { byId } from "../../query/page.ts";
import { readInBatches } from "../../query/read-within.ts";
import type { CatalogReader, Stored, Table } from "../../storage/catalog.ts";
import { existingRecords, refuseUnknownIds } from "../../storage/existing-records.ts";

/** The table of a record type, with the noun for its records in refusals. */
export interface RecordType<Row extends Stored & { readonly externalId?: string }> {
  readonly table: Table<Row>;
  readonly noun: string;
}

/** A record's id, or its external id. */
export type RecordName = number | { readonly externalId: string };

/**
 * Refuses (409) rows whose external id belongs to another record, visible to the caller or not, or appears
 * twice. A record that gives up its external id in the same request still counts.
 */
export async function refuseTakenExternalIds<Row extends Stored & { readonly externalId?: string }>(
  tx: CatalogReader,
  { table, noun }: RecordType<Row>,
  rows: readonly Row[],
): Promise<void> {
  const externalIds = await takenExternalIds(tx, { table, noun }, rows);
  if (externalIds.length > 0) throw fail("external-ids-taken", { what: noun, externalIds });
}

/** The external ids that `refuseTakenExternalIds` would refuse. */
export async function takenExternalIds<Row extends Stored & { readonly externalId?: string }>(
  tx: CatalogReader,
  { table }: RecordType<Row>,
  rows: readonly Row[],
): Promise<string[]> {
  const named = rows.filter((row) => row.externalId !== undefined);
  if (named.length === 0) return [];
  const externalIds = named.map((row) => row.externalId!);
  const existing = await rowsByExternalId(tx, table, externalIds);
  const holders = new Map(existing.map((row) => [row.externalId, row.id]));
  const isTaken = (row: Row) => holders.has(row.externalId) && holders.get(row.externalId) !== row.id;
  return [...new Set([...named.filter(isTaken).map((row) => row.externalId!), ...duplicatesIn(externalIds)])];
}

/** Records by external id, and the status of the refusal of unknown ones; default 400. */
export interface ExternalIdsQuery {
  readonly externalIds: readonly string[];
  readonly status?: 404;
  /** The fields to read, including `namesOnly`; absent means all. */
  readonly fields?: readonly string[];
  /** Refuses records that are too long together. */
  readonly bound?: LengthBound | undefined;
}

/** The fields that identify records of every type. */
export const namesOnly = ["id", "externalId"];

/**
 * Reads the records with these external ids, in the same order. Refuses repeated and unknown external ids;
 * ids outside `permitted` count as unknown.
 */
export async function existingByExternalId<Row extends Stored & { readonly externalId?: string }>(
  tx: CatalogReader,
  { table, noun, permitted }: RecordType<Row> & { readonly permitted: Filter },
  { externalIds, fields, bound, ...how }: ExternalIdsQuery,
): Promise<Row[]> {
  const repeated = duplicatesIn(externalIds);
  if (repeated.length > 0) throw fail("external-ids-repeated", { field: "items", externalIds: repeated });
  const rows = await rowsByExternalId(tx, table, externalIds, { permitted, fields, bound });
  const found = new Map(rows.map((row) => [row.externalId, row]));
  const unknown = externalIds.filter((one) => !found.has(one));
  if (unknown.length > 0) throw fail("external-ids-unknown", { what: noun, externalIds: unknown, ...how });
  return externalIds.map((one) => found.get(one)!);
}

/**
 * Returns the ids of the named records, in the same order. Ids themselves are not checked. Refuses like
 * `existingByExternalId`.
 */
export async function idsOf<Row extends Stored & { readonly externalId?: string }>(
  tx: CatalogReader,
  type: RecordType<Row> & { readonly permitted: Filter },
  names: readonly RecordName[],
): Promise<number[]> {
  const externalIds = names.flatMap((name) => (typeof name === "number" ? [] : [name.externalId]));
  const rows =
    externalIds.length > 0 ? await existingByExternalId(tx, type, { externalIds, fields: namesOnly }) : [];
  const ids = new Map(rows.map((row) => [row.externalId, row.id]));
  return names.map((name) => (typeof name === "number" ? name : ids.get(name.externalId)!));
}

interface RowOptions {
  readonly permitted?: Filter;
  readonly fields?: readonly string[] | undefined;
  readonly bound?: LengthBound | undefined;
}

async function rowsByExternalId<Row extends Stored>(
  tx: CatalogReader,
  table: Table<Row>,
  externalIds: readonly string[],
  { permitted, fields = Object.keys(table.columns), bound }: RowOptions = {},
): Promise<Row[]> {
  const filter = and(permitted, oneOf("externalId", [...new Set(externalIds)]));
  const page = { limit: externalIds.length, ...(bound && { bound }) };
  return tx.find(table, { filter, order: byId, page, fields });
}

/**
 * Reads the named records in the same order, in batches, mapped by `make`. Refuses (400) unknown and
 * repeated names.
 */
export function recordsByName<Row extends Stored & { readonly externalId?: string }, Item>(
  ctx: RequestContext,
  type: RecordType<Row> & { readonly permitted: Filter },
  names: readonly RecordName[],
  make: (tx: CatalogReader, rows: readonly Row[]) => Promise<readonly Item[]>,
): AsyncGenerator<readonly Item[]> {
  const { table, permitted } = type;
  return readInBatches(ctx.memory, names, {
    check: (names) =>
      ctx.catalog.read(ctx.projectId, async (tx) => {
        const ids = await idsOf(tx, type, names);
        await refuseUnknownIds(tx, table, permitted, { ids, field: "items" });
      }),
    read: (names, bound) =>
      ctx.catalog.read(ctx.projectId, async (tx) => {
        const ids = await idsOf(tx, type, names);
        return make(tx, await existingRecords(tx, table, permitted, { ids, field: "items", bound }));
      }),
  });
}
