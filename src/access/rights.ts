// Combines the capabilities of a caller's groups, caches them, and refuses to grant more than a caller has.
//
// Each change of groups, accounts, keys, sessions and projects is made by `Rights.change`. It raises
// `rightsVersion`, and each cache of callers or rights compares this number with that of its entry.

import { fail } from "../errors.ts";
import { LruCache } from "../lib/lru-cache.ts";
import type { System } from "../lib/system.ts";
import { limits } from "../limits.ts";
import { and, equals, type Filter, oneOf, or } from "../query/filter.ts";
import { byId } from "../query/page.ts";
import type { Catalog, CatalogReader, CatalogWriter } from "../storage/catalog.ts";
import type { Caller } from "./caller.ts";
import { administrator, type Capability } from "./capabilities.ts";
import { type Ancestors, administersGroups, coversCapability, rootsIn } from "./compare-capabilities.ts";
import { capabilitiesOf } from "./older-permissions.ts";
import { type Group, groupTable } from "./schema.ts";

export interface Grants {
  /** The existing groups of the caller, or else the project's default group. */
  readonly groupIds: readonly number[];
  readonly capabilities: readonly Capability[];
}

/**
 * How to find a caller's groups. An account lists their ids. An identity provider lists source ids, and a
 * group may be bound to some providers: its `source` is one of `sources`.
 */
export type Membership =
  | { readonly ids: readonly number[] }
  | { readonly sourceIds: readonly string[]; readonly sources: readonly string[] };

interface RightsParts {
  readonly catalog: Catalog;
  readonly system: System;
  /** The group of callers who are in no other group. */
  readonly defaultGroupOf: (tx: CatalogReader, projectId: number) => Promise<number | undefined>;
  /** Assets of a project with all assets above each. */
  readonly ancestorsOf: (projectId: number, assetIds: readonly number[]) => Promise<Ancestors>;
  /** The cell of `rightsVersion`, in memory that front threads share; one of its own when absent. */
  readonly version?: Int32Array;
}

/** Capabilities that a change grants to others. */
export interface Granting {
  readonly capabilities: readonly Capability[];
  /** The capabilities that they have already. */
  readonly before?: readonly Capability[];
  /** The field of the request that makes the change. */
  readonly field: string;
}

export class Rights {
  readonly #parts: RightsParts;
  readonly #cached = new LruCache<string, { grants: Grants; rightsVersion: number; readMs: number }>(1_000);
  readonly #version: Int32Array;
  #confirmedMs = Number.NEGATIVE_INFINITY;

  constructor(parts: RightsParts) {
    this.#parts = parts;
    this.#version = parts.version ?? new Int32Array(1);
  }

