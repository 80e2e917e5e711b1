// The destinations datapoints, sequence rows and files: the writes of each action, compared with a naive
// reference, and the refusals.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Item, startTestServer, type TestServer } from "../../../../test/support/server.ts";
import { outcome, Transformations } from "../../../../test/support/transformations.ts";
import { limits } from "../../../limits.ts";

let server: TestServer;
let on: Transformations;
before(async () => {
  server = await startTestServer();
  on = new Transformations(server);
});
after(() => server.close());

const points = { destination: { type: "datapoints" } };

const stored = async (name: string) => {
  const { items } = await on.ask(`GET /timeseries/data/${name}?start=0&limit=10000`);
  const { datapoints = [] } = (items[0] ?? {}) as { datapoints?: { timestamp: number; value: unknown }[] };
  return datapoints.map(({ timestamp, value }) => [timestamp, value]);
};

/** `VALUES` as a query with these columns. */
const tableOf = (columns: readonly string[], rows: readonly (readonly unknown[])[]): string => {
  const literal = (value: unknown) =>
    value === null ? "NULL" : typeof value === "string" ? `'${value.replaceAll("'", "''")}'` : String(value);
  const names = columns.map((name, at) => `column${at + 1} AS ${name}`).join(", ");
  return `SELECT ${names} FROM (VALUES ${rows.map((row) => `(${row.map(literal).join()})`).join()})`;
};

test("rows become points of series by name, external id or id; unchanged ones are not written", async () => {
  const made = await on.ask("POST /timeseries", {
    items: [
      { name: "t1", externalId: "x1" },
      { name: "t2", isString: true },
    ],
  });
  const [{ id }] = made.items as [Item];
  const query = tableOf(
    ["name", "timestamp", "value"],
    [
      ["t1", 1, 1.5],
      ["t1", 2, -2],
      ["t2", 1, 7],
    ],
  );
  const byName = await on.save("points", query, points);
  const plan = await on.plan(byName);
  assert.deepEqual(plan.created.rows[0], { row: 1, key: "t1 1", values: { value: 1.5 } });
  assert.deepEqual(await stored("t1"), [], "a plan writes nothing");
  assert.deepEqual(outcome(await on.run(byName)), { status: "COMPLETED", created: 3 });
  assert.deepEqual(
    [await stored("t1"), await stored("t2")],
    [
      [
        [1, 1.5],
        [2, -2],
      ],
      [[1, "7"]],
    ],
  );
  assert.deepEqual(outcome(await on.run(byName)), { status: "COMPLETED", unchanged: 3 });
  const byExternalId = tableOf(["externalId", "timestamp", "value"], [["x1", 2, 3]]);
  const changing = await on.save("points-x", byExternalId, points);
  const { changed } = await on.plan(changing);
  assert.deepEqual(changed.rows[0]!["fields"], [{ field: "value", old: -2, new: 3 }]);
  assert.deepEqual(outcome(await on.run(changing)), { status: "COMPLETED", changed: 1 });
  const byId = await on.save("points-id", `SELECT ${id} AS id, 2 AS timestamp, 3.0 AS value`, points);
  assert.deepEqual(outcome(await on.run(byId)), { status: "COMPLETED", unchanged: 1 });
});

test("rows without a series, a time or a fitting value are refused with their reason", async () => {
  await on.ask("POST /timeseries", { items: [{ name: "r1" }] });
  const rows = [
    ...[
      ["r1", 1, 1],
      ["unknown", 2, 1],
      ["r1", 2.5, 1],
      ["r1", "x", 1],
    ],
    ...[
      ["r1", 3, "high"],
      ["r1", 4, null],
      ["r1", null, 1],
      ["r1", 1, 2],
    ],
  ];
  const query = tableOf(["name", "timestamp", "value"], rows);
  const stops = await on.save("refusals-stop", query, points);
  const stopped = await on.run(stops);
  assert.equal(stopped["status"], "FAILED");
  assert.match(stopped["problem"] as string, /Nothing was written/);
  assert.deepEqual(await stored("r1"), []);
  const skips = await on.save("refusals", query, { ...points, onError: "skip" });
  const run = await on.run(skips);
  assert.deepEqual(outcome(run), { status: "COMPLETED_WITH_REFUSALS", created: 1, refused: 7 });
  const errors = run["errors"] as readonly Item[];
  assert.deepEqual(
    errors
      .map(({ row, column, value }) => [row, column, value])
      .toSorted((one, two) => Number(one[0]) - Number(two[0])),
    [
      [2, "name", '"unknown"'],
      [3, "timestamp", "2.5"],
      [4, "timestamp", '"x"'],
      [5, "value", '"high"'],
      [6, "value", undefined],
      [7, undefined, undefined],
      [8, undefined, undefined],
    ],
  );
  assert.deepEqual(await stored("r1"), [[1, 1]]);
  const two = await on.save("two-keys", "SELECT 'r1' AS name, 5 AS id, 1 AS timestamp", points);
  assert.match((await on.run(two))["problem"] as string, /A row is named by name and timestamp, or/);
});

