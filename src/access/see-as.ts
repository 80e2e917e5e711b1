// Lets administrators read with the rights of members of other groups (docs/access.md#see-as-a-group).
import { fail } from "../errors.ts";
import { limits } from "../limits.ts";
import { type Caller, requireAdministrator } from "./caller.ts";
import type { Rights } from "./rights.ts";

/** Node gives header names in lower case. */
export const seeAsHeader = "x-see-as-group";
const headerName = "X-See-As-Group";

interface SeeAs {
  /** The value of the header. */
  readonly groups: string | readonly string[];
  /** Whether the operation changes nothing and runs no code. */
  readonly isQuery: boolean;
}

/**
 * Returns the caller as a member of these groups alone. Refuses callers that do not administer groups (403):
 * others could gain rights. Refuses all operations but queries (403).
 */
export async function seeAs(
  rights: Pick<Rights, "grantsTo">,
  caller: Caller,
  { groups, isQuery }: SeeAs,
): Promise<Caller> {
  requireAdministrator(caller, `send the header ${headerName}`);
  if (!isQuery) throw fail("see-as-read-only", {});
  return memberOf(rights, caller, { ids: groupIdsIn(groups), field: headerName });
}

/**
 * Returns a caller that is a member of these groups alone. It has no account, like the user of a token, so
 * that no record is its own. Refuses (400) unknown and too many groups; `field` has them.
 */
export async function memberOf(
  rights: Pick<Rights, "grantsTo">,
  { userId: _, ...caller }: Caller,
  { ids, field }: { readonly ids: readonly number[]; readonly field: string },
): Promise<Caller> {
  const limit = limits.seeAsGroupsMax;
  if (ids.length > limit) throw fail("too-many", { field, limit, got: ids.length });
  const grants = await rights.grantsTo(caller.projectId, { ids });
  const unknown = ids.filter((id) => !grants.groupIds.includes(id));
  if (unknown.length > 0) throw fail("ids-unknown", { field, ids: unknown });
  return { ...caller, ...grants, user: `a member of ${ids.join(", ")}` };
}

/** Distinct ids in ascending order. An empty header is refused, so that it never means all rights. */
function groupIdsIn(groups: SeeAs["groups"]): number[] {
  const sent = [groups].flat().flatMap((list) => list.split(","));
  const ids = sent.map((one) => {
    const id = /^\d{1,16}$/.test(one.trim()) ? Number(one) : 0;
    if (id > 0 && Number.isSafeInteger(id)) return id;
    const expected = "ids of groups, separated by commas,";
    throw fail("field-invalid", { field: headerName, expected, got: one.trim() });
  });
  return [...new Set(ids)].sort((a, b) => a - b);
}
