// CSV imports into a real server: valid cells are imported, refused ones listed, stops resumed.
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { temporaryFolder } from "../../test/support/folder.ts";
import { startTestServer, type TestServer } from "../../test/support/server.ts";
import { exitCodes } from "../client/command.ts";
import { limits } from "../limits.ts";
import { importCsv } from "./import-csv.ts";
import { readOptions } from "./options.ts";

const folder = temporaryFolder();
let server: TestServer;

before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const never = new AbortController().signal;

/** Each header has its own file. */
const fileOf = ([header = "empty"]: readonly string[]): string =>
  join(folder, `${header.replaceAll(",", "-")}.csv`);

/** Writes the lines to a file and imports it; returns the exit code and the output. */
async function imported(lines: readonly string[], words: readonly string[], address = server.baseUrl) {
  const file = fileOf(lines);
  writeFileSync(file, `${lines.join("\n")}\n`);
  const said: string[] = [];
  const code = await importCsv([file, "--server", address, ...words], {
    env: { MILLRACE_KEY: server.key },
    output: { write: (text) => said.push(text) },
    stop: never,
    abort: never,
  });
  return { code, said: said.join("") };
}

/** The points of a series as [time, value] pairs. */
async function pointsOf(name: string): Promise<unknown[]> {
  const path = `/timeseries/data/${encodeURIComponent(name)}?start=0&end=4000000000000&limit=100000`;
  const { items } = await server.ask(`GET ${path}`);
  const { datapoints } = items[0] as { datapoints: { timestamp: number; value: unknown }[] };
  return datapoints.map(({ timestamp, value }) => [timestamp, value]);
}

const seriesNames = async (prefix: string) =>
  (await server.ask(`GET /timeseries?q=${prefix}`)).items.map((one) => one["name"]);

test("a file with semicolons, decimal commas and local dates is read as its options say", async () => {
  const lines = ["Zeit;d1;d2", "31.12.2025 10:00;81,5;-2", "01.01.2026 10:00;1.234;1,5e2"];
  const local = ["--time-format", "dd.MM.yyyy HH:mm", "--time-zone", "Europe/Oslo"];
  const { code, said } = await imported(lines, ["--decimal-comma", ...local]);
  assert.equal(code, exitCodes.someRefused, said);
  assert.match(said, /Times: column Zeit, dd\.MM\.yyyy HH:mm \(Europe\/Oslo without a zone\)/);
  assert.match(said, /line 3, d1: "1\.234" is not a number with a decimal comma/);
  assert.deepEqual(await pointsOf("d1"), [[Date.UTC(2025, 11, 31, 9), 81.5]]);
  assert.deepEqual(await pointsOf("d2"), [
    [Date.UTC(2025, 11, 31, 9), -2],
    [Date.UTC(2026, 0, 1, 9), 150],
  ]);
});

test("a file in another form than the options say is refused with the option that reads it", async () => {
  const cases: readonly (readonly [readonly string[], readonly string[], RegExp])[] = [
    [["Zeit;e1", "31.12.2025 10:00;81,5"], [], /no , between its columns.*--delimiter ";".*--decimal-comma/],
    [["Zeit\te1", "2026-01-01\t81"], [], /--delimiter "\\t"/],
    [["Zeit,e2", "31.12.2025 10:00,81"], [], /--time-format .* such as "dd\.MM\.yyyy HH:mm"/],
    [["Zeit,e3", "1,81"], ["--time-zone", "Europe/Oslo"], /The times are numbers/],
    [["Zeit,e4", "1,81"], ["--time-zone", "Oslo"], /--time-zone is a name such as Europe\/Oslo, not Oslo/],
    [["Zeit,e5", "1,81"], ["--time-format", "german"], /or a pattern such as/],
    [["Zeit,e6", "1,81"], ["--time-format", "dd.MM.yyyyy"], /A time format has no letters yyyyy/],
  ];
  for (const [lines, words, reason] of cases) {
    const { code, said } = await imported(lines, words);
    assert.equal(code, exitCodes.notBegun, said);
    assert.match(said, reason);
  }
  assert.deepEqual(await seriesNames("e1"), []);
  const { said } = await imported(["Zeit,e7", '2026-01-01,"81,7"'], []);
  assert.match(said, /"81,7" is not a number; is the decimal sign a comma\?/);
});

