// Opens a PostgreSQL database as the catalog's database: a pool for writes, one for reads.
import { Kysely, PostgresAdapter, PostgresIntrospector, type QueryResult, sql } from "kysely";
import { parseJson } from "../../../../lib/json.ts";
import { limits } from "../../../../limits.ts";
import { lengthOfValue } from "../../../../query/length-bound.ts";
import { mapInSlices } from "../../../../query/map-in-slices.ts";
import { CannotOpen } from "../../../cannot-open.ts";
import { type AnyTable, keyOf, type Stored } from "../../../catalog.ts";
import { chunksOf } from "../../chunks.ts";
import { columnRef } from "../../compile-filter.ts";
import type { Database, DatabaseRows, Db, SqlExpression, Values } from "../../dialect.ts";
import { indexColumns, projectColumn } from "../../tables.ts";
import { PostgresDriver, type PostgresSettings, TypedQueryCompiler } from "./driver.ts";
import { expressionsWith } from "./expressions.ts";
import { refusalOf } from "./failures.ts";
import { decodeJson, encodeJson } from "./nul.ts";
import { idsTable, type PreparedSchema, prepareSchema, type SchemaSettings, sqlTypes } from "./schema.ts";
import { announcing, GenerationWatch, newServerNumber, tenantKey } from "./shared.ts";
import { lexemesOf, wordsColumn } from "./words.ts";

const oldestVersion = 15;

export interface PostgresDatabase extends Database {
  readonly watch: GenerationWatch;
}

