// How a resource declares its import from CSV or JSON lines; `src/transfers.ts` lists all kinds.
import type { Connection } from "../client/connection.ts";
import type { Ledger } from "../client/ledger.ts";
import type { RecordFields, Refused } from "./record-items.ts";
import type { FileRecord, Reading } from "./records.ts";

/** A kind of records that `millrace import <name>` loads. */
export interface RecordKind {
  readonly name: string;
  /** The name of the records in messages. */
  readonly noun: string;
  /** Lines of the command's help. */
  readonly help: readonly string[];
  /** A column of CSV that is none of these is refused; any column is taken when absent. */
  readonly fields?: RecordFields;
  /** Its records go into a raw table, which the command line has to name. */
  readonly needsTable?: true;
  loader(loading: RecordImport): Loader;
}

export interface RecordOptions extends Reading {
  readonly server: string;
  readonly key: string;
  readonly database: string;
  readonly table: string;
  readonly keyColumn: string;
  readonly dryRun: boolean;
  readonly stateFile: string;
  readonly reportFile: string;
}

export interface RecordImport {
  readonly options: RecordOptions;
  readonly connection: Connection;
  readonly ledger: Ledger<object>;
  readonly isResumed: boolean;
}

/** A record that is ready for the server. */
export interface Prepared {
  readonly line: number;
  readonly item: object | string;
  /** Of an asset: the line of its parent. */
  readonly parentLine?: number;
}

export type Refuse = (record: { readonly line: number }, problem: Refused) => void;

/** Loads the records of one file. */
export interface Loader {
  /** The file is read again as long as a pass loads anything. */
  readonly isRepeated: boolean;
  /** Called before the first record. */
  prepare?(): Promise<void>;
  /** Undefined for a record that is loaded already; throws `Refused`. */
  prepareOne(record: FileRecord): Promise<Prepared | undefined>;
  /** Returns how many of them are loaded now. */
  load(batch: readonly Prepared[], refuse: Refuse): Promise<number>;
  /** Called after the last record. */
  conclude?(refuse: Refuse): void;
}
