// Declares how the records of a resource get the times that they have in an archive.

import { scopeOf } from "../../access/caller.ts";
import type { Acl } from "../../access/capabilities.ts";
import type { RequestContext } from "../../context.ts";
import type { Filter } from "../../query/filter.ts";
import type { CatalogWriter, Stored, Table } from "../../storage/catalog.ts";

/** Times in milliseconds since 1970. */
export interface RecordTimes {
  readonly id: number;
  readonly createdTime: number;
  readonly lastUpdatedTime: number;
  /** Only for files: when the upload of the bytes was complete. */
  readonly uploadedTime?: number | undefined;
  /** Only for sequences: the times of the columns. */
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
  /** Restores times that only this resource has. */
  readonly restoreMore?: (tx: CatalogWriter, scope: Filter, times: readonly RecordTimes[]) => Promise<void>;
}

type Options = Partial<TimedRecords> & { readonly acl: Acl };

export const timedRecords = <Row extends TimedRecord>(
  table: Table<Row>,
  { acl, scope = (ctx) => scopeOf(ctx.caller, acl, "WRITE"), ...options }: Options,
): TimedRecords => ({ ...options, scope, table: table as unknown as Table<TimedRecord> });
