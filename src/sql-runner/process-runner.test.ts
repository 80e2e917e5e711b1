// Queries in real processes: results, refusals, and the bounds that end hostile ones.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { getPriority, tmpdir } from "node:os";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { currentBundle } from "../current-bundle.ts";
import { limits } from "../limits.ts";
import { processSqlRunner } from "./process-runner.ts";
import {
  type SqlColumn,
  SqlFailure,
  type SqlPage,
  type SqlProblem,
  type SqlRead,
  type SqlRequest,
  type SqlRow,
  type SqlSource,
  type SqlTable,
  type SqlTableName,
} from "./sql-runner.ts";

const folderPrefix = `millrace-sql-test-${process.pid}-`;
const runner = processSqlRunner({ folderPrefix, bundle: () => currentBundle("query") });
const signal = new AbortController().signal;

const rawColumns: SqlTable["columns"] = [
  { name: "key", type: "text" },
  { name: "lastChangedTime", type: "integer" },
  { name: "commitNumber", type: "integer" },
];

/** Rows of raw tables, and the reads that the engine makes. */
class TestSource implements SqlSource {
  readonly reads: { readonly name: SqlTableName; readonly read: SqlRead }[] = [];
  readonly #raw: Readonly<Record<string, readonly string[]>>;

  constructor(raw: Readonly<Record<string, readonly string[]>>) {
    this.#raw = raw;
  }

  async describe(name: SqlTableName): Promise<SqlTable | undefined> {
    if (name.kind === "records")
      return name.name === "assets"
        ? {
            columns: [
              { name: "id", type: "integer" },
              { name: "name", type: "text" },
              { name: "externalId", type: "text" },
            ],
            keys: ["id", "externalId"],
            hasCommits: false,
          }
        : undefined;
    const rows = this.#raw[`${name.database}.${name.table}`];
    if (!rows) return undefined;
    if (name.kind === "rows")
      return { columns: [...rawColumns, { name: "columns", type: "json" }], hasCommits: true };
    const members = [...new Set(rows.flatMap((row) => Object.keys(JSON.parse(row) as object)))];
    return { columns: rawColumns, members, hasCommits: true };
  }

  async *read(name: SqlTableName, read: SqlRead): AsyncGenerator<SqlPage> {
    this.reads.push({ name, read });
    if (name.kind === "records") {
      const assets = [
        { id: 1, name: "21PT0019", externalId: "pump-1" },
        { id: 2, name: "22-PT-7", externalId: null },
        { id: 3, name: "22-PT-8", externalId: null },
      ];
      yield JSON.stringify(
        assets.map((asset) => read.columns.map((column) => asset[column as keyof typeof asset])),
      );
      return;
    }
    const rows = this.#raw[`${name.database}.${name.table}`]!;
    for (const [at, row] of rows.entries()) {
      const commit = at + 1;
      if (commit <= (read.afterCommit ?? 0)) continue;
      const record = { key: `k${commit}`, lastChangedTime: 1000 + at, commitNumber: commit, columns: row };
      const values = read.columns.map((column) => JSON.stringify(record[column as keyof typeof record]));
      yield `[[${[...values, ...(read.members.length > 0 ? [row] : [])].join(",")}]]`;
    }
  }

  lastCommit = async (): Promise<number> => 40;
}

const plant = {
  "plant.pumps": ['{"tag":"21_pt_19","rpm":1.50,"on":true}', '{"tag":"x","rpm":12,"deep":{"a":[1.0]}}', "{}"],
  "plant.odd names": ['{"a.b":1,"q\\"uo\'te":"two","Key":3,"A":null,"a":5,"big":12345678901234567}'],
};

const opened = (source: SqlSource) => async () => ({ source, close() {} });

async function run(sql: string, more: Partial<SqlRequest> = {}, until: AbortSignal = signal) {
  const source = new TestSource(plant);
  const columns: SqlColumn[] = [];
  const rows: SqlRow[] = [];
  const summary = await runner.run(
    {
      ...{ sql, openSource: opened(source), project: "p" },
      onColumns: (found) => void columns.push(...found),
      onRows: (batch) => void rows.push(...batch),
      ...more,
    },
    until,
  );
  return { columns, rows, summary, reads: source.reads };
}

