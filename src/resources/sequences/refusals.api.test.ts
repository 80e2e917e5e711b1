// Every refusal of sequences: exact status, message and members, and proof that nothing changed.
import { after, before, test } from "node:test";
import {
  invalid,
  items,
  missing,
  type Refused,
  type Refuses,
  refusing,
  repeated,
  unknown,
} from "../../../test/support/refused-requests.ts";
import { startTestServer, type TestServer } from "../../../test/support/server.ts";
import { limits } from "../../limits.ts";

let server: TestServer;
/** The values of `{curve}`, `{table}` and the columns `{long}`, `{double}`, `{text}` below. */
let ids: Record<string, number>;
let refuses: Refuses;

before(async () => {
  server = await startTestServer();
  const { items } = await server.ask.v06("POST /sequences", {
    items: [
      {
        name: "curve",
        externalId: "c",
        columns: [{ valueType: "LONG", externalId: "l" }, { valueType: "DOUBLE" }, { valueType: "STRING" }],
      },
      { name: "table", externalId: "t", columns: [{ valueType: "STRING" }] },
    ],
  });
  const [long, double, text] = (items[0]!["columns"] as readonly { id: number }[]).map(({ id }) => id);
  ids = { curve: items[0]!["id"] as number, table: items[1]!["id"] as number } as Record<string, number>;
  Object.assign(ids, { long, double, text });
  const rows = [{ rowNumber: 1, values: [{ columnId: text, value: "kept" }] }];
  await server.ask.v06(`POST /sequences/${ids["curve"]}/postdata`, { items: [{ rows }] });
  refuses = await refusing({ server, versions: ["0.6"], ids, stored });
});
after(() => server.close());

async function stored(): Promise<string> {
  const rows = await server.ask.v06(`POST /sequences/${ids["curve"]}/getdata`, { items: [{}] });
  return (await server.ask.v06("GET /sequences")).text + rows.text;
}

const none = { body: items(), message: `${invalid("items")} at least 1 items but got 0` };
const taken = (...externalIds: string[]) => ({
  status: 409,
  message: `A sequence has this externalId already: ${externalIds.join(", ")}`,
  members: { duplicates: externalIds.map((externalId) => ({ externalId })) },
});

const columns = [{ valueType: "LONG" }];
const sequence = (more: object = {}) => ({ columns, ...more });
const manyColumns = (count: number) => Array(count).fill(columns[0]);
const anotherColumn = "an externalId that no other column has as its externalId or id";

const longText = "x".repeat(8_000);

const creations: readonly Refused[] = [
  none,
  { body: {}, ...missing("items") },
  { body: items({}), ...missing("items[0].columns") },
  { body: items(5), message: `${invalid("items[0]")} an object but got number` },
  {
    body: items(sequence({ id: 5 })),
    message: `${invalid("items[0].id")} none, as the service assigns ids, but got 5`,
  },
  {
    body: items(sequence(), sequence({ columns: [{ valueType: "LONG", id: 5 }] })),
    message: `${invalid("items[1].columns[0].id")} none, as the service assigns ids, but got 5`,
  },
  { body: items({ columns: [] }), message: `${invalid("items[0].columns")} at least 1 items but got 0` },
  {
    body: items({ columns: manyColumns(limits.sequenceColumnsMax + 1) }),
    message: "items[0].columns may hold at most 200 items but holds 201",
  },
  { body: items({ columns: [{}] }), ...missing("items[0].columns[0].valueType") },
  {
    body: items({ columns: [{ valueType: "BOOLEAN" }] }),
    message: `${invalid("items[0].columns[0].valueType")} one of STRING, DOUBLE, LONG but got "BOOLEAN"`,
  },
  {
    body: items({
      columns: [
        { valueType: "LONG", externalId: "x" },
        { valueType: "LONG", externalId: "x" },
      ],
    }),
    message: `${invalid("columns")} ${anotherColumn} but got "x"`,
  },
  { body: items(sequence({ name: 5 })), message: `${invalid("items[0].name")} string but got number` },
  {
    body: items(sequence({ externalId: "" })),
    message: `${invalid("items[0].externalId")} at least 1 characters but got 0`,
  },
  {
    body: items(sequence({ externalId: "x".repeat(limits.externalIdLengthMax + 1) })),
    message: `${invalid("items[0].externalId")} at most 255 characters but got 256`,
  },
  {
    body: items(sequence({ metadata: { x: [5] } })),
    message: `${invalid("items[0].metadata.x")} string but got array`,
  },
  {
    body: items(...Array(limits.sequencesPerPageMax + 1).fill(sequence())),
    message: "items may hold at most 1000 items but holds 1001",
  },
  {
    body: items({ columns: Array(40).fill({ valueType: "LONG", description: longText }) }),
    message: `${invalid("columns")} at most 262144 characters in all but got ...`,
  },
  { body: items(sequence({ externalId: "n" }), sequence({ externalId: "t" })), ...taken("t") },
  { body: items(sequence({ externalId: "n" }), sequence({ externalId: "n" })), ...taken("n") },
  {
    body: items(sequence(), sequence({ assetId: 7 })),
    message: `${invalid("items[1].assetId")} the id of an existing asset but got 7`,
  },
];

