// Creates the declared tables in a SQLite file, or upgrades them from any earlier version.
//
// Each table is STRICT. Its rowid is its id, or a hidden one when the table has a key. Every index of a
// project table starts with the project.
//
// Each table with words has a contentless FTS5 table, which contains the words from `words_in`, separated by
// blanks. So its `ascii` tokenizer splits them only there, and all backends agree on the words. In ASCII
// strings the tokenizer finds the same words itself. Its rowids group records by project, see `placeOf`. A
// trigger removes a record's words with the record, and `insertWords` adds them; an update removes and
// inserts.
//
// Likewise, each list of links has a table that contains the records by linked id; triggers update it with
// the list.
import { sql } from "kysely";
import { invariant } from "../../../../lib/invariant.ts";
import { startLength } from "../../../../lib/text.ts";
import { limits } from "../../../../limits.ts";
import type { AnyTable, TableColumn } from "../../../catalog.ts";
import type { Db } from "../../dialect.ts";
import { indexColumns, projectColumn } from "../../tables.ts";

const sqlTypes = {
  integer: "integer",
  real: "real",
  text: "text",
  boolean: "integer",
  json: "text",
} as const;

const quoted = (name: string): string => `"${name}"`;

/** The name of a table's full-text index. */
export const wordsTableOf = (table: AnyTable): string => `${table.name}__words`;

/** The name of the table that has the records of a table by the ids in a list of links. */
export const linksTableOf = (table: AnyTable, column: string): string => `${table.name}__links__${column}`;

/** Ids are below 2^53, which leaves ten bits of a place for the project. */
const idBits = 53;
const projectsApart = 1_021;

/** The bits of a place that are the id. */
export const idsBelow = `${2 ** idBits - 1}`;

/** Where the places of a project begin. More than a few projects may share places, which costs time alone. */
export const firstPlaceOf = (project: string): string => `((${project} % ${projectsApart}) << ${idBits})`;

/** The rowid of a record in the full-text index: grouped by project, in order of id. */
function placeOf({ belongsTo }: AnyTable, row: string): string {
  const id = `${row}"id"`;
  return belongsTo === "project" ? `${firstPlaceOf(row + quoted(projectColumn))} + ${id}` : id;
}

/** SQLite's own function for ASCII strings, else ours: calling JavaScript for each value costs 1 to 2 us. */
const unlessAscii = (text: string, ascii: string, other: string): string =>
  `case when length(${text}) = octet_length(${text}) then ${ascii} else ${other} end`;

/** The folded text, as `foldCase`. */
export const folded = (text: string): string => unlessAscii(text, `lower(${text})`, `fold_case(${text})`);

/** The folded beginning of a text, as `startOf`. */
export const startOfText = (text: string): string =>
  unlessAscii(text, `lower(substr(${text}, 1, ${startLength}))`, `start_of(${text})`);

/** A number that is not taken for its column, whose index would else be used where another is better. */
export const sortableNumber = (number: string): string => `+${number}`;

/** The columns that are lists of links. */
export const linkListsOf = ({ columns, links = [] }: AnyTable): string[] =>
  links.flatMap(({ column }) => (columns[column]!.type === "json" ? [column] : []));

/** Receives the progress while the schema of a file with many records is changed. */
export type Tell = (text: string) => void;

export async function hasTable(db: Db, { name }: AnyTable): Promise<boolean> {
  const found = sql`select 1 from sqlite_schema where type = 'table' and name = ${name}`;
  return (await found.execute(db)).rows.length > 0;
}

/**
 * Changes the file to the schema of the declared tables, inside the caller's transaction. Announces the
 * tables and columns that it adds to a file of an earlier version. `hasAdded` is true if it has added any.
 */
