// Orders and keyset positions as SQL.
import { sql } from "kysely";
import { invariant } from "../../lib/invariant.ts";
import { wellFormed } from "../../lib/text.ts";
import type { OrderBy, PageQuestion, Position } from "../../query/page.ts";
import type { AnyTable } from "../catalog.ts";
import { columnRef } from "./compile-filter.ts";
import type { Condition, Expression } from "./dialect.ts";
import { columnOf, encodeValue } from "./tables.ts";

/** The list behind `order by`; `backwards` turns it round. Order fields are required columns of one value. */
export function orderList(table: AnyTable, order: readonly OrderBy[], backwards = false): Expression {
  const terms = order.map(({ field, direction }) => {
    const { type, optional } = columnOf(table, field);
    invariant(!optional && type !== "json", `${table.name} can be ordered by ${field}`);
    const ascends = (direction === "ascending") !== backwards;
    return sql`${columnRef(table, field)} ${ascends ? sql`asc` : sql`desc`}`;
  });
  return sql.join(terms);
}

/** The part of the order that a page lies in. */
export function pageConditions(table: AnyTable, order: readonly OrderBy[], page: PageQuestion): Condition[] {
  const { after, before, until } = page;
  return [
    after && beyond(table, order, { position: after, side: "after", inclusive: false }),
    before && beyond(table, order, { position: before, side: "before", inclusive: false }),
    until && beyond(table, order, { position: until, side: "before", inclusive: true }),
  ].filter((condition) => condition !== undefined);
}

interface Edge {
  readonly position: Position;
  readonly side: "after" | "before";
  readonly inclusive: boolean;
}

/** `a >= 1 and (a > 1 or b > 2)` for the position (1, 2): the first condition lets an index find it. */
function beyond(table: AnyTable, order: readonly OrderBy[], edge: Edge): Condition {
  const [first, ...rest] = order;
  invariant(
    first !== undefined && edge.position.length === order.length,
    "a position has all fields of its order",
  );
  const column = columnRef(table, first.field);
  const value = encodeValue(columnOf(table, first.field), wellFormed(edge.position[0]));
  const upwards = (first.direction === "ascending") === (edge.side === "after");
  const strictly = sql<boolean>`${column} ${upwards ? sql`>` : sql`<`} ${value}`;
  const orEqual = sql<boolean>`${column} ${upwards ? sql`>=` : sql`<=`} ${value}`;
  if (rest.length === 0) return edge.inclusive ? orEqual : strictly;
  const further = beyond(table, rest, { ...edge, position: edge.position.slice(1) });
  return sql`(${orEqual} and (${strictly} or ${further}))`;
}
