// Tables, records and queries for the catalog's conformance suite: hostile strings, random trees of filters.
import fc from "fast-check";
import type { Filter } from "../../query/filter.ts";
import type { OrderBy } from "../../query/page.ts";
import type { AnyTable, Stored, Table, TableColumn } from "../catalog.ts";

export interface Place extends Stored {
  readonly name: string;
  readonly path: string;
  readonly depth: number;
  readonly parentId?: number;
  readonly weight?: number;
  readonly closed?: boolean;
  readonly description?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly traits?: Readonly<Record<string, string | number | boolean>>;
}

/** Linked to one place. */
export interface Gauge extends Stored {
  readonly name: string;
  readonly placeId?: number;
}

/** Linked to any number of places. */
export interface Note extends Stored {
  readonly text: string;
  readonly placeIds?: readonly number[];
}

export interface Secret extends Stored {
  readonly name: string;
}

/** One of a place's many lines, known by its place and its name. */
export interface PlaceLine {
  readonly placeId: number;
  readonly name: string;
  readonly text?: string;
}

const required = (type: TableColumn["type"]): TableColumn => ({ type, optional: false });
const optional = (type: TableColumn["type"]): TableColumn => ({ type, optional: true });

export const places: Table<Place> = {
  name: "places",
  belongsTo: "project",
  columns: {
    id: required("integer"),
    name: required("text"),
    path: required("text"),
    depth: required("integer"),
    parentId: optional("integer"),
    weight: optional("real"),
    closed: optional("boolean"),
    description: optional("text"),
    metadata: optional("json"),
    traits: optional("json"),
  },
  indexes: [["name"], ["path"], ["depth"]],
  unique: [["parentId", "name"]],
  sortedBy: ["depth"],
  wordsOf: ["name", "description"],
  tree: { path: "path" },
};

export const gauges: Table<Gauge> = {
  name: "gauges",
  belongsTo: "project",
  columns: { id: required("integer"), name: required("text"), placeId: optional("integer") },
  indexes: [["placeId"]],
  unique: [["name"]],
  wordsOf: [],
  links: [{ column: "placeId", to: "places", onDelete: "clear" }],
};

export const notes: Table<Note> = {
  name: "notes",
  belongsTo: "project",
  columns: { id: required("integer"), text: required("text"), placeIds: optional("json") },
  indexes: [],
  unique: [],
  wordsOf: ["text"],
  links: [{ column: "placeIds", to: "places", onDelete: "clear" }],
};

/** Removed with its place, and with its gauge. */
export interface Label extends Stored {
  readonly placeId: number;
  readonly gaugeId?: number;
}

export const marks: Table<Label> = {
  name: "marks",
  belongsTo: "project",
  columns: { id: required("integer"), placeId: required("integer"), gaugeId: optional("integer") },
  indexes: [["placeId"], ["gaugeId"]],
  unique: [],
  wordsOf: [],
  links: [
    { column: "placeId", to: "places", onDelete: "remove" },
    { column: "gaugeId", to: "gauges", onDelete: "remove" },
  ],
};

export const secrets: Table<Secret> = {
  name: "secrets",
  belongsTo: "system",
  columns: { id: required("integer"), name: required("text") },
  indexes: [],
  unique: [["name"]],
  wordsOf: [],
};

export const lines: Table<PlaceLine> = {
  name: "lines",
  belongsTo: "project",
  key: ["placeId", "name"],
  columns: { placeId: required("integer"), name: required("text"), text: optional("text") },
  indexes: [],
  unique: [],
  wordsOf: [],
};

export const tables: readonly AnyTable[] = [places, gauges, notes, marks, secrets, lines];