test("creations that cannot be", async () => {
  for (const refused of creations) await refuses("POST /sequences", refused);
});

test("ids that are unknown, repeated or none", async () => {
  for (const path of ["POST /sequences/byids", "POST /sequences/delete"]) {
    await refuses(path, none);
    await refuses(path, { body: items("{curve}", 7, 8), ...unknown(7, 8) });
    await refuses(path, {
      body: items("{curve}", "{table}", "{curve}"),
      ...repeated("{curve}"),
    });
  }
  const byIds = `${invalid("items[0]")} integer or an object but got "x"`;
  await refuses("POST /sequences/byids", { body: items("x"), message: byIds });
  const deleted = `${invalid("items[0]")} integer but got string`;
  await refuses("POST /sequences/delete", { body: items("x"), message: deleted });
  const lost = { ...unknown(7), status: 404 };
  await refuses("GET /sequences/7", lost);
  await refuses("DELETE /sequences/7", lost);
  await refuses("POST /sequences/7/update", { body: {}, ...lost });
  await refuses("PATCH /sequences/7", { body: {}, ...lost });
  await refuses("POST /sequences/7/columns", { body: items(...columns), ...lost });
  await refuses("POST /sequences/7/columns/delete", { body: items("{long}"), ...lost });
  await refuses("POST /sequences/7/postdata", { body: items({ rows: [] }), ...lost });
  await refuses("POST /sequences/7/getdata", { body: items({}), ...lost });
  await refuses("GET /sequences/x", {
    message: `${invalid("sequenceId")} an integer of at least 1 but got x`,
  });
});

test("updates that cannot be", async () => {
  const path = "POST /sequences/update";
  const name = { set: "new" };
  await refuses(path, { body: items({ name }), ...missing("items[0].id") });
  await refuses(path, { body: items({ id: "{curve}", name }, { id: 7, name }), ...unknown(7) });
  await refuses(path, {
    body: items({ id: "{curve}", name }, { id: "{curve}", name }),
    ...repeated("{curve}"),
  });
  await refuses(path, {
    body: items({ id: "{curve}", name }, { id: "{table}", externalId: { set: "c" } }),
    ...taken("c"),
  });
  await refuses("POST /sequences/{curve}/update", {
    body: { name: "new" },
    message: `${invalid("name")} an object or null but got "new"`,
  });
  for (const one of ["POST /sequences/{curve}/update", "PATCH /sequences/{curve}"]) {
    await refuses(one, {
      body: { id: "{table}", name },
      message: `${invalid("id")} {curve} as in the path but got {table}`,
    });
    await refuses(one, {
      body: { name, assetId: { set: 7 } },
      message: `${invalid("assetId")} the id of an existing asset but got 7`,
    });
    const add = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`a${at}`, ""]));
    const set = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`s${at}`, ""]));
    await refuses(one, {
      body: { name, metadata: { set, add } },
      message: "metadata may hold at most 256 items but holds 400",
    });
    const long = "x".repeat(6_000);
    await refuses(one, {
      body: { name, metadata: { set: { a: long }, add: { b: long } } },
      message: `${invalid("metadata")} at most 10240 characters in all but got 12002`,
    });
  }
});

