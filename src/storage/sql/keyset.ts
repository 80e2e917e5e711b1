// Orders and keyset positions as SQL.
import { sql } from "kysely";
import { invariant } from "../../lib/invariant.ts";
import { wellFormed } from "../../lib/text.ts";
import type { Filter } from "../../query/filter.ts";
import type { OrderBy, PageQuery, Position } from "../../query/page.ts";
import type { AnyTable } from "../catalog.ts";
import { columnRef } from "./compile-filter.ts";
import type { Condition, SqlExpression } from "./dialect.ts";
import { columnOf, encodeValue } from "./tables.ts";

interface Ordering {
  readonly order: readonly OrderBy[];
  readonly filter: Filter;
  /** Reverses the order. */
  readonly backwards?: boolean;
}

/**
 * The list after `order by`. Its fields are columns of one value, and required unless the filter excludes
 * records without it.
 */
export function orderList(table: AnyTable, { order, filter, backwards = false }: Ordering): SqlExpression {
  const terms = order.map(({ field, direction }) => {
    const { type, optional } = columnOf(table, field);
    invariant(type !== "json", `${table.name} can be ordered by ${field}`);
    invariant(
      !optional || excludesMissing(filter, field),
      `positions in the order of ${table.name} are whole`,
    );
    return direct(table, field, (direction === "ascending") !== backwards);
  });
  return sql.join(terms);
}

/** A condition on a missing value is false. */
const excludesMissing = (filter: Filter, field: string): boolean =>
  filter.kind === "and"
    ? filter.parts.some((one) => excludesMissing(one, field))
    : filter.kind === "between" && filter.field === field;

const direct = (table: AnyTable, field: string, ascends: boolean): SqlExpression =>
  sql`${columnRef(table, field)} ${ascends ? sql`asc` : sql`desc`}`;

/** As `orderList`, for an order without positions: records that lack a value come last, either way. */
export function sortedBy(table: AnyTable, order: readonly OrderBy[], backwards = false): SqlExpression {
  const terms = order.map(({ field, direction }) => {
    const { type, optional } = columnOf(table, field);
    invariant(type !== "json", `${table.name} can be ordered by ${field}`);
    const ascends = (direction === "ascending") !== backwards;
    const last = optional ? sql` nulls last` : sql``;
    return sql`${direct(table, field, ascends)}${last}`;
  });
  return sql.join(terms);
}

/**
 * Returns the conditions of a page: one list for each range of the order that may contain it, nearest first.
 * Each is one range of an index. A single condition would read all records that share the position's first
 * field.
 */
export function pageRanges(table: AnyTable, order: readonly OrderBy[], page: PageQuery): Condition[][] {
  const { after, before, until } = page;
  const end = until && ({ position: until, side: "before", inclusive: true } as const);
  const bounds = end ? [beyond(table, order, end)] : [];
  if (before && after)
    bounds.push(beyond(table, order, { position: after, side: "after", inclusive: false }));
  const start = before ?? after;
  if (!start) return [bounds];
  assertPosition(order, start);
  return order.map((_, at) => {
    const place = order.length - 1 - at;
    const same = order
      .slice(0, place)
      .map((by, index) => compared(table, by, { value: start[index], sign: "=" }));
    const sign = (order[place]!.direction === "ascending") === (before === undefined) ? ">" : "<";
    return [...same, compared(table, order[place]!, { value: start[place], sign }), ...bounds];
  });
}

interface Edge {
  readonly position: Position;
  readonly side: "after" | "before";
  readonly inclusive: boolean;
}

/** `a >= 1 and (a > 1 or b > 2)` for the position (1, 2): the first condition bounds an index. */
function beyond(table: AnyTable, order: readonly OrderBy[], edge: Edge): Condition {
  assertPosition(order, edge.position);
  const [first, ...rest] = order as readonly [OrderBy, ...OrderBy[]];
  const value = edge.position[0];
  const sign = (first.direction === "ascending") === (edge.side === "after") ? ">" : "<";
  const strictly = compared(table, first, { value, sign });
  const orEqual = compared(table, first, { value, sign: `${sign}=` });
  if (rest.length === 0) return edge.inclusive ? orEqual : strictly;
  const further = beyond(table, rest, { ...edge, position: edge.position.slice(1) });
  return sql`(${orEqual} and (${strictly} or ${further}))`;
}

const assertPosition = (order: readonly OrderBy[], position: Position) =>
  invariant(order.length > 0 && position.length === order.length, "a position has all fields of its order");

function compared(
  table: AnyTable,
  { field }: OrderBy,
  { value, sign }: { readonly value: string | number | undefined; readonly sign: string },
): Condition {
  const encoded = encodeValue(columnOf(table, field), wellFormed(value));
  return sql`${columnRef(table, field)} ${sql.raw(sign)} ${encoded}`;
}
