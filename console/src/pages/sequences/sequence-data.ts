// Sequences and their rows: the queries and changes of the page.
import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import {
  getSequencesBySequenceId,
  postSequencesBySequenceIdGetdata,
  postSequencesBySequenceIdPostdata,
  type SequenceColumn,
  type SequenceRow,
} from "../../api/generated.ts";
import type { KeyedRow } from "../../ui/row-grid.tsx";

/** Also the start of the key of its rows: a change of a sequence reads both again. */
const keyOf = (project: string, id: number) => ["sequences", project, "record", id];

export const sequenceQuery = (project: string, id: number) =>
  queryOptions({
    queryKey: keyOf(project, id),
    queryFn: async ({ signal }) => (await getSequencesBySequenceId(project, id, { signal })).data.items[0]!,
  });

/** The name of a column in headings and forms. */
export const columnName = ({ id, name, externalId }: SequenceColumn): string =>
  name ?? externalId ?? String(id);

/** Columns have no member for their unit; it is in the metadata, as by the demo plant and by most writers. */
export const unitOf = ({ metadata }: SequenceColumn): string | undefined => metadata["unit"];

export const headingOf = (column: SequenceColumn): string =>
  unitOf(column) === undefined ? columnName(column) : `${columnName(column)} (${unitOf(column)})`;

export interface RowsPage {
  readonly rows: readonly KeyedRow[];
  readonly nextCursor: string | undefined;
}

type RowsQuery = Parameters<typeof postSequencesBySequenceIdGetdata>[2]["items"][number];

/** A page of rows; the server ends a page of long rows before `limit`. */
export async function readRows(
  project: string,
  id: number,
  query: RowsQuery,
  signal: AbortSignal | null,
): Promise<RowsPage> {
  const { data } = await postSequencesBySequenceIdGetdata(project, id, { items: [query] }, {}, { signal });
  return { rows: data.items[0]!.rows.map(keyed), nextCursor: data.nextCursor };
}

const keyed = ({ rowNumber, values }: SequenceRow): KeyedRow => ({
  key: String(rowNumber),
  columns: Object.fromEntries(values.map(({ columnId, value }) => [columnId, value])),
});

const rowsPageSize = 200;

/** The rows from a number on. */
export const rowsQuery = (project: string, id: number, from: string | undefined) =>
  infiniteQueryOptions({
    queryKey: [...keyOf(project, id), "rows", from ?? null],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) => {
      const start = from === undefined ? {} : { inclusiveFrom: from };
      const next = cursor === undefined ? {} : { cursor };
      return readRows(project, id, { ...start, ...next, limit: rowsPageSize }, signal);
    },
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });

/** One row; null when there is none with this number. */
export async function readRow(
  project: string,
  id: number,
  row: string,
  signal: AbortSignal | null,
): Promise<KeyedRow | null> {
  const { rows } = await readRows(project, id, { inclusiveFrom: row, inclusiveTo: row }, signal);
  return rows[0] ?? null;
}

export const rowQuery = (project: string, id: number, row: string) =>
  queryOptions({
    queryKey: [...keyOf(project, id), "row", row],
    queryFn: ({ signal }) => readRow(project, id, row, signal),
  });

/** The most rows of one response. */
const exportPageSize = 10_000;

/** Every row in pages, in the order of the numbers. */
export async function* allRows(
  project: string,
  id: number,
  signal: AbortSignal,
): AsyncGenerator<{ readonly items: readonly KeyedRow[] }> {
  for (let cursor: string | undefined; ; ) {
    const next = cursor === undefined ? {} : { cursor };
    const page = await readRows(project, id, { ...next, limit: exportPageSize }, signal);
    yield { items: page.rows };
    if (page.nextCursor === undefined) return;
    cursor = page.nextCursor;
  }
}

export interface WrittenRow {
  readonly rowNumber: string;
  readonly values: { readonly columnId: number; readonly value: number | string | null }[];
}

/** Writes a row in place of the one with its number. */
export const writeRow = (project: string, id: number, { rowNumber, values }: WrittenRow) =>
  postSequencesBySequenceIdPostdata(project, id, { items: [{ rows: [{ rowNumber, values }] }] });

/** A change of a sequence or its rows; every list of sequences is read again after it. */
export function useSequenceChange<Variables>(
  change: (variables: Variables) => Promise<unknown>,
  onDone: () => Promise<void> | void,
) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: async () => {
      await onDone();
      await queryClient.invalidateQueries({ queryKey: ["sequences"] });
    },
  });
}
