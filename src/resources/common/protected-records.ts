// Declares how rights decide about the records of a resource.
import { permittedRecords } from "../../access/caller.ts";
import type { Acl } from "../../access/capabilities.ts";
import type { RequestContext } from "../../context.ts";
import type { Filter } from "../../query/filter.ts";
import type { Stored, Table } from "../../storage/catalog.ts";

export const recordActions = ["READ", "WRITE"] as const;
export type RecordAction = (typeof recordActions)[number];

export interface ProtectedRecord extends Stored {
  readonly createdTime: number;
  readonly lastUpdatedTime: number;
}

export interface ProtectedRecords {
  readonly table: Table<ProtectedRecord>;
  readonly acl: Acl;
  /**
   * The records on which the caller may do the action: the filter of every operation on them. Refuses (403) a
   * caller without the capability.
   */
  readonly permitted: (ctx: RequestContext, action: RecordAction) => Filter;
}

/** For records that nothing but their capability protects. */
export const permittedByCapability =
  (acl: Acl): ProtectedRecords["permitted"] =>
  ({ caller }, action) =>
    permittedRecords(caller, acl, action);
