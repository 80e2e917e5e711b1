// Brings expanded entities to those they belong to: one question a navigation, however many there are.
import type { RequestContext } from "../context.ts";
import { Failure } from "../errors.ts";
import { limits } from "../limits.ts";
import { and } from "../query/filter.ts";
import { LengthBound } from "../query/length-bound.ts";
import type { Position } from "../query/page.ts";
import type { Key, Row } from "./model.ts";
import { type Expansion, needsOf, type Shape } from "./shape.ts";

/** An entity with what was expanded of it, in the sequence of the expansions of its shape. */
export interface Entity {
  readonly row: Row;
  readonly expanded: readonly (Entity | undefined | Entities)[];
}

/** Expanded entities of one entity. */
export interface Entities {
  readonly items: readonly Entity[];
  readonly count?: number;
  /** Where the rest begins. */
  readonly next?: Position;
}

/** How many entities may still be expanded in this response, and how long they may be together. */
interface Budget {
  left: number;
  readonly bound: LengthBound;
}

const nothing: Entity["expanded"] = [];

/**
 * What expanded entities may add to the length of a page: they are written with the entity they belong to.
 */
const expandedShare = 1 / 4;

/** How many fewer rows or entities are tried when expansions were too long. */
const fewer = 4;

/**
 * The rows with what is expanded of them. When the expansions are too long together, only the first rows, and
 * of the last one left only as many expanded entities as fit. Counts all of it against `bound`.
 */
export async function expandFitting(
  ctx: RequestContext,
  rows: readonly Row[],
  { shape, bound }: { readonly shape: Shape; readonly bound: LengthBound },
): Promise<Entity[]> {
  if (shape.expansions.length === 0) return rows.map((row) => ({ row, expanded: nothing }));
  let count = rows.length;
  for (let left: number = limits.odataExpandedMax; ; left = Math.ceil(left / fewer)) {
    const isLeast = count <= 1 && left === 1;
    const own = new LengthBound(isLeast ? Number.MAX_SAFE_INTEGER : bound.max * expandedShare);
    const entities = await entitiesOf(ctx, rows.slice(0, count), shape, { left, bound: own });
    if (own.cuts === 0) {
      bound.count({ length: own.used, isCut: left < limits.odataExpandedMax });
      return entities;
    }
    count = Math.ceil(count / fewer);
  }
}

async function entitiesOf(
  ctx: RequestContext,
  rows: readonly Row[],
  shape: Shape,
  budget: Budget,
): Promise<Entity[]> {
  const columns: (Entity | undefined | Entities)[][] = [];
  for (const expansion of shape.expansions)
    columns.push(
      expansion.navigation.isMany
        ? await manyOf(ctx, rows, expansion, budget)
        : await oneOf(ctx, rows, expansion, budget),
    );
  if (columns.length === 0) return rows.map((row) => ({ row, expanded: nothing }));
  return rows.map((row, at) => ({ row, expanded: columns.map((column) => column[at]) }));
}

/** For each row the one entity it names, if the caller may see it. */
async function oneOf(
  ctx: RequestContext,
  rows: readonly Row[],
  expansion: Expansion,
  budget: Budget,
): Promise<(Entity | undefined)[]> {
  const { join } = expansion.navigation;
  const own = rows.map((row) => join.own(row)[0]);
  const keys = new Set(own.filter((key) => key !== undefined));
  if (keys.size === 0) return own.map(() => undefined);
  let found: readonly Row[] = [];
  try {
    for await (const page of pagesOf(ctx, expansion, { keys, limit: keys.size, bound: budget.bound }))
      found = found.length === 0 ? page : [...found, ...page];
  } catch (problem) {
    // Nobody asked for it: to a caller without the right it is as if there were none.
    const isForbidden = problem instanceof Failure && problem.status === 403;
    if (!isForbidden || !expansion.navigation.isAutoExpanded) throw problem;
  }
  const entities = await entitiesOf(ctx, found, expansion.shape, budget);
  const isEachFound = keys.size === rows.length && entities.length === rows.length;
  // Each has one of its own, and they have come in the same order: nothing has to be looked up.
  if (isEachFound && entities.every(({ row }, at) => join.theirs(row)[0] === own[at])) return entities;
  const byKey = new Map<Key, Entity>();
  for (const entity of entities)
    for (const key of join.theirs(entity.row)) if (!byKey.has(key)) byKey.set(key, entity);
  return own.map((key) => (key === undefined ? undefined : byKey.get(key)));
}

interface PagesWanted {
  readonly keys: ReadonlySet<Key> | ReadonlyMap<Key, unknown>;
  readonly limit: number;
  readonly bound: LengthBound;
}

interface Gathered {
  readonly rows: Row[];
  hasMore: boolean;
}

/** For each row the entities that belong to it, as many as the answer has room for. */
async function manyOf(
  ctx: RequestContext,
  rows: readonly Row[],
  expansion: Expansion,
  budget: Budget,
): Promise<Entities[]> {
  const { navigation, top, shape } = expansion;
  const fitting = Math.floor(budget.left / Math.max(1, rows.length));
  const pageMax = Math.max(1, Math.min(limits.odataPageMax, fitting));
  const each = Math.min(top ?? pageMax, pageMax);
  const gathered = await gather(ctx, rows, expansion, { each, bound: budget.bound });
  const flat = [...new Set(gathered.flatMap((one) => one.rows))];
  budget.left = Math.max(0, budget.left - flat.length);
  const entities = await entitiesOf(ctx, flat, shape, budget);
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

const nextOf = ({ shape }: Expansion, { rows }: Gathered) =>
  rows.length > 0 ? { next: shape.set.position(rows.at(-1)!) } : {};

/** What was gathered whole needs no counting. */
const countOf = async (
  ctx: RequestContext,
  keys: readonly Key[],
  { navigation, filter, shape }: Expansion,
  { rows, hasMore }: Gathered,
): Promise<number> =>
  hasMore ? shape.set.count(ctx, and(navigation.join.filter(keys), filter)) : rows.length;

/**
 * Reads what belongs to any of the rows until each has `each` or all is read. Rows that have theirs are asked
 * for no longer, so that a large collection of one does not cost the others.
 */
async function gather(
  ctx: RequestContext,
  rows: readonly Row[],
  expansion: Expansion,
  { each, bound }: { readonly each: number; readonly bound: LengthBound },
): Promise<Gathered[]> {
  const { own, theirs } = expansion.navigation.join;
  const gathered: Gathered[] = rows.map(() => ({ rows: [], hasMore: false }));
  const wanting = new Map<Key, number[]>();
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
 * Pages of what belongs to the keys, which may become fewer on the way; ends when none is left, and when what
 * was read is too long.
 */
async function* pagesOf(
  ctx: RequestContext,
  { navigation, filter, shape }: Expansion,
  { keys, limit, bound }: PagesWanted,
): AsyncGenerator<readonly Row[]> {
  const needs = needsOf(shape, navigation);
  for (let after: Position | undefined; keys.size > 0; ) {
    const asked = and(navigation.join.filter([...keys.keys()]), filter);
    const page = { limit, bound, ...(after && { after }) };
    const found = await shape.set.read(ctx, { filter: asked, page, needs });
    yield found.items;
    if (!found.next || bound.cuts > 0) return;
    after = found.next;
  }
}
