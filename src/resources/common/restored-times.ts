// Declares how the records of a resource get the times that they have in an archive.

import type { Filter } from "../../query/filter.ts";
import type { CatalogWriter, Table } from "../../storage/catalog.ts";
import { type ProtectedRecord, type ProtectedRecords, permittedByCapability } from "./protected-records.ts";

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

export interface TimedRecords extends ProtectedRecords {
  /** Restores times that only this resource has. */
  readonly restoreMore?: (
    tx: CatalogWriter,
    permitted: Filter,
    times: readonly RecordTimes[],
  ) => Promise<void>;
}

type Options = Partial<TimedRecords> & Pick<TimedRecords, "acl">;

export const timedRecords = <Row extends ProtectedRecord>(
  table: Table<Row>,
  { acl, permitted = permittedByCapability(acl), ...options }: Options,
): TimedRecords => ({ ...options, acl, permitted, table: table as unknown as Table<ProtectedRecord> });
