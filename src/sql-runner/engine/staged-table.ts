// A temporary table with the columns of a source table that a query reads.
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { parseJson } from "../../lib/json.ts";
import { limits } from "../../limits.ts";
import type { SqlColumn, SqlLookup, SqlRead, SqlTable, SqlTableName, SqlType } from "../sql-runner.ts";
import { folded, type SqlToken, sameName } from "../tokens.ts";
import { quoted } from "./query-text.ts";

interface Place {
  readonly name: SqlTableName;
  readonly schema: string;
  readonly table: string;
}

/** Types with which SQLite compares numbers and strings as numbers. Raw values have none. */
const affinities: Readonly<Record<SqlType, string>> = {
  ...{ integer: "INTEGER", real: "REAL", text: "TEXT", json: "TEXT", boolean: "INTEGER" },
};

export class StagedTable {
  readonly #db: DatabaseSync;
  readonly place: Place;
  readonly #described: SqlTable;
  /** The members of each column that is not one of the described columns; SQLite ignores case in names. */
  readonly #members = new Map<string, string[]>();
  #insert: StatementSync | undefined;
  /** The columns that are stored. */
  #used: ReadonlySet<string> = new Set();
  rows = 0;

  constructor(
    db: DatabaseSync,
    { described, ...place }: Place & { readonly described: SqlTable },
    tokens: readonly SqlToken[],
  ) {
    this.#db = db;
    this.place = place;
    this.#described = described;
    const columns = new Set(described.columns.map(({ name }) => folded(name)));
    const { members = [] } = described;
    const named = new Set(tokens.map(({ value }) => folded(value)));
    const isMany = members.length > limits.sqlColumnsMax;
    for (const member of members) {
      const column = folded(member);
      // SQL ends at a NUL character.
      if (columns.has(column) || column.includes("\0") || (isMany && !named.has(column))) continue;
      this.#members.set(column, [...(this.#members.get(column) ?? []), member]);
    }
  }

  get hasCommits(): boolean {
    return this.#described.hasCommits;
  }

  create(): void {
    const columns = this.#described.columns.map(
      ({ name, type }) => `${quoted(name)} ${type ? affinities[type] : ""}`,
    );
    const members = [...this.#members.values()].map(([name]) => quoted(name!));
    this.#db.exec(`CREATE TABLE ${this.#quoted} (${[...columns, ...members].join(", ")})`);
  }

  get #quoted(): string {
    return `${quoted(this.place.schema)}.${quoted(this.place.table)}`;
  }

  typeOf(column: string): SqlType | undefined {
    return this.#described.columns.find(({ name }) => folded(name) === folded(column))?.type;
  }

  /** The key with this name. */
  keyNamed(column: string): SqlColumn | undefined {
    const { keys = [], columns } = this.#described;
    return columns.find(({ name }) => keys.includes(name) && sameName(name, column));
  }

  /**
   * The different values of a column, for comparison with a key of this type; undefined if SQLite may find a
   * value equal to one that is none of them, or if there are too many.
   */
  valuesFor({ type }: SqlColumn, column: string): SqlLookup["values"] | undefined {
    const isStored = this.#used.has(folded(column));
    if (!isStored || this.rows > limits.sqlLookupRowsMax) return undefined;
    const isNumber = type === "integer";
    const own = affinities[this.typeOf(column) ?? "json"];
    // SQLite compares a number with a text as numbers: 7 is equal to '007'.
    if (!isNumber && own !== "TEXT") return undefined;
    const value = `CAST(${quoted(column)} AS ${isNumber ? "NUMERIC" : "TEXT"})`;
    const { list } = this.#db
      .prepare(`SELECT json_group_array(v) AS list FROM (SELECT DISTINCT ${value} AS v FROM ${this.#quoted})`)
      .get() as { list: string };
    const values = parseJson(list) as readonly unknown[];
    return isNumber
      ? values.filter((one): one is number => Number.isSafeInteger(one))
      : values.filter(
          (one): one is string => typeof one === "string" && one.length <= limits.sqlLookupLengthMax,
        );
  }

  /** The read of these columns, and the statement that stores its rows. */
  readOf(names: ReadonlySet<string>, only: Pick<SqlRead, "afterCommit" | "lookup">): SqlRead {
    const used = new Set([...names].map(folded));
    this.#used = used;
    const columns = this.#described.columns.filter(({ name }) => used.has(folded(name)));
    const members = [...this.#members].filter(([column]) => used.has(column));
    const values = [
      ...columns.map((_, at) => `each.value ->> ${at}`),
      ...members.map(([, written]) => memberValue(written, columns.length)),
    ];
    const into = [...columns.map(({ name }) => name), ...members.map(([, [name]]) => name!)];
    // Counting needs rows, not values.
    const [first] = this.#described.columns;
    const isEmpty = into.length === 0;
    this.#insert = this.#db.prepare(
      `INSERT INTO ${this.#quoted} (${isEmpty ? quoted(first!.name) : into.map(quoted).join(", ")})
      SELECT ${isEmpty ? "NULL" : values.join(", ")} FROM json_each(?) AS each`,
    );
    return {
      columns: columns.map(({ name }) => name),
      members: members.flatMap(([, written]) => written),
      ...only,
    };
  }

  add(page: string): void {
    this.rows += Number(this.#insert!.run(page).changes);
  }
}

/** The value of a member. Spellings that differ in case are one column: the first one with a value counts. */
function memberValue(written: readonly string[], at: number): string {
  const values = written.map((name) => memberOf(name, at));
  return values.length === 1 ? values[0]! : `coalesce(${values.join(", ")})`;
}

/** A path of SQLite cannot have a quote or a backslash in a name, and a name may be anything. */
function memberOf(name: string, at: number): string {
  const text = (value: string) => `'${value.replaceAll("'", "''")}'`;
  return /["\\]|\p{Cc}/u.test(name)
    ? `(SELECT m.value FROM json_each(each.value, '$[${at}]') m WHERE m.key = ${text(name)} LIMIT 1)`
    : `json_extract(each.value, ${text(`$[${at}]."${name}"`)})`;
}
