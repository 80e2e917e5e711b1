// Sequences over the API: requests of the published Python client, byte for byte, and all others.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import {
  type AskFunction,
  type Item,
  idsOf,
  startTestServer,
  type TestServer,
} from "../../../test/support/server.ts";
import { limits } from "../../limits.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const ask: AskFunction = (...args) => server.ask.v06(...args);
const columns = [
  { name: "speed", externalId: "n", valueType: "LONG" },
  { name: "flow", valueType: "DOUBLE" },
  { name: "note", valueType: "STRING" },
];

interface Made {
  readonly id: number;
  readonly columnIds: readonly number[];
}

const madeOf = (item: Item): Made => ({
  id: item["id"] as number,
  columnIds: (item["columns"] as readonly Item[]).map((column) => column["id"] as number),
});

async function create(more: object = {}): Promise<Made> {
  const response = await ask("POST /sequences", { items: [{ columns, ...more }] });
  assert.equal(response.status, 200, response.text);
  return madeOf(response.items[0]!);
}

async function post({ id, columnIds }: Made, rows: readonly (readonly unknown[])[]): Promise<void> {
  const sent = rows.map(([rowNumber, ...values]) => ({
    rowNumber,
    values: values.map((value, at) => ({ columnId: columnIds[at], value })),
  }));
  const response = await ask(`POST /sequences/${id}/postdata`, { items: [{ rows: sent }] });
  assert.deepEqual([response.status, response.text], [200, "{}"]);
}

interface Data {
  readonly columns: readonly Item[];
  readonly rows: readonly {
    readonly rowNumber: number | string;
    readonly values: readonly { readonly columnId: number; readonly value: unknown }[];
  }[];
}

async function get({ id }: Made, question: object = {}) {
  const response = await ask(`POST /sequences/${id}/getdata`, { items: [question] });
  assert.equal(response.status, 200, response.text);
  const data = response.items[0] as unknown as Data;
  const rows = data.rows.map(({ rowNumber, values }) => [rowNumber, ...values.map(({ value }) => value)]);
  return { ...data, rows, numbers: rows.map(([rowNumber]) => rowNumber), nextCursor: response.nextCursor };
}

/** The format of `json.dumps`: a blank after each colon and comma, null for unset values. */
const pythonJson = (value: unknown): string =>
  JSON.stringify(value, null, 1)
    .replace(/\n\s*/g, " ")
    .replace(/([[{]) /g, "$1")
    .replace(/ ([\]}])/g, "$1");

/** A request as the Python client makes it. */
const python = (methodAndPath: string, body: unknown) =>
  ask(methodAndPath, gzipSync(pythonJson(body)), {
    "content-type": "application/json",
    "content-encoding": "gzip",
    accept: "*/*",
  });

const pythonColumn = (name: string, valueType: string) => ({
  name,
  externalId: `${name}-id`,
  description: null,
  valueType,
  metadata: {},
});

const pythonSequence = {
  name: "pump curve",
  externalId: "py/curve",
  assetId: null,
  description: "head over flow",
  metadata: { maker: "Volt" },
  columns: [pythonColumn("flow", "DOUBLE"), pythonColumn("count", "LONG"), pythonColumn("note", "STRING")],
};

test("the Python client makes a sequence, finds it by its external id, and deletes it", async () => {
  const created = await python("POST /sequences", { items: [pythonSequence] });
  assert.equal(created.status, 200, created.text);
  const [sequence] = created.items;
  for (const key of ["id", "name", "externalId", "columns", "description", "metadata"])
    assert.ok(key in sequence!, key);
  for (const one of sequence!["columns"] as readonly Item[])
    for (const key of ["id", "name", "externalId", "valueType", "metadata"]) assert.ok(key in one, key);

  assert.deepEqual((await ask("GET /sequences?externalId=py%2Fcurve")).items, [sequence]);
  const { id } = madeOf(sequence!);
  assert.deepEqual((await ask(`GET /sequences/${id}`)).items, [sequence]);
  const deleted = await ask(`DELETE /sequences/${id}`);
  assert.deepEqual([deleted.status, deleted.text], [200, "{}"]);
  assert.equal((await ask(`GET /sequences/${id}`)).status, 404);
  assert.equal((await ask("GET /sequences?externalId=py%2Fcurve")).items.length, 0);
});