async function problemOf(sql: string, more: Partial<SqlRequest> = {}): Promise<SqlProblem> {
  try {
    await run(sql, more);
  } catch (problem) {
    if (problem instanceof SqlFailure) return problem.problem;
    throw problem;
  }
  return assert.fail(`${sql} is not refused`);
}

test("raw tables have the union of the keys as columns, with values as JSON has them", async () => {
  const { rows, columns, summary } = await run("select * from plant.pumps order by key");
  assert.deepEqual(
    columns.map(({ name }) => name),
    ["key", "lastChangedTime", "commitNumber", "tag", "rpm", "on", "deep"],
  );
  assert.deepEqual(rows, [
    ["k1", 1000, 1, "21_pt_19", 1.5, 1, null],
    ["k2", 1001, 2, "x", 12, null, '{"a":[1.0]}'],
    ["k3", 1002, 3, null, null, null, null],
  ]);
  assert.deepEqual(summary.types[4], ["integer", "real"]);
  assert.equal(summary.rows, 3);
});

test("odd names, names that differ in case, and numbers beyond 2^53", async () => {
  const sql = `select "a.b", "q""uo'te", key, a, big from "plant"."odd names"`;
  assert.deepEqual((await run(sql)).rows, [[1, "two", "k1", 5, 12345678901234567n]]);
});

test("only the tables and columns that a query reads are stored", async () => {
  const { reads } = await run("select p.tag from plant.pumps p where p.rpm > 2");
  assert.deepEqual(reads, [
    {
      name: { kind: "raw", database: "plant", table: "pumps" },
      read: { columns: [], members: ["tag", "rpm"] },
    },
  ]);
  const counted = await run("select count(*) from plant.pumps");
  assert.deepEqual(counted.rows, [[3]]);
  assert.deepEqual(counted.reads[0]!.read, { columns: [], members: [] });
});

test("raw_rows has the JSON as it is stored", async () => {
  const { rows } = await run("select r.columns from raw_rows('plant', 'pumps') as r where r.key = 'k1'");
  assert.deepEqual(rows, [[plant["plant.pumps"][0]]]);
});

test("is_new: true for rows after the mark, filtered by the source where that is sound", async () => {
  const marks = { orders: 2 };
  const first = await run("select key from plant.pumps where is_new('first')", { marks });
  assert.deepEqual(first.rows, [["k1"], ["k2"], ["k3"]]);
  assert.deepEqual(first.summary.marks, { first: 40 });
  const some = await run("select key from plant.pumps where is_new('orders') and rpm is null", { marks });
  assert.deepEqual([some.rows, some.reads[0]!.read.afterCommit], [[["k3"]], 2]);
  const qualified = `select p.key from plant.pumps p join plant.pumps q on true
    where is_new('orders', p.commitNumber)`;
  const joined = await run(qualified, { marks });
  assert.deepEqual([joined.rows.length, joined.reads[0]!.read.afterCommit], [3, undefined]);
  const negated = await run("select key from plant.pumps where not is_new('orders')", { marks });
  assert.deepEqual([negated.rows, negated.reads[0]!.read.afterCommit], [[["k1"], ["k2"]], undefined]);
  const none = await run("select is_new('orders') from plant.pumps", { marks });
  assert.deepEqual(none.rows, [[0], [0], [1]]);
  assert.deepEqual((await run("select key from plant.pumps where is_new('orders')")).rows.length, 3);
});

test("a joined table is read by the values that the stored rows have", async () => {
  const marks = { pumps: 1 };
  const lookup = async (sql: string) => (await run(sql, { marks })).reads.map(({ read }) => read.lookup);
  const changed = "select a.id from plant.pumps p join millrace.assets a on a.externalId = p.tag";
  const where = "where is_new('pumps', p.commitNumber)";
  assert.deepEqual(await lookup(`${changed} ${where}`), [undefined, { column: "externalId", values: ["x"] }]);
  const numbers = "select 1 from millrace.assets a join plant.pumps p on p.rpm = a.id";
  assert.deepEqual(await lookup(numbers), [undefined, { column: "id", values: [12] }]);
  const texts = "select 1 from millrace.assets a join plant.pumps p on p.rpm = a.externalId";
  assert.deepEqual(await lookup(texts), [undefined, { column: "externalId", values: ["1.5", "12"] }]);
  const integers = "select 1 from millrace.assets a join plant.pumps p on p.commitNumber = a.externalId";
  assert.deepEqual(await lookup(integers), [undefined, undefined], "7 is equal to '007'");
  const names = "select 1 from millrace.assets a join plant.pumps p on p.tag = a.name";
  assert.deepEqual(await lookup(names), [undefined, undefined], "the source has no index of it");
});

