// Published clients of InfluxDB, unmodified: influx and @influxdata/influxdb-client of npm, and Debian's
// `influx` command and python3-influxdb.
import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { InfluxDB as InfluxDB2, Point } from "@influxdata/influxdb-client";
import { FieldType, InfluxDB } from "influx";
import { needs } from "../support/needs.ts";
import { startTestServer, type TestServer, withFront } from "../support/server.ts";

const run = promisify(execFile);
const at = 1_700_000_000_000;
let server: TestServer;
before(async () => {
  server = await startTestServer(withFront);
});
after(() => server.close());

const port = (): number => Number(new URL(server.baseUrl).port);

test("influx of npm writes, lists and reads", async () => {
  const schema = [
    { measurement: "npm", fields: { value: FieldType.FLOAT, note: FieldType.STRING }, tags: ["host"] },
  ];
  const client = new InfluxDB({
    ...{ host: "127.0.0.1", port: port(), username: "any", password: server.key, database: "demo", schema },
  });
  assert.deepEqual(
    (await client.ping(5_000)).map(({ online, version }) => [online, version]),
    [[true, "1.8.10"]],
  );
  const fields = { value: 1.5, note: 'say "hi"' };
  await client.writePoints([
    { measurement: "npm", tags: { host: "a b" }, fields, timestamp: new Date(at) },
    { measurement: "npm", tags: { host: "c" }, fields: { value: 3 }, timestamp: new Date(at + 1_000) },
  ]);
  assert.deepEqual(await client.getDatabaseNames(), ["demo"]);
  assert.ok((await client.getMeasurements()).includes("npm"));
  assert.deepEqual((await client.getSeries({ measurement: "npm" })).toSorted(), [
    "npm,host=a\\ b",
    "npm,host=c",
  ]);
  const rows = await client.query<{
    time: { getNanoTime(): string };
    value: number;
    note: string | null;
    host: string;
  }>("SELECT * FROM npm ORDER BY time");
  assert.deepEqual(
    rows.map(({ time, value, note, host }) => [time.getNanoTime(), value, note, host]),
    [
      ["1700000000000000000", 1.5, 'say "hi"', "a b"],
      ["1700000001000000000", 3, null, "c"],
    ],
  );
  const bound = await client.query<{ value: number }>("SELECT value FROM npm WHERE host = $host", {
    placeholders: { host: "c" },
  });
  assert.deepEqual(
    bound.map(({ value }) => value),
    [3],
  );
  const grouped = await client.query<{ mean: number }>("SELECT mean(value) FROM npm GROUP BY host");
  assert.deepEqual(
    grouped.groups().map(({ tags, rows: of }) => [tags["host"], of[0]!.mean]),
    [
      ["a b", 1.5],
      ["c", 3],
    ],
  );
  await assert.rejects(client.createDatabase("x"), /CREATE DATABASE is not supported/);
  await assert.rejects(client.query("SELECT"), /error parsing query: found EOF/);
});

test("@influxdata/influxdb-client writes; its Flux is refused by name", async () => {
  const client = new InfluxDB2({ url: `${server.baseUrl}/influx/${server.project}`, token: server.key });
  const writer = client.getWriteApi("any", "any", "ms");
  writer.writePoint(new Point("v2").tag("host", "a").floatField("value", 2).timestamp(at));
  await writer.close();
  const q = new URLSearchParams({ q: "SELECT value FROM v2", epoch: "ms" });
  const read = await fetch(`${server.baseUrl}/query?${q}`, { headers: { "api-key": server.key } });
  assert.match(await read.text(), new RegExp(`"values":\\[\\[${at},2\\]\\]`));
  const query = client.getQueryApi("any").collectRows('from(bucket: "any")');
  await assert.rejects(query, /Flux is not supported: send InfluxQL to \/query/);
});

const needed = needs("influxdb");

test("Debian's influx command shows and selects, in chunks", needed, async () => {
  await write("cli,host=a value=1", 0);
  await write("cli,host=a value=2", 1);
  const influx = async (statement: string, ...options: readonly string[]) => {
    const common = [
      "-host",
      "127.0.0.1",
      "-port",
      String(port()),
      "-username",
      "any",
      "-password",
      server.key,
    ];
    const { stdout } = await run("influx", [...common, ...options, "-execute", statement]);
    return stdout;
  };
  assert.equal(await influx("SHOW DATABASES"), "name: databases\nname\n----\ndemo\n");
  const csv = ["-database", "demo", "-precision", "ms", "-format", "csv"];
  assert.equal(
    await influx("SELECT * FROM cli", ...csv),
    `name,time,host,value\ncli,${at},a,1\ncli,${at + 1},a,2\n`,
  );
  const mean = await influx("SELECT mean(value) FROM cli GROUP BY host", ...csv);
  assert.equal(mean, "name,tags,time,mean\ncli,host=a,0,1.5\n");
  const json = await influx(
    "SELECT last(value) FROM cli",
    "-database",
    "demo",
    "-format",
    "json",
    "-precision",
    "ms",
  );
  assert.deepEqual(JSON.parse(json), {
    results: [{ series: [{ name: "cli", columns: ["time", "last"], values: [[at + 1, 2]] }] }],
  });
  await assert.rejects(influx("DROP MEASUREMENT cli"), /DROP MEASUREMENT is not supported/);
});

const python = "/usr/bin/python3";

test("python3-influxdb writes, lists and reads", needed, async (t) => {
  if (spawnSync(python, ["-c", "import influxdb"]).status !== 0) return t.skip("needs python3-influxdb");
  const script = `
from influxdb import InfluxDBClient
client = InfluxDBClient("127.0.0.1", ${port()}, "any", "${server.key}", "demo")
print(client.ping())
client.write_points([
  {"measurement": "py", "tags": {"host": "a"}, "time": ${at}, "fields": {"value": 1.25}},
  {"measurement": "py", "tags": {"host": "b"}, "time": ${at + 1}, "fields": {"value": 2.5}},
], time_precision="ms")
print([one["name"] for one in client.get_list_measurements() if one["name"] == "py"])
print(list(client.query("SELECT * FROM py", epoch="ms").get_points()))
grouped = client.query("SELECT max(value) FROM py GROUP BY host", epoch="ms")
print(list(grouped.get_points(tags={"host": "b"})))
print(list(client.query("SELECT value FROM py WHERE host = $h", bind_params={"h": "a"}).get_points()))
chunks = client.query("SELECT value FROM py", chunked=True, chunk_size=1)
print(sum(len(list(chunk.get_points())) for chunk in chunks))
try:
  client.create_database("x")
except Exception as problem:
  print(problem)
`;
  const { stdout } = await run(python, ["-c", script]);
  assert.deepEqual(stdout.trim().split("\n"), [
    "1.8.10",
    "['py']",
    `[{'time': ${at}, 'host': 'a', 'value': 1.25}, {'time': ${at + 1}, 'host': 'b', 'value': 2.5}]`,
    "[{'time': 0, 'max': 2.5}]",
    "[{'time': '2023-11-14T22:13:20Z', 'value': 1.25}]",
    "2",
    "CREATE DATABASE is not supported",
  ]);
});

async function write(line: string, offsetMs: number): Promise<void> {
  const response = await fetch(`${server.baseUrl}/write?precision=ms`, {
    method: "POST",
    headers: { "api-key": server.key },
    body: `${line} ${at + offsetMs}`,
  });
  assert.equal(response.status, 204);
}
