// Creates the declared tables in a PostgreSQL schema, or upgrades them from any earlier version.
//
// Every index of a project table begins with the project, and those that are not unique end with the id. A
// table with words has a hidden `tsvector` column, filled with the record. Lists of links and folded starts
// of text are indexed by expressions. Nothing is dropped but an index whose definition has changed, so that
// servers of the version before continue (expand, migrate, contract).
import { createHash } from "node:crypto";
import { sql } from "kysely";
import { invariant } from "../../../../lib/invariant.ts";
import { limits } from "../../../../limits.ts";
import type { AnyTable, Stored, TableColumn } from "../../../catalog.ts";
import type { Db } from "../../dialect.ts";
import { indexColumns, projectColumn } from "../../tables.ts";
import { idsFunction, quotedText, sqlFunctions } from "./functions.ts";
import { lexemesOf, wordsColumn } from "./words.ts";

export const sqlTypes = {
  integer: "bigint",
  real: "double precision",
  text: `text collate "C"`,
  boolean: "smallint",
  json: `text collate "C"`,
} as const;

/** Letters of a folded text that are indexed. */
export const startLengthIndexed = 24;

/** The tables that servers share beside those of records. */
export const [generationsTable, idsTable, leasesTable, secretsTable] = [
  "catalog_generations",
  "catalog_last_ids",
  "catalog_server_leases",
  "catalog_secrets",
] as const;
export const [idSequence, serverSequence, versionSequence] = [
  "catalog_ids",
  "catalog_servers",
  "point_versions",
] as const;

export const secretsTableText = `create table if not exists ${secretsTable}
  (name text primary key, value text not null)`;

const ownTables = (firstId: number) => [
  `create table if not exists ${generationsTable} (server bigint, tenant bigint, name text collate "C",
    value bigint not null, changed timestamptz not null default now(), primary key (server, tenant, name))`,
  `create table if not exists ${idsTable} (tenant bigint primary key, value bigint not null)`,
  `create table if not exists ${leasesTable} (number bigint primary key, expires timestamptz not null,
    has_ended smallint not null default 0)`,
  secretsTableText,
  `create sequence if not exists ${idSequence} as bigint increment by ${limits.catalogIdsReserved}
    start with ${firstId}`,
  `create sequence if not exists ${serverSequence} as bigint`,
  `create sequence if not exists ${versionSequence} as bigint increment by ${limits.pointVersionsReserved}`,
  // Of servers that ended long ago; those that run have seen the changes.
  `delete from ${generationsTable} where changed < now() - interval '1 day'`,
  `delete from ${leasesTable} where has_ended = 1 and expires < now() - interval '1 day'`,
  // Ids that were loaded with their records are not reserved again.
  `select setval('${idSequence}', last) from (select coalesce(max(value), 0) as last from ${idsTable}) ids
    where last > (select last_value from ${idSequence})`,
];

const quoted = (name: string): string => `"${name}"`;

/** The columns that are lists of links. */
export const linkListsOf = ({ columns, links = [] }: AnyTable): string[] =>
  links.flatMap(({ column }) => (columns[column]!.type === "json" ? [column] : []));

/**
 * Each search reads all records that an inverted index has not sorted in yet, up to this size. PostgreSQL's
 * usual 4 MB made searches during a load five times as slow, and the load no faster.
 */
const pendingKilobytes = 64;

interface Index {
  readonly name: string;
  readonly text: string;
  /** The columns that are unique together. */
  readonly unique?: readonly string[];
}

const nameBytesMax = 63;

/** PostgreSQL cuts longer names. */
function indexName(...parts: readonly string[]): string {
  const name = parts.join("__");
  if (name.length <= nameBytesMax) return name;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 12);
  return `${name.slice(0, nameBytesMax - hash.length - 1)}_${hash}`;
}

