// Port: the catalog stores everything that is not a datapoint or a file's bytes, as typed records in tables.
//
// Contract:
// - A write transaction is all or nothing and on disk when it resolves; writes run one after another.
// - A read transaction sees one state of the catalog, and every write acknowledged before it began.
// - A transaction is bound to one project: it sees and changes only that project's records of project tables.
// - When a change in it fails, it is rolled back and rejects, even if its caller caught the failure.
// - Numbers are finite, integers within 2^53, and -0 is 0.
// - Strings are well-formed Unicode (a lone surrogate becomes U+FFFD), ordered by code point.
// - `src/query/evaluate.ts` defines the meaning of a filter: a condition on a missing value is false.
import { invariant } from "../lib/invariant.ts";
import type { Filter } from "../query/filter.ts";
import type { LengthBound } from "../query/length-bound.ts";
import type { OrderBy, PageQuery, Position } from "../query/page.ts";

export interface TableColumn {
  /** `json` columns hold objects and arrays; a missing optional value is an absent member of the record. */
  readonly type: "integer" | "real" | "text" | "boolean" | "json";
  readonly optional: boolean;
}

/** A record with named values that is known by its id, as those of all tables are that have no key. */
export interface Stored {
  readonly id: number;
}

export interface Table<Row extends object> {
  readonly name: string;
  /** Records of a `project` table belong to one project, those of a `system` table to the installation. */
  readonly belongsTo: "project" | "system";
  readonly columns: { readonly [Name in keyof Row]-?: TableColumn };
  /**
   * The columns that identify a record instead of an id: required, unique together in a project. For rows by
   * the million that are put, read and removed by it; they have no words and no links.
   */
  readonly key?: readonly (keyof Row & string)[];
  /** Each a list of columns; in project tables the project comes first by itself. */
  readonly indexes: readonly (readonly (keyof Row & string)[])[];
  /** Column combinations that are unique in a project where all of their values are present. */
  readonly unique: readonly (readonly (keyof Row & string)[])[];
  /** Number columns that searches are sorted by. */
  readonly sortedBy?: readonly (keyof Row & string)[];
  /** Text columns found by the filter `words`, from an index. */
  readonly wordsOf: readonly (keyof Row & string)[];
  /** The records are a tree: `path` is the column of the ids from the root to the record, as `/1/7/9/`. */
  readonly tree?: { readonly path: keyof Row & string };
  /** The columns that servers cache, by the generation that counts their changes. */
  readonly cachedAs?: CachedColumns<keyof Row & string>;
  /** Columns that name records of other tables; one at most for each of these. */
  readonly links?: readonly Link<keyof Row & string>[];
}

/** Numbers of a shared catalog that count the changes of cached records of a tenant. */
export type GenerationName = "series" | "access" | "sessions";

/**
 * A generation changes when one of these columns of an existing record changes, or a record is removed;
 * those of `null` also when one is inserted.
 */
export type CachedColumns<ColumnName extends string = string> = {
  readonly [Name in GenerationName]?: readonly ColumnName[] | null;
};

/** A column that names records of another table: an optional id, or a json array of ids. */
export interface Link<ColumnName extends string = string> {
  readonly column: ColumnName;
  /** The name of the other table. */
  readonly to: string;
  /**
   * `clear` takes the id of a removed record out of the column. `remove` removes the records with it: for an
   * id, in a table to which no other one links.
   */
  readonly onDelete: "clear" | "remove";
}

/** A table whose type of rows is not known, as in a list of all tables. */
export type AnyTable = Table<{ readonly [column: string]: unknown }>;

export type ProjectId = number;
/**
 * Whose records a transaction reads and writes: those of one project, or `"system"` for the system tables.
 */
export type Tenant = ProjectId | "system";

export interface CatalogQuery {
  readonly filter: Filter;
  /**
   * The last field must be unique, so that positions are; `id` when nothing better. An optional field has a
   * range in the filter, which excludes records without it.
   */
  readonly order: readonly OrderBy[];
  readonly page: PageQuery;
  /** The fields that are needed, those of `order` included: records may lack all others. */
  readonly fields?: readonly string[];
}

export interface RankedQuery {
  readonly filter: Filter;
  /** Best first: equal to a text, beginning with it, having it; earlier entries first, then `order`. */
  readonly rank: readonly { readonly field: string; readonly text: string }[];
  /** Ends with a unique field; records that lack an earlier one come last, in either direction. */
  readonly order: readonly OrderBy[];
  readonly limit: number;
  readonly offset: number;
  /** As that of a page. */
  readonly bound?: LengthBound;
}

export interface CatalogReader {
  /** A page with a `bound` has at least one record if there is any, the nearest ones as far as they fit. */
  find<Row extends object>(table: Table<Row>, question: CatalogQuery): Promise<Row[]>;
  /** Returns the records with these ids, in the order of `ids`; omits ids that do not exist. */
  get<Row extends Stored>(table: Table<Row>, ids: readonly number[]): Promise<Row[]>;
  search<Row extends object>(table: Table<Row>, question: RankedQuery): Promise<Row[]>;
  /**
   * Counts in parts along `unique`, if it is passed, and other reads run between them. The filter leaves no
   * two records with the same value in this column, and an index has them in this order.
   */
  count<Row extends object>(table: Table<Row>, filter: Filter, unique?: keyof Row & string): Promise<number>;
  /** Returns at most `parts - 1` positions that cut the collection into parts of about equal size. */
  divide<Row extends object>(
    table: Table<Row>,
    question: { filter: Filter; order: readonly OrderBy[]; parts: number },
  ): Promise<Position[]>;
}

