// Declares how rights decide about the records of a resource.
import { scopeOf } from "../../access/caller.ts";
import type { Acl } from "../../access/capabilities.ts";
import type { RequestContext } from "../../context.ts";
import type { Filter } from "../../query/filter.ts";
import type { Stored, Table } from "../../storage/catalog.ts";

export const recordActions = ["READ", "WRITE"] as const;
export type RecordAction = (typeof recordActions)[number];

export interface ScopedRecord extends Stored {
  readonly createdTime: number;
  readonly lastUpdatedTime: number;
}

export interface ScopedRecords {
  readonly table: Table<ScopedRecord>;
  readonly acl: Acl;
  /**
   * The records on which the caller may do the action: the filter of every operation on them. Refuses (403) a
   * caller without the capability.
   */
  readonly scope: (ctx: RequestContext, action: RecordAction) => Filter;
}

/** The scope of records that nothing but their capability protects. */
export const scopeByCapability =
  (acl: Acl): ScopedRecords["scope"] =>
  ({ caller }, action) =>
    scopeOf(caller, acl, action);
