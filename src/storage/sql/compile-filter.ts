// Compiles the filter tree into one SQL condition. SQL that differs between databases is in
// `dialects/<database>/expressions.ts`; `Expressions` in `dialect.ts` is their interface.
//
// A condition on a missing value is null in SQL. `and`, `or` and `where` treat null as false, but `not` would
// keep it null, so `not` compiles to `is not true`. Thus SQL agrees with the evaluator in memory.
import { sql } from "kysely";
import { invariant } from "../../lib/invariant.ts";
import { endOfPrefix, foldCase, wellFormed, wordsIn } from "../../lib/text.ts";
import type { Bound, Filter, Scalar } from "../../query/filter.ts";
import { type AnyTable, linkTo, type Tenant } from "../catalog.ts";
import type { Condition, Expressions, ListType, MemberType, SqlExpression, WordQuery } from "./dialect.ts";
import { columnOf, encodeValue, projectColumn } from "./tables.ts";

/** The subject of a condition: one table's records of a tenant. */
export interface Subject {
  readonly table: AnyTable;
  readonly tables: readonly AnyTable[];
  readonly tenant: Tenant;
  readonly expressions: Expressions;
  readonly scanLimits: ScanLimits;
  /** Conditions that are evaluated on each record. Without it, an index looks up the matching records. */
  readonly oneByOne?: readonly ("links" | "words")[];
  /** The condition is about an element of a json column of the table, and not about its records. */
  readonly inElement?: true;
}

/** When a read scans records in order, and when it looks them up in an index (`ordered-read.ts`). */
export interface ScanLimits {
  /** The first scan stops after it has rejected this number of records and a tenth of a page. */
  readonly rejectedFirstMax: number;
  /** After the first scan, at most this number of records are looked up and sorted. */
  readonly lookupFirstMax: number;
  /** The second scan stops after it has rejected this number of records for a page of 100. */
  readonly rejectedMax: number;
  /** After the second scan, at most this number of records are looked up and sorted. */
  readonly lookupMax: number;
  /** If more records than this have the words of a search, the search does not rank all of them. */
  readonly rankedMax: number;
}

type Kind = Filter["kind"];
type FilterOf<Name extends Kind> = Filter & { readonly kind: Name };

const always: Condition = sql`1 = 1`;
const never: Condition = sql`1 = 0`;

/** A column of the subject's table, by its full name, so that it means the same inside subqueries. */
export const columnRef = (table: AnyTable, field: string): SqlExpression => sql.ref(`${table.name}.${field}`);

/** The records of the tenant that meet the filter. */
export function recordsWhere(filter: Filter, subject: Subject): Condition {
  const { table, tenant } = subject;
  const condition = compileFilter(filter, subject);
  if (tenant === "system") return condition;
  return sql`${columnRef(table, projectColumn)} = ${tenant} and ${condition}`;
}

function compileFilter(filter: Filter, subject: Subject): Condition {
  const compile = compilers[filter.kind] as (filter: Filter, subject: Subject) => Condition;
  return compile(filter, subject);
}

