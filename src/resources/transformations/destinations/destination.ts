// The records that a transformation writes, as values by column, whatever resource they belong to.
import type { Acl } from "../../../access/capabilities.ts";
import type { RequestContext } from "../../../context.ts";
import type { RecordValues } from "../../../query/evaluate.ts";
import type { RowError, TransformationAction } from "../schema.ts";

/** `written` is a `WrittenJson`. */
export type ColumnType = "text" | "number" | "boolean" | "json" | "written";

/** A list or an object as it is written: parsing would change digits of its numbers. */
export class WrittenJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** In other JSON, such as a plan, it is its text. */
  toJSON(): string {
    return this.text;
  }
}

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

/** The writes of one commit to the records of a destination. */
export interface Writes {
  readonly creations: readonly RecordCreation[];
  readonly changes: readonly RecordChange[];
  readonly deletions: readonly RecordChange[];
  /** Keys of records that other parts of a plan create. A plan writes nothing, so that they do not exist. */
  readonly assumed: ReadonlySet<string>;
}

/** The effect of rows on the records of their keys. */
export interface RowComparison extends Omit<Writes, "assumed"> {
  readonly unchanged: readonly Candidate[];
  readonly refused: readonly RowError[];
  /** The number of rows that repeat an earlier row. */
  readonly repeated: number;
}

export const noRows: RowComparison = {
  ...{ creations: [], changes: [], deletions: [], unchanged: [], refused: [], repeated: 0 },
};

export interface RecordDestination {
  readonly acl: Acl;
  /** Each a list of columns that name a record together. A result has all columns of exactly one. */
  readonly keys: readonly (readonly string[])[];
  /** The columns by name; undefined if the destination takes any column. */
  readonly columns: Readonly<Record<string, readonly ColumnType[]>> | undefined;
  readonly actions: readonly TransformationAction[];
  /** The records are not in the catalog: they are written before the commit that counts them. */
  readonly isWrittenBeforeCommit?: true;
  /** The key of a row; undefined if a column of it has no value that can be one. */
  keyOf(values: RecordValues): string | undefined;
  /** The rows in an order in which each can be written after those before it; any order when absent. */
  inOrder?(rows: readonly Candidate[]): readonly Candidate[];
  /** Compares rows with the records that the caller may read. */
  compare(
    ctx: RequestContext,
    action: TransformationAction,
    rows: readonly Candidate[],
  ): Promise<RowComparison>;
  /** Writes all or none. */
  write(ctx: RequestContext, writes: Writes): Promise<void>;
  /** Runs a commit in which records that servers cache may change. */
  guard<Done>(ctx: RequestContext, commit: () => Promise<Done>): Promise<Done>;
}

export const unguarded: RecordDestination["guard"] = (_ctx, commit) => commit();