test("a deletion takes points and ranges, once", async () => {
  await on.ask("POST /timeseries", { items: [{ name: "d1" }] });
  const datapoints = Array.from({ length: 10 }, (_, timestamp) => ({ timestamp, value: timestamp }));
  await on.ask("POST /timeseries/data", { items: [{ name: "d1", datapoints }] });
  const deletion = { ...points, action: "delete" };
  const some = await on.save(
    "d-points",
    tableOf(
      ["name", "timestamp"],
      [
        ["d1", 1],
        ["d1", 77],
      ],
    ),
    deletion,
  );
  assert.deepEqual(outcome(await on.run(some)), { status: "COMPLETED", deleted: 1, unchanged: 1 });
  const columns = ["name", "inclusiveBegin", "exclusiveEnd"];
  const ranges = await on.save(
    "d-ranges",
    tableOf(columns, [
      ["d1", 3, 6],
      ["d1", 50, 60],
      ["d1", 9, 9],
    ]),
    {
      ...deletion,
      onError: "skip",
    },
  );
  const run = await on.run(ranges);
  assert.deepEqual(outcome(run), { status: "COMPLETED_WITH_REFUSALS", deleted: 1, unchanged: 1, refused: 1 });
  assert.deepEqual(
    (await stored("d1")).map(([time]) => time),
    [0, 2, 6, 7, 8, 9],
  );
});

interface Case {
  readonly action: string;
  readonly nulls: string;
  /** Rows with the numbers of records and their values. */
  readonly rows: readonly (readonly [number: number, value: number | null])[];
}

/** The effect of a run, row by row. */
function naiveRun(records: Map<number, number | null>, { action, nulls, rows }: Case, isPoint: boolean) {
  const counts = { created: 0, changed: 0, unchanged: 0, deleted: 0, refused: 0 };
  for (const [number, value] of rows) {
    const exists = records.has(number);
    const isCleared = value === null && nulls === "clear";
    const kind = (() => {
      if (action === "delete") return exists ? "deleted" : "unchanged";
      if (action === "create" && exists) return "refused";
      if (isPoint && isCleared) return exists ? "deleted" : "unchanged";
      if (action === "update" && !exists) return "refused";
      if (!exists) return value === null && isPoint ? "refused" : "created";
      if (value === null && !isCleared) return "unchanged";
      return records.get(number) === value ? "unchanged" : "changed";
    })();
    counts[kind] += 1;
    if (kind === "deleted") records.delete(number);
    if (kind === "created" || kind === "changed") records.set(number, value);
  }
  return counts;
}

function randomCase(random: () => number): Case {
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)]!;
  const numbers = new Set(Array.from({ length: 20 }, () => Math.floor(random() * 40)));
  return {
    action: pick(["create", "update", "upsert", "upsert", "delete"]),
    nulls: pick(["keep", "clear"]),
    rows: [...numbers].map((number) => [number, random() < 0.2 ? null : Math.floor(random() * 3)]),
  };
}

const seeded = (seed: number) => () => {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
  return seed / 2_147_483_648;
};

interface Subject {
  readonly destination: object;
  readonly key: string;
  /** A column of the value, and columns that name the series. */
  readonly select: (rows: Case["rows"]) => string;
  readonly read: () => Promise<unknown>;
  readonly isPoint: boolean;
}

