// The filter tree's conditions in SQLite's words.
import { sql } from "kysely";
import { endOfPrefix, startOf } from "../../../../lib/text.ts";
import { columnRef } from "../../compile-filter.ts";
import type { Expressions, MemberType, SqlExpression, WordQuery } from "../../dialect.ts";
import {
  firstPlaceOf,
  folded,
  idsBelow,
  linkListsOf,
  linksTableOf,
  sortableNumber,
  startOfText,
  wordsTableOf,
} from "./schema.ts";

/** One parameter holds a list of any length, so that the statement stays the same. */
const listed: Expressions["listed"] = (values) =>
  sql`(select value from json_each(${JSON.stringify(values)}))`;

/** The bytes of a text: unlike with text, `substr` of bytes does not stop at NUL. */
const bytes = (text: unknown) => sql`cast(${text} as blob)`;

const memberTypes: Readonly<Record<MemberType, readonly string[]>> = {
  string: ["text"],
  number: ["integer", "real"],
  boolean: ["true", "false"],
};

/** SQL around another expression, which replaces each `?`. */
const spelled = (spell: (text: string) => string, text: SqlExpression) =>
  sql.join(
    spell("?")
      .split("?")
      .map((part) => sql.raw(part)),
    text,
  );

/** The query of FTS5: `{"name"} : ("pump" * AND "motor" *)`. */
function matchOf({ fields, words }: WordQuery): string {
  const columns = fields.map((field) => `"${field}"`).join(" ");
  return `{${columns}} : (${words.map((word) => `"${word}" *`).join(" AND ")})`;
}

export const expressions: Expressions = {
  listed,
  elements: (array, _type) => sql`(select value from json_each(${array}))`,
  elementsExcept: (array, values) =>
    sql`(select json_group_array(value order by key) from json_each(${array}) where value not in ${values})`,
  hasMember(object, key, expected) {
    const found = sql`select 1 from json_each(${object}) member where member.key = ${key}`;
    if (!expected) return sql`exists (${found})`;
    const isOfType = sql`member.type in ${listed(memberTypes[expected.type], "text")}`;
    return sql`exists (${found} and ${isOfType} and ${expected.holds(sql`member.value`)})`;
  },
  someElement: (json, condition) => sql`exists (select 1 from json_each(${json}) element where ${condition})`,
  elementMember: (name) =>
    name === "key" || name === "value"
      ? sql.ref(`element.${name}`)
      : sql`json_extract(element.value, ${`$."${name}"`})`,
  asText: (integer) => sql`cast(${integer} as text)`,
  folded: (text) => spelled(folded, text),
  textHas(text, part, where) {
    if (where === "anywhere") return sql`instr(${text}, ${part}) > 0`;
    if (where === "start") return sql`instr(${text}, ${part}) = 1`;
    const length = Buffer.byteLength(part);
    return length === 0 ? sql`${text} is not null` : sql`substr(${bytes(text)}, ${-length}) = ${bytes(part)}`;
  },
  within: (text, term, distance) => sql`edits_between(${text}, ${term}) <= ${distance}`,
  idsHaving(table, field, values) {
    if (!linkListsOf(table).includes(field)) return undefined;
    const links = sql.table(linksTableOf(table, field));
    return sql`(select distinct record from ${links} where linked in ${values})`;
  },
  placesWithWords(table, tenant, queries) {
    const index = sql.table(wordsTableOf(table));
    const match = sql`${index} match ${queries.map(matchOf).join(" AND ")}`;
    if (tenant === "system") return sql`(select rowid as place from ${index} where ${match})`;
    const first = spelled(firstPlaceOf, sql`${tenant}`);
    const within = sql`rowid between ${first} and ${first} + ${sql.raw(idsBelow)}`;
    return sql`(select rowid as place from ${index} where ${match} and ${within})`;
  },
  sortable: (number) => spelled(sortableNumber, number),
  idAt: (place) => sql`(${place} & ${sql.raw(idsBelow)})`,
  joined: (integers) => sql`group_concat(${integers})`,
  hasWords(table, { fields, words }) {
    const texts = fields.map((field) => columnRef(table, field));
    return sql`has_words(${words.join(" ")}, ${sql.join(texts)})`;
  },
  startsAs(text, term, how) {
    const [value, start] = [spelled(startOfText, text), startOf(term)];
    if (how === "equal") return sql`${value} = ${start}`;
    const end = endOfPrefix(start);
    return end === undefined ? sql`${value} >= ${start}` : sql`${value} >= ${start} and ${value} < ${end}`;
  },
  // SQLite runs a subquery without references to the record once.
  computedOnce: (query) => sql`(${query})`,
  isUnder: (path, assetIds) => sql`is_under(${path}, (select roots_of(${assetIds.join("/")})))`,
};
