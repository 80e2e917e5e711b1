// Runs a query: finds its tables, stores the columns that it reads in temporary tables, and sends the result.
import { DatabaseSync } from "node:sqlite";
import { parseJson } from "../../lib/json.ts";
import { limits } from "../../limits.ts";
import type { DescribeReply, EngineMessage, QueryTask } from "../frames.ts";
import {
  type SqlColumn,
  SqlFailure,
  type SqlLookup,
  type SqlMarks,
  type SqlRead,
  type SqlSummary,
} from "../sql-runner.ts";
import { folded, sameName } from "../tokens.ts";
import { Authorizer } from "./authorizer.ts";
import { defineFunctions, functionNames } from "./functions.ts";
import { keyLookups } from "./key-lookups.ts";
import type { Names } from "./name-functions.ts";
import { newRowsFilter } from "./new-rows.ts";
import { offsetOf } from "./problems.ts";
import { commitColumn, type QueryText, quoted, readQuery, recordsSchema } from "./query-text.ts";
import { sendRows } from "./result-rows.ts";
import { StagedTable } from "./staged-table.ts";

/** The server: a call blocks until the message is sent, `ask` until the reply is there. */
export interface EngineServer {
  send(message: EngineMessage): void;
  ask(message: EngineMessage): string;
}

interface UsedTable {
  readonly table: StagedTable;
  readonly columns: ReadonlySet<string>;
}

/** The table that is read next, and which of its rows. */
interface NextRead {
  readonly next: UsedTable;
  readonly only: Pick<SqlRead, "afterCommit" | "lookup">;
}

export class QueryEngine {
  readonly #task: QueryTask;
  readonly #server: EngineServer;
  readonly #query: QueryText;
  readonly #db: DatabaseSync;
  readonly #authorizer = new Authorizer(functionNames);
  readonly #tables = new Map<string, StagedTable>();
  readonly #schemas = new Set(["main", "temp"]);

  constructor(task: QueryTask, server: EngineServer) {
    this.#task = task;
    this.#server = server;
    this.#query = readQuery(task.sql);
    // SQLite keeps a database without a name in temporary files.
    this.#db = new DatabaseSync("", { limits: { ...databaseLimits, length: task.limits.valueBytes } });
    this.#db.setAuthorizer(this.#authorizer.decide);
  }