export async function prepareSchema(
  db: Db,
  tables: readonly AnyTable[],
  { version, tell }: { readonly version: string; readonly tell: Tell },
): Promise<{ readonly hasAdded: boolean }> {
  const additions = await additionsTo(db, tables);
  const isNew = additions.filter(({ isTable }) => isTable).length === tables.length;
  if (!isNew && additions.length > 0) tell(announcementOf(additions, version));
  for (const { statement } of additions) await run(db, statement);
  for (const table of tables) await keep(db, { table, declared: definitionsOf(table), tell });
  await run(db, `analyze ${quoted(tables[0]!.name)}`); // Makes sqlite_stat1.
  for (const table of tables) await writeStatistics(db, table);
  await run(db, "analyze sqlite_schema"); // Reads it again.
  return { hasAdded: additions.length > 0 };
}

/** A table, or a column of one that exists. */
interface Addition {
  readonly name: string;
  readonly isTable: boolean;
  readonly statement: string;
}

async function additionsTo(db: Db, tables: readonly AnyTable[]): Promise<Addition[]> {
  const additions: Addition[] = [];
  for (const table of tables) additions.push(...(await additionsToTable(db, table)));
  return additions;
}

function announcementOf(additions: readonly Addition[], version: string): string {
  const names = additions.map(({ name }) => name).join(", ");
  return `Upgrading the catalog to ${version}. New tables and columns: ${names}.
Versions before ${version} will not open the data folder afterwards; to go back, restore a backup.`;
}

async function additionsToTable(db: Db, table: AnyTable): Promise<Addition[]> {
  const info = sql<{ name: string }>`select name from pragma_table_info(${table.name})`;
  const existing = new Set((await info.execute(db)).rows.map(({ name }) => name));
  const declared: [string, TableColumn][] = Object.entries(table.columns);
  if (table.belongsTo === "project") declared.push([projectColumn, { type: "integer", optional: false }]);
  const columns = declared.map(([name, column]) => ({ name, column, text: columnText(name, column) }));
  if (existing.size === 0) {
    const list = columns.map(({ text }) => text).join(", ");
    const statement = `create table ${quoted(table.name)} (${list}) strict`;
    return [{ name: table.name, isTable: true, statement }];
  }
  const missing = columns.filter(({ name }) => !existing.has(name));
  return missing.map(({ name, column, text }) => {
    invariant(
      column.optional,
      `the new column ${table.name}.${name} is optional, as there are older records`,
    );
    const statement = `alter table ${quoted(table.name)} add column ${text}`;
    return { name: `${table.name}.${name}`, isTable: false, statement };
  });
}

const columnText = (name: string, { type, optional }: TableColumn): string =>
  name === "id"
    ? `"id" integer primary key`
    : `${quoted(name)} ${sqlTypes[type]}${optional ? "" : " not null"}`;

const indexName = (table: AnyTable, columns: readonly string[], unique: boolean): string =>
  [table.name, unique ? "unique" : "index", ...columns].join("__");

interface Index {
  readonly columns: readonly string[];
  readonly unique: boolean;
}

/** The project alone makes an index where records are listed by id. */
function indexesOf({ belongsTo, key, indexes, unique }: AnyTable): Index[] {
  const byProject = belongsTo === "project" && !key ? [[]] : [];
  return [
    ...[...byProject, ...indexes].map((columns) => ({ columns, unique: false })),
    ...[...(key ? [key] : []), ...unique].map((columns) => ({ columns, unique: true })),
  ];
}

/** An index of an expression over a column. */
interface ComputedIndex {
  readonly name: string;
  readonly column: string;
  readonly value: string;
}

function computedIndexes(table: AnyTable): ComputedIndex[] {
  const computed = (kind: string, columns: readonly string[], make: (column: string) => string) =>
    columns.map((column) => ({
      name: [table.name, kind, column].join("__"),
      column,
      value: make(quoted(column)),
    }));
  return [
    ...computed("start", table.wordsOf, startOfText),
    ...computed("sorted", table.sortedBy ?? [], sortableNumber),
  ];
}

interface Definition {
  readonly name: string;
  readonly kind: "index" | "table" | "trigger";
  readonly text: string;
  /** A statement about a new table. */
  readonly setting?: string;
  /** The statement that fills a new table from each `record`. */
  readonly fill?: string;
}

