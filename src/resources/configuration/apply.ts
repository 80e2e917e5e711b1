// Applies documents of several kinds in one transaction, with the rights of the caller for each kind, by the
// functions of their resources.
//
// A dry run does the same writes and rolls them back, so that it finds every refusal.
import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { requireCapability } from "../../access/caller.ts";
import type { Rights } from "../../access/rights.ts";
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { duplicatesIn } from "../../lib/duplicates.ts";
import { mapInSlices } from "../../query/map-in-slices.ts";
import type { CatalogWriter } from "../../storage/catalog.ts";
import { inside } from "../transformations/runs/commits.ts";
import {
  type AfterCommit,
  type AnyKind,
  allOf,
  type Document,
  type DocumentChange,
  type Found,
  naming,
  type Wanted,
} from "./kind.ts";

/** All documents of a kind in a request, and whether records without a document are deleted. */
export interface KindOfRequest {
  readonly kind: AnyKind;
  readonly sent: readonly unknown[];
  readonly isPruned: boolean;
}

export interface Difference {
  readonly kind: string;
  readonly name: string;
  readonly change: "created" | "changed" | "deleted";
  /** Of a change, the members that differ; a created record has no old values, a deleted one no new ones. */
  readonly fields: readonly { readonly field: string; readonly old?: unknown; readonly new?: unknown }[];
}

export interface Outcome {
  readonly differences: readonly Difference[];
  /** The number of documents that change nothing. */
  readonly unchanged: number;
  /** Identifies the differences. */
  readonly digest: string;
}

interface Application {
  readonly kinds: readonly KindOfRequest[];
  readonly isDryRun: boolean;
  /** Refuses (409) other differences than those of this digest. */
  readonly digest?: string | undefined;
}

/** Rolls a dry run back. */
class RolledBack extends Error {}

/** Applies all documents or none. A refusal of a resource names the kind and name of the document. */
export async function applyConfiguration(
  ctx: RequestContext,
  { kinds, isDryRun, digest }: Application,
): Promise<Outcome> {
  for (const { kind } of kinds) for (const need of kind.needs) requireCapability(ctx.caller, ...need);
  const { series, access } = ctx.generations.of(ctx.projectId);
  const afterwards: AfterCommit[] = [];
  let outcome: Outcome | undefined;
  const commit = () =>
    ctx.rights.changeBoth(ctx.projectId, async (tx, system, rights) => {
      outcome = await applyAll(withinBoth(ctx, { tx, system, rights }), kinds, afterwards);
      if (digest !== undefined && digest !== outcome.digest) throw fail("configuration-changed", {});
      if (isDryRun) throw new RolledBack();
    });
  try {
    // Entries that were cached within the transaction are out of date when it ends.
    await series.during(() => access.during(commit));
  } catch (problem) {
    if (!(problem instanceof RolledBack)) throw problem;
    return outcome!;
  }
  for (const work of afterwards) await work();
  return outcome!;
}

interface Transaction {
  readonly tx: CatalogWriter;
  readonly system: CatalogWriter;
  readonly rights: Rights;
}

/** The context of functions that read and write in this transaction, system tables included. */
function withinBoth(ctx: RequestContext, { tx, system, rights }: Transaction): RequestContext {
  const { catalog, ...others } = inside(ctx, tx);
  const read: typeof catalog.read = (tenant, work) =>
    tenant === "system" ? work(system) : catalog.read(tenant, work);
  return { ...others, rights, catalog: { ...catalog, read } };
}

async function applyAll(
  ctx: RequestContext,
  kinds: readonly KindOfRequest[],
  afterwards: AfterCommit[],
): Promise<Outcome> {
  const differences: Difference[] = [];
  let unchanged = 0;
  for (const one of kinds) {
    const work = await compared(ctx, one);
    for (const difference of differencesOf(one.kind, work)) differences.push(difference);
    unchanged += work.unchanged;
    await write(ctx, one.kind, work, afterwards);
  }
  const hash = createHash("sha256");
  await mapInSlices(differences, (one) => hash.update(JSON.stringify(one)));
  return { differences, unchanged, digest: hash.digest("hex") };
}

interface Comparison {
  readonly created: readonly Wanted<unknown>[];
  readonly changed: readonly (DocumentChange<unknown> & { readonly before: Document })[];
  readonly surplus: readonly Found[];
  readonly unchanged: number;
}

async function compared(ctx: RequestContext, { kind, sent, isPruned }: KindOfRequest): Promise<Comparison> {
  const nameOf = (document: Document) => document[kind.key] as string;
  const wanted = await naming(kind, sent as Document[], () => kind.wanted(ctx, sent));
  const names = wanted.map(({ document }) => nameOf(document));
  const [repeated] = duplicatesIn(names);
  if (repeated !== undefined) throw fail("configuration-repeated", { kind: kind.name, name: repeated });
  const found = isPruned
    ? await allOf((page) => kind.page(ctx, page))
    : names.length > 0
      ? await kind.named(ctx, names)
      : [];
  const kept = new Set(names);
  const existing = new Map<string, Found>();
  for (const one of found) {
    const name = nameOf(one.document);
    const isAmbiguous = existing.has(name) && kept.has(name);
    if (isAmbiguous) throw fail("configuration-ambiguous", { kind: kind.name, name });
    existing.set(name, one);
  }
  const created: Wanted<unknown>[] = [];
  const changed: (DocumentChange<unknown> & { readonly before: Document })[] = [];
  await mapInSlices(wanted, (one) => {
    const before = existing.get(nameOf(one.document));
    const fields = before ? fieldsThatDiffer(before.document, one.document) : [];
    if (!before) created.push(one);
    else if (fields.length > 0) changed.push({ ...one, id: before.id, before: before.document, fields });
  });
  const surplus = isPruned ? found.filter(({ document }) => !kept.has(nameOf(document))) : [];
  return { created, changed, surplus, unchanged: wanted.length - created.length - changed.length };
}

const fieldsThatDiffer = (before: Document, after: Document): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => !isDeepStrictEqual(before[name], after[name]),
  );

function differencesOf(
  { name: kind, key }: AnyKind,
  { created, changed, surplus }: Comparison,
): Difference[] {
  const named = (document: Document) => ({ kind, name: document[key] as string });
  return [
    ...surplus.map(({ document }) => ({
      ...{ ...named(document), change: "deleted" as const },
      fields: Object.entries(document).map(([field, old]) => ({ field, old })),
    })),
    ...changed.map(({ document, before, fields }) => ({
      ...{ ...named(document), change: "changed" as const },
      fields: fields.map((field) => ({
        field,
        ...(before[field] !== undefined && { old: before[field] }),
        ...(document[field] !== undefined && { new: document[field] }),
      })),
    })),
    ...created.map(({ document }) => ({
      ...{ ...named(document), change: "created" as const },
      fields: Object.entries(document).map(([field, value]) => ({ field, new: value })),
    })),
  ];
}

/** Creates first and deletes last, so that no record names another one that is missing. */
async function write(
  ctx: RequestContext,
  kind: AnyKind,
  { surplus, changed, created }: Comparison,
  afterwards: AfterCommit[],
): Promise<void> {
  if (created.length > 0) await kind.create(ctx, created);
  if (changed.length > 0) await kind.update(ctx, changed);
  if (surplus.length === 0) return;
  const finish = await kind.remove!(ctx, surplus);
  if (finish) afterwards.push(finish);
}