/** All indexes of a table beside its primary key. `fold` is the function that takes case away. */
function indexesOf(table: AnyTable, fold: string): Index[] {
  const { name, key, indexes, unique, wordsOf, sortedBy = [], columns } = table;
  const on = (index: string, more = "") => `index ${quoted(index)} on ${quoted(name)} ${more}`;
  const list = (all: readonly string[]) => indexColumns(table, all).map(quoted);
  const plain = (kind: string, fields: readonly string[]): Index => {
    const all = key || fields.includes("id") ? fields : [...fields, "id"];
    const own = indexName(name, kind, ...fields);
    return { name: own, text: `create ${on(own)} (${list(all).join(", ")})` };
  };
  const only = (fields: readonly string[]): Index => {
    const own = indexName(name, "unique", ...fields);
    const optional = fields.filter((field) => columns[field]!.optional);
    const where = optional.map((field) => `${quoted(field)} is not null`).join(" and ");
    const text = `create unique ${on(own)} (${list(fields).join(", ")})${where ? ` where ${where}` : ""}`;
    return { name: own, text, unique: fields };
  };
  const start = (field: string): Index => {
    const own = indexName(name, "start", field);
    const value = `left(${fold}(${quoted(field)}), ${startLengthIndexed})`;
    return { name: own, text: `create ${on(own)} (${[...list([]), value].join(", ")})` };
  };
  const inverted = (kind: string, value: string): Index => {
    const own = indexName(name, kind);
    const options = `gin_pending_list_limit = ${pendingKilobytes}`;
    return { name: own, text: `create ${on(own)} using gin (${value}) with (${options})` };
  };
  return [
    ...(table.belongsTo === "project" && !key ? [plain("index", [])] : []),
    ...indexes.map((fields) => plain("index", fields)),
    ...sortedBy.map((field) => plain("sorted", [field])),
    ...[...(key ? [key] : []), ...unique].map(only),
    ...wordsOf.map(start),
    ...(wordsOf.length > 0 ? [inverted("words", wordsColumn)] : []),
    ...linkListsOf(table).map((field) => inverted(`links__${field}`, `${idsFunction}(${quoted(field)})`)),
  ];
}

export interface PreparedSchema {
  /** The name of the function that takes case away. */
  readonly fold: string;
  /** The columns of each unique index. */
  readonly unique: ReadonlyMap<string, readonly string[]>;
}

export interface SchemaSettings {
  /** The first id of a new catalog. */
  readonly firstId: number;
  /** Receives progress messages. */
  readonly tell: (text: string) => void;
}

/** Two servers that start at once must not both migrate. */
export const migrationLock = -2;

/** Leases are granted one after another, so that a list with a lease has all those before it. */
export const leaseLock = -3;

/** Changes the schema to that of the declared tables, inside the caller's transaction. */
export async function prepareSchema(
  db: Db,
  tables: readonly AnyTable[],
  { firstId, tell }: SchemaSettings,
): Promise<PreparedSchema> {
  const { fold, statements } = sqlFunctions();
  await sql`select pg_advisory_xact_lock(${migrationLock})`.execute(db);
  const existing = await heldColumns(db);
  const all = [
    ...statements,
    ...ownTables(firstId),
    ...tables.flatMap((table) => tableStatements(table, existing)),
  ];
  await run(db, all.join(";\n"));
  for (const table of tables) {
    const columns = existing.get(table.name);
    if (table.wordsOf.length > 0) await fillWords(db, table, { isNew: columns === undefined, tell });
  }
  const indexes = tables.flatMap((table) => indexesOf(table, fold));
  await run(db, indexStatements(indexes, await heldIndexes(db)).join(";\n"));
  const unique = indexes.flatMap(({ name, unique }): [string, readonly string[]][] =>
    unique ? [[name, unique]] : [],
  );
  const ids = tables.map(({ name }): [string, readonly string[]] => [`${name}_pkey`, ["id"]]);
  return { fold, unique: new Map([...unique, ...ids]) };
}

type HeldColumns = ReadonlyMap<string, ReadonlySet<string>>;

async function heldColumns(db: Db): Promise<HeldColumns> {
  const { rows } = await sql<{ table: string; columns: string }>`
    select c.relname::text as table, string_agg(a.attname::text, ' ') as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and a.attnum > 0
      and not a.attisdropped
    group by c.relname
  `.execute(db);
  return new Map(rows.map(({ table, columns }) => [table, new Set(columns.split(" "))]));
}