async function compareWithNaive(name: string, { destination, select, read, isPoint }: Subject) {
  const id = await on.save(name, "SELECT 1", { destination, onError: "skip" });
  const records = new Map<number, number | null>();
  const random = seeded(7);
  for (let round = 0; round < 12; round += 1) {
    const { action, nulls, rows } = randomCase(random);
    await on.change(id, { query: select(rows), action, nulls });
    const before = await read();
    const plan = await on.plan(id);
    assert.deepEqual(await read(), before, "a plan writes nothing");
    const expected = naiveRun(records, { action, nulls, rows }, isPoint);
    const run = await on.run(id);
    const { created, changed, unchanged, deleted, refused } = run;
    const where = `round ${round}: ${action}, ${nulls}, ${JSON.stringify(rows)}`;
    assert.deepEqual({ created, changed, unchanged, deleted, refused }, expected, where);
    const planned = { created: plan.created.count, changed: plan.changed.count, unchanged: plan.unchanged };
    const others = { deleted: plan.deleted.count, refused: plan.refused.count };
    assert.deepEqual({ ...planned, ...others }, expected, where);
    const sorted = [...records].toSorted(([one], [two]) => one - two);
    assert.deepEqual(await read(), sorted, where);
  }
}

test("random runs into datapoints do what a naive run does, and plans say it before", async () => {
  await on.ask("POST /timeseries", { items: [{ name: "n1" }] });
  await compareWithNaive("naive-points", {
    ...{ ...points, key: "timestamp", isPoint: true, read: () => stored("n1") },
    select: (rows) =>
      tableOf(
        ["name", "timestamp", "value"],
        rows.map((row) => ["n1", ...row]),
      ),
  });
});

async function newSequence(externalId: string): Promise<number> {
  const columns = [
    { externalId: "flow", valueType: "DOUBLE" },
    { externalId: "big", valueType: "LONG" },
    { externalId: "note", valueType: "STRING" },
    { name: "unnamed", valueType: "STRING" },
  ];
  const { status, items, error } = await on.ask("POST /sequences", { items: [{ externalId, columns }] });
  assert.equal(status, 200, error?.message ?? "");
  return items[0]!["id"] as number;
}

async function sequenceRows(id: number): Promise<readonly (readonly unknown[])[]> {
  const { items } = await on.ask(`POST /sequences/${id}/getdata`, { items: [{ limit: 1_000 }] });
  type Rows = { rowNumber: number | string; values: { columnId: number; value: unknown }[] }[];
  const { columns, rows } = items[0] as unknown as { columns: { id: number }[]; rows: Rows };
  return rows.map(({ rowNumber, values }) => {
    const byColumn = new Map(values.map(({ columnId, value }) => [columnId, value]));
    return [rowNumber, ...columns.map((column) => byColumn.get(column.id) ?? null)];
  });
}

test("random runs into rows of a sequence do what a naive run does, and plans say it before", async () => {
  const id = await newSequence("curve");
  await compareWithNaive("naive-rows", {
    destination: { type: "sequenceRows", sequence: "curve" },
    ...{ key: "rowNumber", isPoint: false },
    select: (rows) => tableOf(["rowNumber", "flow"], rows),
    read: async () => (await sequenceRows(id)).map(([rowNumber, flow]) => [rowNumber, flow]),
  });
});

test("rows of a sequence keep columns that a query does not return, and exact integers", async () => {
  const id = await newSequence("exact");
  const { items } = await on.ask(`GET /sequences/${id}`);
  const columnIds = (items[0]!["columns"] as Item[]).map((column) => column["id"]);
  const values = [1.5, 7, "a", "kept"].map((value, at) => ({ columnId: columnIds[at], value }));
  await on.ask(`POST /sequences/${id}/postdata`, { items: [{ rows: [{ rowNumber: 1, values }] }] });
  const destination = { type: "sequenceRows", sequence: "exact" };
  const query = `SELECT 1 AS rowNumber, '1.50' AS flow, 9223372036854775807 AS big, NULL AS note
    UNION ALL SELECT 9223372036854775807, 2, 1, 'b'`;
  const run = await on.save("exact", query, { destination });
  assert.deepEqual(outcome(await on.run(run)), { status: "COMPLETED", created: 1, changed: 1 });
  const big = "9223372036854775807";
  assert.deepEqual(await sequenceRows(id), [
    [1, 1.5, big, "a", "kept"],
    [big, 2, 1, "b", null],
  ]);
  assert.deepEqual(outcome(await on.run(run)), { status: "COMPLETED", unchanged: 2 });
  const wrong = "SELECT 2 AS rowNumber, 'x' AS flow UNION ALL SELECT -1, 2 UNION ALL SELECT 3, 4";
  const refused = await on.run(await on.save("exact-wrong", wrong, { destination, onError: "skip" }));
  assert.deepEqual(outcome(refused), { status: "COMPLETED_WITH_REFUSALS", created: 1, refused: 2 });
  const errors = refused["errors"] as readonly Item[];
  assert.deepEqual(errors.map(({ column, value }) => [column, value]).toSorted(), [
    ["flow", '"x"'],
    ["rowNumber", "-1"],
  ]);
  const unknown = await on.save("no-sequence", wrong, { destination: { ...destination, sequence: "none" } });
  assert.match((await on.run(unknown))["problem"] as string, /No sequence .* none/);
});