const compilers: { readonly [Name in Kind]: (filter: FilterOf<Name>, subject: Subject) => Condition } = {
  everything: () => always,
  nothing: () => never,
  and: ({ parts }, subject) => joined(parts, sql` and `, subject) ?? always,
  or: ({ parts }, subject) => joined(parts, sql` or `, subject) ?? never,
  not: ({ part }, subject) => sql`(${compileFilter(part, subject)}) is not true`,
  equals({ field, value }, subject) {
    const column = fieldOf(subject, field, memberTypeOf(value));
    if (value === null) return sql`${column} is null`;
    return sql`${column} = ${encoded(subject, field, value)}`;
  },
  oneOf({ field, values }, subject) {
    const list = values.map((value) => encoded(subject, field, value)!);
    const type = subject.inElement ? listTypeOf(values) : columnListType(subject.table, field);
    const column = fieldOf(subject, field, memberTypeOf(values[0]));
    return sql`${column} in ${subject.expressions.listed(list, type)}`;
  },
  between({ field, from, to }, subject) {
    const column = (one?: Bound) =>
      typeof one?.value === "string"
        ? textOf(subject, field)
        : fieldOf(subject, field, memberTypeOf(one?.value));
    const bound = ({ value }: Bound) =>
      typeof value === "string" ? wellFormed(value) : encoded(subject, field, value);
    const above = from && sql<boolean>`${column(from)} ${from.inclusive ? sql`>=` : sql`>`} ${bound(from)}`;
    const below = to && sql<boolean>`${column(to)} ${to.inclusive ? sql`<=` : sql`<`} ${bound(to)}`;
    if (above && below) return sql`(${above} and ${below})`;
    return above ?? below ?? sql`${column()} is not null`;
  },
  startsWith(filter, subject) {
    if (filter.ignoreCase) return textCondition(filter, subject, "start");
    const column = textOf(subject, filter.field);
    const prefix = wellFormed(filter.text);
    const end = endOfPrefix(prefix);
    // A range, so that an index can be used.
    return end === undefined
      ? sql`${column} >= ${prefix}`
      : sql`(${column} >= ${prefix} and ${column} < ${end})`;
  },
  endsWith: (filter, subject) => textCondition(filter, subject, "end"),
  contains: (filter, subject) => textCondition(filter, subject, "anywhere"),
  within: ({ field, text, distance }, subject) =>
    subject.expressions.within(textOf(subject, field), wellFormed(text), distance),
  words(filter, subject) {
    const { table, tenant, expressions, oneByOne } = subject;
    const { fields, words } = wordQueryOf(filter, table);
    if (words.length === 0) return always;
    if (!oneByOne?.includes("words")) {
      const places = expressions.placesWithWords(table, tenant, [{ fields, words }]);
      return sql`${columnRef(table, "id")} in (select ${expressions.idAt(sql`place`)} from ${places} found)`;
    }
    return expressions.hasWords(table, { fields, words });
  },
  hasMember({ field, key, value, from, to }, { table, expressions }) {
    invariant(columnOf(table, field).type === "json", `${table.name}.${field} is an object`);
    const has = (other: Scalar | undefined, operator: SqlExpression): Condition[] => {
      if (other === undefined) return [];
      const type = typeof other as MemberType;
      const bound = typeof other === "boolean" ? Number(other) : wellFormed(other);
      const holds = (member: SqlExpression): Condition => sql`${member} ${operator} ${bound}`;
      return [expressions.hasMember(columnRef(table, field), wellFormed(key), { type, holds })];
    };
    const conditions = [
      ...has(value, sql`=`),
      ...has(from?.value, from?.inclusive ? sql`>=` : sql`>`),
      ...has(to?.value, to?.inclusive ? sql`<=` : sql`<`),
    ];
    if (conditions.length === 0) return expressions.hasMember(columnRef(table, field), wellFormed(key));
    return sql`(${sql.join(conditions, sql` and `)})`;
  },
  hasOneOf({ field, values }, subject) {
    if (values.length === 0) return never;
    const type = listTypeOf(values);
    return listHas(subject, field, {
      values: subject.expressions.listed(values.map(wellFormed), type),
      type,
    });
  },
  hasOnly({ field, values }, { table, expressions }) {
    invariant(columnOf(table, field).type === "json", `${table.name}.${field} is a list`);
    const column = columnRef(table, field);
    const type = listTypeOf(values);
    const others = sql`element.value not in ${expressions.listed(values.map(wellFormed), type)}`;
    const elements = expressions.elements(column, type);
    return sql`(${column} is not null and not exists (select 1 from ${elements} element where ${others}))`;
  },
  some({ field, part }, subject) {
    invariant(columnOf(subject.table, field).type === "json", `${subject.table.name}.${field} has elements`);
    const condition = compileFilter(part, { ...subject, inElement: true });
    return subject.expressions.someElement(columnRef(subject.table, field), condition);
  },
  related({ field, table: name, part }, subject) {
    const table = subject.tables.find((one) => one.name === name);
    invariant(table !== undefined, `${name} is a table`);
    const { inElement: _, oneByOne: __, ...plain } = subject;
    const ids = sql`(select ${columnRef(table, "id")} from ${sql.table(name)}
      where ${recordsWhere(part, { ...plain, table })})`;
    return sql`${fieldOf(subject, field, "number")} in ${ids}`;
  },
  inSubtree(filter, subject) {
    const { table } = subject;
    if (subject.oneByOne?.includes("links")) return isInSubtree(filter, subject);
    const below = idsBelow(filter, subject);
    if (table.name === filter.tree) return sql`${columnRef(table, "id")} in ${below}`;
    return linksToOneOf(subject, linkColumn(table, filter.tree), below);
  },
};

