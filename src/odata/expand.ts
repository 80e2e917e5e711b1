// Reads expanded entities: one query for each navigation, however many entities are expanded.
import type { RequestContext } from "../context.ts";
import { Failure } from "../errors.ts";
import { limits } from "../limits.ts";
import { and } from "../query/filter.ts";
import { LengthBound } from "../query/length-bound.ts";
import type { Position } from "../query/page.ts";
import type { EntityRecord, JoinKey } from "./model.ts";
import { type Expansion, neededNames, type Projection } from "./projection.ts";

/** An entity with its expanded entities, in the order of the projection's expansions. */
export interface Entity {
  readonly row: EntityRecord;
  readonly expanded: readonly (Entity | undefined | EntityList)[];
}

/** The expanded entities of one entity and one navigation. */
export interface EntityList {
  readonly items: readonly Entity[];
  readonly count?: number;
  /** The position after which the rest starts; absent when nothing is left. */
  readonly next?: Position;
}

/** How many more entities this response may expand, and how long they may be together. */
interface Budget {
  left: number;
  readonly bound: LengthBound;
}

const nothing: Entity["expanded"] = [];

/** The part of a page's length bound that expanded entities may use. */
const expandedShare = 1 / 4;

/** Divides the number of rows and expanded entities for each retry when they were too long. */
const shrinkFactor = 4;

/**
 * Expands the rows. If the expansions are too long together, returns fewer rows, and at the limit one row
 * with as many expanded entities as fit. Counts the length against `bound`.
 */
export async function expandFitting(
  ctx: RequestContext,
  rows: readonly EntityRecord[],
  { projection, bound }: { readonly projection: Projection; readonly bound: LengthBound },
): Promise<Entity[]> {
  if (projection.expansions.length === 0) return rows.map((row) => ({ row, expanded: nothing }));
  let count = rows.length;
  for (let left: number = limits.odataExpandedMax; ; left = Math.ceil(left / shrinkFactor)) {
    const isLeast = count <= 1 && left === 1;
    const own = new LengthBound(isLeast ? Number.MAX_SAFE_INTEGER : bound.max * expandedShare);
    const entities = await expandRows(ctx, rows.slice(0, count), projection, { left, bound: own });
    if (own.cuts === 0) {
      bound.count({ length: own.used, isCut: left < limits.odataExpandedMax });
      return entities;
    }
    count = Math.ceil(count / shrinkFactor);
  }
}

async function expandRows(
  ctx: RequestContext,
  rows: readonly EntityRecord[],
  projection: Projection,
  budget: Budget,
): Promise<Entity[]> {
  const columns: (Entity | undefined | EntityList)[][] = [];
  for (const expansion of projection.expansions)
    columns.push(
      expansion.navigation.isMany
        ? await expandMany(ctx, rows, expansion, budget)
        : await expandOne(ctx, rows, expansion, budget),
    );
  if (columns.length === 0) return rows.map((row) => ({ row, expanded: nothing }));
  return rows.map((row, at) => ({ row, expanded: columns.map((column) => column[at]) }));
}

/** Expands a navigation to one entity; an entity that the caller may not see is undefined. */
async function expandOne(
  ctx: RequestContext,
  rows: readonly EntityRecord[],
  expansion: Expansion,
  budget: Budget,
): Promise<(Entity | undefined)[]> {
  const { join } = expansion.navigation;
  const own = rows.map((row) => join.own(row)[0]);
  const keys = new Set(own.filter((key) => key !== undefined));
  if (keys.size === 0) return own.map(() => undefined);
  let found: readonly EntityRecord[] = [];
  try {
    for await (const page of pagesOf(ctx, expansion, { keys, limit: keys.size, bound: budget.bound }))
      found = found.length === 0 ? page : [...found, ...page];
  } catch (problem) {
    // The request did not name this expansion, so a caller without the right gets none instead of a
    // refusal.
    const isForbidden = problem instanceof Failure && problem.status === 403;
    if (!isForbidden || !expansion.navigation.isAutoExpanded) throw problem;
  }
  const entities = await expandRows(ctx, found, expansion.projection, budget);
  const isEachFound = keys.size === rows.length && entities.length === rows.length;
  // Fast path: each row has its own entity and the order is the same, so no lookup is needed.
  if (isEachFound && entities.every(({ row }, at) => join.theirs(row)[0] === own[at])) return entities;
  const byKey = new Map<JoinKey, Entity>();
  for (const entity of entities)
    for (const key of join.theirs(entity.row)) if (!byKey.has(key)) byKey.set(key, entity);
  return own.map((key) => (key === undefined ? undefined : byKey.get(key)));
}