/**
 * The definitions of everything that can be rebuilt from the records: indexes, full-text index, and triggers.
 * Written as SQLite stores them (`CREATE INDEX` in capitals), so that an unchanged definition is recognised.
 */
function definitionsOf(table: AnyTable): Definition[] {
  const index = (columns: readonly string[], unique: boolean): Definition => {
    const name = indexName(table, columns, unique);
    const list = indexColumns(table, columns).map(quoted).join(", ");
    const optional = unique ? columns.filter((column) => table.columns[column]!.optional) : [];
    const where = optional.map((column) => `${quoted(column)} is not null`).join(" and ");
    const start = `CREATE ${unique ? "UNIQUE " : ""}INDEX ${quoted(name)} on ${quoted(table.name)} (${list})`;
    return { name, kind: "index", text: where ? `${start} where ${where}` : start };
  };
  const computed = ({ name, value }: ComputedIndex): Definition => {
    const list = [...indexColumns(table, []).map(quoted), value].join(", ");
    return { name, kind: "index", text: `CREATE INDEX ${quoted(name)} on ${quoted(table.name)} (${list})` };
  };
  return [
    ...indexesOf(table).map(({ columns, unique }) => index(columns, unique)),
    ...computedIndexes(table).map(computed),
    ...(table.wordsOf.length > 0 ? wordsDefinitions(table) : []),
    ...linkListsOf(table).flatMap((column) => linkDefinitions(table, column)),
  ];
}

function linkDefinitions(table: AnyTable, list: string): Definition[] {
  const name = linksTableOf(table, list);
  const links = quoted(name);
  const elements = (row: string) => `json_each(${row}.${quoted(list)})`;
  const add = `insert or ignore into ${links} select value, new.id from ${elements("new")};`;
  const old = `select value from ${elements("old")}`;
  const drop = `delete from ${links} where record = old.id and linked in (${old});`;
  const trigger = (event: string, moment: string, work: string): Definition => {
    const what = `${quoted(`${name}__${event}`)} after ${moment} on ${quoted(table.name)}`;
    const text = `CREATE TRIGGER ${what} begin ${work} end`;
    return { name: `${name}__${event}`, kind: "trigger", text };
  };
  const columns = "linked integer, record integer, primary key (linked, record)";
  const all = `select value, record.id from ${quoted(table.name)} record, ${elements("record")}`;
  return [
    {
      name,
      kind: "table",
      text: `CREATE TABLE ${links} (${columns}) without rowid, strict`,
      fill: `insert or ignore into ${links} ${all}`,
    },
    trigger("insert", "insert", add),
    trigger("delete", "delete", drop),
    trigger("update", `update of ${quoted(list)}`, `${drop} ${add}`),
  ];
}

function wordsDefinitions(table: AnyTable): Definition[] {
  const name = wordsTableOf(table);
  const columns = table.wordsOf.map(quoted).join(", ");
  const options = `content='', contentless_delete=1, detail=column, tokenize='ascii', prefix='1 2 3 4 5 6 7'`;
  const trigger = `${name}__delete`;
  const remove = `delete from ${quoted(name)} where rowid = ${placeOf(table, "old.")}`;
  const event = `${quoted(trigger)} after delete on ${quoted(table.name)}`;
  return [
    {
      name,
      kind: "table",
      text: `CREATE VIRTUAL TABLE ${quoted(name)} using fts5(${columns}, ${options})`,
      // Every insert adds a segment to the index. The default of 4 merges segments twice as often as 16.
      setting: `insert into ${quoted(name)} (${quoted(name)}, rank) values ('automerge', 16)`,
      fill: insertWords(table),
    },
    { name: trigger, kind: "trigger", text: `CREATE TRIGGER ${event} begin ${remove}; end` },
  ];
}