async function heldIndexes(db: Db): Promise<ReadonlyMap<string, string>> {
  const { rows } = await sql<{ name: string; text?: string }>`
    select relname::text as name, obj_description(oid, 'pg_class') as text from pg_class
    where relnamespace = current_schema()::regnamespace and relkind = 'i'
  `.execute(db);
  return new Map(rows.map(({ name, text }) => [name, text ?? ""]));
}

function tableStatements(table: AnyTable, all: HeldColumns): string[] {
  const existing = all.get(table.name);
  const declared: [string, TableColumn][] = Object.entries(table.columns);
  if (table.belongsTo === "project") declared.push([projectColumn, { type: "integer", optional: false }]);
  const texts = declared.map(([name, column]) => ({ name, column, text: columnText(name, column) }));
  if (!existing) {
    const hidden = table.wordsOf.length > 0 ? [`${quoted(wordsColumn)} tsvector`] : [];
    const list = [...texts.map(({ text }) => text), ...hidden].join(", ");
    return [`create table ${quoted(table.name)} (${list})`];
  }
  const missing = texts.filter(({ name }) => !existing.has(name));
  for (const { name, column } of missing)
    invariant(
      column.optional,
      `the new column ${table.name}.${name} is optional, as there are older records`,
    );
  const hidden =
    table.wordsOf.length > 0 && !existing.has(wordsColumn) ? [`${quoted(wordsColumn)} tsvector`] : [];
  return [...missing.map(({ text }) => text), ...hidden].map(
    (text) => `alter table ${quoted(table.name)} add column ${text}`,
  );
}

const columnText = (name: string, { type, optional }: TableColumn): string =>
  name === "id"
    ? `"id" bigint primary key`
    : `${quoted(name)} ${sqlTypes[type]}${optional ? "" : " not null"}`;

function indexStatements(indexes: readonly Index[], existing: ReadonlyMap<string, string>): string[] {
  return indexes
    .filter(({ name, text }) => existing.get(name) !== text)
    .flatMap(({ name, text }) => [
      ...(existing.has(name) ? [`drop index ${quoted(name)}`] : []),
      text,
      `comment on index ${quoted(name)} is ${quotedText(text)}`,
    ]);
}

/** Fills the column of words in older records; its comment lists the fields whose words it has. */
async function fillWords(
  db: Db,
  table: AnyTable,
  { isNew, tell }: { readonly isNew: boolean; readonly tell: (text: string) => void },
): Promise<void> {
  const fields = table.wordsOf.join(" ");
  if (!isNew) {
    const { rows } = await sql<{ text?: string }>`
      select col_description(attrelid, attnum) as text from pg_attribute
      where attrelid = ${quoted(table.name)}::regclass and attname = ${wordsColumn}
    `.execute(db);
    if (rows[0]?.text === fields) return;
    await fillFrom(db, table, tell);
  }
  await run(db, `comment on column ${quoted(table.name)}.${quoted(wordsColumn)} is ${quotedText(fields)}`);
}

async function fillFrom(db: Db, table: AnyTable, tell: (text: string) => void): Promise<void> {
  const columns = sql.join(["id", ...table.wordsOf].map((name) => sql.ref(name)));
  for (let after = 0, done = 0; ; ) {
    const { rows } = await sql<Stored & Record<string, unknown>>`
      select ${columns} from ${sql.table(table.name)} where id > ${after} order by id limit 5000
    `.execute(db);
    const last = rows.at(-1);
    if (!last) return;
    const [ids, words] = [rows.map(({ id }) => id), rows.map((row) => lexemesOf(table, (name) => row[name]))];
    await sql`
      update ${sql.table(table.name)} set ${sql.ref(wordsColumn)} = array_to_tsvector(string_to_array(w, ' '))
      from unnest(${ids}::bigint[], ${words}::text[]) made(i, w) where id = made.i
    `.execute(db);
    after = last.id;
    done += rows.length;
    if (done > limits.recordsIndexedAtOnce)
      tell(`Bringing the catalog up to date: ${table.name}, ${done} records`);
  }
}

const run = async (db: Db, statements: string): Promise<void> => {
  if (statements !== "") await sql.raw(statements).execute(db);
};