/** Strings that break careless quoting, patterns, folding and ordering. */
export const hostileTexts: readonly string[] = [
  "",
  " ",
  "'",
  '"',
  `"; drop table places; --`,
  "%",
  "_",
  "50%_of*[a-z]?",
  "\\",
  "\\%",
  "a\0b",
  "\0",
  "\u0001",
  "\u0001\u0002",
  "\u0002 \u0003",
  "pump-101",
  "Pump 101 Ärger",
  "pump 101 ÄRGER",
  "PUMP",
  "pum",
  "pump 1",
  "PUMP 10 äb",
  "a pump",
  "e\u0301 pump",
  "straße STRASSE",
  "ΣΊΣΥΦΟΣ σίσυφος",
  "İstanbul ıI",
  "K \u212a k",
  "e\u0301 é",
  "😀",
  "😀 pump",
  "\uffff",
  "\u{10ffff}",
  "\ud800 alone",
  "日本語 ポンプ",
  "null",
  "NULL",
  "1",
  "1e3",
  "$.a",
  "__proto__",
  "constructor",
  "AND OR NOT NEAR",
  "name:pump*",
  "x".repeat(300),
];

const finite = { noNaN: true, noDefaultInfinity: true } as const;

const hostileText = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...hostileTexts) },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 6 }) },
  { weight: 1, arbitrary: fc.string({ unit: fc.constantFrom(..."aAäÄ%_ 1"), maxLength: 4 }) },
);

const traitName = fc.constantFrom("7", "8", "__proto__");
const trait = fc.oneof(
  hostileText,
  fc.integer({ min: -1, max: 3 }),
  fc.constantFrom(-0.5, 1e300),
  fc.boolean(),
);

/** A present value or none. */
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined, freq: 3 });

/** A tree of at most 12 places: each is a root or has an earlier one as its parent. Ids are 10, 20, ... */
export const somePlaces: fc.Arbitrary<Place[]> = fc
  .array(
    fc.record({
      name: hostileText,
      parent: maybe(fc.nat(10)),
      weight: maybe(fc.double(finite).map((value) => value + 0)),
      closed: maybe(fc.boolean()),
      description: maybe(hostileText),
      metadata: maybe(fc.dictionary(hostileText, hostileText, { maxKeys: 3 })),
      traits: maybe(fc.dictionary(traitName, trait, { maxKeys: 3 })),
    }),
    { maxLength: 12 },
  )
  .map((drafts) => {
    const made: Place[] = [];
    for (const [at, { parent, name, ...rest }] of drafts.entries()) {
      const id = (at + 1) * 10;
      const above = parent === undefined ? undefined : made[parent];
      const taken =
        above && made.some((one) => one.parentId === above.id && one.name === name.toWellFormed());
      const place = {
        id,
        name: (taken ? `${name} ${id}` : name).toWellFormed(),
        path: `${above?.path ?? "/"}${id}/`,
        depth: above ? above.depth + 1 : 0,
        parentId: above?.id,
        ...rest,
      };
      made.push(
        Object.fromEntries(Object.entries(place).filter(([, value]) => value !== undefined)) as never,
      );
    }
    return made;
  });

const placeId = fc.constantFrom(10, 20, 30, 40, 70, 120, 999);

export const someGauges: fc.Arbitrary<Gauge[]> = fc.array(maybe(placeId), { maxLength: 6 }).map((ids) =>
  ids.map((placeId, at) => ({
    id: at + 1,
    name: `gauge ${at}`,
    ...(placeId !== undefined && { placeId }),
  })),
);

/** With some keys more than once. */
export const someLines: fc.Arbitrary<PlaceLine[]> = fc
  .array(fc.record({ placeId, name: hostileText, text: maybe(hostileText) }), { maxLength: 20 })
  .map((drafts) =>
    drafts.map(({ placeId, name, text }) => ({
      placeId,
      name: name.toWellFormed(),
      ...(text !== undefined && { text: text.toWellFormed() }),
    })),
  );

export const someNotes: fc.Arbitrary<Note[]> = fc
  .array(fc.record({ text: hostileText, placeIds: maybe(fc.uniqueArray(placeId, { maxLength: 3 })) }), {
    maxLength: 6,
  })
  .map((drafts) =>
    drafts.map(({ text, placeIds }, at) => ({
      id: at + 1,
      text: text.toWellFormed(),
      ...(placeIds && { placeIds }),
    })),
  );