test("the environment may name the address, and a missing server is reported with advice", async () => {
  const addressFor = (env: NodeJS.ProcessEnv) =>
    readOptions(["plant.csv"], { ...env, MILLRACE_KEY: "mr_1" }).server;
  assert.equal(addressFor({}), "http://127.0.0.1:8787");
  assert.equal(addressFor({ MILLRACE_SERVER: "" }), "http://127.0.0.1:8787");
  assert.equal(addressFor({ MILLRACE_PORT: "18787" }), "http://127.0.0.1:18787");
  const server = "http://historian:8787/";
  assert.equal(addressFor({ MILLRACE_SERVER: server, MILLRACE_PORT: "1" }), "http://historian:8787");
  const { code, said } = await imported(["timestamp,n1", "2026-01-01,1"], [], "http://127.0.0.1:9");
  assert.equal(code, exitCodes.notBegun);
  assert.match(said, /:9 does not respond: .*\. Start the server, or name its address with --server\n/);
});

test("a wide file becomes series, value for value", async () => {
  const lines = [
    "timestamp,a1,a2,a3",
    "2013-12-02 21:15:00,73.96732207,1,",
    "2013-12-02 21:20:00,74.93588199999998,-2.5e-3,7",
  ];
  const { code, said } = await imported(lines, []);
  assert.equal(code, exitCodes.loaded, said);
  const at = Date.UTC(2013, 11, 2, 21, 15);
  assert.deepEqual(await pointsOf("a1"), [
    [at, 73.96732207],
    [at + 300_000, 74.93588199999998],
  ]);
  assert.deepEqual(await pointsOf("a2"), [
    [at, 1],
    [at + 300_000, -0.0025],
  ]);
  assert.deepEqual(await pointsOf("a3"), [[at + 300_000, 7]]);
  assert.match(said, /5 points loaded/);
  assert.ok(!existsSync(`${fileOf(lines)}.import.json`) && !existsSync(`${fileOf(lines)}.refused.csv`));
});

test("a dry run says what would be done and writes nothing", async () => {
  const lines = ["t,dry1", "0,1", "60,x"];
  const { code, said } = await imported(lines, ["--dry-run"]);
  assert.equal(code, exitCodes.someRefused, said);
  assert.match(said, /Would create 1 series\n.*Dry run: nothing is written\n/s);
  assert.match(said, /^1 points would be loaded$/m);
  assert.deepEqual(await seriesNames("dry"), []);
  assert.ok(!existsSync(`${fileOf(lines)}.import.json`));
});

test("nothing is made when only what exists is wanted", async () => {
  const { code, said } = await imported(["t,un1,un2", "0,1,2"], ["--existing-only"]);
  assert.equal(code, exitCodes.notBegun);
  assert.match(said, /These do not exist: un1, un2/);
  assert.deepEqual(await seriesNames("un"), []);
});

test("refused cells are listed with line, column, value and reason; the rest is loaded", async () => {
  const lines = [
    "t,r1,r2",
    "2026-01-01T00:00:00Z,1,2",
    'yesterday,"1,5",2',
    '2026-01-01T00:01:00Z,"1,5",NaN',
    "2026-01-01T00:02:00Z,1e999,Bad",
    "1812-01-01,1,2",
    "2026-01-01T00:03:00Z,4,5,6",
    "2026-01-01T00:04:00Z,7",
  ];
  const { code, said } = await imported(lines, ["--missing", "Bad"]);
  assert.equal(code, exitCodes.someRefused, said);
  assert.deepEqual(readFileSync(`${fileOf(lines)}.refused.csv`, "utf8").split("\n"), [
    "line,column,value,reason",
    "3,t,yesterday,not a time in the format iso; the row is left out",
    '4,r1,"1,5",not a number; is the decimal sign a comma?',
    "4,r2,NaN,not a number",
    "5,r1,1e999,too large for a number",
    "6,t,1812-01-01,not between the years 1900 and 2099; the row is left out",
    "7,,6,more cells than the header has; the row is left out",
    "",
  ]);
  assert.match(
    said,
    /6 refused; all of them are listed in .*refused\.csv\n {2}line 3, t: "yesterday" is not a/,
  );
  const at = Date.UTC(2026, 0, 1);
  assert.deepEqual(await pointsOf("r1"), [
    [at, 1],
    [at + 240_000, 7],
  ]);
  assert.deepEqual(await pointsOf("r2"), [[at, 2]]);
});

test("a file without rows loads nothing, and needs no format of times", async () => {
  const { code, said } = await imported(["t,none"], []);
  assert.equal(code, exitCodes.loaded, said);
  assert.match(said, /0 points loaded/);
});

