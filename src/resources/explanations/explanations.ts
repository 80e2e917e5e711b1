// Explains to administrators why an account may or may not do something with a record
// (docs/reference/explanations.md).
//
// The verdict comes from the filter that the real operations on the record use. The facts beside it come from
// the same functions, applied to one capability at a time.
import {
  type Caller,
  hasCapability,
  memberCategories,
  permittedRecords,
  requireAdministrator,
} from "../../access/caller.ts";
import type { Acl, Capability } from "../../access/capabilities.ts";
import { capabilitiesIn } from "../../access/rights.ts";
import type { Group } from "../../access/schema.ts";
import type { RequestContext } from "../../context.ts";
import { limits } from "../../limits.ts";
import { matches, matchesAlone } from "../../query/evaluate.ts";
import { and, equals, everything, oneOf } from "../../query/filter.ts";
import { byId } from "../../query/page.ts";
import { type AnyTable, type CatalogReader, linkTo } from "../../storage/catalog.ts";
import { existingRecords } from "../../storage/existing-records.ts";
import { type AssetRow, assetTable } from "../assets/schema.ts";
import type { ProtectedRecord, ProtectedRecords, RecordAction } from "../common/protected-records.ts";
import { securityCategoryTable } from "../groups/schema.ts";
import { type AccessSubject, type SubjectName, subjectOf } from "./subjects.ts";

export interface AccessQuery {
  readonly subject: SubjectName;
  readonly records: ProtectedRecords;
  readonly id: number;
  readonly action: RecordAction;
}

export interface Named {
  readonly id: number;
  /** Absent if it is deleted, or has no name. */
  readonly name?: string | undefined;
}

/** A capability of a group for the type and action of the query. */
export interface Grant {
  readonly group: Named;
  readonly capability: Capability;
  /** The first roots of its subtrees. */
  readonly roots: readonly Named[];
  /** Whether its scope contains the record. */
  readonly covers: boolean;
  /** For a scope of subtrees that contains the record: the assets from a root to an asset of the record. */
  readonly chain: readonly Named[];
}

export interface CategoryFact extends Named {
  readonly isMember: boolean;
  /** The groups that grant the membership. */
  readonly groups: readonly Named[];
}

export interface Explanation {
  readonly allowed: boolean;
  readonly subject: AccessSubject;
  readonly acl: Acl;
  readonly action: RecordAction;
  readonly record: Named;
  /** The first grants, those that cover the record before others. */
  readonly grants: readonly Grant[];
  /** The first assets that the record is linked to, or is, each with those above it, the root first. */
  readonly paths: readonly (readonly Named[])[];
  readonly categories: readonly CategoryFact[];
}

/** A record with the columns that only its resource has. */
type Row = ProtectedRecord & Readonly<Record<string, unknown>>;

/** Refuses (403) callers that do not administer groups, and (404) an unknown record, account or key. */
export async function explainAccess(ctx: RequestContext, query: AccessQuery): Promise<Explanation> {
  requireAdministrator(ctx.caller, "request why an account has access");
  const subject = await subjectOf(ctx, query.subject);
  return ctx.catalog.read(ctx.projectId, async (tx) => {
    const { records, id, action } = query;
    const named = { ids: [id], field: "id", status: 404 } as const;
    const [row] = (await existingRecords(tx, records.table, everything, named)) as [Row];
    const allowed = !subject.hasExpired && (await mayAct(ctx, tx, { ...query, caller: subject.caller }));
    const places = await placesOf(tx, records, row);
    return {
      ...{ allowed, subject, action, acl: records.acl, record: { id, name: nameOf(row) } },
      ...(await grantsAndPaths(tx, { subject, places, records, row, action })),
      categories: await categoriesOf(tx, subject, row),
    };
  });
}

/** The decision of the real operations. */
async function mayAct(
  ctx: RequestContext,
  tx: CatalogReader,
  { caller, records, id, action }: Omit<AccessQuery, "subject"> & { readonly caller: Caller },
): Promise<boolean> {
  if (!hasCapability(caller, records.acl, action)) return false;
  const permitted = records.permitted({ ...ctx, caller }, action);
  return (await tx.count(records.table, and(permitted, equals("id", id)))) > 0;
}

