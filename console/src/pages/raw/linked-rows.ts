// The rows of raw tables that are about an asset.
//
// A raw table is linked to assets: its rows are about them, or about assets below. So the search covers the
// tables that are linked to the asset or to one above it. A row is about the asset if its key or one of its
// columns is the name or the external id of the asset.
import { type QueryClient, queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { type Asset, getRaw, getRawByDatabase } from "../../api/generated.ts";
import { useProject } from "../../session/session.ts";
import { type RawRow, readRows, type TableName } from "./raw-data.ts";

/** The rows of a table that are searched. The keys of all rows are, by an index. */
export const rowsSearched = 2_000;
const namesMax = 1_000;

export interface LinkedTable {
  readonly name: TableName;
  readonly rows: readonly RawRow[];
  /** The table has more rows than were searched. */
  readonly isCut: boolean;
}

/** `path`: the asset with those above it, the topmost first. */
export function useLinkedRows(path: readonly Asset[]) {
  const project = useProject();
  const client = useQueryClient();
  const asset = path.at(-1)!;
  const words = [...new Set([asset.name, asset.externalId ?? asset.name])];
  return useQuery({
    queryKey: ["raw", project, "rows about", asset.id, path.map(({ id }) => id), words],
    queryFn: async ({ signal }) => {
      const tables = await linkedTables(project, path, signal);
      return Promise.all(tables.map((name) => rowsAbout(client, name, { words, signal })));
    },
  });
}

async function linkedTables(project: string, path: readonly Asset[], signal: AbortSignal) {
  const tablesOf = async (assetId: number, database: string): Promise<TableName[]> => {
    const { data } = await getRawByDatabase(project, database, { assetId, limit: namesMax }, { signal });
    return data.items.map(({ tableName: table }) => ({ project, database, table }));
  };
  const found = await Promise.all(
    path.map(async ({ id }) => {
      const { data } = await getRaw(project, { assetId: id, limit: namesMax }, { signal });
      return (await Promise.all(data.items.map(({ dbName }) => tablesOf(id, dbName)))).flat();
    }),
  );
  const byName = new Map(found.flat().map((name) => [JSON.stringify([name.database, name.table]), name]));
  return [...byName.values()];
}

/** The start of a table is read once for all assets. */
const startQuery = (name: TableName) =>
  queryOptions({
    queryKey: ["raw", name.project, "rows", name.database, name.table, "start"],
    queryFn: ({ signal }) => readRows(name, { limit: rowsSearched }, signal),
  });

async function rowsAbout(
  client: QueryClient,
  name: TableName,
  { words, signal }: { readonly words: readonly string[]; readonly signal: AbortSignal },
): Promise<LinkedTable> {
  const start = await client.fetchQuery(startQuery(name));
  const rows = start.items.filter(({ key, columns }) =>
    [key, ...Object.values(columns)].some((value) => words.some((word) => word === value)),
  );
  if (start.nextCursor === undefined) return { name, rows, isCut: false };
  const byKey = await Promise.all(words.map((startKey) => readRows(name, { startKey, limit: 1 }, signal)));
  const known = new Set(rows.map(({ key }) => key));
  const more = byKey.flatMap(({ items }) =>
    items.filter(({ key }) => words.includes(key) && !known.has(key)),
  );
  return { name, rows: [...rows, ...more], isCut: true };
}
