// Databases, tables and rows of raw data: the queries and changes of the pages.
import { HttpError } from "@oazapfts/runtime";
import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import {
  defaults,
  getRaw,
  getRawByDatabase,
  type LinkedRawTable,
  postRawByDatabaseByTableCreate,
  type RawDatabase,
} from "../../api/generated.ts";
import { allItems } from "../../api/list-pages.ts";
import { parseExact } from "../../lib/exact-json.ts";

export interface RawRow {
  readonly key: string;
  readonly columns: Readonly<Record<string, unknown>>;
  readonly lastUpdatedTime: number;
}

export interface TableName {
  readonly project: string;
  readonly database: string;
  readonly table: string;
}

export interface RowsPage {
  readonly items: readonly RawRow[];
  readonly nextCursor?: string;
  readonly previousCursor?: string;
  readonly rowCount?: number;
}

const namesPageSize = 1_000;
const rowsPageSize = 200;
/** The most rows of one response. */
const rowsPageMax = 10_000;

export const databasesQuery = (project: string) =>
  queryOptions({
    queryKey: ["raw", project, "databases"],
    queryFn: async ({ signal }) => {
      const read = async (cursor: string | undefined) =>
        (await getRaw(project, { limit: namesPageSize, cursor }, { signal })).data;
      return (await allItems<RawDatabase>(read)).map(({ dbName }) => dbName);
    },
  });

/** The tables of a database, with the assets that their rows are about. */
export const tablesQuery = (project: string, database: string) =>
  queryOptions({
    queryKey: ["raw", project, "tables", database],
    queryFn: ({ signal }) =>
      allItems<LinkedRawTable>(
        async (cursor) =>
          (await getRawByDatabase(project, database, { limit: namesPageSize, cursor }, { signal })).data,
      ),
  });

/** The assets that the rows of a table are about. */
export const assetsOf = (tables: readonly LinkedRawTable[] | undefined, table: string): readonly number[] =>
  tables?.find(({ tableName }) => tableName === table)?.assetIds ?? noAssets;

const noAssets: readonly number[] = [];

const pathOf = ({ project, database, table }: TableName): string =>
  ["/api/0.6/projects", ...[project, "raw", database, table].map(encodeURIComponent)].join("/");

/** Reads with every digit of numbers, which the generated client would round. */
async function getExact(path: string, signal: AbortSignal): Promise<{ readonly data: unknown }> {
  // The headers say as which group this window sees.
  const headers = defaults.headers as Record<string, string>;
  const response = await defaults.fetch!(`${defaults.baseUrl}${path}`, { signal, headers });
  const text = await response.text();
  if (!response.ok) throw new HttpError(response.status, text, response.headers);
  return parseExact(text) as { readonly data: unknown };
}

export type RowsParameters = Readonly<Record<string, string | number | boolean | undefined>>;

export async function readRows(
  name: TableName,
  sent: RowsParameters,
  signal: AbortSignal,
): Promise<RowsPage> {
  const given = Object.entries(sent).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, String(value)]],
  );
  const { data } = await getExact(`${pathOf(name)}?${new URLSearchParams(given)}`, signal);
  return data as RowsPage;
}

/** The rows around a key: pages after and before it. */
export const rowsQuery = (name: TableName, from: string | undefined) =>
  infiniteQueryOptions({
    queryKey: ["raw", name.project, "rows", name.database, name.table, "from", from ?? null],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      readRows(
        name,
        { limit: rowsPageSize, ...(cursor === undefined ? { startKey: from } : { cursor }) },
        signal,
      ),
    getNextPageParam: ({ nextCursor }) => nextCursor,
    getPreviousPageParam: ({ previousCursor }) => previousCursor,
  });

export const rowCountQuery = (name: TableName) =>
  queryOptions({
    queryKey: ["raw", name.project, "rows", name.database, name.table, "count"],
    queryFn: async ({ signal }) =>
      (await readRows(name, { limit: 1, columns: ",", includeRowCount: true }, signal)).rowCount ?? 0,
  });

/** One row. Its key is no segment of the path: browsers remove `.` and `..`. */
export const rowQuery = (name: TableName, key: string) =>
  queryOptions({
    queryKey: ["raw", name.project, "rows", name.database, name.table, "row", key],
    queryFn: async ({ signal }) => {
      const { items } = await readRows(name, { startKey: key, limit: 1 }, signal);
      const [row] = items;
      if (row?.key !== key) throw new Error(`There is no row with the key ${key}.`);
      return row;
    },
  });

/** Every row of the table in pages, in the order of the keys. */
export async function* allRows(name: TableName, signal: AbortSignal): AsyncGenerator<RowsPage> {
  for (let cursor: string | undefined; ; ) {
    const page = await readRows(name, { limit: rowsPageMax, cursor }, signal);
    yield page;
    if (page.nextCursor === undefined) return;
    cursor = page.nextCursor;
  }
}

export interface NewRow {
  readonly key: string;
  readonly columns: Readonly<Record<string, unknown>>;
}

export const writeRows = (name: TableName, items: readonly NewRow[], signal: AbortSignal) =>
  postRawByDatabaseByTableCreate(
    name.project,
    name.database,
    name.table,
    { items: [...items] },
    { ensureParent: true },
    { signal },
  );

/** A change of raw data; every list of raw data is read again after it. */
export function useRawChange<Variables>(
  change: (variables: Variables) => Promise<unknown>,
  onDone: () => void,
) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: async () => {
      onDone();
      await queryClient.invalidateQueries({ queryKey: ["raw"] });
    },
  });
}

/** The names of all columns of the rows, in the order in which they appear. */
export function columnNamesOf(rows: readonly RawRow[]): string[] {
  const names = new Set<string>();
  for (const { columns } of rows) for (const name of Object.keys(columns)) names.add(name);
  return [...names];
}