const textField = fc.constantFrom("name", "description", "path");
const numberField = fc.constantFrom("id", "depth", "parentId", "weight");
const number = fc.oneof(placeId, fc.integer({ min: -1, max: 3 }), fc.double(finite));

const inSubtree = fc.record({
  kind: fc.constant("inSubtree" as const),
  tree: fc.constant("places"),
  ids: fc.array(placeId, { maxLength: 3 }),
});

const bound = <Value extends string | number>(value: fc.Arbitrary<Value>) =>
  fc.record({ value, inclusive: fc.boolean() });

const betweenOf = <Value extends string | number>(field: fc.Arbitrary<string>, value: fc.Arbitrary<Value>) =>
  fc.record(
    { kind: fc.constant("between" as const), field, from: bound(value), to: bound(value) },
    { requiredKeys: ["kind", "field"] },
  );

const hasMember = (
  field: string,
  key: fc.Arbitrary<string>,
  value: fc.Arbitrary<string | number | boolean>,
) => {
  const isBound = (one: unknown) => typeof one !== "boolean";
  const members = bound(value.filter(isBound) as fc.Arbitrary<string | number>);
  const record = { kind: fc.constant("hasMember" as const), field: fc.constant(field), key };
  return fc.record(
    { ...record, value, from: members, to: members },
    { requiredKeys: ["kind", "field", "key"] },
  );
};

const integerField = fc.constantFrom("id", "depth", "parentId");
const digits = fc.constantFrom("", "0", "1", "10", "2", "20", "-1", "7", "70");

/** Filters on a pair of metadata. */
const pairFilter: fc.Arbitrary<Filter> = fc.oneof(
  fc.record({
    kind: fc.constant("equals" as const),
    field: fc.constantFrom("key", "value"),
    value: hostileText,
  }),
  fc.record({
    kind: fc.constant("oneOf" as const),
    field: fc.constantFrom("key", "value"),
    values: fc.array(hostileText),
  }),
  betweenOf(fc.constantFrom("key", "value"), hostileText),
  fc.record({
    kind: fc.constantFrom("startsWith" as const, "endsWith" as const, "contains" as const),
    field: fc.constantFrom("key", "value"),
    text: hostileText,
    ignoreCase: fc.boolean(),
  }),
);

const leaf: fc.Arbitrary<Filter> = fc.oneof(
  fc.constantFrom<Filter>({ kind: "everything" }, { kind: "nothing" }),
  fc.record({ kind: fc.constant("equals" as const), field: textField, value: fc.option(hostileText) }),
  fc.record({ kind: fc.constant("equals" as const), field: numberField, value: fc.option(number) }),
  fc.record({
    kind: fc.constant("equals" as const),
    field: fc.constant("closed"),
    value: fc.option(fc.boolean()),
  }),
  fc.record({ kind: fc.constant("oneOf" as const), field: textField, values: fc.array(hostileText) }),
  fc.record({ kind: fc.constant("oneOf" as const), field: numberField, values: fc.array(number) }),
  fc.record({
    kind: fc.constant("oneOf" as const),
    field: fc.constant("closed"),
    values: fc.array(fc.boolean(), { maxLength: 2 }),
  }),
  betweenOf(textField, hostileText),
  betweenOf(numberField, number),
  fc.record({
    kind: fc.constantFrom("startsWith" as const, "endsWith" as const, "contains" as const),
    field: textField,
    text: hostileText,
    ignoreCase: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant("within" as const),
    field: textField,
    text: hostileText,
    distance: fc.nat(4),
  }),
  fc.record({
    kind: fc.constant("words" as const),
    fields: fc.constantFrom(["name"], ["description"], ["name", "description"]),
    text: hostileText,
  }),
  hasMember("metadata", hostileText, hostileText),
  hasMember("traits", traitName, trait),
  betweenOf(integerField, digits),
  fc.record({
    kind: fc.constantFrom("startsWith" as const, "endsWith" as const, "contains" as const),
    field: integerField,
    text: fc.oneof(digits, hostileText),
    ignoreCase: fc.boolean(),
  }),
  fc.record({ kind: fc.constant("some" as const), field: fc.constant("metadata"), part: pairFilter }),
  inSubtree,
);

