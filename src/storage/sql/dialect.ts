// The differences between the SQL databases under the catalog: SQL expressions, inserts, and transactions.
import type { Kysely, RawBuilder, SqlBool } from "kysely";
import type { Failure } from "../../errors.ts";
import type { AnyTable, GenerationName, Tenant } from "../catalog.ts";

/** Tables and columns are declared at run time, so Kysely knows their names as plain strings only. */
export type DatabaseRows = Record<string, Record<string, unknown>>;
export type Db = Kysely<DatabaseRows>;
export type Condition = RawBuilder<SqlBool>;
export type SqlExpression = RawBuilder<unknown>;

/** The encoded values of a record, in the order of its columns. */
export type Values = readonly (string | number | null)[];

export type MemberType = "string" | "number" | "boolean";

/** The type of the values of a list. */
export type ListType = "text" | "number";

/** A read of the first records, in an order and within a range of it, that meet a condition. */
export interface OrderedScan {
  readonly table: AnyTable;
  /** The part of the condition that an index evaluates, with the bounds of the range. */
  readonly indexed: Condition;
  /** The part of the condition that is evaluated record by record. */
  readonly condition: Condition;
  /** The columns after `order by`. */
  readonly sorted: SqlExpression;
  readonly limit: number;
  /** The read stops after about this number of records that do not meet the condition. */
  readonly rejectedMax: number;
}

/** Builds the SQL of a filter's conditions. A condition on a missing value is null or false. */
export interface Expressions {
  /** A subquery in parentheses of any number of values, for use after `in`. */
  listed(values: readonly (string | number)[], type: ListType): SqlExpression;
  /** The query in parentheses, as a subquery that runs once and not for each record. */
  computedOnce(query: SqlExpression): SqlExpression;
  /** A subquery in parentheses of the elements of a JSON array as `value`, for use after `in` or `from`. */
  elements(array: SqlExpression, type: ListType): SqlExpression;
  /** The JSON array of ids without the values of a `listed` subquery, in the same order. */
  elementsExcept(array: SqlExpression, values: SqlExpression): SqlExpression;
  /** The JSON object has this key; with `expected`, its value has the type and meets the condition. */
  hasMember(
    object: SqlExpression,
    key: string,
    expected?: { readonly type: MemberType; readonly holds: (value: SqlExpression) => Condition },
  ): Condition;
  /** At least one element of a JSON array, or one pair of a JSON object, meets the condition. */
  someElement(json: SqlExpression, condition: Condition): Condition;
  /**
   * A member of the element in the condition of `someElement`. An element that is no object has the members
   * `key` and `value`.
   */
  elementMember(name: string, type: MemberType | "any"): SqlExpression;
  /** The decimal digits of an integer. */
  asText(integer: SqlExpression): SqlExpression;
  /** The text without upper and lower case, as `foldCase` makes it. */
  folded(text: SqlExpression): SqlExpression;
  /** The text has `part`, in which no character is a wildcard. */
  textHas(text: SqlExpression, part: string, where: "start" | "end" | "anywhere"): Condition;
  /** The text becomes `term` with at most `distance` edits of one letter. */
  within(text: SqlExpression, term: string, distance: number): Condition;
  /**
   * A subquery in parentheses of the ids of records whose list has one of the values. Each id is there once,
   * in the column `record`. Undefined for a list without an index.
   */
  idsHaving(table: AnyTable, field: string, values: SqlExpression): SqlExpression | undefined;
  /**
   * A subquery in parentheses of the places of records that have all of these words, in the order of its
   * column `place`: by project, then by id. It may have a few records of other projects.
   */
  placesWithWords(table: AnyTable, tenant: Tenant, queries: readonly WordQuery[]): SqlExpression;
  /** The number in the form that the index for sorted searches has. */
  sortable(number: SqlExpression): SqlExpression;
  /** The id of the record at a place. */
  idAt(place: SqlExpression): SqlExpression;
  /** An aggregate: all integers of a column as text, with commas between them. */
  joined(integers: SqlExpression): SqlExpression;
  /** The condition of `placesWithWords` for one record. */
  hasWords(table: AnyTable, query: WordQuery): Condition;
  /**
   * The text equals the term, or begins with it, without regard to case. An index of beginnings has it.
   */
  startsAs(text: SqlExpression, term: string, how: "equal" | "begins"): Condition;
  /** The path, which has the ids of an asset and of all assets above it, has one of these ids. */
  isUnder(path: SqlExpression, assetIds: readonly number[]): Condition;
}

/** Each of `words` is the beginning of a word in one of the fields. */
export interface WordQuery {
  readonly fields: readonly string[];
  readonly words: readonly string[];
}

/** One open database. */
export interface Database {
  readonly expressions: Expressions;
  /** For write transactions; one at a time in each tenant. */
  readonly writes: Db;
  /** For read transactions; each sees one state. A row has no member for a missing value. */
  readonly reads: Db;
  /** Begins a write transaction in a tenant, after the earlier ones have ended. */
  beginWrite?(db: Db, tenant: Tenant): Promise<void>;
  /** Runs in the transaction of every insert, so that the stored id is never below that of a record. */
  raiseLastId(db: Db, tenant: Tenant, id: number): Promise<void>;
  readLastId(db: Db): Promise<number>;
  /** See `Catalog.foreignVersion`. */
  foreignVersion?(): Promise<number>;
  /** Counts a change of cached records in its transaction; absent if no other server shares them. */
  announce?(db: Db, tenant: Tenant, names: readonly GenerationName[]): Promise<void>;
  /** Inserts rows. Their values are in the order of `columns`, the id first. */
  insertAll(db: Db, table: AnyTable, columns: readonly string[], rows: readonly Values[]): Promise<void>;
  /** Inserts rows of a table with a key, or replaces them. The last row of a key counts. */
  putAll(db: Db, table: AnyTable, columns: readonly string[], rows: readonly Values[]): Promise<void>;
  /** Updates columns of records. A row ends with the id. Returns the number of updated records. */
  setAll(db: Db, table: AnyTable, columns: TenantColumns, rows: readonly Values[]): Promise<number>;
  /** Runs a scan. `read` selects the records for a condition. */
  scan<Row>(
    db: Db,
    scan: OrderedScan,
    read: (where: Condition) => Promise<Row[]>,
  ): Promise<Row[] | EndedEarly>;
  /**
   * Reads rows of a statement until their total length would exceed `lengthMax`, but at least one. `isCut` if
   * there are more; with `allOrNone` it then returns no row.
   */
  readWithin(
    db: Db,
    statement: SqlExpression,
    within: {
      readonly fields: readonly string[];
      readonly table: AnyTable;
      readonly lengthMax: number;
      readonly allOrNone: boolean;
      /** The statement returns at most so many rows. */
      readonly limit?: number | undefined;
    },
  ): Promise<{ readonly rows: readonly object[]; readonly length: number; readonly isCut: boolean }>;
  /** Parses the JSON of a column. */
  parseJson(text: string): unknown;
  /** The columns of the unique index that the failed statement violates. */
  takenColumns(error: unknown): readonly string[] | undefined;
  /** The refusal for an error of the database; undefined if it is an error of the server itself. */
  refusalOf(error: unknown): Failure | undefined;
  close(): Promise<void>;
}

/** The columns of `setAll`, and the tenant of its records. */
export interface TenantColumns {
  readonly names: readonly string[];
  readonly tenant: Tenant;
}

/** The result of a scan that stopped because too few records meet its condition. */
export interface EndedEarly {
  /** The share of examined records that meet the condition. */
  readonly share: number;
}