test("is_new is pushed down when its name is that of the table", async () => {
  const { rows, reads } = await run("select key from plant.pumps where is_new('pumps')", {
    marks: { pumps: 2 },
  });
  assert.deepEqual([rows, reads[0]!.read.afterCommit], [[["k3"]], 2]);
});

test("functions find records of the owner", async () => {
  const sql = `select asset_id('pump-1'), asset_id('22-PT-7'), asset_id('none'),
    match_tag('21_pt_19') ->> 'assetId',
    match_tag('22-PT-9'), match_tag('22-PT-9', 1) ->> 'matches', typeof(asset_id('pump-1'))`;
  assert.deepEqual((await run(sql)).rows, [[1, 2, null, 1, null, 2, "integer"]]);
});

test("a preview ends after its rows", async () => {
  const numbers = "with recursive n(x) as (select 1 union all select x + 1 from n) select x from n";
  const { rows, summary } = await run(numbers, { firstRows: 3 });
  assert.deepEqual([rows, summary.isCut], [[[1], [2], [3]], true]);
});

test("problems name their kind and place", async () => {
  const kinds: readonly (readonly [sql: string, kind: SqlProblem["kind"], offset?: number])[] = [
    ["selec 1", "syntax", 0],
    ["select nothing from plant.pumps", "syntax", 7],
    ["select 1; select 2", "syntax", 8],
    ["select ?", "syntax", 7],
    ["select no_function(1)", "syntax", 7],
    ["select * from plant.none", "table-unknown", 20],
    ["select * from pumps", "table-unknown", 14],
    ["select * from millrace.secrets", "table-unknown", 23],
    ["select is_new('a') from millrace.assets", "syntax", 7],
    ["select x'00'", "value"],
    ["select 9e999", "value"],
    ["select to_metadata('[1]')", "value"],
  ];
  for (const [sql, kind, offset] of kinds) {
    const problem = await problemOf(sql);
    const place = "offset" in problem ? problem.offset : undefined;
    assert.deepEqual([problem.kind, place], [kind, offset], `${sql}: ${problem.message}`);
  }
});

test("a query reads its tables and nothing else", async () => {
  const forbidden = [
    "attach 'x.db' as x",
    "pragma database_list",
    "select * from pragma_database_list",
    "select * from sqlite_schema",
    "select * from main.sqlite_master",
    "select load_extension('x')",
    "select readfile('/etc/passwd')",
    "select randomblob(10)",
    "select sqlite_version()",
    "create table main.x (y)",
    "insert into plant.pumps values (1)",
    "delete from plant.pumps",
    "vacuum",
    "vacuum into 'x.db'",
    "with a as (select 1) insert into plant.pumps select * from a",
    "begin",
    "explain select 1",
    "select * from dbstat",
    "select * from main.dbstat",
    "select fts3_tokenizer('simple')",
  ];
  for (const sql of forbidden) {
    const { kind, message } = await problemOf(sql);
    assert.ok(["forbidden", "table-unknown", "syntax"].includes(kind), `${sql}: ${kind} ${message}`);
  }
});