export interface CatalogWriter extends CatalogReader {
  /** Throws `UniqueViolation` when a unique combination is taken; the transaction must then be given up. */
  insert<Row extends Stored>(table: Table<Row>, rows: readonly Row[]): Promise<void>;
  /** Replaces whole records by id, all at once, so that two may swap names. They exist. Fails as `insert`. */
  replace<Row extends Stored>(table: Table<Row>, rows: readonly Row[]): Promise<void>;
  /**
   * Writes records of a table with a key: those of the same key are replaced, of several with one key the
   * last one stays.
   */
  put<Row extends object>(table: Table<Row>, rows: readonly Row[]): Promise<void>;
  /**
   * Writes these columns alone, of records that exist: far cheaper than `replace` for many records. None of
   * the columns is part of a unique combination or has its words kept.
   */
  setColumns<Row extends Stored, Name extends keyof Row & string>(
    table: Table<Row>,
    columns: readonly Name[],
    rows: readonly Pick<Row, Name | "id">[],
  ): Promise<void>;
  /** Clears the links to these records, as declared. Returns the number of removed records of the table. */
  remove<Row extends object>(table: Table<Row>, filter: Filter): Promise<number>;
}

export interface Catalog {
  read<Result>(tenant: Tenant, work: (tx: CatalogReader) => Promise<Result>): Promise<Result>;
  write<Result>(tenant: Tenant, work: (tx: CatalogWriter) => Promise<Result>): Promise<Result>;
  /** A write of records of a project and of system tables: both or none. */
  writeBoth<Result>(
    project: ProjectId,
    work: (tx: CatalogWriter, system: CatalogWriter) => Promise<Result>,
  ): Promise<Result>;
  /** The highest id any record ever had, removed ones included. */
  lastId(): Promise<number>;
  /**
   * A number that changes when another process has written: a command beside the server, such as `millrace
   * key revoke`. It does not change by writes of this process. Undefined when the catalog is closed. Absent
   * from a `SharedCatalog`, which has `observe`.
   */
  foreignVersion?(): Promise<number | undefined>;
  close(): Promise<void>;
}

/**
 * A catalog without writes to the system tables: `Rights.change` makes these, so that no cache misses one.
 */
export interface ProjectCatalog extends Omit<Catalog, "write" | "writeBoth"> {
  write<Result>(project: ProjectId, work: (tx: CatalogWriter) => Promise<Result>): Promise<Result>;
}

/** A change of cached records by another server. */
export interface ForeignChange {
  readonly tenant: Tenant;
  readonly generation: GenerationName;
}

/** The notices of a catalog to a server that shares it with others. */
export interface CatalogObserver {
  /** Another server changed cached records. Called again until it resolves. */
  changed(change: ForeignChange): void | Promise<void>;
  /** Changes may have been missed: no cached record may be used. Repeated until the catalog responds. */
  lost(): void;
}

/** A server's lease as the catalog has it. */
export interface LeaseState {
  readonly number: number;
  readonly hasEnded: boolean;
}

/** The leases of the servers that share a catalog. The clock of the database decides when one expires. */
export interface ServerLeases {
  /** Grants a lease for `limits.serverLeaseMs`. Its number is higher than those of all leases before. */
  grant(): Promise<number>;
  /** Extends a lease; false if it has ended. A lease that has expired can be extended until it is ended. */
  renew(number: number): Promise<boolean>;
  /** Ends a lease at once. */
  end(number: number): Promise<void>;
  /** Ends the leases that have expired. */
  endExpired(): Promise<void>;
  /** All leases; those that ended more than a day ago may be missing. */
  list(): Promise<LeaseState[]>;
}

/** A catalog that several servers write. */
export interface SharedCatalog extends Catalog {
  readonly leases: ServerLeases;
  /** Reserves `limits.catalogIdsReserved` ids that no server has had; returns the first one. */
  reserveIds(): Promise<number>;
  /** Takes versions of datapoints: ascending, and higher than all that any server has taken before. */
  takeVersions(count: number): Promise<Float64Array>;
  /** Tells the observer of changes by other servers until the catalog is closed. */
  observe(observer: CatalogObserver): void;
}

/** Checks columns for `setColumns`, which updates neither unique combinations nor the full-text index. */
export function assertPlain(table: AnyTable, columns: readonly string[]): void {
  for (const column of columns) {
    const isPlain = column !== "id" && ![...table.unique, table.wordsOf].flat().includes(column);
    invariant(isPlain && column in table.columns, `${table.name}.${column} can be written alone`);
  }
}

/** The link of a table to another one. */
export const linkTo = (table: AnyTable, other: string): Link | undefined =>
  table.links?.find(({ to }) => to === other);

/**
 * The links to a table that are cleared, or whose records are removed, when one of its records is removed.
 */
export const linksTo = (tables: readonly AnyTable[], { name }: AnyTable) =>
  tables.flatMap((table) => {
    const link = linkTo(table, name);
    return link ? [{ table, column: link.column, onDelete: link.onDelete }] : [];
  });

/** The key of a table that has one. */
export function keyOf(table: AnyTable): readonly string[] {
  invariant(table.key !== undefined, `${table.name} has a key`);
  return table.key;
}

export class UniqueViolation extends Error {
  readonly table: string;
  readonly columns: readonly string[];
  constructor(table: string, columns: readonly string[]) {
    super(`a record with the same ${columns.join(" and ")} exists in ${table}`);
    this.name = "UniqueViolation";
    this.table = table;
    this.columns = columns;
  }
}
