// The records that a transformation writes, as values by column, whatever resource they belong to.
import type { Acl } from "../../../access/capabilities.ts";
import type { RequestContext } from "../../../context.ts";
import type { RecordValues } from "../../../query/evaluate.ts";

export type ColumnType = "text" | "number" | "boolean" | "json";

/** A row of the result, with the values that its columns give to the record of its key. */
export interface Candidate {
  /** The number of the row; the first is 1. */
  readonly row: number;
  readonly key: string;
  readonly values: RecordValues;
  /** Values of single keys of the metadata: those of the columns `metadata.<key>`. */
  readonly pairs: Readonly<Record<string, string | null>>;
}

/** A record to change: `values` are those that differ. */
export interface RecordChange {
  readonly row: number;
  readonly key: string;
  readonly current: RecordValues;
  readonly values: RecordValues;
}

export interface RecordCreation {
  readonly row: number;
  readonly key: string;
  readonly values: RecordValues;
}

/** What one commit does to the records of a destination. */
export interface Writes {
  readonly creations: readonly RecordCreation[];
  readonly changes: readonly RecordChange[];
  readonly deletions: readonly RecordChange[];
  /** Keys of records that other parts of a plan create. A plan writes nothing, so that they do not exist. */
  readonly assumed: ReadonlySet<string>;
}

export interface RecordDestination {
  readonly acl: Acl;
  /** The column that names a record. */
  readonly key: string;
  /** The columns by name; undefined if the destination takes any column. */
  readonly columns: Readonly<Record<string, readonly ColumnType[]>> | undefined;
  /** Columns that a record keeps from its creation on. */
  readonly fixed: readonly string[];
  readonly canDelete: boolean;
  /** Throws the refusal of values that the resource does not take. */
  check(values: RecordValues): void;
  /** The records of these keys that the caller may read. */
  find(ctx: RequestContext, keys: readonly string[]): Promise<ReadonlyMap<string, RecordValues>>;
  /** Writes all or none. */
  write(ctx: RequestContext, writes: Writes): Promise<void>;
  /** Runs a commit in which records that servers cache may change. */
  guard<Done>(ctx: RequestContext, commit: () => Promise<Done>): Promise<Done>;
}