test("changes of columns that cannot be", async () => {
  const path = "POST /sequences/{curve}/columns";
  await refuses(path, none);
  await refuses(path, { body: items({}), ...missing("items[0].valueType") });
  await refuses(path, {
    body: items({ valueType: "LONG", id: 5 }),
    message: `${invalid("items[0].id")} none, as the service assigns ids, but got 5`,
  });
  await refuses(path, {
    body: items({ valueType: "LONG", externalId: "l" }),
    message: `${invalid("columns")} ${anotherColumn} but got "l"`,
  });
  await refuses(path, {
    body: items(...manyColumns(limits.sequenceColumnsMax - 2)),
    message: "columns may hold at most 200 items but holds 201",
  });
  const name = { set: "new" };
  await refuses(`${path}/update`, { body: items({ id: "{long}", name }, { id: 7, name }), ...unknown(7) });
  await refuses(`${path}/update`, {
    body: items({ id: "{long}", externalId: { set: `${ids["double"]}` } }),
    message: `${invalid("columns")} ${anotherColumn} but got "${ids["double"]}"`,
  });
  await refuses(`${path}/update`, {
    body: items({ id: "{long}", name }, { id: "{text}", externalId: { set: "l" } }),
    message: `${invalid("columns")} ${anotherColumn} but got "l"`,
  });
  await refuses(`${path}/delete`, { body: items("{long}", 7), ...unknown(7) });
  await refuses(`${path}/delete`, {
    body: items("{long}", "{long}"),
    ...repeated("{long}"),
  });
  await refuses(`${path}/delete`, {
    body: items("{long}", "{double}", "{text}"),
    message: `${invalid("items")} fewer columns, as a sequence keeps at least one, but got all of them`,
  });
});

const first = "items[0].rows[0]";
const aColumn = "the id of a column of this sequence";
const aRowNumber = "a row number from 0 to 9223372036854775807";
const rowNumbers: readonly (readonly [sent: unknown, expected: string])[] = [
  [-1, "a value >= 0 but got -1"],
  [1.5, "integer or string but got 1.5"],
  [2 ** 53, "a value <= 9007199254740991 but got 9007199254740992"],
  ["-1", 'an integer of 0 to 9223372036854775807 in digits but got "-1"'],
  ["9223372036854775808", `${aRowNumber} but got 9223372036854775808`],
  [null, "integer or string but got null"],
  [true, "integer or string but got true"],
];

const long = "an integer of 64 bits, as a string beyond 2^53";
const double = "a number that a 64-bit float holds exactly as written";
const values: readonly (readonly [column: string, sent: unknown, expected: string])[] = [
  ["{long}", 1.5, `${long} but got 1.5`],
  ["{long}", "1.5", `${long} but got "1.5"`],
  ["{long}", 2 ** 53, `${long} but got 9007199254740992`],
  ["{long}", "9223372036854775808", `${long} but got "9223372036854775808"`],
  ["{double}", "nan", `${double} but got "nan"`],
  ["{double}", "9007199254740993", `${double} but got "9007199254740993"`],
  ["{text}", 5, "a string but got 5"],
  ["{text}", true, "number or string or null but got true"],
  ["{text}", {}, "number or string or null but got object"],
  ["{text}", "a\u0000", 'text without U+0000 and halves of characters but got "a\\u0000"'],
];