test("files are updated, and no other action is accepted", async () => {
  const asset = (await on.ask("POST /assets", { items: [{ name: "pump" }] })).items[0]!["id"];
  const started = await server.ask.v06("POST /files/initupload", { fileName: "a.pdf", externalId: "f1" });
  assert.equal(started.status, 200, started.text);
  const files = { destination: { type: "files" }, action: "update", onError: "skip" };
  const query = `SELECT 'f1' AS externalId, 'dms' AS source, 'application/pdf' AS fileType,
    json_array(${asset}) AS assetIds, '3' AS "metadata.page" UNION ALL SELECT 'f2', 'x', NULL, NULL, NULL`;
  const id = await on.save("files", query, files);
  const planned = await on.plan(id);
  assert.deepEqual(
    (planned.changed.rows[0]!["fields"] as Item[]).map(({ field }) => field),
    ["source", "fileType", "assetIds", "metadata"],
  );
  const done = { status: "COMPLETED_WITH_REFUSALS", changed: 1, refused: 1 };
  assert.deepEqual(outcome(await on.run(id)), done);
  assert.deepEqual(outcome(await on.run(id)), {
    ...{ status: "COMPLETED_WITH_REFUSALS", unchanged: 1, refused: 1 },
  });
  const [file] = (await on.ask("GET /files")).items;
  const { source, fileType, assetIds, metadata, uploaded } = file!;
  assert.deepEqual(
    { source, fileType, assetIds, metadata, uploaded },
    {
      ...{ source: "dms", fileType: "application/pdf", assetIds: [asset] },
      ...{ metadata: { page: "3" }, uploaded: false },
    },
  );
  const cleared = "SELECT 'f1' AS externalId, NULL AS source, NULL AS assetIds";
  const clears = await on.save("files-clear", cleared, { ...files, nulls: "clear" });
  assert.deepEqual(outcome(await on.run(clears)), { status: "COMPLETED", changed: 1 });
  assert.ok(!("source" in (await on.ask("GET /files")).items[0]!));
  const { status, error } = await on.ask("POST /transformations", {
    items: [{ ...files, externalId: "u", name: "u", query, action: "upsert" }],
  });
  assert.equal(status, 400);
  assert.match(error!.message, /items\[0\]\.action.*update for files/);
});

test("a destination has the members of its type alone", async () => {
  const item = { externalId: "m", name: "m", query: "SELECT 1", action: "upsert" };
  const wrong = [
    { type: "sequenceRows" },
    { type: "sequenceRows", sequence: "s", table: "t" },
    { type: "raw", database: "d", table: "t", sequence: "s" },
    { type: "datapoints", sequence: "s" },
  ];
  for (const destination of wrong) {
    const { status, error } = await on.ask("POST /transformations", { items: [{ ...item, destination }] });
    assert.equal(status, 400, JSON.stringify(destination));
    assert.match(error!.message, /destination/);
  }
});

test("runs that wait for a place hold no read of the catalog", async () => {
  await on.ask("POST /timeseries", { items: [{ name: "crowd" }] });
  // More runs than places and reads of the catalog, and each needs reads between its commits.
  const count = limits.sqlRunsAtOnce + limits.catalogReadersMax + 1;
  const rows = limits.transformationCommitRows + 1;
  const query = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
    SELECT 'crowd' AS name, i AS timestamp, 1 AS value FROM n`;
  const ids = await Promise.all(
    Array.from({ length: count }, (_, at) => on.save(`crowd ${at}`, query, points)),
  );
  const runs = await Promise.all(ids.map((id) => on.run(id)));
  assert.deepEqual(
    runs.map(({ status, read }) => [status, read]),
    runs.map(() => ["COMPLETED", rows]),
  );
});
