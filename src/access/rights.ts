// What a caller may do by being in groups: their capabilities together, remembered for a moment.

import { RecentMap } from "../lib/recent-map.ts";
import type { World } from "../lib/world.ts";
import { limits } from "../limits.ts";
import { and, equals, type Filter, oneOf, or } from "../query/filter.ts";
import { byId } from "../query/page.ts";
import type { Catalog, Reader } from "../storage/catalog.ts";
import { administrator, type Capability } from "./capabilities.ts";
import { capabilitiesOf } from "./permissions.ts";
import { type Group, groupTable } from "./schema.ts";

export interface Grants {
  /** The groups that count: those that exist, else the project's default group. */
  readonly groupIds: readonly number[];
  readonly capabilities: readonly Capability[];
}

/**
 * How a caller is in groups: an account names them, an identity provider names what they come from, and is
 * itself one of the `sources` that a group may be bound to.
 */
export type Membership =
  | { readonly ids: readonly number[] }
  | { readonly sourceIds: readonly string[]; readonly sources: readonly string[] };

interface RightsParts {
  readonly catalog: Catalog;
  readonly world: World;
  /** The group of those who are in no other. */
  readonly defaultGroupOf: (tx: Reader, projectId: number) => Promise<number | undefined>;
}

export class Rights {
  readonly #parts: RightsParts;
  readonly #known = new RecentMap<string, { grants: Grants; generation: number; untilMs: number }>(1_000);
  #generation = 0;

  constructor(parts: RightsParts) {
    this.#parts = parts;
  }

  /** Other than when something was remembered: it may not hold any more. */
  get generation(): number {
    return this.#generation;
  }

  /** Groups, accounts, keys or projects were changed: from now on nothing remembered counts. */
  changed(): void {
    this.#generation++;
  }

  /** What the groups of a project grant together; changes by other processes count within `keyCacheMsMax`. */
  async grantsTo(projectId: number, membership: Membership): Promise<Grants> {
    const { catalog, world } = this.#parts;
    const name = JSON.stringify([projectId, membership]);
    const generation = this.#generation;
    const known = this.#known.get(name);
    if (known?.generation === generation && known.untilMs > world.monotonicMs()) return known.grants;
    const groups = await catalog.read("system", (tx) => this.#groupsOf(tx, projectId, membership));
    const grants = { groupIds: groups.map(({ id }) => id), capabilities: groups.flatMap(capabilitiesIn) };
    this.#known.set(name, { grants, generation, untilMs: world.monotonicMs() + limits.keyCacheMsMax });
    return grants;
  }

  /** The groups of a project that are meant, without the default group for those who are in none. */
  async groupIdsOf(projectId: number, membership: Membership): Promise<number[]> {
    const named = namedBy(membership);
    const groups = await this.#parts.catalog.read("system", (tx) => liveGroups(tx, projectId, named));
    return groups.map(({ id }) => id);
  }

  async #groupsOf(tx: Reader, projectId: number, membership: Membership): Promise<Group[]> {
    const groups = await liveGroups(tx, projectId, namedBy(membership));
    if (groups.length > 0) return groups;
    const byDefault = await this.#parts.defaultGroupOf(tx, projectId);
    return byDefault === undefined ? [] : liveGroups(tx, projectId, equals("id", byDefault));
  }
}

function namedBy(membership: Membership): Filter {
  if ("ids" in membership) return oneOf("id", membership.ids);
  const fitting = or(equals("source", null), oneOf("source", membership.sources));
  return and(oneOf("sourceId", membership.sourceIds), fitting);
}

/** The records of a project that are not deleted. */
export const liveIn = (projectId: number): Filter =>
  and(equals("projectId", projectId), equals("deletedTime", null));

export const liveGroups = (tx: Reader, projectId: number, filter: Filter): Promise<Group[]> =>
  tx.find(groupTable, {
    filter: and(liveIn(projectId), filter),
    order: byId,
    page: { limit: limits.listItemsMax },
  });

/** All that a group grants. */
export function capabilitiesIn({
  grantsEverything,
  capabilities,
  permissions,
}: Group): readonly Capability[] {
  if (grantsEverything) return administrator;
  return permissions ? [...capabilities, ...capabilitiesOf(permissions)] : capabilities;
}