test("rows that cannot be written: nothing of their request is", async () => {
  const path = "POST /sequences/{curve}/postdata";
  const good = { rowNumber: 1, values: [{ columnId: "{text}", value: "new" }] };
  const rows = (...all: unknown[]) => items({ rows: [...all, good] });
  await refuses(path, none);
  await refuses(path, { body: items({}), ...missing("items[0].rows") });
  await refuses(path, { body: rows({ values: [] }), ...missing(`${first}.rowNumber`) });
  await refuses(path, { body: rows({ rowNumber: 1 }), ...missing(`${first}.values`) });
  for (const [rowNumber, expected] of rowNumbers)
    await refuses(path, {
      body: rows({ rowNumber, values: [] }),
      message: `${invalid(`${first}.rowNumber`)} ${expected}`,
    });
  for (const [columnId, value, expected] of values)
    await refuses(path, {
      body: rows({ rowNumber: 2, values: [{ columnId, value }] }),
      message: `${invalid(`${first}.values[0].value`)} ${expected}`,
    });
  await refuses(path, {
    body: rows({ rowNumber: 2, values: [{ columnId: "{text}" }] }),
    ...missing(`${first}.values[0].value`),
  });
  await refuses(path, {
    body: {
      items: [{ rows: [good] }, { rows: [good, { rowNumber: 2, values: [{ columnId: 7, value: 1 }] }] }],
    },
    message: `${invalid("items[1].rows[1].values[0].columnId")} ${aColumn} but got 7`,
  });
  await refuses(path, {
    body: rows({ rowNumber: 2, values: [good.values[0], good.values[0]] }),
    message: `${invalid(`${first}.values[1].columnId`)} each column once in a row but got {text}`,
  });
  const wide = "x".repeat(limits.sequenceRowLengthMax - 7);
  await refuses(path, {
    body: rows({ rowNumber: 2, values: [{ columnId: "{text}", value: wide }] }),
    message: `${invalid(`${first}.values`)} values of at most 16384 characters in all but got 16385`,
  });
  const many = Array(limits.sequenceRowsPerWriteMax).fill(good);
  await refuses(path, {
    body: rows(...many),
    message: "items[0].rows may hold at most 10000 items but holds 10001",
  });
  await refuses(path, {
    body: items({ rows: many }, { rows: [good] }),
    message: "rows may hold at most 10000 items but holds 10001",
  });
});

test("invalid requests for rows are refused", async () => {
  const path = "POST /sequences/{curve}/getdata";
  await refuses(path, none);
  await refuses(path, { body: items({}, {}), message: "items may hold at most 1 items but holds 2" });
  await refuses(path, {
    body: items({ limit: -1 }),
    message: `${invalid("items[0].limit")} a value >= 0 but got -1`,
  });
  for (const member of ["inclusiveFrom", "inclusiveTo", "exclusiveTo"]) {
    await refuses(path, {
      body: items({ [member]: -1 }),
      message: `${invalid(`items[0].${member}`)} a value >= 0 but got -1`,
    });
    await refuses(path, {
      body: items({ [member]: "9999999999999999999" }),
      message: `${invalid(`items[0].${member}`)} ${aRowNumber} but got 9999999999999999999`,
    });
  }
  await refuses(path, {
    body: items({ columnIds: ["{long}", 7] }),
    message: `${invalid("items[0].columnIds[1]")} a column of this sequence but got 7`,
  });
  await refuses(path, {
    body: items({ columns: [{ externalId: "x" }] }),
    message: `${invalid("items[0].columns[0]")} a column of this sequence but got "x"`,
  });
  await refuses(path, { body: items({ columns: [{}] }), ...missing("items[0].columns[0].id") });
  const cursor = "expected a cursor returned by this same query";
  await refuses(path, { body: items({ cursor: "x" }), message: `Invalid field - cursor - ${cursor}` });
  await refuses("GET /sequences?cursor=x", { message: `Invalid field - cursor - ${cursor}` });
  await refuses("GET /sequences?limit=-1", {
    message: `${invalid("limit")} an integer of at least 0 but got -1`,
  });
  await refuses("GET /sequences/search?offset=1001", {
    message: `${invalid("offset")} an integer from 0 to 1000 but got 1001`,
  });
});
