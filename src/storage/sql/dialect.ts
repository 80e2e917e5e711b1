// The seam between the SQL catalog and a database product: everything that databases spell differently.
import type { Kysely, RawBuilder, SqlBool } from "kysely";
import type { Failure } from "../../errors.ts";
import type { AnyTable, GenerationName, Tenant } from "../catalog.ts";

/** Tables and columns are declared at run time, so that names are plain strings to Kysely. */
export type DatabaseRows = Record<string, Record<string, unknown>>;
export type Db = Kysely<DatabaseRows>;
export type Condition = RawBuilder<SqlBool>;
export type SqlExpression = RawBuilder<unknown>;

/** A record as values in the sequence of its columns, encoded. */
export type Values = readonly (string | number | null)[];

export type MemberType = "string" | "number" | "boolean";

/** The type of the values of a list. */
export type ListType = "text" | "number";

/** The records of one range of an order: those that meet a condition are read from its start. */
export interface Walk {
  readonly table: AnyTable;
  /** The condition that is cheap, with the bounds of the range. */
  readonly within: Condition;
  /** The condition that is evaluated for one record after the other. */
  readonly met: Condition;
  /** The list after `order by`. */
  readonly sorted: SqlExpression;
  readonly limit: number;
  /** After about as many records that do not meet the condition, the walk ends. */
  readonly missesMax: number;
}

/**
 * Expresses conditions of the filter tree in a database's SQL. A missing value makes a condition null or
 * false.
 */
export interface Expressions {
  /** A parenthesised subquery of these values, however many, for use after `in`. */
  listed(values: readonly (string | number)[], type: ListType): SqlExpression;
  /** A parenthesised subquery of the elements of a json array as `value`, for use after `in` or `from`. */
  elements(array: SqlExpression, type: ListType): SqlExpression;
  /** The json array of ids without the values of a `listed` subquery, its order kept. */
  elementsExcept(array: SqlExpression, values: SqlExpression): SqlExpression;
  /**
   * A json object that has a value under this key; with `type` and `holds`, one of that type for which the
   * condition is true.
   */
  hasMember(
    object: SqlExpression,
    key: string,
    wanted?: { readonly type: MemberType; readonly holds: (value: SqlExpression) => Condition },
  ): Condition;
  /** An element of a json list, or a pair of a json object, meets a condition on its `elementMember`s. */
  someElement(json: SqlExpression, condition: Condition): Condition;
  /** A member of the element a condition is about: `key` and `value` of what is no object itself. */
  elementMember(name: string, type: MemberType | "any"): SqlExpression;
  /** An integer as its decimal digits. */
  asText(integer: SqlExpression): SqlExpression;
  /** Case taken away, as `foldCase` does. */
  folded(text: SqlExpression): SqlExpression;
  /** Literal: nothing in `part` is special. */
  textHas(text: SqlExpression, part: string, where: "start" | "end" | "anywhere"): Condition;
  within(text: SqlExpression, wanted: string, distance: number): Condition;
  /**
   * A parenthesised subquery of the ids of records, each once and called `record`, whose list has one of the
   * values of a subquery; undefined for lists that no index is kept of.
   */
  idsHaving(table: AnyTable, field: string, values: SqlExpression): SqlExpression | undefined;
  /**
   * A parenthesised subquery of the places of records that have all of these words, read in order of its
   * column `place`: by project, then by id. It may have a few records of other projects.
   */
  placesWithWords(table: AnyTable, tenant: Tenant, wanted: readonly WordQuery[]): SqlExpression;
  /** A number as what searches are sorted by, of which an index is kept. */
  sortable(number: SqlExpression): SqlExpression;
  /** The id of the record at a place. */
  idAt(place: SqlExpression): SqlExpression;
  /** As `placesWithWords`, for one record. */
  hasWords(table: AnyTable, wanted: WordQuery): Condition;
  /**
   * The folded beginning of a text that has its words kept equals that of another one, or begins with it;
   * an index is kept of it.
   */
  startsAs(text: SqlExpression, wanted: string, how: "equal" | "begins"): Condition;
  /** A path that goes through one of these assets: it holds the ids of all that is above. */
  isUnder(path: SqlExpression, assetIds: readonly number[]): Condition;
}

/** Each of the words begins a word of one of the fields. */
export interface WordQuery {
  readonly fields: readonly string[];
  readonly words: readonly string[];
}

/** One open database. */
export interface Database {
  readonly expressions: Expressions;
  /** Transactions that may change something; one at a time in each tenant. */
  readonly writes: Db;
  /** Transactions that only read; each sees one state. Rows of both lack the members of missing values. */
  readonly reads: Db;
  /** Begins a write transaction in a tenant, when the earlier ones have ended. */
  beginWrite?(db: Db, tenant: Tenant): Promise<void>;
  /** Runs in the transaction of every insert, so that the stored id is never below that of a record. */
  raiseLastId(db: Db, tenant: Tenant, id: number): Promise<void>;
  readLastId(db: Db): Promise<number>;
  /** Counts a change of cached records in its transaction; absent if no other server shares them. */
  announce?(db: Db, tenant: Tenant, names: readonly GenerationName[]): Promise<void>;
  /** Inserts rows of values in the sequence of `columns`, the id first. */
  insertAll(db: Db, table: AnyTable, columns: readonly string[], rows: readonly Values[]): Promise<void>;
  /** As `insertAll`, for a table with a key: replaces records; the last row of a key stays. */
  putAll(db: Db, table: AnyTable, columns: readonly string[], rows: readonly Values[]): Promise<void>;
  /** Writes columns of records; each row ends with its id. Returns how many records changed. */
  setAll(db: Db, table: AnyTable, columns: TenantColumns, rows: readonly Values[]): Promise<number>;
  /** Reads the first records of a walk. */
  walk<Row>(db: Db, walk: Walk, read: (where: Condition) => Promise<Row[]>): Promise<Row[] | EndedEarly>;
  /**
   * Reads the rows of a statement until they are longer than `lengthMax` together; the first one is read
   * however long it is. `isCut` when there are more; then it returns none with `allOrNone`.
   */
  readWithin(
    db: Db,
    statement: SqlExpression,
    within: {
      readonly fields: readonly string[];
      readonly table: AnyTable;
      readonly lengthMax: number;
      readonly allOrNone: boolean;
    },
  ): Promise<{ readonly rows: readonly object[]; readonly length: number; readonly isCut: boolean }>;
  /** Parses the JSON of a column. */
  parseJson(text: string): unknown;
  /** The columns of the unique combination that a statement's failure says is taken. */
  takenColumns(error: unknown): readonly string[] | undefined;
  /** The refusal that a failure of the database means; undefined if it is an error of the server itself. */
  refusalOf(error: unknown): Failure | undefined;
  close(): Promise<void>;
}

/** The columns of `setAll`, and the project of its records. */
export interface TenantColumns {
  readonly names: readonly string[];
  readonly tenant: Tenant;
}

/** A walk that found too few records among those it looked at. */
export interface EndedEarly {
  /** The share of records that met the condition. */
  readonly share: number;
}