/** The record links in this column to one of the ids of a subquery. */
export const linksToOneOf = (subject: Subject, column: string, ids: SqlExpression): Condition =>
  columnOf(subject.table, column).type === "json"
    ? listHas(subject, column, { values: ids, type: "number" })
    : sql`${columnRef(subject.table, column)} in ${ids}`;

/** The column of the links to the tree. */
function linkColumn(table: AnyTable, tree: string): string {
  const link = linkTo(table, tree);
  invariant(link !== undefined, `${table.name} declares a link to ${tree}`);
  return link.column;
}

/** The search of a filter by words in its table, each word once. */
export function wordQueryOf({ fields, text }: FilterOf<"words">, table: AnyTable): WordQuery {
  invariant(
    fields.length > 0 && fields.every((field) => table.wordsOf.includes(field)),
    `${table.name} keeps the words of ${fields.join(", ")}`,
  );
  return { fields, words: [...new Set(wordsIn(text.toWellFormed()))] };
}

/** A subquery of values of one type. */
interface ValueList {
  readonly values: SqlExpression;
  readonly type: ListType;
}

/** The list has one of the values. */
function listHas(
  { table, expressions, oneByOne }: Subject,
  field: string,
  { values, type }: ValueList,
): Condition {
  invariant(columnOf(table, field).type === "json", `${table.name}.${field} is a list`);
  const ids = oneByOne?.includes("links") ? undefined : expressions.idsHaving(table, field, values);
  if (ids) return sql`${columnRef(table, "id")} in ${ids}`;
  const elements = expressions.elements(columnRef(table, field), type);
  return sql`exists (select 1 from ${elements} element where element.value in ${values})`;
}

/** The record, by its own path or those of the records that it links to. */
function isInSubtree({ tree, ids }: FilterOf<"inSubtree">, subject: Subject): Condition {
  const { table, expressions, tenant } = subject;
  const { name, path } = treeOf(tree, subject);
  if (table.name === tree) return expressions.isUnder(sql`${sql.table(table.name)}.${path}`, ids);
  const project = sql.ref(`linked.${projectColumn}`);
  const column = linkColumn(table, tree);
  const link = columnRef(table, column);
  const isLinked =
    columnOf(table, column).type === "json"
      ? sql`linked.id in ${expressions.elements(link, "number")}`
      : sql`linked.id = ${link}`;
  return sql`exists (
    select 1 from ${name} linked
    where ${isLinked} and ${project} = ${tenant} and ${expressions.isUnder(sql`linked.${path}`, ids)}
  )`;
}

/** The filter has a condition on links, or on the own place in a tree, for which there is an index. */
export function hasIndexedLinks(filter: Filter, subject: Subject): boolean {
  if (filter.kind === "not") return hasIndexedLinks(filter.part, subject);
  if (filter.kind === "and" || filter.kind === "or")
    return filter.parts.some((part) => hasIndexedLinks(part, subject));
  return lookupsOf(filter, subject).length > 0;
}

/** How an index looks up the records that meet a condition. */
interface IndexLookup {
  /** A subquery with one row for each record; its rows can be counted. */
  readonly ids: SqlExpression;
  /** The subquery to join as `lookup`. The join has each record once. */
  readonly from: SqlExpression;
  readonly on: Condition;
}

/** Empty if no index of links or paths has the records. */
export function lookupsOf(filter: Filter, subject: Subject): IndexLookup[] {
  const { table, expressions, tenant } = subject;
  const having = (field: string, values: SqlExpression): IndexLookup[] => {
    const ids = expressions.idsHaving(table, field, values);
    return ids ? [{ ids, from: ids, on: sql`${columnRef(table, "id")} = lookup.record` }] : [];
  };
  if (filter.kind === "hasOneOf" && filter.values.length > 0)
    return having(filter.field, expressions.listed(filter.values, listTypeOf(filter.values)));
  if (filter.kind !== "inSubtree") return [];
  const below = idsBelow(filter, subject);
  if (table.name === filter.tree)
    return [{ ids: below, from: below, on: sql`${columnRef(table, "id")} = lookup.id` }];
  const column = linkColumn(table, filter.tree);
  if (columnOf(table, column).type === "json") return having(column, below);
  const inProject = sql`${columnRef(table, projectColumn)} = ${tenant}`;
  const on: Condition = sql`${columnRef(table, column)} = lookup.id and ${inProject}`;
  const ids = sql`(select 1 from ${below} lookup cross join ${sql.table(table.name)} where ${on})`;
  return [{ ids, from: below, on }];
}