test("a mapping defines series: names, descriptions, kinds and assets", async () => {
  const mapping = join(folder, "mapping.json");
  const common = { externalId: "V-1", dataSetId: 7, labels: ["a;b", "c"], sourceCreatedTime: 5 };
  const columns = {
    T1: { name: "reactor temperature", unit: "°C", asset: "plant/reactor", metadata: { rack: "7" } },
    V1: { isString: true, isStep: true, asset: "plant/valves", ...common },
    junk: null,
  };
  writeFileSync(mapping, JSON.stringify(columns));
  const lines = ["t,T1,V1,junk", '0,20.5,"open, ""half""",1', "1,21,17,2"];
  const words = ["--mapping", mapping, "--prefix", "m:"];
  const refused = await imported(lines, [...words, "--existing-only"]);
  assert.equal(refused.code, exitCodes.notBegun);
  assert.match(
    refused.said,
    /These do not exist: plant, plant\/reactor, plant\/valves, m:reactor temperature, m:V1/,
  );
  const { code, said } = await imported(lines, words);
  assert.equal(code, exitCodes.loaded, said);
  assert.match(said, /Left out: junk/);
  const assets = (await server.ask("GET /assets")).items;
  const idOf = (name: string) => assets.find((one) => one["name"] === name)?.["id"];
  const [temperature] = (await server.ask("GET /timeseries?q=m:reactor&includeMetadata=true")).items;
  assert.equal(temperature?.["unit"], "°C");
  assert.equal(temperature?.["assetId"], idOf("reactor"));
  assert.deepEqual(temperature?.["metadata"], { rack: "7" });
  assert.deepEqual(assets.find((one) => one["name"] === "valves")?.["parentId"], idOf("plant"));
  const [valve] = (await server.ask("GET /timeseries?externalId=V-1")).items;
  const { externalId, dataSetId, labels, sourceCreatedTime } = valve!;
  assert.deepEqual({ externalId, dataSetId, labels, sourceCreatedTime }, common);
  assert.equal(temperature?.["externalId"], undefined);
  assert.deepEqual(await pointsOf("m:V1"), [
    [0, 'open, "half"'],
    [1000, "17"],
  ]);
});

test("each run of a simulation gets its own day, and a longer one does not spill into the next", async () => {
  const lines = ["scenario,minute,e1", "IDV1,0,1", "IDV1,10,2", "IDV2,0,3", "IDV2,1440,4"];
  const epochs = ["--epoch-by", "scenario=2026-01-01+1d"];
  const words = ["--time-column", "minute", "--time-format", "min", ...epochs];
  const { code, said } = await imported(lines, words);
  assert.equal(code, exitCodes.someRefused, said);
  assert.deepEqual(await pointsOf("e1"), [
    [Date.UTC(2026, 0, 1), 1],
    [Date.UTC(2026, 0, 1, 0, 10), 2],
    [Date.UTC(2026, 0, 2), 3],
  ]);
  assert.match(said, /line 5, minute: "1440" is beyond the step of --epoch-by/);
});

/** 30,000 rows; the second half repeats times of the first with other values. */
const repeating = [
  "t,repeating",
  ...Array.from({ length: 30_000 }, (_, i) => `${(i % 15_000) + 1_600_000_000},${i}`),
];

test("of repeated times the last of the file wins, over all requests", async () => {
  const { code, said } = await imported(repeating, []);
  assert.equal(code, exitCodes.loaded, said);
  const points = await pointsOf("repeating");
  assert.equal(points.length, 15_000);
  assert.ok(points.every((point, i) => (point as number[])[1] === i + 15_000));
});