/** Drops definitions that are no longer declared, creates the missing ones, and fills new tables. */
async function keep(
  db: Db,
  {
    table,
    declared,
    tell,
  }: { readonly table: AnyTable; readonly declared: readonly Definition[]; readonly tell: Tell },
): Promise<void> {
  const existing = await sql<Definition>`
    select name, type as kind, sql as text from sqlite_schema
    where sql is not null and (tbl_name = ${table.name} and type <> 'table'
      or name = ${wordsTableOf(table)} or name glob ${`${table.name}__links*`})
  `.execute(db);
  const same = (a: Definition, b: Definition): boolean => a.name === b.name && a.text === b.text;
  const stale = existing.rows.filter((one) => !declared.some((definition) => same(one, definition)));
  for (const { kind, name } of stale) await run(db, `drop ${kind} if exists ${quoted(name)}`);
  const missing = declared.filter((definition) => !existing.rows.some((one) => same(one, definition)));
  const count = missing.length > 0 ? await countOf(db, table) : 0;
  const tellOf = (name: string, done: number) => {
    if (count > limits.recordsIndexedAtOnce)
      tell(`Bringing the catalog up to date: ${name}, ${done} of ${count} records`);
  };
  for (const { name, kind, text, setting, fill } of missing) {
    if (kind !== "trigger") tellOf(name, 0);
    await run(db, text);
    if (setting) await run(db, setting);
    if (fill) await fillFrom(db, table, { fill, told: (done) => tellOf(name, done) });
  }
}

async function countOf(db: Db, table: AnyTable): Promise<number> {
  const counted = sql<{ count: number }>`select count(*) as count from ${sql.table(table.name)}`;
  return (await counted.execute(db)).rows[0]!.count;
}

/** Some records after the others, as a million of them take the better part of a minute. */
async function fillFrom(
  db: Db,
  table: AnyTable,
  { fill, told }: { readonly fill: string; readonly told: (done: number) => void },
): Promise<void> {
  for (let done = 0, after = 0; ; ) {
    const { rows } = await sql<{ count: number; last?: number }>`
      select count(*) as count, max(id) as last from (
        select id from ${sql.table(table.name)} where id > ${after}
        order by id limit ${limits.recordsIndexedAtOnce}
      )
    `.execute(db);
    const { count, last } = rows[0]!;
    if (last === undefined) return;
    await sql`${sql.raw(fill)} where record.id > ${after} and record.id <= ${last}`.execute(db);
    after = last;
    done += count;
    told(done);
  }
}

/** The statement that takes the words of each `record` into their index; `where` may follow. */
export function insertWords(table: AnyTable): string {
  const columns = table.wordsOf.map(quoted).join(", ");
  const words = table.wordsOf
    .map((column) => `record.${quoted(column)}`)
    .map((text) => unlessAscii(text, text, `words_in(${text})`))
    .join(", ");
  const into = `insert into ${quoted(wordsTableOf(table))} (rowid, ${columns})`;
  return `${into} select ${placeOf(table, "record.")}, ${words} from ${quoted(table.name)} record`;
}

/**
 * Writes statistics for the planner instead of measuring: they are those of a grown catalog, in which one
 * project has most of a table, and the columns of an index together leave few records. Unlike measured
 * statistics these suit a file that was empty when it was opened, and plans never change by themselves.
 */
async function writeStatistics(db: Db, table: AnyTable): Promise<void> {
  const statistic = (index: readonly string[], unique: boolean): [name: string, text: string] => {
    const alike = index.map((column, at) =>
      at < index.length - 1 ? 1_000 : unique || column === "id" ? 1 : 10,
    );
    const project = table.belongsTo === "project" ? [recordsAssumed] : [];
    return [indexName(table, index, unique), [recordsAssumed, ...project, ...alike].join(" ")];
  };
  const statistics = [
    ...indexesOf(table).map(({ columns, unique }) => statistic(columns, unique)),
    ...computedIndexes(table).map(({ name, column }): [string, string] => [
      name,
      statistic([column], false)[1],
    ]),
  ];
  await sql`delete from sqlite_stat1 where tbl = ${table.name}`.execute(db);
  for (const [name, text] of statistics) {
    await sql`insert into sqlite_stat1 (tbl, idx, stat) values (${table.name}, ${name}, ${text})`.execute(db);
  }
}

const recordsAssumed = 1_000_000;

const run = async (db: Db, statement: string): Promise<void> => {
  await sql.raw(statement).execute(db);
};
