// A naive model of a plant: its records, their links, and the visible records of each caller.
import { type Acl, type Action, administrator, type Capability } from "../../src/access/capabilities.ts";

export type Kind = "assets" | "timeseries" | "events" | "files" | "sequences";

export const aclOf = {
  assets: "assetsAcl",
  timeseries: "timeSeriesAcl",
  events: "eventsAcl",
  files: "filesAcl",
  sequences: "sequencesAcl",
} as const satisfies Readonly<Record<Kind, Acl>>;

/** An asset is linked to itself. */
export interface Thing {
  readonly kind: Kind;
  readonly id: number;
  name: string;
  readonly externalId: string;
  /** A sequence has none. */
  readonly labels: readonly string[];
  assetIds: readonly number[];
  parentId?: number | undefined;
  /** A series that a line wrote: its external id has the name in the line. */
  readonly isFromLine?: true;
  /** Security categories of a series. */
  categories: readonly number[];
}

/** A suggestion for the series or file `of`. */
export interface Suggested {
  readonly id: number;
  readonly of: number;
  readonly assetId: number;
  state: "OPEN" | "ACCEPTED";
}

/** The target of a retention rule. */
export type RetentionTarget =
  | { readonly seriesId: number }
  | { readonly assetId: number }
  | { readonly wholeProject: true };

export interface RetentionRule {
  readonly id: number;
  readonly target: RetentionTarget;
}

export class Plant {
  readonly things = new Map<number, Thing>();
  readonly categoryIds: number[] = [];
  /** Ids of deleted things. */
  readonly gone: number[] = [];
  /** The external id of the asset at the source of every relationship. */
  related = "";
  /** The assets that the raw table is linked to; some may be gone. */
  tableAssetIds: readonly number[] = [];
  /** Suggestions, until their series or file, or their asset, is gone. */
  suggestions: readonly Suggested[] = [];
  /** Retention rules, until their series or asset is gone. */
  readonly retention: RetentionRule[] = [];
  /** The newest analytics job, and whose it is. */
  job: { readonly id: number; readonly rights: Rights } | undefined;
  #named = 0;

  of(kind: Kind): Thing[] {
    return [...this.things.values()].filter((one) => one.kind === kind);
  }

  /** The asset and all above it; nothing for one that does not exist. */
  lineage(id: number | undefined): number[] {
    const asset = id === undefined ? undefined : this.things.get(id);
    return asset?.kind === "assets" ? [asset.id, ...this.lineage(asset.parentId)] : [];
  }

  /** Whether the record is, or is linked to, an asset in one of these subtrees. */
  isUnder(thing: Thing, roots: readonly number[]): boolean {
    return thing.assetIds.some((id) => this.lineage(id).some((above) => roots.includes(above)));
  }

  /** Deletes things; assets below deleted ones are deleted as well, and links to them are cleared. */
  remove(ids: readonly number[]): void {
    const doomed = [...this.things.values()].filter(
      (one) => ids.includes(one.id) || (one.kind === "assets" && this.isUnder(one, ids)),
    );
    for (const { id } of doomed) this.things.delete(id);
    this.gone.push(...doomed.map(({ id }) => id));
    const isGone = new Set(doomed.map(({ id }) => id));
    for (const thing of this.things.values()) thing.assetIds = thing.assetIds.filter((id) => !isGone.has(id));
  }

  /** A name that nothing has had yet; `word` is found by a search. */
  freshName(word: string): string {
    this.#named += 1;
    return `${word} ${`${this.#named}`.padStart(5, "0")}`;
  }
}

export type Rights = readonly Capability[];

const granted = (rights: Rights, acl: Acl, action: Action) =>
  rights.filter((one) => one.acl === acl && one.actions.includes(action)).map((one) => one.scope);

/** Whether any capability grants this at all. */
export const holds = (rights: Rights, acl: Acl, action: Action) => granted(rights, acl, action).length > 0;

/** The server's name for a thing of each kind in a refusal. */
export const nounOf = {
  ...{ assets: "asset", timeseries: "time series", events: "event", files: "file" },
  sequences: "sequence",
} as const satisfies Readonly<Record<Kind, string>>;

/** The whole rule of which callers may see or change which things. */
export function may(plant: Plant, rights: Rights, action: "READ" | "WRITE", thing: Thing): boolean {
  const isInScope = granted(rights, aclOf[thing.kind], action).some(
    (scope) => scope.kind === "all" || (scope.kind === "subtrees" && plant.isUnder(thing, scope.assetIds)),
  );
  return isInScope && thing.categories.every((id) => isMember(rights, id));
}

/** Whether a caller may know an asset as the link of things of this kind: by its own right, or by theirs. */
export function mayKnow(
  plant: Plant,
  rights: Rights,
  { kind, action }: { kind: Kind; action: "READ" | "WRITE" },
  id: number,
) {
  const asset = plant.things.get(id);
  if (asset?.kind !== "assets") return false;
  const isSpelledOut = granted(rights, aclOf[kind], action).some(
    (scope) => scope.kind === "subtrees" && plant.isUnder(asset, scope.assetIds),
  );
  return isSpelledOut || may(plant, rights, "READ", asset);
}

/** Whether one may write things of this kind at any asset. */
export const isUnbounded = (rights: Rights, kind: Kind) =>
  granted(rights, aclOf[kind], "WRITE").some((scope) => scope.kind === "all");

export const isMember = (rights: Rights, categoryId: number) =>
  granted(rights, "securityCategoriesAcl", "MEMBEROF").some(
    (scope) => scope.kind === "all" || (scope.kind === "ids" && scope.ids.includes(categoryId)),
  );

export const everyRight: Rights = administrator;
