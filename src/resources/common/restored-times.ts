// How a resource declares that its records get back the times which they have in an archive.

import { scopeOf } from "../../access/caller.ts";
import type { Acl } from "../../access/capabilities.ts";
import type { RequestContext } from "../../context.ts";
import type { Filter } from "../../query/filter.ts";
import type { CatalogWriter, Stored, Table } from "../../storage/catalog.ts";

/** Milliseconds since 1970. */
export interface RecordTimes {
  readonly id: number;
  readonly createdTime: number;
  readonly lastUpdatedTime: number;
  /** Of files alone: when their upload ended. */
  readonly uploadedTime?: number | undefined;
  /** Of sequences alone: the times of their columns. */
  readonly columns?: readonly Omit<RecordTimes, "columns" | "uploadedTime">[] | undefined;
}

export interface TimedRecord extends Stored {
  readonly createdTime: number;
  readonly lastUpdatedTime: number;
}

export interface TimedRecords {
  readonly table: Table<TimedRecord>;
  /** The records that the caller may change. */
  readonly scope: (ctx: RequestContext) => Filter;
  /** Restores further times of these records. */
  readonly restoreMore?: (tx: CatalogWriter, scope: Filter, times: readonly RecordTimes[]) => Promise<void>;
}

type Options = Partial<TimedRecords> & { readonly acl: Acl };

export const timedRecords = <Row extends TimedRecord>(
  table: Table<Row>,
  { acl, scope = (ctx) => scopeOf(ctx.caller, acl, "WRITE"), ...options }: Options,
): TimedRecords => ({ ...options, scope, table: table as unknown as Table<TimedRecord> });