  run(): SqlSummary {
    const names: Names = { assets: () => this.#records("assets"), series: () => this.#records("series") };
    defineFunctions(this.#db, { names, isNew: (name, commit) => this.#isNew(name, commit) });
    this.#prepare();
    const used = [...this.#authorizer.tables.values()].map((use) => {
      const table = this.#tables.get(keyOf(use.schema, use.table));
      if (!table) throw new SqlFailure({ kind: "forbidden", message: `A query may not read ${use.table}` });
      return { table, columns: use.columns };
    });
    const marks = this.#nextMarks();
    this.#readLists(names);
    this.#divideCache();
    this.#stageAll(used);
    this.#db.exec("ANALYZE");
    // The tables are complete, so that the planner knows their size.
    const statement = this.#authorizer.prepare(() => this.#db.prepare(this.#query.text));
    this.#authorizer.lock();
    this.#server.send({
      kind: "columns",
      columns: statement.columns().map((column) => this.#column(column)),
    });
    const result = sendRows(statement, this.#task, (rows) => this.#server.send({ kind: "rows", rows }));
    return { ...result, marks };
  }

  /** Prepares the query again for each table that it lacks. */
  #prepare(): void {
    for (;;)
      try {
        this.#authorizer.prepare(() => this.#db.prepare(this.#query.text));
        return;
      } catch (error) {
        const { message } = error as Error;
        const name = /^no such table: (.*)$/s.exec(message)?.[1];
        if (name === undefined || !this.#declare(name)) throw this.#clearer(error as Error);
      }
  }

  /** `is_new` in a query without raw tables reads a column that the query does not name. */
  #clearer(error: Error): Error {
    const { message } = error;
    const names = this.#query.markNames;
    if (names.length === 0 || !message.includes(commitColumn)) return error;
    const hint = /^ambiguous/.test(message)
      ? `is_new needs the table, as there are several: is_new('${names[0]}', t.${commitColumn})`
      : "is_new is for queries of tables with raw rows";
    return new SqlFailure({ kind: "syntax", message: hint, ...offsetOf(this.#task.sql, ": is_new") });
  }

  /** Creates an empty table. False if it has been created before. */
  #declare(written: string): boolean {
    const place = this.#placeOf(written);
    if (!place) throw unknownTable(written, this.#task.sql);
    const { schema, table } = place;
    const key = keyOf(schema, table);
    if (this.#tables.has(key)) return false;
    if (this.#tables.size >= limits.sqlTablesMax)
      throw new SqlFailure({
        kind: "syntax",
        message: `A query names at most ${limits.sqlTablesMax} tables`,
      });
    const name = !sameName(schema, recordsSchema)
      ? ({ kind: "raw", database: schema, table } as const)
      : (this.#query.tableFunctions.get(table) ?? ({ kind: "records", name: table, args: [] } as const));
    const described = parseJson(this.#server.ask({ kind: "describe", name })) as DescribeReply;
    if (!described) throw unknownTable(written, this.#task.sql);
    this.#attach(schema);
    const staged = new StagedTable(this.#db, { name, schema, table, described }, this.#query.tokens);
    staged.create();
    this.#tables.set(key, staged);
    return true;
  }

  /** The schema and the table of a name in a message of SQLite. */
  #placeOf(written: string): { readonly schema: string; readonly table: string } | undefined {
    for (const name of this.#query.tableFunctions.keys())
      if (written === `${recordsSchema}.${name}`) return { schema: recordsSchema, table: name };
    const { tokens } = this.#query;
    for (const [at, { value: schema }] of tokens.entries()) {
      const table = tokens[at + 2]?.value;
      if (tokens[at + 1]?.value === "." && `${schema}.${table}` === written) return { schema, table: table! };
    }
    return undefined;
  }

  #attach(schema: string): void {
    const name = folded(schema);
    if (this.#schemas.has(name)) return;
    if (this.#schemas.size >= databaseLimits.attach)
      throw new SqlFailure({
        kind: "syntax",
        message: `A query reads tables of at most ${databaseLimits.attach - 2} databases`,
      });
    this.#db.exec(`ATTACH '' AS ${quoted(schema)}`);
    this.#db.exec(`PRAGMA ${quoted(schema)}.journal_mode = OFF`);
    this.#schemas.add(name);
  }

  #divideCache(): void {
    const kibibytes = Math.floor(limits.sqlCacheBytes / 1024 / this.#schemas.size);
    for (const schema of this.#schemas) this.#db.exec(`PRAGMA ${quoted(schema)}.cache_size = -${kibibytes}`);
  }

  #nextMarks(): SqlMarks {
    const { markNames } = this.#query;
    if (markNames.length === 0) return {};
    const commit = Number(this.#server.ask({ kind: "lastCommit" }));
    return Object.fromEntries(markNames.map((name) => [name, commit]));
  }

  /** Reads tables of changed rows first, then those of which these need only some rows. */
  #stageAll(used: readonly UsedTable[]): void {
    const stored = new Set<UsedTable>();
    while (stored.size < used.length) {
      const waiting = used.filter((one) => !stored.has(one));
      const { next, only } = this.#nextRead(
        waiting,
        [...stored].map(({ table }) => table),
      );
      this.#stage(next, only);
      stored.add(next);
    }
  }

  #nextRead(waiting: readonly UsedTable[], staged: readonly StagedTable[]): NextRead {
    for (const next of waiting) {
      const afterCommit = this.#afterCommitOf(next.table);
      if (afterCommit !== undefined) return { next, only: { afterCommit } };
    }
    for (const next of waiting) {
      const lookup = this.#lookupIn(next.table, staged);
      if (lookup) return { next, only: { lookup } };
    }
    const isRaw = ({ table }: UsedTable) => table.place.name.kind !== "records";
    return { next: waiting.find(isRaw) ?? waiting[0]!, only: {} };
  }

  #afterCommitOf({ hasCommits, place }: StagedTable): number | undefined {
    const filter = hasCommits ? newRowsFilter(this.#query.tokens, place) : undefined;
    return filter === undefined ? undefined : this.#markOf(filter);
  }

  /** The rows that can be joined with those of tables that are stored. */
  #lookupIn(table: StagedTable, staged: readonly StagedTable[]): SqlLookup | undefined {
    const places = staged.map((one) => ({ ...one.place, staged: one }));
    for (const { column, from } of keyLookups(this.#query.tokens, table.place, places)) {
      const key = table.keyNamed(column);
      const values = key && from.table.staged.valuesFor(key, from.column);
      if (values) return { column: key.name, values };
    }
    return undefined;
  }

  #stage({ table, columns }: UsedTable, only: NextRead["only"]): void {
    const read = table.readOf(columns, only);
    for (const page of this.#pages({ kind: "read", name: table.place.name, read })) {
      table.add(page);
      this.#refuseLargeFiles();
    }
  }

  *#pages(first: EngineMessage): Generator<string> {
    for (let page = this.#server.ask(first); page !== "null"; page = this.#server.ask({ kind: "next" }))
      yield page;
  }

  #refuseLargeFiles(): void {
    const { diskBytes } = this.#task.limits;
    let bytes = 0;
    for (const schema of this.#schemas) {
      const { page_count: pages } = this.#db.prepare(`PRAGMA ${quoted(schema)}.page_count`).get() as {
        page_count: number;
      };
      bytes += pages * pageBytes;
    }
    if (bytes > diskBytes)
      throw new SqlFailure({
        ...{ kind: "bound", bound: "diskBytes", limit: diskBytes },
        message: `The tables of the query take more than ${diskBytes} bytes`,
      });
  }

  /** Reads the lists that functions search: afterwards the server need not keep them. */
  #readLists(names: Names): void {
    const { functions } = this.#authorizer;
    if (functions.has("asset_id") || functions.has("match_tag")) names.assets();
    if (functions.has("series_id")) names.series();
  }

  readonly #lists = new Map<string, readonly (readonly [number, string, string | null])[]>();

  #records(name: string) {
    const known = this.#lists.get(name);
    if (known) return known;
    const rows: (readonly [number, string, string | null])[] = [];
    const read = { columns: ["id", "name", "externalId"], members: [] };
    for (const page of this.#pages({ kind: "read", name: { kind: "records", name, args: [] }, read }))
      for (const row of parseJson(page) as typeof rows) rows.push(row);
    this.#lists.set(name, rows);
    return rows;
  }

  #markOf(name: string): number | undefined {
    const { marks } = this.#task;
    return marks && Object.hasOwn(marks, name) ? marks[name] : undefined;
  }

  #isNew(name: string, commit: number | null): boolean {
    const mark = this.#markOf(name);
    return mark === undefined || (commit !== null && commit > mark);
  }

  #column({ name, column, table, database }: ReturnType<SourceColumns>[number]): SqlColumn {
    const source = database && table ? this.#tables.get(keyOf(database, table)) : undefined;
    const type = column ? source?.typeOf(column) : undefined;
    return { name, ...(type && { type }) };
  }
}

type SourceColumns = ReturnType<DatabaseSync["prepare"]>["columns"];

const keyOf = (schema: string, table: string): string => JSON.stringify([folded(schema), folded(table)]);

const pageBytes = 4096;

/** Bounds of the text of a query and of its compiled form. A schema is an attached database. */
const databaseLimits = {
  ...{ attach: 10, sqlLength: 2 * limits.sqlLengthMax, exprDepth: 200, compoundSelect: 100 },
  ...{ vdbeOp: 1_000_000, functionArg: 127, likePatternLength: 1_000, column: 2_000 },
} as const;

const unknownTable = (written: string, sql: string): SqlFailure => {
  const hint = written.includes(".")
    ? `There is no table ${written} that the owner may read`
    : `There is no table ${written}: tables are written as "database"."table", or as millrace.assets`;
  return new SqlFailure({ kind: "table-unknown", message: hint, ...offsetOf(sql, `: ${written}`) });
};
