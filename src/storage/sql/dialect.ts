// The seam between the SQL catalog and a database product: everything that databases spell differently.
import type { Kysely, RawBuilder, SqlBool } from "kysely";
import type { AnyTable, Tenant } from "../catalog.ts";

/** Tables and columns are declared at run time, so that names are plain strings to Kysely. */
export type DatabaseRows = Record<string, Record<string, unknown>>;
export type Db = Kysely<DatabaseRows>;
export type Condition = RawBuilder<SqlBool>;
export type SqlExpression = RawBuilder<unknown>;

/** A record as values in the sequence of its columns, encoded. */
export type Values = readonly (string | number | null)[];

export type MemberType = "string" | "number" | "boolean";

/**
 * Expresses conditions of the filter tree in a database's SQL. A missing value makes a condition null or
 * false.
 */
export interface Expressions {
  /** A parenthesised subquery of these values, however many, for use after `in`. */
  listed(values: readonly (string | number)[]): SqlExpression;
  /** A parenthesised subquery of the elements of a json array, for use after `in`. */
  elements(array: SqlExpression): SqlExpression;
  /** The json array without the values of a `listed` subquery, its order kept. */
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
  elementMember(name: string): SqlExpression;
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
  /** Each word is a prefix of a word in one of the strings: as `placesWithWords`, for one record. */
  hasWords(texts: readonly SqlExpression[], words: readonly string[]): Condition;
  /** The folded beginning of a text that has its words kept; an index is kept of it. */
  startOf(text: SqlExpression): SqlExpression;
  /** The condition; the statement fails after the condition was false for more than `missesMax` records. */
  unlessMissed(condition: Condition, missesMax: number): Condition;
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
  /** Transactions that may change something; one at a time. */
  readonly writes: Db;
  /** Transactions that only read; each sees one state. Rows of both lack the members of missing values. */
  readonly reads: Db;
  /** Inserts rows of values in the sequence of `columns`, the id first. */
  insertAll(db: Db, table: AnyTable, columns: readonly string[], rows: readonly Values[]): Promise<void>;
  /** Runs a statement once for each of the rows of parameters; returns how many records changed. */
  runForEach(db: Db, statement: SqlExpression, rows: readonly Values[]): Promise<number>;
  /**
   * Reads the rows of a statement until they are longer than `lengthMax` together; the first one is read
   * however long it is. `isCut` when there are more; then it returns none with `allOrNone`.
   */
  readWithin(
    db: Db,
    statement: SqlExpression,
    within: { readonly lengthMax: number; readonly allOrNone: boolean },
  ): Promise<{ readonly rows: readonly object[]; readonly length: number; readonly isCut: boolean }>;
  /** The columns of the unique combination that a statement's failure says is taken. */
  takenColumns(error: unknown): readonly string[] | undefined;
  /** If a statement failed because of `unlessMissed`, returns how many records met the condition. */
  heldBeforeGivingUp(error: unknown): number | undefined;
  /** What a failure of a write says when the disk is why: it is full, or took no bytes. */
  refusedByDisk(error: unknown): string | undefined;
  close(): Promise<void>;
}