interface PagesQuery {
  readonly keys: ReadonlySet<JoinKey> | ReadonlyMap<JoinKey, unknown>;
  readonly limit: number;
  readonly bound: LengthBound;
}

interface Related {
  readonly rows: EntityRecord[];
  hasMore: boolean;
}

/** Expands a navigation to many entities, as many for each row as the response can hold. */
async function expandMany(
  ctx: RequestContext,
  rows: readonly EntityRecord[],
  expansion: Expansion,
  budget: Budget,
): Promise<EntityList[]> {
  const { navigation, top, projection } = expansion;
  const fitting = Math.floor(budget.left / Math.max(1, rows.length));
  const pageMax = Math.max(1, Math.min(limits.odataPageMax, fitting));
  const each = Math.min(top ?? pageMax, pageMax);
  const gathered = await readRelated(ctx, rows, expansion, { each, bound: budget.bound });
  const flat = [...new Set(gathered.flatMap((one) => one.rows))];
  budget.left = Math.max(0, budget.left - flat.length);
  const entities = await expandRows(ctx, flat, projection, budget);
  const byRow = new Map(flat.map((row, at) => [row, entities[at]!]));
  return Promise.all(
    gathered.map(async (one, at) => ({
      items: one.rows.map((row) => byRow.get(row)!),
      ...(expansion.isCounted && {
        count: await countOf(ctx, navigation.join.own(rows[at]!), expansion, one),
      }),
      ...(one.hasMore && one.rows.length < (top ?? Number.POSITIVE_INFINITY) && nextOf(expansion, one)),
    })),
  );
}

const nextOf = ({ projection }: Expansion, { rows }: Related) =>
  rows.length > 0 ? { next: projection.set.position(rows.at(-1)!) } : {};

/** Counts only where more entities exist than were read. */
const countOf = async (
  ctx: RequestContext,
  keys: readonly JoinKey[],
  { navigation, filter, projection }: Expansion,
  { rows, hasMore }: Related,
): Promise<number> =>
  hasMore ? projection.set.count(ctx, and(navigation.join.filter(keys), filter)) : rows.length;

/**
 * Reads related entities until each row has `each` of them or all are read. The keys of a complete row
 * leave the query, so that one large collection does not slow the others down.
 */
async function readRelated(
  ctx: RequestContext,
  rows: readonly EntityRecord[],
  expansion: Expansion,
  { each, bound }: { readonly each: number; readonly bound: LengthBound },
): Promise<Related[]> {
  const { own, theirs } = expansion.navigation.join;
  const gathered: Related[] = rows.map(() => ({ rows: [], hasMore: false }));
  const wanting = new Map<JoinKey, number[]>();
  for (const [at, row] of rows.entries())
    for (const key of own(row)) wanting.set(key, [...(wanting.get(key) ?? []), at]);
  const limit = Math.min(limits.listItemsMax, (each + 1) * Math.max(1, wanting.size));
  for await (const page of pagesOf(ctx, expansion, { keys: wanting, limit, bound }))
    for (const found of page)
      for (const key of theirs(found)) {
        for (const at of wanting.get(key) ?? []) {
          const one = gathered[at]!;
          if (one.rows.length < each) {
            if (one.rows.at(-1) !== found) one.rows.push(found);
          } else if (one.rows.at(-1) !== found) one.hasMore = true;
        }
        if ((wanting.get(key) ?? []).every((at) => gathered[at]!.hasMore)) wanting.delete(key);
      }
  return gathered;
}

/**
 * Reads pages of entities related to the keys. The caller may remove keys between pages. Ends when no key
 * or no page is left, or when the length bound is reached.
 */
async function* pagesOf(
  ctx: RequestContext,
  { navigation, filter, projection }: Expansion,
  { keys, limit, bound }: PagesQuery,
): AsyncGenerator<readonly EntityRecord[]> {
  const needs = neededNames(projection, navigation);
  for (let after: Position | undefined; keys.size > 0; ) {
    const asked = and(navigation.join.filter([...keys.keys()]), filter);
    const page = { limit, bound, ...(after && { after }) };
    const found = await projection.set.read(ctx, { filter: asked, page, needs });
    yield found.items;
    if (!found.next || bound.cuts > 0) return;
    after = found.next;
  }
}