const parent = fc.record({
  kind: fc.constant("related" as const),
  field: fc.constant("parentId"),
  table: fc.constant("places"),
  part: leaf,
});

/** Random trees of every kind of filter there is. */
export const someFilter: fc.Arbitrary<Filter> = fc.letrec<{ filter: Filter }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 3, depthIdentifier: "filter" },
    { weight: 8, arbitrary: leaf },
    parent,
    fc.record({ kind: fc.constant("not" as const), part: tie("filter") }),
    fc.record({
      kind: fc.constantFrom("and" as const, "or" as const),
      parts: fc.array(tie("filter"), { maxLength: 3, depthIdentifier: "filter" }),
    }),
  ),
})).filter;

const not = (part: Filter): Filter => ({ kind: "not", part });

/** Filters on a table that has only links to assets. */
export const someLinkFilter: fc.Arbitrary<Filter> = fc.oneof(inSubtree, inSubtree.map(not));

const ofList = fc.record({
  kind: fc.constantFrom("hasOneOf" as const, "hasOnly" as const),
  field: fc.constant("placeIds"),
  values: fc.array(placeId, { maxLength: 3 }),
});

const someLinked = fc.record({
  kind: fc.constant("some" as const),
  field: fc.constant("placeIds"),
  part: fc.oneof(
    fc.record({ kind: fc.constant("equals" as const), field: fc.constant("value"), value: placeId }),
    betweenOf(fc.constant("value"), digits),
    fc.record({
      kind: fc.constantFrom("startsWith" as const, "endsWith" as const, "contains" as const),
      field: fc.constant("value"),
      text: digits,
      ignoreCase: fc.boolean(),
    }),
  ),
});

/** Filters on a table with a list of assets. */
export const someListFilter: fc.Arbitrary<Filter> = fc.oneof(
  someLinkFilter,
  ofList,
  ofList.map(not),
  someLinked,
  someLinked.map(not),
);

const direction = fc.constantFrom("ascending" as const, "descending" as const);

/** Orders whose last field is unique. */
export const someOrder: fc.Arbitrary<OrderBy[]> = fc
  .tuple(fc.subarray(["name", "depth", "path"]), direction, direction)
  .map(([fields, first, second]) => [
    ...fields.map((field, at) => ({ field, direction: at % 2 ? second : first })),
    { field: "id", direction: second },
  ]);

/** Orders of a search, which may lack values. */
export const someSearchOrder: fc.Arbitrary<OrderBy[]> = fc
  .tuple(fc.constantFrom("weight", "description", "parentId"), direction, someOrder)
  .map(([field, direction, order]) => [{ field, direction }, ...order]);

export const someRank = fc.array(
  fc.record({ field: fc.constantFrom("name", "description"), text: hostileText }),
  { maxLength: 2 },
);

/** Few words, so that most places match, and strings that are prefixes of one another. */
const rankedText = fc.constantFrom("Pump", "pump 1", "PUMP 10 äb", "a pump", "e\u0301 pump", "é", "p", "");

/** Searches by words with ranks, as resource modules send them, to run with places from `somePlaces`. */
export const someRankedSearch = fc
  .record({
    fields: fc.constantFrom(["name"], ["description"], ["name", "description"]),
    text: rankedText,
    further: fc.oneof(fc.constant<Filter>({ kind: "everything" }), someFilter),
    rank: fc.array(fc.record({ field: fc.constantFrom("name", "description"), text: rankedText }), {
      maxLength: 2,
    }),
    limit: fc.nat(6),
    offset: fc.nat(3),
  })
  .map(({ fields, text, further, ...rest }) => {
    const filter: Filter = { kind: "and", parts: [further, { kind: "words", fields, text }] };
    return { ...rest, filter };
  });
