// Declares how the records of a resource get the times that they have in an archive.

import type { Filter } from "../../query/filter.ts";
import type { CatalogWriter, Table } from "../../storage/catalog.ts";
import { type ScopedRecord, type ScopedRecords, scopeByCapability } from "./scoped-records.ts";

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

export interface TimedRecords extends ScopedRecords {
  /** Restores times that only this resource has. */
  readonly restoreMore?: (tx: CatalogWriter, scope: Filter, times: readonly RecordTimes[]) => Promise<void>;
}

type Options = Partial<TimedRecords> & Pick<TimedRecords, "acl">;

export const timedRecords = <Row extends ScopedRecord>(
  table: Table<Row>,
  { acl, scope = scopeByCapability(acl), ...options }: Options,
): TimedRecords => ({ ...options, acl, scope, table: table as unknown as Table<ScopedRecord> });