/** The ids from the root to each asset that the record is linked to, or is. */
async function placesOf(
  tx: CatalogReader,
  { table }: ProtectedRecords,
  row: Row,
): Promise<readonly (readonly number[])[]> {
  const link = linkTo(table as unknown as AnyTable, assetTable.name);
  const links = link && (row[link.column] as number | readonly number[] | undefined);
  const assetIds = table.name === assetTable.name ? [row.id] : [links ?? []].flat();
  const assets = await assetsOf(tx, assetIds, ["id", "path"]);
  return assets.map(({ path }) => path.split("/").slice(1, -1).map(Number));
}

/** The assets with these ids, with these fields only. */
async function assetsOf(tx: CatalogReader, ids: readonly number[], fields: readonly (keyof AssetRow)[]) {
  if (ids.length === 0) return [];
  const page = { limit: ids.length };
  return tx.find(assetTable, { filter: oneOf("id", ids), order: byId, page, fields });
}

interface Facts {
  readonly subject: AccessSubject;
  readonly places: readonly (readonly number[])[];
  readonly records: ProtectedRecords;
  readonly row: Row;
  readonly action: RecordAction;
}

async function grantsAndPaths(
  tx: CatalogReader,
  { subject, places, records, row, action }: Facts,
): Promise<Pick<Explanation, "grants" | "paths">> {
  const shown = limits.explanationItemsMax;
  const above = new Set(places.flat());
  const isInSubtree = (_: string, ids: readonly number[]) => ids.some((id) => above.has(id));
  const found = subject.groups.flatMap((group) =>
    capabilitiesIn(group).flatMap((capability) => {
      const only = { ...subject.caller, capabilities: [capability] };
      if (!hasCapability(only, records.acl, action)) return [];
      const permitted = permittedRecords(only, records.acl, action);
      const covers = matches(permitted, row, { isInSubtree, has: () => false });
      return [{ group, capability, covers }];
    }),
  );
  const grants = found.toSorted((a, b) => Number(b.covers) - Number(a.covers)).slice(0, shown);
  const chains = grants.map(({ capability, covers }) => (covers ? chainIn(capability, places) : []));
  const roots = grants.map(({ capability }) => rootsOf(capability).slice(0, shown));
  const paths = places.slice(0, shown);
  const ids = [...new Set([...chains, ...roots, ...paths].flat())];
  const names = new Map((await assetsOf(tx, ids, ["id", "name"])).map(({ id, name }) => [id, name]));
  const named = (ids: readonly number[]): Named[] => ids.map((id) => ({ id, name: names.get(id) }));
  return {
    grants: grants.map((grant, at) => ({ ...grant, roots: named(roots[at]!), chain: named(chains[at]!) })),
    paths: paths.map(named),
  };
}

const rootsOf = ({ scope }: Capability): readonly number[] =>
  scope.kind === "subtrees" ? scope.assetIds : [];

/** The ids from a root of the capability's subtrees to an asset of the record. */
function chainIn(capability: Capability, places: Facts["places"]): readonly number[] {
  const roots = new Set(rootsOf(capability));
  const place = places.find((ids) => ids.some((id) => roots.has(id))) ?? [];
  return place.slice(place.findIndex((id) => roots.has(id)));
}

/** The security categories of a time series; other records have none. */
async function categoriesOf(
  tx: CatalogReader,
  { caller, groups }: AccessSubject,
  row: Row,
): Promise<CategoryFact[]> {
  const ids = (row["securityCategories"] ?? []) as readonly number[];
  const existing = await tx.get(securityCategoryTable, ids);
  const names = new Map(existing.map(({ id, name }) => [id, name]));
  const isMember = (one: Caller, id: number) => matchesAlone(memberCategories(one), { id });
  const grants = (group: Group, id: number) =>
    isMember({ ...caller, capabilities: capabilitiesIn(group) }, id);
  return ids.map((id) => ({
    ...{ id, name: names.get(id), isMember: isMember(caller, id) },
    groups: groups.filter((group) => grants(group, id)),
  }));
}

const nameOf = ({ name, externalId }: Row): string | undefined => (name ?? externalId) as string | undefined;