test("the Python client writes values as strings, and reads them by the types of their columns", async () => {
  const { id, columnIds } = madeOf((await python("POST /sequences", { items: [pythonSequence] })).items[0]!);
  const cells = (...values: unknown[]) => values.map((value, at) => ({ columnId: columnIds[at], value }));
  const posted = await python(`POST /sequences/${id}/postdata`, {
    items: [
      {
        rows: [
          { rowNumber: 1, values: cells("0.1", "42", "42") },
          { rowNumber: 2, values: cells("-1e-07", "9223372036854775807", "") },
        ],
      },
    ],
  });
  assert.deepEqual([posted.status, posted.text], [200, "{}"]);
  const read = await python(`POST /sequences/${id}/getdata`, {
    items: [{ inclusiveFrom: 1, inclusiveTo: 2, limit: 100, columnIds }],
  });
  assert.deepEqual(read.items, [
    {
      columns: [
        { id: columnIds[0], externalId: "flow-id", name: "flow" },
        { id: columnIds[1], externalId: "count-id", name: "count" },
        { id: columnIds[2], externalId: "note-id", name: "note" },
      ],
      rows: [
        { rowNumber: 1, values: cells(0.1, 42, "42") },
        { rowNumber: 2, values: cells(-1e-7, "9223372036854775807", "") },
      ],
    },
  ]);
});

test("both forms of a query: inclusive or exclusive ends, columns by id or external id", async () => {
  const made = await create();
  const [, flow, note] = made.columnIds;
  await post(made, [
    [3, 30, 3.5, "c"],
    [1, 10, 1.5, "a"],
    [2, 20, null, "b"],
  ]);
  assert.deepEqual((await get(made)).rows, [
    [1, 10, 1.5, "a"],
    [2, 20, "b"],
    [3, 30, 3.5, "c"],
  ]);
  const range = async (question: object) => (await get(made, question)).numbers;
  assert.deepEqual(await range({ inclusiveFrom: 1, inclusiveTo: 2 }), [1, 2]);
  assert.deepEqual(await range({ inclusiveFrom: 1, exclusiveTo: 2 }), [1]);
  assert.deepEqual(await range({ inclusiveTo: 3, exclusiveTo: 3 }), [1, 2]);
  assert.deepEqual(await range({ exclusiveTo: 0 }), []);
  assert.deepEqual(await range({ inclusiveFrom: 3, inclusiveTo: 1 }), []);
  assert.deepEqual(await range({ limit: 2 }), [1, 2]);
  assert.deepEqual(await range({ limit: 0 }), []);
  const byExternalId = await get(made, { columns: [{ id: note }, { externalId: "n" }] });
  assert.deepEqual(byExternalId.rows[0], [1, "a", 10]);
  assert.deepEqual(
    byExternalId.columns.map(({ id }) => id),
    [note, made.columnIds[0]],
  );
  assert.deepEqual((await get(made, { columnIds: [flow] })).rows, [[1, 1.5], [2], [3, 3.5]]);
  assert.equal((await get(made, { columnIds: [], columns: [] })).columns.length, 3);
});

test("a row replaces the whole row of its number; of two in a request the last one counts", async () => {
  const made = await create();
  await post(made, [[5, 1, 1, "old"]]);
  await post(made, [[5, 2]]);
  assert.deepEqual((await get(made)).rows, [[5, 2]]);
  await post(made, [
    [5, 3],
    [5, null, 4],
  ]);
  assert.deepEqual((await get(made)).rows, [[5, 4]]);
});

test("row numbers go up to 2^63 - 1 without losing a digit", async () => {
  const made = await create();
  const numbers = [0, 2 ** 53 - 1, `${2n ** 53n}`, `${2n ** 53n + 1n}`, `${2n ** 63n - 1n}`];
  await post(
    made,
    numbers.toReversed().map((number, at) => [number, at]),
  );
  assert.deepEqual((await get(made)).numbers, numbers);
  const above = { inclusiveFrom: `${2n ** 53n + 1n}`, exclusiveTo: `${2n ** 63n - 1n}` };
  assert.deepEqual((await get(made, above)).numbers, [`${2n ** 53n + 1n}`]);
  assert.deepEqual((await get(made, { inclusiveTo: "0000" })).numbers, [0]);
});

test("pages of rows follow one another by cursor, bound to their query", async () => {
  const made = await create();
  await post(
    made,
    Array.from({ length: 10 }, (_, at) => [at * at, at]),
  );
  const pages: unknown[] = [];
  const question = { inclusiveFrom: 1, inclusiveTo: 64, limit: 3 };
  for (let cursor: string | undefined, isFirst = true; isFirst || cursor; isFirst = false) {
    const { numbers, nextCursor }: Awaited<ReturnType<typeof get>> = await get(made, { ...question, cursor });
    pages.push(numbers);
    cursor = nextCursor;
  }
  assert.deepEqual(pages, [
    [1, 4, 9],
    [16, 25, 36],
    [49, 64],
  ]);
  const { nextCursor: cursor } = await get(made, question);
  const other = { items: [{ ...question, inclusiveTo: 65, cursor }] };
  assert.equal((await ask(`POST /sequences/${made.id}/getdata`, other)).status, 400);
});