test("a hostile query ends at its bounds, and leaves nothing", { timeout: 300_000 }, async () => {
  const limits = { memoryBytes: 128 * 2 ** 20, cpuMs: 2_000, diskBytes: 64 * 2 ** 20, rows: 100_000 };
  const endless = "with recursive n(x) as (select 1 union all select x + 1 from n)";
  const big = "replace(hex(zeroblob(4000000)), '00', 'aaaaaa')";
  const wide = `${endless} select group_concat(hex(zeroblob(500000))) from (select x from n limit 10000)`;
  const queries: readonly (readonly [sql: string, ...bounds: string[]])[] = [
    [`${endless} select max(x) from n`, "cpuMs"],
    [`${endless} select x from n`, "rows"],
    [`${endless} select count(*) from n a, n b, n c`, "cpuMs", "memoryBytes", "diskBytes"],
    [`${endless} select x, hex(x) from n order by 2`, "cpuMs", "memoryBytes", "diskBytes"],
    [`select ${big} || ${big}`, "valueBytes", "memoryBytes"],
    ["select zeroblob(2000000000)", "valueBytes", "memoryBytes"],
    ["select printf('%.*c', 2000000000, 'x')", "valueBytes", "memoryBytes"],
    [wide, "valueBytes", "memoryBytes"],
    [`${endless} select json_group_array(x) from n`, "valueBytes", "memoryBytes", "cpuMs"],
    [
      `${endless} select split(printf('%.*c', 5000000, 'x'), 'x') from n`,
      "memoryBytes",
      "valueBytes",
      "bytes",
    ],
  ];
  for (const [sql, ...bounds] of queries) {
    const problem = await problemOf(sql, { limits: { ...limits, bytes: 2 ** 20 } });
    assert.ok(
      problem.kind === "bound" && bounds.includes(problem.bound),
      `${sql}: ${JSON.stringify(problem).slice(0, 300)}`,
    );
  }
  const late = await problemOf(`${endless} select max(x) from n`, { limits: { wallMs: 1_500 } });
  assert.deepEqual(late, {
    ...{ kind: "bound", bound: "wallMs", limit: 1_500, message: "The query was stopped after 1.5 s" },
  });
  assert.deepEqual(
    readdirSync(tmpdir()).filter((name) => name.startsWith(folderPrefix)),
    [],
  );
});

test("hostile arguments of functions take little time", async () => {
  const deep = `replace(hex(zeroblob(50000)), '00', '[')`;
  assert.equal((await problemOf(`select json_extract(${deep}, '$[0]')`)).kind, "value");
  assert.deepEqual((await run(`select get_json_object(${deep}, '$[0]')`)).rows, [[null]]);
  const regex = `select regexp_extract(printf('%.*c', 20000, 'a') || '!', '(a+)+$', 0)`;
  assert.deepEqual((await run(regex)).rows, [[null]]);
  const like = "select printf('%.*c', 20000, 'a') like printf('%.*c', 20000, '%a')";
  assert.equal((await problemOf(like)).kind, "value");
  const nested = `select ${"1+".repeat(2_000)}1`;
  assert.equal((await problemOf(nested)).kind, "syntax");
  const long = await problemOf(`select 1 -- ${"x".repeat(200_000)}`);
  assert.equal(long.kind, "syntax");
});

test("errors of the source and of the consumer reject as they are; an abort ends the process", async () => {
  const broken = new TestSource(plant);
  broken.describe = async () => {
    throw new RangeError("no catalog");
  };
  await assert.rejects(run("select * from plant.pumps", { openSource: opened(broken) }), RangeError);
  const onRows = () => {
    throw new TypeError("no room");
  };
  await assert.rejects(run("select 1", { onRows }), TypeError);
  const aborted = new AbortController();
  const request: SqlRequest = {
    sql: "with recursive n(x) as (select 1 union all select x + 1 from n) select max(x) from n",
    ...{ openSource: opened(new TestSource(plant)), project: "p", onRows: () => {} },
    onColumns: () => aborted.abort(new EvalError("enough")),
  };
  await assert.rejects(runner.run(request, aborted.signal), EvalError);
});

