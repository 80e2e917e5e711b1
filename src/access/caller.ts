// Who is asking, and what that caller may do: capabilities as granted, and the filter they put on a question.
import { fail } from "../errors.ts";
import { everything, type Filter } from "../query/filter.ts";
import type { ProjectId } from "../storage/catalog.ts";
import type { Acl, Action, Capability } from "./capabilities.ts";

export interface Caller {
  /** Name shown by the login endpoints. */
  readonly user: string;
  readonly projectId: ProjectId;
  /** The project's URL name. */
  readonly project: string;
  readonly capabilities: readonly Capability[];
}

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
