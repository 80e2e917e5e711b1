// Opens a SQLite file as the catalog's database: one connection that writes, several that read beside it.
import {
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from "kysely";
import { fail } from "../../../../errors.ts";
import { parseJson } from "../../../../lib/json.ts";
import { limits } from "../../../../limits.ts";
import { type AnyTable, keyOf } from "../../../catalog.ts";
import type { Database, DatabaseRows, Db, SqlExpression, Values } from "../../dialect.ts";
import { raiseLastId, readLastId } from "../../meta.ts";
import { indexColumns, projectColumn } from "../../tables.ts";
import {
  type BatchQuery,
  type BoundedQuery,
  type BoundedResult,
  SqliteDriver,
  SqliteError,
} from "./driver.ts";
import { expressions } from "./expressions.ts";
import { rejectedTooMany } from "./functions.ts";
import { hasTable, insertWords, prepareSchema, type Tell } from "./schema.ts";

const uniqueCodes: readonly number[] = [1555, 2067]; // SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_UNIQUE

const diskCodes: readonly number[] = [8, 10, 13, 14]; // SQLITE_READONLY, _IOERR, _FULL, _CANTOPEN

interface OpenSettings {
  /** The version of Millrace that opens the file. */
  readonly version: string;
  /** Is called before anything changes, unless the file is new. May refuse the file. */
  readonly existing: (db: Db) => Promise<void>;
  /** Is called in the transaction that has upgraded the tables, with whether it has added some. */
  readonly prepared: (db: Db, additions: { readonly hasAdded: boolean }) => Promise<void>;
  readonly tell: Tell;
}

/** Makes the file when it is missing and brings its tables up to date. Others may have it open too. */
export async function openSqlite(
  file: string,
  tables: readonly AnyTable[],
  { version, existing, prepared, tell }: OpenSettings,
): Promise<Database> {
  const writer = new SqliteDriver({ file, mode: "write", connections: 1 });
  const writes = connect(writer);
  const reads = connect(new SqliteDriver({ file, mode: "read", connections: limits.catalogReadersMax }));
  const close = async () => {
    await reads.destroy();
    await writes.destroy();
  };
  try {
    await writes.transaction().execute(async (db) => {
      if (await hasTable(db, tables[0]!)) await existing(db);
      await prepared(db, await prepareSchema(db, tables, { version, tell }));
    });
  } catch (error) {
    await close();
    throw error;
  }
  return { ...databaseOn({ writes, reads, close }), foreignVersion: () => writer.foreignVersion() };
}

/** Connections of a reader in another thread than the server's main thread. */
const readersBeside = 2;

/** Opens a file that this process has open for writing, to read it in another thread. */
export function openSqliteReader(file: string): Database {
  const reads = connect(new SqliteDriver({ file, mode: "read", connections: readersBeside }));
  return databaseOn({ writes: reads, reads, close: () => reads.destroy() });
}

const databaseOn = ({ writes, reads, close }: Pick<Database, "writes" | "reads" | "close">): Database => ({
  ...{ writes, reads, close },
  expressions,
  raiseLastId: (db, _scope, id) => raiseLastId(db, id),
  readLastId,
  insertAll,
  putAll,
  setAll,
  scan,
  readWithin,
  parseJson,
  takenColumns(error) {
    if (!(error instanceof SqliteError) || !uniqueCodes.includes(error.code)) return undefined;
    // "UNIQUE constraint failed: assets.in_project, assets.name"
    return error.message
      .split(": ")[1]!
      .split(", ")
      .map((name) => name.split(".")[1]!);
  },
  refusalOf(error) {
    const isRefused = error instanceof SqliteError && diskCodes.includes(error.code & 0xff);
    return isRefused ? fail("catalog-not-stored", { problem: error.message }) : undefined;
  },
});

/** All rows in one message; then their words in one statement: a trigger a row cost eight times as much. */
const insertAll: Database["insertAll"] = async (db, table, columns, rows) => {
  const into = sql`${sql.table(table.name)} (${sql.join(columns.map((name) => sql.ref(name)))})`;
  const statement = sql`insert into ${into} values (${sql.join(columns.map(() => null))})`;
  await runForEach(db, statement, rows);
  if (table.wordsOf.length === 0) return;
  const ids = expressions.listed(
    rows.map(([id]) => id!),
    "number",
  );
  await sql`${sql.raw(insertWords(table))} where record.id in ${ids}`.execute(db);
};

const putAll: Database["putAll"] = async (db, table, columns, rows) => {
  const key = indexColumns(table, keyOf(table));
  const refs = (all: readonly string[]) => sql.join(all.map((name) => sql.ref(name)));
  const replaced = columns
    .filter((name) => !key.includes(name))
    .map((name) => sql`${sql.ref(name)} = ${sql.ref(`excluded.${name}`)}`);
  const statement = sql`
    insert into ${sql.table(table.name)} (${refs(columns)}) values (${sql.join(columns.map(() => null))})
    on conflict (${refs(key)}) do update set ${sql.join(replaced)}
  `;
  await runForEach(db, statement, rows);
};

const setAll: Database["setAll"] = (db, table, { names, tenant }, rows) => {
  const isInProject = tenant === "system" ? sql`` : sql` and ${sql.ref(projectColumn)} = ${sql.lit(tenant)}`;
  const assigned = names.map((name) => sql`${sql.ref(name)} = ${null}`);
  const statement = sql`
    update ${sql.table(table.name)} set ${sql.join(assigned)} where id = ${null}${isInProject}
  `;
  return runForEach(db, statement, rows);
};

/** The function `is_accepted` counts rejected records, and ends the statement after too many. */
const scan: Database["scan"] = async (_db, { indexed, condition, rejectedMax }, read) => {
  try {
    return await read(sql`${indexed} and is_accepted((${condition}), ${rejectedMax})`);
  } catch (problem) {
    const isEarly = problem instanceof SqliteError && problem.message.startsWith(rejectedTooMany);
    if (!isEarly) throw problem;
    const accepted = Number(problem.message.slice(rejectedTooMany.length));
    return { share: accepted / (accepted + rejectedMax + 1) };
  }
};

/** The statement's own parameters only stand where those of the rows go. Returns how many records changed. */
const runForEach = async (db: Db, statement: SqlExpression, rows: readonly Values[]): Promise<number> => {
  const done = await db.executeQuery({ ...statement.compile(db), batch: rows } as BatchQuery);
  return Number(done.numAffectedRows);
};

const readWithin: Database["readWithin"] = async (db, statement, { lengthMax, allOrNone }) => {
  const bounded = { ...statement.compile(db), within: { lengthMax, allOrNone } } as BoundedQuery;
  const { rows, read } = (await db.executeQuery(bounded)) as QueryResult<object> & BoundedResult;
  return { rows, ...read! };
};

const connect = (driver: SqliteDriver): Db =>
  new Kysely<DatabaseRows>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => driver,
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  });