/** Makes or upgrades the tables, and opens the database. Any number of servers may have it open. */
export async function openPostgres(
  url: string,
  tables: readonly AnyTable[],
  { prepared, ...schemaSettings }: SchemaSettings & { readonly prepared: (db: Db) => Promise<void> },
): Promise<PostgresDatabase> {
  const writes = connect({ url, mode: "write", connections: limits.catalogWritersMax });
  const reads = connect({ url, mode: "read", connections: limits.catalogReadersMax });
  const close = async () => {
    await reads.destroy();
    await writes.destroy();
  };
  try {
    const schema = await writes.transaction().execute(async (db) => {
      await refuseUnfit(db);
      await tellRisks(db, schemaSettings.tell);
      const made = await prepareSchema(db, tables, schemaSettings);
      await prepared(db);
      return made;
    });
    const server = await writes.transaction().execute(newServerNumber);
    const watch = new GenerationWatch(reads, server);
    return {
      ...databaseOn(schema),
      ...{ writes, reads, watch },
      announce: announcing(server),
      async close() {
        await watch.stop();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function refuseUnfit(db: Db): Promise<void> {
  const { rows } = await sql<{ version: string; encoding: string }>`
    select current_setting('server_version_num') as version, current_setting('server_encoding') as encoding
  `.execute(db);
  const { version, encoding } = rows[0]!;
  const major = Math.floor(Number(version) / 10_000);
  if (major < oldestVersion)
    throw new CannotOpen(
      `it is PostgreSQL ${major}; ${oldestVersion} is the oldest that is supported`,
      "server",
    );
  if (encoding !== "UTF8") throw new CannotOpen(`its encoding is ${encoding}; it must be UTF8`, "server");
}

/** Settings without which PostgreSQL can lose acknowledged writes, or all data, in a power cut. */
async function tellRisks(db: Db, tell: (text: string) => void): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select name from pg_settings where name in ('fsync', 'full_page_writes') and setting = 'off' order by name
  `.execute(db);
  for (const { name } of rows)
    tell(
      `PostgreSQL has ${name} = off: a power cut can lose acknowledged writes, or all data of the catalog`,
    );
}

function databaseOn({ fold, unique }: PreparedSchema): Omit<Database, "writes" | "reads" | "close"> {
  return {
    expressions: expressionsWith(fold),
    async beginWrite(db, tenant) {
      await sql`select pg_advisory_xact_lock(${tenantKey(tenant)})`.execute(db);
    },
    async raiseLastId(db, tenant, id) {
      await sql`
        insert into ${sql.table(idsTable)} as current (tenant, value) values (${tenantKey(tenant)}, ${id})
        on conflict (tenant) do update set value = excluded.value where current.value < excluded.value
      `.execute(db);
    },
    async readLastId(db) {
      const { rows } = await sql<{ id: number }>`
        select coalesce(max(value), 0) as id from ${sql.table(idsTable)}
      `.execute(db);
      return rows[0]!.id;
    },
    insertAll,
    putAll,
    setAll,
    scan,
    readWithin,
    parseJson: (text) => parseJson(decodeJson(text)),
    takenColumns(error) {
      const { code, constraint } = error as { readonly code?: string; readonly constraint?: string };
      return code === "23505" ? unique.get(constraint!) : undefined;
    },
    refusalOf,
  };
}

/** One list of values for each column, as the rows of a statement. */
function unnested(table: AnyTable, columns: readonly string[], rows: readonly Values[]): SqlExpression {
  const lists = columns.map((name, at) => {
    const type = name === projectColumn ? "integer" : table.columns[name]!.type;
    const encode = (value: Values[number]) =>
      type === "json" && value !== null ? encodeJson(value as string) : value;
    const [base] = sqlTypes[type].split(" collate");
    return sql`${rows.map((row) => encode(row[at]!))}::${sql.raw(base!)}[]`;
  });
  return sql`unnest(${sql.join(lists)})`;
}

const refs = (names: readonly string[]) => sql.join(names.map((name) => sql.ref(name)));

const insertAll: Database["insertAll"] = async (db, table, columns, rows) => {
  const hasWords = table.wordsOf.length > 0;
  for (const chunk of chunksOf(rows)) {
    const values = unnested(table, columns, chunk);
    if (!hasWords) {
      await sql`insert into ${sql.table(table.name)} (${refs(columns)}) select * from ${values}`.execute(db);
      continue;
    }
    const places = new Map(columns.map((name, at) => [name, at]));
    const words = await mapInSlices(chunk, (row) => lexemesOf(table, (name) => row[places.get(name)!]));
    await sql`
      insert into ${sql.table(table.name)} (${refs([...columns, wordsColumn])})
      select ${refs(columns)}, array_to_tsvector(string_to_array(lexemes, ' '))
      from rows from (${values}, unnest(${words}::text[])) made (${refs(columns)}, lexemes)
    `.execute(db);
  }
};

/** One statement cannot write a record twice: of several rows with one key, it gets the last one. */
const putAll: Database["putAll"] = async (db, table, columns, rows) => {
  const key = indexColumns(table, keyOf(table));
  const places = key.map((name) => columns.indexOf(name));
  const last = new Map(rows.map((row) => [JSON.stringify(places.map((at) => row[at])), row]));
  const replaced = columns
    .filter((name) => !key.includes(name))
    .map((name) => sql`${sql.ref(name)} = ${sql.ref(`excluded.${name}`)}`);
  for (const chunk of chunksOf([...last.values()]))
    await sql`
      insert into ${sql.table(table.name)} (${refs(columns)})
      select * from ${unnested(table, columns, chunk)}
      on conflict (${refs(key)}) do update set ${sql.join(replaced)}
    `.execute(db);
};

const setAll: Database["setAll"] = async (db, table, { names, tenant }, rows) => {
  const isInProject = tenant === "system" ? sql`` : sql` and ${columnRef(table, projectColumn)} = ${tenant}`;
  const columns = [...names, "id"];
  const assigned = names.map((name) => sql`${sql.ref(name)} = ${sql.ref(`made.${name}`)}`);
  let changed = 0n;
  for (const chunk of chunksOf(rows)) {
    const done = await sql`
      update ${sql.table(table.name)} set ${sql.join(assigned)}
      from ${unnested(table, columns, chunk)} made (${refs(columns)})
      where ${columnRef(table, "id")} = made.id${isInProject}
    `.execute(db);
    changed += done.numAffectedRows!;
  }
  return Number(changed);
};

/**
 * Evaluates the condition for the first `rejectedMax + limit` records of the order. Reads the accepted ones
 * only if they fill a page, because each read counts against the length of the response.
 */
const scan: Database["scan"] = async (
  db,
  { table, indexed, condition, sorted, limit, rejectedMax },
  read,
) => {
  const [id, name] = [columnRef(table, "id"), sql.table(table.name)];
  const most = rejectedMax + limit;
  const near = sql`select ${id} from ${name} where ${indexed} order by ${sorted} limit ${most}`;
  const { rows } = await sql<Stored>`
    select ${id} from ${name} where ${id} = any(array(${near})) and ${condition}
    order by ${sorted} limit ${limit}
  `.execute(db);
  if (rows.length < limit) return { share: rows.length / most };
  return read(sql<boolean>`${id} = any(${rows.map((row) => row.id)}::bigint[])`);
};

const readWithin: Database["readWithin"] = async (db, statement, within) => {
  const { table, fields, lengthMax, allOrNone, limit } = within;
  // A single row is returned however long it is, so PostgreSQL need not measure it.
  if (limit === 1) {
    const { rows } = (await statement.execute(db)) as QueryResult<Record<string, unknown>>;
    const length = rows.flatMap((row) => fields.map((name) => lengthOfValue(row[name])));
    return { rows, length: length.reduce((sum, one) => sum + one, 0), isCut: false };
  }
  const isLong = (name: string) => ["text", "json"].includes(table.columns[name]!.type);
  const lengths = fields.map((name) => {
    const own = lengthOfValue(undefined);
    return isLong(name)
      ? sql`${sql.lit(own)} + coalesce(octet_length(page.${sql.ref(name)}), 0)`
      : sql`${sql.lit(own)}`;
  });
  const length = lengths.length > 0 ? sql.join(lengths, sql` + `) : sql`0`;
  const { rows } = (await sql`
    select ${refs(fields)}, length__, count__ from (
      select page.*, sum(${length}) over (rows unbounded preceding)::bigint as until__,
        (${length})::bigint as length__, count(*) over () as count__
      from (${statement}) page
    ) measured where until__ - length__ <= ${lengthMax}
  `.execute(db)) as QueryResult<{ length__?: number; count__?: number }>;
  let used = 0;
  const count = rows[0]?.count__ ?? 0;
  for (const row of rows) {
    used += row.length__!;
    delete row.length__;
    delete row.count__;
  }
  const isCut = rows.length < count;
  return isCut && allOrNone ? { rows: [], length: used, isCut } : { rows, length: used, isCut };
};

const connect = (settings: PostgresSettings): Db =>
  new Kysely<DatabaseRows>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new PostgresDriver(settings),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new TypedQueryCompiler(),
    },
  });
