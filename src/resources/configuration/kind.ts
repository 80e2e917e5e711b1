// The interface of the kinds of records that a configuration has, and their shared parts.
import type { Acl, Action } from "../../access/capabilities.ts";
import type { RequestContext } from "../../context.ts";
import { Failure, fail } from "../../errors.ts";
import { limits } from "../../limits.ts";
import type { Page, PageQuery } from "../../query/page.ts";

/** A record as its file has it: without ids and times, and without members that have their default. */
export type Document = Readonly<Record<string, unknown>>;

export interface Found {
  readonly id: number;
  readonly document: Document;
}

/** A record as it should be. */
export interface Wanted<Value> {
  readonly document: Document;
  readonly value: Value;
}

export interface DocumentChange<Value> extends Wanted<Value> {
  readonly id: number;
  /** The members that differ. */
  readonly fields: readonly string[];
}

/** Work that waits for the commit. */
export type AfterCommit = () => Promise<void>;

export interface ConfigurationKind<Sent, Value> {
  /** The member of a request with the documents of this kind. */
  readonly name: string;
  /** The member of a document that names its record. */
  readonly key: "name" | "externalId";
  readonly list: readonly [Acl, Action];
  /** The capabilities for reading and writing. */
  readonly needs: readonly (readonly [Acl, Action])[];
  wanted(ctx: RequestContext, sent: readonly Sent[]): Promise<Wanted<Value>[]>;
  /** Returns one page of the records that the caller may read. */
  page(ctx: RequestContext, page: PageQuery): Promise<Page<Found>>;
  /** The records with these names, in no particular order. */
  named(ctx: RequestContext, names: readonly string[]): Promise<readonly Found[]>;
  /** All of these or none. */
  create(ctx: RequestContext, values: readonly Wanted<Value>[]): Promise<void>;
  /** All of these or none. */
  update(ctx: RequestContext, changes: readonly DocumentChange<Value>[]): Promise<void>;
  /** Absent for records whose loss no file could repair, such as series with datapoints. */
  remove?(ctx: RequestContext, found: readonly Found[]): Promise<AfterCommit | undefined>;
}

/** A kind among others, whose documents are not known by type. */
export type AnyKind = ConfigurationKind<unknown, unknown>;

/** Every record of a kind that the caller may read. */
export async function allOf<Item>(
  page: (page: PageQuery) => Promise<Page<Item>>,
  limit: number = limits.listItemsMax,
): Promise<Item[]> {
  const found: Item[] = [];
  for (let query: PageQuery | undefined = { limit }; query; ) {
    const { items, next }: Page<Item> = await page(query);
    for (const item of items) found.push(item);
    query = next && { limit, after: next };
  }
  return found;
}

/** Does the work for one document after the other; a refusal names the document. */
export async function oneByOne<Value>(
  kind: Pick<AnyKind, "name" | "key">,
  wanted: readonly Wanted<Value>[],
  work: (value: Value, index: number) => Promise<unknown>,
): Promise<void> {
  for (const [index, one] of wanted.entries())
    await naming(kind, [one.document], () => work(one.value, index));
}

/** Does the work for all documents together; a refusal names the document if it is about one alone. */
export async function naming<Result>(
  { name: kind, key }: Pick<AnyKind, "name" | "key">,
  documents: readonly Document[],
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (problem) {
    if (!(problem instanceof Failure)) throw problem;
    const { field = "" } = problem.details as { readonly field?: string };
    const at = /^items\[(\d+)\]\.?(.*)$/.exec(field);
    const document = at ? documents[Number(at[1])] : documents.length === 1 ? documents[0] : undefined;
    const refusal = at
      ? fail(problem.failure, { ...(problem.details as object), field: at[2] ?? "" } as never)
      : problem;
    const name = document?.[key] as string | undefined;
    throw fail("configuration-refused", { kind, name, refusal, status: problem.status });
  }
}

/** A document without members that are undefined or empty. */
export const documentOf = (members: Document): Document =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => !isEmpty(value)));

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  (typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length === 0);
