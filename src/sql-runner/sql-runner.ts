// Port: runs an SQL query over records of the server in a process with few rights.
//
// Contract. A query that waits for a place has no open source, as a source holds a read transaction. The
// engine first reads the source tables that the query names, with only the columns that it uses; then the
// source is closed, and the engine runs the query and sends the rows in batches. The process is ended before
// the promise settles. A query that fails rejects with an `SqlFailure`, or with the reason of the signal; any
// other error is one of the server.

/**
 * An integer beyond 2^53 is a bigint. There are no booleans in SQL: true is 1. Objects and arrays are JSON
 * strings. Binary values and infinite numbers are refused (`value`).
 */
export type SqlValue = string | number | bigint | null;

/** The values in the order of the columns. */
export type SqlRow = readonly SqlValue[];

export type SqlType = "integer" | "real" | "text" | "json" | "boolean";

export interface SqlColumn {
  readonly name: string;
  /** The type of the source column; absent for an expression and for a column of raw rows. */
  readonly type?: SqlType;
}

/** `raw` is `"database"."table"`, `rows` is `raw_rows(database, table)`. */
export type SqlTableName =
  | { readonly kind: "raw" | "rows"; readonly database: string; readonly table: string }
  /** `millrace.<name>`, or `millrace.<name>(arguments)`. */
  | { readonly kind: "records"; readonly name: string; readonly args: readonly SqlValue[] };

export interface SqlTable {
  readonly columns: readonly SqlColumn[];
  /** Further columns: the members of a JSON object that each row has, by name. */
  readonly members?: readonly string[];
  /** The columns whose values find rows by an index. */
  readonly keys?: readonly string[];
  /** `commitNumber` is one of the columns, so that `is_new` can be used with the table. */
  readonly hasCommits: boolean;
}

export interface SqlRead {
  /** The names of the needed columns, of `SqlTable.columns`. */
  readonly columns: readonly string[];
  /** The needed members, of `SqlTable.members`. */
  readonly members: readonly string[];
  /** Only rows of a higher commit number are needed. The source may return others too. */
  readonly afterCommit?: number;
  /** Only rows with one of these values in the column, of `SqlTable.keys`, are needed. */
  readonly lookup?: SqlLookup;
}

export interface SqlLookup {
  readonly column: string;
  readonly values: readonly (string | number)[];
}

/**
 * A page as JSON: an array of rows. A row is an array of the values of `SqlRead.columns` in their order. With
 * members, the object that has them follows, with other members too. It is text so that raw rows are sent
 * exactly as they are stored.
 */
export type SqlPage = string;

/** The records that a query may read, with the rights of one account, in one state of the catalog. */
export interface SqlSource {
  /** The table; undefined if it does not exist or the account may not read it. */
  describe(name: SqlTableName): Promise<SqlTable | undefined>;
  /** The rows of a described table. The engine reads the next page when it has stored the one before. */
  read(name: SqlTableName, read: SqlRead): AsyncIterable<SqlPage>;
  /** The commit number of the last write of raw rows that this state has: the next mark of `is_new`. */
  lastCommit(): Promise<number>;
}

/** A source that reads until it is closed; it may be closed twice. */
export interface OpenSource {
  readonly source: SqlSource;
  close(): void;
}

/** Commit numbers by the names of `is_new(name)`, as they were after the last successful run. */
export type SqlMarks = Readonly<Record<string, number>>;

export interface SqlLimits {
  /** Memory of the process. */
  readonly memoryBytes: number;
  readonly cpuMs: number;
  /** From the start of the process until the last row, with the time that `onRows` takes. */
  readonly wallMs: number;
  /** The temporary file of the staged tables; also each file for sorting. */
  readonly diskBytes: number;
  /** Rows that the query returns. */
  readonly rows: number;
  /** All rows that the query returns, as JSON. */
  readonly bytes: number;
  /** A string that the query makes. */
  readonly valueBytes: number;
}

export interface SqlRequest {
  readonly sql: string;
  /** Called once the query has a place. The source is closed before `onColumns` is called. */
  readonly openSource: () => Promise<OpenSource>;
  /** Absent in a preview: `is_new` is true for all rows. A name without a mark is true for all rows too. */
  readonly marks?: SqlMarks;
  /** Default: `limits.sqlMemoryBytesMax` and so on. */
  readonly limits?: Partial<SqlLimits>;
  /** The query ends without an error after these rows (a preview). */
  readonly firstRows?: number;
  /** The project; projects share the places of runs. */
  readonly project: string;
  /** Called once, after all reads of the source and before the first row. */
  readonly onColumns: (columns: readonly SqlColumn[]) => void | Promise<void>;
  /** Called with one batch after the other; the process waits for the promise. */
  readonly onRows: (rows: readonly SqlRow[]) => void | Promise<void>;
}

export interface SqlSummary {
  readonly rows: number;
  /** The query has more rows than `firstRows`. */
  readonly isCut: boolean;
  /** The types of the values of each column, without null. */
  readonly types: readonly (readonly ("integer" | "real" | "text")[])[];
  /**
   * The mark of each name that the query passes to `is_new`. Save them with the result: rows that were
   * written while the query ran have higher numbers.
   */
  readonly marks: SqlMarks;
}

/** The limit that a query exceeded, a member of `SqlLimits`. */
export type SqlBound = keyof SqlLimits;

export type SqlProblem =
  /** SQL that cannot be parsed, an unknown column or function, or a wrong number of arguments. */
  | { readonly kind: "syntax"; readonly message: string; readonly offset?: number }
  | { readonly kind: "table-unknown"; readonly message: string; readonly offset?: number }
  /** A statement, function or pragma that is not allowed. */
  | { readonly kind: "forbidden"; readonly message: string; readonly offset?: number }
  | { readonly kind: "bound"; readonly message: string; readonly bound: SqlBound; readonly limit: number }
  /** An error while the query runs: a function refused its argument, or a value cannot be returned. */
  | { readonly kind: "value"; readonly message: string }
  /** The process ended for a reason that no limit explains. */
  | { readonly kind: "ended"; readonly message: string };

/** Why a query has no result. Errors of the source reject as they are. */
export class SqlFailure extends Error {
  readonly problem: SqlProblem;
  constructor(problem: SqlProblem) {
    super(problem.message);
    this.name = "SqlFailure";
    this.problem = problem;
  }
}

export interface SqlRunner {
  run(request: SqlRequest, signal: AbortSignal): Promise<SqlSummary>;
}
