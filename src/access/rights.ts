// Combines the capabilities of a caller's groups, and caches them for a short time.

import { fail } from "../errors.ts";
import { LruCache } from "../lib/lru-cache.ts";
import type { System } from "../lib/system.ts";
import { limits } from "../limits.ts";
import { and, equals, type Filter, oneOf, or } from "../query/filter.ts";
import { byId } from "../query/page.ts";
import type { Catalog, CatalogReader } from "../storage/catalog.ts";
import type { Caller } from "./caller.ts";
import { administrator, type Capability } from "./capabilities.ts";
import { type Ancestors, administersGroups, coversCapability, rootsIn } from "./compare-capabilities.ts";
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
  readonly system: System;
  /** The group of those who are in no other. */
  readonly defaultGroupOf: (tx: CatalogReader, projectId: number) => Promise<number | undefined>;
  /** Assets of a project with all assets above each. */
  readonly ancestorsOf: (projectId: number, assetIds: readonly number[]) => Promise<Ancestors>;
}

/** What a change would let others do. */
export interface Granted {
  readonly capabilities: readonly Capability[];
  /** What they may do already. */
  readonly before?: readonly Capability[];
  /** The field of the request that makes the change. */
  readonly field: string;
}

export class Rights {
  readonly #parts: RightsParts;
  readonly #known = new LruCache<string, { grants: Grants; generation: number; untilMs: number }>(1_000);
  #generation = 0;

  constructor(parts: RightsParts) {
    this.#parts = parts;
  }

  /** Changes when cached rights are out of date. */
  get generation(): number {
    return this.#generation;
  }

  /** Makes cached rights out of date. Call it after each change of groups, accounts, keys or projects. */
  changed(): void {
    this.#generation++;
  }

  /** What the groups of a project grant together; changes by other processes count within `keyCacheMsMax`. */
  async grantsTo(projectId: number, membership: Membership): Promise<Grants> {
    const { catalog, system } = this.#parts;
    const name = JSON.stringify([projectId, membership]);
    const generation = this.#generation;
    const known = this.#known.get(name);
    if (known?.generation === generation && known.untilMs > system.monotonicMs()) return known.grants;
    const groups = await catalog.read("system", (tx) => this.#groupsOf(tx, projectId, membership));
    const grants = { groupIds: groups.map(({ id }) => id), capabilities: groups.flatMap(capabilitiesIn) };
    this.#known.set(name, { grants, generation, untilMs: system.monotonicMs() + limits.keyCacheMsMax });
    return grants;
  }

  /**
   * Refuses (403) to grant capabilities that the caller does not have, unless the caller administers groups.
   * Every change that can grant a capability calls this (docs/access.md, Who can grant what).
   */
  async requireGrantable(caller: Caller, { capabilities, before = [], field }: Granted): Promise<void> {
    if (administersGroups(caller.capabilities)) return;
    const unheld = await this.#unheld(caller.projectId, [...caller.capabilities, ...before], capabilities);
    if (unheld) throw fail("right-not-held", { field, acl: unheld.acl, actions: unheld.actions });
  }

  /** As `requireGrantable`, for all that an account in these groups may do. */
  async requireGrantableGroups(
    caller: Caller,
    { groupIds, field }: { readonly groupIds: readonly number[]; readonly field: string },
  ): Promise<void> {
    if (administersGroups(caller.capabilities)) return;
    const { capabilities } = await this.grantsTo(caller.projectId, { ids: groupIds });
    await this.requireGrantable(caller, { capabilities, field });
  }

  /** Whether `held` covers all of `wanted`. */
  async covers(
    projectId: number,
    held: readonly Capability[],
    wanted: readonly Capability[],
  ): Promise<boolean> {
    return (await this.#unheld(projectId, held, wanted)) === undefined;
  }

  async #unheld(projectId: number, held: readonly Capability[], wanted: readonly Capability[]) {
    const ancestors = await this.#parts.ancestorsOf(projectId, rootsIn(wanted));
    return wanted.find((one) => !coversCapability(held, one, ancestors));
  }

  /** The groups of a project that are meant, without the default group for those who are in none. */
  async groupIdsOf(projectId: number, membership: Membership): Promise<number[]> {
    const named = namedBy(membership);
    const groups = await this.#parts.catalog.read("system", (tx) => liveGroups(tx, projectId, named));
    return groups.map(({ id }) => id);
  }

  async #groupsOf(tx: CatalogReader, projectId: number, membership: Membership): Promise<Group[]> {
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

export const liveGroups = (tx: CatalogReader, projectId: number, filter: Filter): Promise<Group[]> =>
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
}: Pick<Group, "grantsEverything" | "capabilities" | "permissions">): readonly Capability[] {
  if (grantsEverything) return administrator;
  return permissions ? [...capabilities, ...capabilitiesOf(permissions)] : capabilities;
}