test("a query that waits for a place has no open source, and none is open while rows are read", async () => {
  const places = limits.sqlRunsAtOnce;
  const [full, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const open = new Set<SqlSource>();
  const count = { opened: 0, reading: 0 };
  const request = {
    async openSource() {
      count.opened += 1;
      const source = new TestSource(plant);
      open.add(source);
      return { source, close: () => void open.delete(source) };
    },
    async onRows() {
      count.reading += 1;
      if (count.reading === places) full.resolve();
      await go.promise;
    },
  };
  const runs = Array.from({ length: places + 3 }, () => run("select key from plant.pumps", request));
  await full.promise;
  assert.deepEqual([count, open.size], [{ opened: places, reading: places }, 0]);
  go.resolve();
  await Promise.all(runs);
  assert.deepEqual([count.opened, open.size], [places + 3, 0]);
});

/** The program of a query: the source, or its bundle. */
const isOfQuery = /\/(engine-process\.ts|query\.mjs)$/;

test("the process of a query has no network and starts no programs", async () => {
  const server = createServer((socket) => socket.end("reached")).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  let connections = 0;
  server.on("connection", () => {
    connections += 1;
  });
  const ended = new AbortController();
  const endless = "with recursive n(x) as (select 1 union all select x + 1 from n) select max(x) from n";
  const running = run(endless, {}, ended.signal).catch(() => undefined);
  let found: ReturnType<typeof childrenOf>[number] | undefined;
  while (!found) {
    await wait(50);
    found = childrenOf(process.pid).find(({ command }) => isOfQuery.test(command.at(-1) ?? ""));
  }
  const { command, pid } = found;
  assert.equal(getPriority(pid), getPriority() + 10, "requests to the server come first");
  ended.abort();
  await running;
  const probe = `
    const [net, host] = [require("node:net"), "127.0.0.1"];
    const reported = new Set();
    const report = (name) => (problem) => {
      console.log(name, problem?.code ?? "reached");
      if (reported.add(name).size === Object.keys(attempts).length) process.exit();
    };
    const attempts = {
      tcp: (done) => net.connect(${port}, host, () => done()).on("error", done),
      http: (done) => require("node:http").get({ port: ${port}, host }, () => done()).on("error", done),
      fetch: (done) => fetch("http://127.0.0.1:${port}").then(() => done(), (one) => done(one.cause)),
      udp: (done) => require("node:dgram").createSocket("udp4").on("error", done).send("x", 9, host, done),
      dns: (done) => require("node:dns").lookup("localhost", done),
      listen: (done) => net.createServer().on("error", done).listen(0, () => done()),
      program: (done) => require("node:child_process").spawn("true").on("error", done).on("spawn", done),
      file: (done) => require("node:fs").readFile("/etc/passwd", done),
    };
    for (const [name, start] of Object.entries(attempts))
      try { start(report(name)); } catch (problem) { report(name)(problem); }
    setTimeout(() => process.exit(), 60_000);`;
  const [program, ...words] = [...command.slice(0, -1), "-e", probe];
  const { stdout } = await promisify(execFile)(program!, words);
  server.close();
  const lines = stdout.trim().split("\n").sort();
  const denied = ["dns", "fetch", "file", "http", "listen", "program", "tcp", "udp"];
  assert.deepEqual(
    lines,
    denied.map((name) => `${name} ERR_ACCESS_DENIED`),
  );
  assert.equal(connections, 0);
});

/** The processes that this one has started. */
const childrenOf = (parent: number): { readonly pid: number; readonly command: readonly string[] }[] =>
  readdirSync("/proc").flatMap((name) => {
    try {
      const status = readFileSync(`/proc/${name}/status`, "utf8");
      if (!status.includes(`\nPPid:\t${parent}\n`)) return [];
      const command = readFileSync(`/proc/${name}/cmdline`, "utf8").split("\0").slice(0, -1);
      return [{ pid: Number(name), command }];
    } catch {
      return [];
    }
  });

test("a query ends with its server, also when that is killed", async (t) => {
  const endless = "with recursive n(x) as (select 1 union all select x + 1 from n) select max(x) from n";
  const program = `
    import { processSqlRunner } from ${JSON.stringify(new URL("process-runner.ts", import.meta.url))};
    const source = { describe: async () => undefined, read: () => [], lastCommit: async () => 0 };
    const openSource = async () => ({ source, close() {} });
    const request = { sql: "${endless}", openSource, project: "p", onRows() {} };
    const onColumns = () => console.log("computes");
    const folderPrefix = "${folderPrefix}killed-";
    await processSqlRunner({ folderPrefix }).run({ ...request, onColumns }, new AbortController().signal);
  `;
  const server = spawn(process.execPath, ["--input-type=module", "--eval", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => {
    server.kill("SIGKILL");
    for (const name of readdirSync(tmpdir()))
      if (name.startsWith(`${folderPrefix}killed-`)) rmSync(`${tmpdir()}/${name}`, { recursive: true });
  });
  await new Promise((resolve) => server.stdout.once("data", resolve));
  const children = readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, "utf8").trim().split(" ");
  assert.equal(children.length, 1);
  const isRunning = () => existsSync(`/proc/${children[0]}`);
  assert.ok(isRunning());
  server.kill("SIGKILL");
  const endMs = performance.now() + 60_000;
  while (isRunning() && performance.now() < endMs) await wait(50);
  assert.ok(!isRunning());
});