/** Joined as a balanced tree, so that a long list stays far below a database's greatest depth. */
function joined(parts: readonly Filter[], operator: SqlExpression, subject: Subject): Condition | undefined {
  if (parts.length === 0) return undefined;
  if (parts.length === 1) return compileFilter(parts[0]!, subject);
  const middle = parts.length >> 1;
  const left = joined(parts.slice(0, middle), operator, subject);
  return sql`(${left}${operator}${joined(parts.slice(middle), operator, subject)})`;
}

/** The SQL of a field in a condition: a column of the table, or a member of an element. */
const fieldOf = (
  { table, expressions, inElement }: Subject,
  field: string,
  type: MemberType | "any",
): SqlExpression => (inElement ? expressions.elementMember(field, type) : columnRef(table, field));

const memberTypeOf = (value: Scalar | null | undefined): MemberType | "any" =>
  value === null || value === undefined ? "any" : (typeof value as MemberType);

/** Lists have values of one type. */
const listTypeOf = ([first = ""]: readonly Scalar[]): ListType =>
  typeof first === "string" ? "text" : "number";

const columnListType = (table: AnyTable, field: string): ListType =>
  columnOf(table, field).type === "text" ? "text" : "number";

function encoded({ table, inElement }: Subject, field: string, value: Scalar): string | number | null {
  if (!inElement) return encodeValue(columnOf(table, field), wellFormed(value));
  return typeof value === "boolean" ? Number(value) : wellFormed(value);
}

/** A field as a text: the digits of an integer. */
function textOf(subject: Subject, field: string): SqlExpression {
  const type = subject.inElement ? undefined : columnOf(subject.table, field).type;
  invariant(type !== "real" && type !== "json" && type !== "boolean", `${field} can be compared as a text`);
  const column = fieldOf(subject, field, "any");
  return type === "text" ? column : subject.expressions.asText(column);
}

type TextFilter = FilterOf<"startsWith" | "endsWith" | "contains">;

function textCondition(
  { field, text, ignoreCase }: TextFilter,
  subject: Subject,
  where: "start" | "end" | "anywhere",
): Condition {
  const { expressions } = subject;
  const column = textOf(subject, field);
  if (!ignoreCase) return expressions.textHas(column, wellFormed(text), where);
  return expressions.textHas(expressions.folded(column), foldCase(wellFormed(text)), where);
}

/** The table of a tree, and its column of paths. */
function treeOf(
  tree: string,
  { tables }: Subject,
): { readonly name: SqlExpression; readonly path: SqlExpression } {
  const path = tables.find(({ name }) => name === tree)?.tree?.path;
  invariant(path !== undefined, `${tree} is a tree`);
  return { name: sql.table(tree), path: sql.ref(path) };
}

/** A subquery of the ids in these subtrees: a range of paths for the path of each root. */
function idsBelow({ tree, ids }: FilterOf<"inSubtree">, subject: Subject): SqlExpression {
  const { tenant, expressions } = subject;
  const { name, path } = treeOf(tree, subject);
  const below = sql`below.${path}`;
  const project = sql.ref(projectColumn);
  const roots = expressions.computedOnce(
    sql`select ${path} as path from ${name}
      where id in ${expressions.listed(ids, "number")} and ${project} = ${tenant}`,
  );
  // The paths below `/1/7/` are those from `/1/7/` up to, but excluding, `/1/70`: `0` follows `/`.
  return expressions.computedOnce(sql`
    select ${ids.length > 1 ? sql`distinct ` : sql``}below.id as id
    from ${roots} root cross join ${name} below
    where below.${project} = ${tenant} and ${below} >= root.path
      and ${below} < substr(root.path, 1, length(root.path) - 1) || '0'
  `);
}
