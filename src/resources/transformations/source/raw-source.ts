// The raw tables of queries. Rows are sent as they are stored; the engine takes the columns from them.
import type { RequestContext } from "../../../context.ts";
import { membersIn } from "../../../lib/json-text.ts";
import { limits } from "../../../limits.ts";
import { everything, type Filter } from "../../../query/filter.ts";
import { LengthBound } from "../../../query/length-bound.ts";
import type { Page, PageQuery } from "../../../query/page.ts";
import type { SqlColumn, SqlPage, SqlRead, SqlTable } from "../../../sql-runner/sql-runner.ts";
import { lastRawCommit, listChangedRows, listRows, type RawRow } from "../../raw/rows.ts";
import { rawTableId, type TableName } from "../../raw/tables.ts";
import { filtersOf } from "./lookups.ts";

/** `raw` for the columns of its rows, `rows` for their JSON. */
export type RawName = TableName & { readonly kind: "raw" | "rows" };

const rowColumns: readonly SqlColumn[] = [
  { name: "key", type: "text" },
  { name: "lastChangedTime", type: "integer" },
  { name: "commitNumber", type: "integer" },
];

const keys = ["key"];

export async function describeRaw(ctx: RequestContext, name: RawName): Promise<SqlTable> {
  const id = await rawTableId(ctx, name);
  if (name.kind === "rows")
    return { columns: [...rowColumns, { name: "columns", type: "json" }], keys, hasCommits: true };
  return { columns: rowColumns, keys, members: [...(await columnNames(ctx, name, id))], hasCommits: true };
}

/** Reads the rows that were written since the last time; the first time, all. */
async function columnNames(ctx: RequestContext, name: TableName, id: number): Promise<ReadonlySet<string>> {
  const { columnNames: known } = ctx.transformations;
  const before = known.get(id);
  const commit = await lastRawCommit(ctx);
  if (before && before.commit >= commit) return before.names;
  const names = new Set(before?.names);
  for await (const rows of rowsOf(ctx, name, { filter: everything, afterCommit: before?.commit }))
    for (const { columns } of rows)
      for (const { name } of membersIn(columns, 0))
        if (names.size < limits.transformationColumnsMax) names.add(name);
  known.set(id, { names, commit });
  return names;
}

export async function* readRaw(ctx: RequestContext, name: TableName, read: SqlRead): AsyncGenerator<SqlPage> {
  for (const filter of filtersOf(read))
    for await (const rows of rowsOf(ctx, name, { filter, afterCommit: read.afterCommit }))
      yield `[${rows.map((row) => rowJson(row, read)).join(",")}]`;
}

async function* rowsOf(
  ctx: RequestContext,
  name: TableName,
  { filter, afterCommit }: { readonly filter: Filter; readonly afterCommit: number | undefined },
): AsyncGenerator<readonly RawRow[]> {
  const list = (page: PageQuery) =>
    afterCommit === undefined
      ? listRows(ctx, name, { filter, page })
      : listChangedRows(ctx, name, { afterCommit, page });
  for (let from: Pick<PageQuery, "after"> | undefined = {}; from; ) {
    const bound = new LengthBound(limits.transformationPageLength);
    const found: Page<RawRow> = await list({ limit: limits.transformationSourceRows, bound, ...from });
    yield found.items;
    from = found.next && { after: found.next };
  }
}

/** A row of an older version has no commit number: it is older than all marks. */
function rowJson({ key, lastUpdatedTime, commitNumber = 0, columns }: RawRow, read: SqlRead): string {
  const values = { key, lastChangedTime: lastUpdatedTime, commitNumber, columns };
  const written = read.columns.map((column) => JSON.stringify(values[column as keyof typeof values]));
  return `[${[...written, ...(read.members.length > 0 ? [columns] : [])].join(",")}]`;
}