test("a JSON number in a DOUBLE column is stored as the nearest double", async () => {
  const made = await create();
  const sent = ["9007199254740993", "0.12345678901234567890", "1e-400", "1e300"];
  const rows = sent.map((value, at) => {
    return `{"rowNumber":${at},"values":[{"columnId":${made.columnIds[1]},"value":${value}}]}`;
  });
  const response = await ask(
    `POST /sequences/${made.id}/postdata`,
    `{"items":[{"rows":[${rows.join(",")}]}]}`,
    { "content-type": "application/json" },
  );
  assert.equal(response.status, 200, response.text);
  assert.deepEqual(
    (await get(made)).rows,
    sent.map((value, at) => [at, Number(value)]),
  );
});

test("as CSV: a header of names and ids, quotes where they are needed", async () => {
  const { items } = await ask("POST /sequences", {
    items: [
      {
        columns: [
          { name: "a,b", valueType: "STRING" },
          { externalId: "x", valueType: "LONG" },
        ],
      },
    ],
  });
  const made = madeOf(items[0]!);
  await post(made, [
    [0, 'say "no"', "9007199254740993"],
    ["9223372036854775807", "two\nlines", null],
  ]);
  const csvResponse = ask(`POST /sequences/${made.id}/getdata`, { items: [{}] }, { accept: "text/csv" });
  const { text, headers } = await csvResponse;
  const [first, second] = made.columnIds;
  assert.equal(headers.get("content-type"), "text/csv; charset=utf-8");
  assert.equal(
    text,
    [
      `rowNumber,"a,b(${first})",x(${second})`,
      '0,"say ""no""",9007199254740993',
      '9223372036854775807,"two\nlines",',
      "",
    ].join("\n"),
  );
});

test("as CSV, a table that continues has the cursor in a header", async () => {
  const made = await create();
  const count = limits.sequenceRowsPerReadDefault + 1;
  await post(
    made,
    Array.from({ length: count }, (_, at) => [at, at]),
  );
  const csv = async (question: object) => {
    const body = { items: [question] };
    const response = await ask(`POST /sequences/${made.id}/getdata`, body, { accept: "text/csv" });
    assert.equal(response.status, 200, response.text);
    const [, ...rows] = response.text.trimEnd().split("\n");
    return { rows, cursor: response.headers.get("x-next-cursor") };
  };
  const first = await csv({});
  const rest = await csv({ cursor: first.cursor });
  assert.deepEqual(
    [first.rows.length, rest.rows, rest.cursor],
    [count - 1, [`${count - 1},${count - 1},,`], null],
  );
  const inJson = await ask(`POST /sequences/${made.id}/getdata`, { items: [{}] });
  assert.equal(inJson.headers.get("x-next-cursor"), null, "it has the member nextCursor");
});

test("10,000 rows go in and come out in one request each", async () => {
  const made = await create();
  const rows = Array.from({ length: limits.sequenceRowsPerWriteMax }, (_, at) => [at, at, at / 7, `r${at}`]);
  await post(made, rows);
  assert.deepEqual((await get(made, { limit: 1_000_000 })).rows, rows);
  assert.equal((await get(made)).rows.length, limits.sequenceRowsPerReadDefault);
});

