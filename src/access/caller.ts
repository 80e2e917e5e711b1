// Who is asking, and what that caller may do: capabilities as granted, and the filter they put on a question.
import { fail } from "../errors.ts";
import { everything, type Filter } from "../query/filter.ts";
import type { ProjectId } from "../storage/catalog.ts";

export type Acl =
  | "projectsAcl"
  | "assetsAcl"
  | "timeSeriesAcl"
  | "eventsAcl"
  | "sequencesAcl"
  | "relationshipsAcl"
  | "filesAcl"
  | "rawAcl";
export type Action = "READ" | "WRITE" | "UPDATE" | "LIST";

/** One granted right (platform-api, Group and capability). */
export interface Capability {
  readonly acl: Acl;
  readonly actions: readonly Action[];
  readonly scope: { readonly kind: "all" };
}

export interface Caller {
  /** Name shown by the login endpoints. */
  readonly user: string;
  readonly projectId: ProjectId;
  /** The project's URL name. */
  readonly project: string;
  readonly capabilities: readonly Capability[];
}

export const administrator: readonly Capability[] = [
  { acl: "projectsAcl", actions: ["READ", "UPDATE"], scope: { kind: "all" } },
  { acl: "assetsAcl", actions: ["READ", "WRITE"], scope: { kind: "all" } },
  { acl: "timeSeriesAcl", actions: ["READ", "WRITE"], scope: { kind: "all" } },
  { acl: "eventsAcl", actions: ["READ", "WRITE"], scope: { kind: "all" } },
  { acl: "sequencesAcl", actions: ["READ", "WRITE"], scope: { kind: "all" } },
  { acl: "relationshipsAcl", actions: ["READ", "WRITE"], scope: { kind: "all" } },
  { acl: "filesAcl", actions: ["READ", "WRITE"], scope: { kind: "all" } },
  { acl: "rawAcl", actions: ["READ", "WRITE", "LIST"], scope: { kind: "all" } },
];

/** Refuses (403) a caller who holds `acl` with `action` for no record at all. */
export function requireCapability(caller: Caller, acl: Acl, action: Action): void {
  const granted = caller.capabilities.some((one) => one.acl === acl && one.actions.includes(action));
  if (!granted) throw fail("forbidden", { acl, action });
}

/** The records of a resource that the caller may touch with `action`; 403 for a caller who may touch none. */
export function scopeOf(caller: Caller, acl: Acl, action: Action): Filter {
  requireCapability(caller, acl, action);
  return everything;
}