/** Forwards requests to the server; `fault` may return a status for an insert instead. */
async function withProxy(
  fault: (insert: number, body: string) => number | undefined,
  use: (address: string) => Promise<void>,
) {
  let inserts = 0;
  const proxy = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const isInsert = request.url?.endsWith("/timeseries/data") === true;
    const body = Buffer.concat(chunks);
    const status = isInsert ? fault(++inserts, body.toString()) : undefined;
    if (status !== undefined) {
      response.writeHead(status).end('{"error":{"message":"faulty"}}');
      return;
    }
    const passed = await fetch(server.baseUrl + request.url, {
      method: request.method ?? "GET",
      headers: { "api-key": server.key },
      ...(body.length > 0 && { body }),
    });
    response.writeHead(passed.status).end(await passed.text());
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  try {
    await use(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
  } finally {
    proxy.closeAllConnections();
    proxy.close();
  }
}

const rising = ["t,rising", ...Array.from({ length: 60_000 }, (_, i) => `${1_600_000_000 + i},${i}`)];

test("an interrupted import continues after the last acknowledged row", async () => {
  let broken = true;
  let inserts = 0;
  const fault = (_: number, body: string) => {
    inserts++;
    return broken && body.includes('"timestamp":1600045000000,') ? 400 : undefined;
  };
  await withProxy(fault, async (address) => {
    const first = await imported(rising, [], address);
    assert.equal(first.code, exitCodes.interrupted, first.said);
    assert.match(first.said, /was answered 400: faulty\nRun the same command again to continue/);
    const { acknowledged } = JSON.parse(readFileSync(`${fileOf(rising)}.import.json`, "utf8"));
    assert.equal(acknowledged.points, 40_000);
    broken = false;
    inserts = 0;
    const other = await imported(rising, ["--prefix", "x"], address);
    assert.equal(other.code, exitCodes.notBegun);
    assert.match(other.said, /notes the progress of another import/);
    const second = await imported(rising, [], address);
    assert.equal(second.code, exitCodes.loaded, second.said);
    assert.match(second.said, /Going on after line 40001\n.*20 000 points loaded/s);
    assert.equal(inserts, 1);
  });
  const points = await pointsOf("rising");
  assert.equal(points.length, 60_000);
  assert.ok(points.every((point, i) => (point as number[])[1] === i));
});

test("a request to a busy server is retried", async () => {
  const fault = (insert: number) => [503, 429][insert - 1];
  await withProxy(fault, async (address) => {
    const { code, said } = await imported(["t,busy1", "0,1"], [], address);
    assert.equal(code, exitCodes.loaded, said);
  });
  assert.deepEqual(await pointsOf("busy1"), [[0, 1]]);
});

test("what cannot begin says why", async () => {
  const cases: readonly (readonly [words: readonly string[], text: RegExp])[] = [
    [["--key", "wrong"], /401|does not know this API key/],
    [["--server", "http://127.0.0.1:65533"], /does not respond: ECONNREFUSED/],
    [["--server", "here"], /--server is an address/],
    [["--time-column", "when"], /There is no column when; there are t, a/],
    [["--time-format", "days"], /--time-format is one of auto, iso/],
    [["--epoch-by", "t=soon"], /Say with --time-format|--epoch-by is COLUMN=DATE\+STEP/],
    [["--mapping", join(folder, "none")], /The mapping .* cannot be read/],
    [["--delimiter", ";;"], /--delimiter is one character/],
    [["--colour"], /Unknown option '--colour'/],
    [["second.csv"], /One file at a time/],
  ];
  for (const [words, text] of cases) {
    const { code, said } = await imported(["t,a", "0,1"], words);
    assert.equal(code, exitCodes.notBegun, said);
    assert.match(said, text);
  }
  const empty = await imported([], []);
  assert.match(empty.said, /is empty; it needs a header line/);
  assert.equal(empty.code, exitCodes.notBegun);
});

test("a file that stops being CSV is refused with the line", async () => {
  const { code, said } = await imported(["t,q1", "0,1", '1,"2'], []);
  assert.equal(code, exitCodes.interrupted, said);
  assert.match(said, /is not CSV at line \d+: Quote Not Closed/);
});

test("a line or a quoted cell without an end is refused by its line", async () => {
  const endless = "9".repeat(limits.importLineBytesMax + 1);
  const long = await imported(["t,endless1", "0,1", "60,2", `120,${endless}`], []);
  assert.equal(long.code, exitCodes.interrupted);
  assert.match(long.said, /cannot be read: line 4 is longer than 16777216 bytes\n/);
  const quoted = Array<string>(20).fill("x".repeat(2 ** 20));
  const open = await imported(["t,endless2", "0,1", '60,"2', ...quoted], []);
  assert.equal(open.code, exitCodes.interrupted);
  assert.match(
    open.said,
    /is not CSV at line \d+: a row is longer than 16777216 bytes; is a quote not closed\?\n/,
  );
  const bare = await imported(["t,endless3", "0,1", `60,${"y".repeat(100_000)}"`], []);
  assert.match(bare.said, /is not CSV at line 3: Invalid Opening Quote: .*\.\.\.\n/);
  assert.ok(bare.said.length < 1_000, "the message does not repeat the whole cell");
});