test("lists by external id, name, asset and subtree, with cursors; searches by words", async () => {
  const { items } = await ask("POST /assets", {
    items: [
      { name: "line", refId: "l" },
      { name: "pump", parentRefId: "l" },
    ],
  });
  const [line, pump] = items.map((item) => item["id"]);
  const one = await create({ name: "Cooling profile", externalId: "one", assetId: pump });
  const two = await create({
    name: "Heating profile",
    assetId: line,
    dataSetId: 9,
    metadata: { maker: "Volt" },
  });
  const listed = async (query: string) => idsOf(await ask(`GET /sequences?${query}`));
  assert.deepEqual(await listed("externalId=one"), [one.id]);
  assert.deepEqual(await listed("externalId=on"), []);
  assert.deepEqual(await listed("name=Heating%20profile"), [two.id]);
  assert.deepEqual(await listed(`assetId=${line}`), [two.id]);
  assert.deepEqual(await listed("dataSetId=9"), [two.id]);
  assert.deepEqual(await listed(`dataSetId=9&assetId=${pump}`), []);
  assert.deepEqual(await listed(`path=[${line}]`), [one.id, two.id]);
  const first = await ask(`GET /sequences?path=[${line}]&limit=1`);
  const next = await ask(`GET /sequences?path=[${line}]&limit=1&cursor=${first.nextCursor}`);
  assert.deepEqual([idsOf(first), idsOf(next), next.nextCursor], [[one.id], [two.id], undefined]);
  assert.deepEqual(idsOf(await server.ask(`GET /sequences?externalId=one`)), [one.id]);

  const searched = async (query: string) => idsOf(await ask(`GET /sequences/search?${query}`));
  assert.deepEqual(await searched("query=profil"), [one.id, two.id]);
  assert.deepEqual(await searched("name=heat"), [two.id]);
  assert.deepEqual(await searched("query=profil&dataSetId=9"), [two.id]);
  assert.deepEqual(await searched(`query=profile&assetSubtrees=[${pump}]`), [one.id]);
  assert.deepEqual(await searched(`query=profile&metadata={"maker":"Volt"}`), [two.id]);
  assert.deepEqual(await searched("query=profile&metadata=null&limit=1&offset=1"), [two.id]);

  await ask("POST /assets/delete", { items: [line] });
  const { items: left } = await ask("POST /sequences/byids", { items: [two.id, one.id] });
  assert.deepEqual(
    left.map((item) => [item["id"], item["assetId"]]),
    [
      [two.id, undefined],
      [one.id, undefined],
    ],
  );
});

test("updates of one, by POST or PATCH, and of many; columns by their own operations", async () => {
  const made = await create({ name: "a", metadata: { x: "1" }, dataSetId: 7 });
  const { id } = made;
  const [changed] = (
    await ask(`POST /sequences/${id}/update`, {
      id,
      name: { set: "b", setNull: false },
      description: { set: null, setNull: true },
      externalId: { set: `changed-${id}` },
      metadata: { set: { y: "2" }, add: { z: "3" }, remove: ["y"] },
      assetId: null,
    })
  ).items;
  assert.deepEqual(
    [changed!["name"], changed!["externalId"], changed!["metadata"], changed!["dataSetId"]],
    ["b", `changed-${id}`, { z: "3" }, 7],
  );
  const [patched] = (await ask(`PATCH /sequences/${id}`, { metadata: { setNull: true } })).items;
  assert.deepEqual(patched!["metadata"], {});
  const other = await create();
  const many = await ask("POST /sequences/update", {
    items: [
      { id: other.id, name: { set: "other" } },
      { id, name: { setNull: true }, dataSetId: { setNull: true } },
    ],
  });
  assert.deepEqual(
    many.items.map((item) => [item["id"], item["name"], item["dataSetId"]]),
    [
      [other.id, "other", undefined],
      [id, null, undefined],
    ],
  );
  const added = await ask(`POST /sequences/${id}/columns`, {
    items: [{ name: "extra", externalId: "e", valueType: "DOUBLE" }],
  });
  const extra = madeOf(added.items[0]!).columnIds[3]!;
  const renamed = await ask(`POST /sequences/${id}/columns/update`, {
    items: [{ id: extra, name: { set: "more" }, externalId: { setNull: true } }],
  });
  const column = (renamed.items[0]!["columns"] as readonly Item[])[3]!;
  assert.deepEqual([column["name"], column["externalId"], column["valueType"]], ["more", null, "DOUBLE"]);
  const taken = await ask(`POST /sequences/${id}/columns/delete`, { items: [extra] });
  assert.deepEqual(madeOf(taken.items[0]!), made);
});

test("after a restart all records are there, and no deleted ones", async () => {
  const [kept, gone] = [await create({ name: "kept" }), await create({ name: "gone" })];
  for (const made of [kept, gone]) await post(made, [["9223372036854775807", 1, 2.5, "x"]]);
  await ask("POST /sequences/delete", { items: [gone.id] });
  const before = [(await ask(`GET /sequences/${kept.id}`)).text, await get(kept)];
  await server.restart();
  assert.deepEqual([(await ask(`GET /sequences/${kept.id}`)).text, await get(kept)], before);
  assert.equal((await ask(`GET /sequences/${gone.id}`)).status, 404);
  assert.equal((await ask(`POST /sequences/${gone.id}/getdata`, { items: [{}] })).status, 404);
});
