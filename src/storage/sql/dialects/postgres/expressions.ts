// The filter tree's conditions in PostgreSQL's words.
import { sql } from "kysely";
import type { AnyTable } from "../../../catalog.ts";
import { columnRef } from "../../compile-filter.ts";
import type { Condition, Expressions, MemberType, SqlExpression, WordQuery } from "../../dialect.ts";
import { projectColumn } from "../../tables.ts";
import { editsFunction, elementsFunction, idsFunction } from "./functions.ts";
import { encodeText, mayBeMisread } from "./nul.ts";
import { linkListsOf, startLengthIndexed } from "./schema.ts";
import { lexemeOf, wordLengthMax, wordsColumn } from "./words.ts";

/** One parameter holds a list of any length, so that the statement stays the same. */
const listed: Expressions["listed"] = (values, type) => {
  if (type === "text") return sql`(select unnest(${values}::text[]))`;
  return values.every(Number.isSafeInteger)
    ? sql`(select unnest(${values}::bigint[]))`
    : sql`(select unnest(${values}::float8[]))`;
};

const json = (text: SqlExpression) => sql`(${text})::jsonb`;

/** The value of a member or an element as that of a column; null for values of other types. */
function memberValue(member: SqlExpression, type: MemberType | "any"): SqlExpression {
  const text = sql`(${member} #>> '{}')`;
  if (type === "any") return sql`(${text} collate "C")`;
  const casts = {
    number: sql`${text}::float8`,
    boolean: sql`${text}::boolean::int`,
    string: sql`(${text} collate "C")`,
  };
  const cast = casts[type];
  return sql`case jsonb_typeof(${member}) when ${sql.lit(type)} then ${cast} end`;
}

/** Letters that mean themselves in a regular expression. */
const quotedPattern = (text: string): string => text.replace(/[^\p{L}\p{N}\s]/gu, "\\$&");

/**
 * The last letter of Unicode, as often as the length of a start: no start with this prefix comes after it.
 */
const lastLetters = "\u{10ffff}".repeat(startLengthIndexed);

/** `(apump:* | bpump:*) & ...`, a letter for each field. */
function textQueryOf(table: AnyTable, queries: readonly WordQuery[]): string {
  const all = queries.flatMap(({ fields, words }) =>
    words.map((word) => fields.map((field) => `'${lexemeOf(table, field, word)}':*`).join(" | ")),
  );
  return all.map((one) => `(${one})`).join(" & ");
}

/** Conditions on lists and objects. */
const jsonExpressions: Pick<
  Expressions,
  "listed" | "elements" | "elementsExcept" | "hasMember" | "someElement" | "elementMember" | "asText"
> = {
  listed,
  elements: (array, type) =>
    type === "text"
      ? sql`(select ${memberValue(sql`value`, "string")} as value from jsonb_array_elements(${json(array)}))`
      : sql`(select (value #>> '{}')::bigint as value from jsonb_array_elements(${json(array)}))`,
  elementsExcept: (array, values) => sql`(
    select coalesce(json_agg(value order by place), '[]')::text
    from jsonb_array_elements(${json(array)}) with ordinality element(value, place)
    where (value #>> '{}')::bigint not in ${values})`,
  hasMember(object, key, expected) {
    const member = sql`(${json(object)} -> ${key})`;
    if (!expected) return sql`(${member} is not null)`;
    const isOfType = sql`jsonb_typeof(${member}) = ${sql.lit(expected.type)}`;
    return sql`(${isOfType} and ${expected.holds(memberValue(member, expected.type))})`;
  },
  someElement: (text, condition) =>
    sql`exists (select 1 from ${sql.raw(elementsFunction)}(${text}) element where ${condition})`,
  elementMember(name, type) {
    if (name === "key") return sql`(element.key collate "C")`;
    return memberValue(name === "value" ? sql`element.value` : sql`(element.value -> ${name})`, type);
  },
  asText: (integer) => sql`(cast(${integer} as text) collate "C")`,
};

const textHas: Expressions["textHas"] = (text, part, where) => {
  if (where === "start") return sql`starts_with(${text}, ${part})`;
  if (mayBeMisread(part)) {
    const pattern = `(?<!\u0001)${quotedPattern(encodeText(part))}${where === "end" ? "$" : ""}`;
    return sql`${text} ~ ${sql.lit(pattern)}`;
  }
  if (where === "anywhere") return sql`strpos(${text}, ${part}) > 0`;
  const length = [...encodeText(part)].length;
  return length === 0 ? sql`${text} is not null` : sql`right(${text}, ${length}::int) = ${part}`;
};

/** `fold` is the name of the function that takes case away. */
export function expressionsWith(fold: string): Expressions {
  const folded = (text: SqlExpression): SqlExpression => sql`${sql.raw(fold)}(${text})`;
  const hasWords = (table: AnyTable, queries: readonly WordQuery[]): Condition => {
    const index = columnRef(table, wordsColumn);
    // A list, because a text would be parsed for each record.
    const query = sql<boolean>`${index} @@ (${[textQueryOf(table, queries)]}::tsquery[])[1]`;
    // The index has only the beginning of a long word.
    const long = queries.flatMap(({ fields, words }) =>
      words
        .filter((word) => word.length > wordLengthMax)
        .map((word) => {
          const texts = fields.map((field) => folded(sql`normalize(${columnRef(table, field)}, NFC)`));
          return sql`(${sql.join(
            texts.map((text) => sql`strpos(${text}, ${word}) > 0`),
            sql` or `,
          )})`;
        }),
    );
    return sql`(${sql.join([query, ...long], sql` and `)})`;
  };
  return {
    ...jsonExpressions,
    folded,
    textHas,
    within: (text, term, distance) =>
      sql`${sql.raw(editsFunction)}(${text}, ${term}, ${distance}::int) <= ${distance}`,
    idsHaving(table, field, values) {
      if (!linkListsOf(table).includes(field)) return undefined;
      const links = sql`${sql.raw(idsFunction)}(${columnRef(table, field)})`;
      const id = columnRef(table, "id");
      return sql`(select ${id} as record from ${sql.table(table.name)} where ${links} && array${values})`;
    },
    placesWithWords(table, tenant, queries) {
      const inProject =
        tenant === "system" ? sql`` : sql`${columnRef(table, projectColumn)} = ${tenant} and `;
      const where = sql`${inProject}${hasWords(table, queries)}`;
      return sql`(select ${columnRef(table, "id")} as place from ${sql.table(table.name)} where ${where})`;
    },
    sortable: (number) => number,
    idAt: (place) => place,
    joined: (integers) => sql`string_agg(${integers}::text, ',')`,
    hasWords: (table, query) => hasWords(table, [query]),
    startsAs(text, term, how) {
      const startOf = (one: SqlExpression) => sql`left(${folded(one)}, ${sql.lit(startLengthIndexed)})`;
      const [value, start] = [startOf(text), startOf(sql`${term}`)];
      if (how === "equal") return sql`${value} = ${start}`;
      return sql`(${value} >= ${start} and ${value} <= ${start} || ${sql.lit(lastLetters)})`;
    },
    computedOnce: (query) => sql`(with found as materialized (${query}) select * from found)`,
    isUnder: (path, assetIds) =>
      sql`string_to_array(${path}, '/') && ${assetIds.map((id) => String(id))}::text[]`,
  };
}