  /** Changes when cached rights are out of date. */
  get rightsVersion(): number {
    return Atomics.load(this.#version, 0);
  }

  /**
   * Writes system tables: groups, accounts, keys, sessions and projects. Cached rights are out of date when
   * it resolves. The type of `Services.catalog` allows no other way to write them.
   */
  async change<Result>(work: (tx: CatalogWriter) => Promise<Result>): Promise<Result> {
    try {
      return await this.#parts.catalog.write("system", work);
    } finally {
      this.expire();
    }
  }

  /**
   * As `change`, with records of a project in the same transaction. `work` gets the rights of this
   * transaction, whose changes are part of it.
   */
  async changeBoth<Result>(
    projectId: number,
    work: (tx: CatalogWriter, system: CatalogWriter, rights: Rights) => Promise<Result>,
  ): Promise<Result> {
    const { catalog } = this.#parts;
    try {
      return await catalog.writeBoth(projectId, (tx, system) =>
        work(tx, system, new Rights({ ...this.#parts, catalog: withinTransaction(catalog, system) })),
      );
    } finally {
      this.expire();
    }
  }

  /** Makes cached rights out of date, because another server may have changed them. */
  expire(): void {
    Atomics.add(this.#version, 0, 1);
  }

  /** No other process has changed rights since the last `expire`, up to this time of the monotonic clock. */
  confirm(untilMs: number): void {
    this.#confirmedMs = untilMs;
  }

  /** Whether rights that were read at this time of the monotonic clock, in this version, still count. */
  isFresh(readMs: number): boolean {
    const confirmedMs = Math.max(readMs, this.#confirmedMs);
    return this.#parts.system.monotonicMs() < confirmedMs + limits.keyCacheMsMax;
  }

  /** The union of the rights of groups; changes by other processes count within `keyCacheMsMax`. */
  async grantsTo(projectId: number, membership: Membership): Promise<Grants> {
    const { catalog, system } = this.#parts;
    const key = JSON.stringify([projectId, membership]);
    const { rightsVersion } = this;
    const cached = this.#cached.get(key);
    if (cached?.rightsVersion === rightsVersion && this.isFresh(cached.readMs)) return cached.grants;
    const readMs = system.monotonicMs();
    const groups = await catalog.read("system", (tx) => this.#groupsOf(tx, projectId, membership));
    const grants = { groupIds: groups.map(({ id }) => id), capabilities: groups.flatMap(capabilitiesIn) };
    this.#cached.set(key, { grants, rightsVersion, readMs });
    return grants;
  }

  /**
   * Refuses (403) to grant capabilities that the caller does not have, unless the caller administers groups.
   * Every change that can grant a capability calls this (docs/access.md, Who can grant what).
   */
  async requireGrantable(caller: Caller, { capabilities, before = [], field }: Granting): Promise<void> {
    if (administersGroups(caller.capabilities)) return;
    const missing = await this.#missing(caller.projectId, [...caller.capabilities, ...before], capabilities);
    if (missing) throw fail("right-not-held", { field, acl: missing.acl, actions: missing.actions });
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

  /** Whether `granted` covers every capability in `required`. */
  async covers(
    projectId: number,
    granted: readonly Capability[],
    required: readonly Capability[],
  ): Promise<boolean> {
    return (await this.#missing(projectId, granted, required)) === undefined;
  }

  /** Returns the first capability in `required` that `granted` does not cover. */
  async #missing(projectId: number, granted: readonly Capability[], required: readonly Capability[]) {
    const ancestors = await this.#parts.ancestorsOf(projectId, rootsIn(required));
    return required.find((capability) => !coversCapability(granted, capability, ancestors));
  }

  /** The ids of the groups that a membership names, without the default group. */
  async groupIdsOf(projectId: number, membership: Membership): Promise<number[]> {
    const filter = groupFilter(membership);
    const groups = await this.#parts.catalog.read("system", (tx) => liveGroups(tx, projectId, filter));
    return groups.map(({ id }) => id);
  }

  async #groupsOf(tx: CatalogReader, projectId: number, membership: Membership): Promise<Group[]> {
    const groups = await liveGroups(tx, projectId, groupFilter(membership));
    if (groups.length > 0) return groups;
    const byDefault = await this.#parts.defaultGroupOf(tx, projectId);
    return byDefault === undefined ? [] : liveGroups(tx, projectId, equals("id", byDefault));
  }
}

/** The catalog whose system tables are read and written in this transaction. */
function withinTransaction(catalog: Catalog, system: CatalogWriter): Catalog {
  const refuse = () => Promise.reject(new Error("only system tables are written in this transaction"));
  return {
    ...catalog,
    read: (tenant, work) => (tenant === "system" ? work(system) : catalog.read(tenant, work)),
    write: (tenant, work) => (tenant === "system" ? work(system) : refuse()),
    writeBoth: refuse,
  };
}

function groupFilter(membership: Membership): Filter {
  if ("ids" in membership) return oneOf("id", membership.ids);
  const ofProvider = or(equals("source", null), oneOf("source", membership.sources));
  return and(oneOf("sourceId", membership.sourceIds), ofProvider);
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

/** The capabilities that a group grants, those of older permissions included. */
export function capabilitiesIn({
  grantsEverything,
  capabilities,
  permissions,
}: Pick<Group, "grantsEverything" | "capabilities" | "permissions">): readonly Capability[] {
  if (grantsEverything) return administrator;
  return permissions ? [...capabilities, ...capabilitiesOf(permissions)] : capabilities;
}
