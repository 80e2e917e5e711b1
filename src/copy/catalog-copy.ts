// Copies the records of a catalog to another one, and compares the two.
//
// Records are written in the order of their ids or keys, each page in one transaction. So the last record of
// the target says where an interrupted copy continues.
import { createHash } from "node:crypto";
import { limits } from "../limits.ts";
import { everything } from "../query/filter.ts";
import { LengthBound } from "../query/length-bound.ts";
import type { OrderBy, Position } from "../query/page.ts";
import { uploadTable } from "../resources/files/schema.ts";
import { allProjects } from "../resources/projects/projects.ts";
import { tables } from "../resources.ts";
import type { AnyTable, Catalog, CatalogWriter, Stored, Table, Tenant } from "../storage/catalog.ts";
import { manifestTable } from "../storage/manifest.ts";
import { copyTable } from "./copy-record.ts";

type Row = Readonly<Record<string, unknown>>;

/** The records of one tenant in one table. */
export interface TablePart {
  readonly tenant: Tenant;
  readonly table: AnyTable;
}

/** Each installation has its own: they are about its data folders, and about the copy. */
const ownTables: readonly string[] = [manifestTable.name, copyTable.name];

/** All parts of the catalog that a copy has. The source has the same ones until the copy is complete. */
export async function partsOf(catalog: Catalog): Promise<TablePart[]> {
  const projects = await catalog.read("system", allProjects);
  const copied = tables.filter(({ name }) => !ownTables.includes(name));
  const parts = (tenant: Tenant, belongsTo: AnyTable["belongsTo"]) =>
    copied.filter((table) => table.belongsTo === belongsTo).map((table) => ({ tenant, table }));
  return [...parts("system", "system"), ...projects.flatMap(({ id }) => parts(id, "project"))];
}

/** Copies the records that the target lacks; reports the number of each page. */
export async function copyPart(
  { from, to }: { readonly from: Catalog; readonly to: Catalog },
  part: TablePart,
  onRecords: (count: number) => void,
): Promise<void> {
  for await (const rows of pagesOf(from, part, await lastPosition(to, part))) {
    await to.write(part.tenant, (tx) => writeRows(tx, part.table, rows));
    onRecords(rows.length);
  }
}

const writeRows = (tx: CatalogWriter, table: AnyTable, rows: readonly Row[]): Promise<void> =>
  table.key
    ? tx.put(table, rows)
    : tx.insert(table as unknown as Table<Stored>, rows as readonly (Row & Stored)[]);

/** The records of a part, as a copy has them. */
async function* pagesOf(catalog: Catalog, part: TablePart, start?: Position): AsyncGenerator<Row[]> {
  const { tenant, table } = part;
  const order = orderOf(table, "ascending");
  let after = start;
  for (;;) {
    const bound = new LengthBound(limits.copyRecordsLength);
    const page = { limit: limits.copyRecordsAtOnce, bound, ...(after && { after }) };
    const rows: Row[] = await catalog.read(tenant, (tx) =>
      tx.find(table, { filter: everything, order, page }),
    );
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows.map((row) => asCopied(table, row));
    after = positionOf(order, last);
  }
}

async function lastPosition(catalog: Catalog, { tenant, table }: TablePart): Promise<Position | undefined> {
  const order = orderOf(table, "descending");
  const query = { filter: everything, order, page: { limit: 1 } };
  const [last] = await catalog.read(tenant, (tx) => tx.find(table, query));
  return last && positionOf(order, last);
}

const orderOf = (table: AnyTable, direction: OrderBy["direction"]): readonly OrderBy[] =>
  (table.key ?? ["id"]).map((field) => ({ field, direction }));

const positionOf = (order: readonly OrderBy[], row: Row): Position =>
  order.map(({ field }) => row[field] as string | number);

/**
 * No server of the source runs, so no work has an owner, whose number could be that of a server of the
 * target. The target lacks the bytes of an unfinished upload, which therefore starts at its first byte.
 */
function asCopied(table: AnyTable, row: Row): Row {
  if (table.name === uploadTable.name) return { ...row, received: 0 };
  if (table.columns["owner"]?.type !== "integer") return row;
  const { owner: _, ...rest } = row;
  return rest;
}

export interface Sum {
  readonly count: number;
  readonly sha256: string;
}

/** The number of records of a part, and a checksum over all of their values. */
export async function sumOfPart(catalog: Catalog, part: TablePart): Promise<Sum> {
  const hash = createHash("sha256");
  let count = 0;
  for await (const rows of pagesOf(catalog, part)) {
    for (const row of rows) hash.update(`${JSON.stringify(row, sortedMembers)}\n`);
    count += rows.length;
  }
  return { count, sha256: hash.digest("hex") };
}

/** Databases return the members of a record in different orders. */
function sortedMembers(_name: string, value: unknown): unknown {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members);
}
