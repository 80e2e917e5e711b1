// Queries in InfluxQL on a real server: SHOW, SELECT, formats, refusals, credentials, rights.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Item, startTestServer, type TestServer, withFront } from "../../../test/support/server.ts";

const at = 1_700_000_000_000;
let server: TestServer;

before(async () => {
  server = await startTestServer(withFront);
  const lines = [
    `cpu,host=a,region=eu usage=1,idle=99,status="ok" ${at}`,
    `cpu,host=a,region=eu usage=2,idle=98 ${at + 60_000}`,
    `cpu,host=b,region=us usage=5 ${at + 60_001}`,
    `disk\\ io,dev=sd\\ a read=7 ${at}`,
  ];
  const written = await fetch(`${server.baseUrl}/write?precision=ms`, {
    method: "POST",
    headers: { "api-key": server.key },
    body: lines.join("\n"),
  });
  assert.equal(written.status, 204);
  const assets = [
    { name: "Plant", refId: "plant" },
    { name: "Pump 1", parentRefId: "plant" },
  ];
  const { items } = await server.ask.v06("POST /assets", { items: assets });
  const [plant, pump] = items.map(({ id }) => id);
  const series = [
    { name: "21PT1019", unit: "bar", assetId: pump },
    { name: "21PT1020", unit: "bar", assetId: plant },
    { name: "state", isString: true, assetId: pump },
  ];
  await server.ask.v06("POST /timeseries", { items: series });
  const values = { "21PT1019": [1.5, 2.5], "21PT1020": [10, 30], state: ["on", "off"] };
  for (const [name, [first, second]] of Object.entries(values))
    await server.ask(`POST /timeseries/data/${name}`, {
      items: [
        { timestamp: at, value: first },
        { timestamp: at + 30_000, value: second },
      ],
    });
  const trip = { startTime: at, endTime: at + 60_000, type: "trip", description: "Pump tripped" };
  await server.ask.v06("POST /events", {
    items: [
      { ...trip, assetIds: [pump] },
      { startTime: at + 1, type: "note", description: "Seen" },
      { description: "without a start" },
    ],
  });
});
after(() => server.close());

interface Sent {
  readonly path?: string;
  readonly parameters?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly key?: string;
}

async function send(q: string, { path = "/query", parameters, headers, key }: Sent = {}) {
  const search = new URLSearchParams({ q, db: "any", ...parameters });
  const credentials = { "api-key": key ?? server.key };
  const response = await fetch(`${server.baseUrl}${path}?${search}`, {
    headers: { ...credentials, ...headers },
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

type Row = readonly unknown[];

interface Result {
  readonly error?: string;
  readonly series?: readonly {
    readonly name?: string;
    readonly tags?: Item;
    readonly columns: readonly string[];
    readonly values: readonly Row[];
  }[];
}

async function resultsOf(
  q: string,
  parameters?: Sent["parameters"],
  key?: string,
): Promise<readonly Result[]> {
  const sent = { parameters: { epoch: "ms", ...parameters }, ...(key !== undefined && { key }) };
  const { status, text } = await send(q, sent);
  assert.equal(status, 200, text);
  return (JSON.parse(text) as { readonly results: readonly Result[] }).results;
}

/** By name and tags of each series of the only statement: its rows. */
async function rowsOf(q: string, key?: string): Promise<Readonly<Record<string, readonly Row[]>>> {
  const [result] = await resultsOf(q, {}, key);
  assert.equal(result!.error, undefined, q);
  const entries = (result!.series ?? []).map(({ name = "", tags, values }) => {
    const listed = Object.entries(tags ?? {}).map(([tag, value]) => `,${tag}=${value}`);
    return [`${name}${listed.join("")}`, values] as const;
  });
  return Object.fromEntries(entries);
}

async function refusalOf(q: string): Promise<string> {
  const [result] = await resultsOf(q);
  return result!.error!;
}

test("SHOW lists databases, policies, measurements, tags, fields and series", async () => {
  const expected: Readonly<Record<string, Readonly<Record<string, readonly Row[]>>>> = {
    "SHOW DATABASES": { databases: [["demo"]] },
    'SHOW RETENTION POLICIES ON "any"': { "": [["autogen", "0s", "168h0m0s", 1, true]] },
    "SHOW MEASUREMENTS": { measurements: [["cpu"], ["disk io"], ["events"], ["latest"], ["points"]] },
    "show measurements on demo with measurement =~ /(?i)^C/": { measurements: [["cpu"]] },
    "SHOW MEASUREMENTS LIMIT 2 OFFSET 1": { measurements: [["disk io"], ["events"]] },
    "SHOW MEASUREMENTS WHERE host = 'a'": { measurements: [["cpu"]] },
    "SHOW TAG KEYS FROM cpu": { cpu: [["host"], ["region"]] },
    "SHOW TAG KEYS FROM points": { points: [["asset"], ["name"], ["path"], ["root"], ["unit"]] },
    'SHOW TAG VALUES FROM "cpu" WITH KEY = "host" WHERE region =~ /^e/': { cpu: [["host", "a"]] },
    "SHOW TAG VALUES WITH KEY IN (host, dev)": {
      cpu: [
        ["host", "a"],
        ["host", "b"],
      ],
      "disk io": [["dev", "sd a"]],
    },
    "SHOW TAG VALUES FROM points WITH KEY =~ /^(name|path)$/ WHERE asset = 'Pump 1' LIMIT 3": {
      points: [
        ["name", "21PT1019"],
        ["name", "state"],
        ["path", "Plant/Pump 1"],
      ],
    },
    "SHOW TAG VALUES FROM points WITH KEY = name WHERE root = 'Plant' AND path !~ /Pump/": {
      points: [["name", "21PT1020"]],
    },
    "SHOW FIELD KEYS FROM cpu, points": {
      cpu: [
        ["idle", "float"],
        ["status", "string"],
        ["usage", "float"],
      ],
      points: [
        ["text", "string"],
        ["value", "float"],
      ],
    },
    "SHOW SERIES FROM /cpu|io/": {
      "": [["cpu,host=a,region=eu"], ["cpu,host=b,region=us"], ["disk\\ io,dev=sd\\ a"]],
    },
    "SHOW SERIES FROM cpu WHERE host = 'none'": {},
  };
  for (const [q, rows] of Object.entries(expected)) assert.deepEqual(await rowsOf(q), rows, q);
});

test("what line protocol wrote reads back as measurement, tags and fields", async () => {
  const q = "SELECT * FROM cpu";
  assert.deepEqual(await resultsOf(q), [
    {
      statement_id: 0,
      series: [
        {
          name: "cpu",
          columns: ["time", "host", "idle", "region", "status", "usage"],
          values: [
            [at, "a", 99, "eu", "ok", 1],
            [at + 60_000, "a", 98, "eu", null, 2],
            [at + 60_001, "b", null, "us", null, 5],
          ],
        },
      ],
    },
  ]);
  assert.deepEqual(await rowsOf('SELECT "read" FROM "db"."autogen"."disk io" GROUP BY *'), {
    "disk io,dev=sd a": [[at, 7]],
  });
  assert.deepEqual(await rowsOf("SELECT usage * 2 + 1, /^id/, host::tag FROM cpu WHERE status = 'ok'"), {
    cpu: [[at, 3, 99, "a"]],
  });
});

test("a series whose metadata name an empty measurement is one of the plant", async () => {
  const metadata = { _measurement: "", _field: "" };
  const { items } = await server.ask.v06("POST /timeseries", { items: [{ name: "emptied", metadata }] });
  await server.ask("POST /timeseries/data/emptied", { items: [{ timestamp: at, value: 3 }] });
  const rows = await rowsOf('SELECT value FROM points WHERE "name" = \'emptied\' GROUP BY "name"');
  assert.deepEqual(rows, { "points,name=emptied": [[at, 3]] });
  await server.ask.v06(`DELETE /timeseries/${items[0]!["id"]}`);
});

test("several series of the plant are never mixed without a sign", async () => {
  assert.deepEqual(await rowsOf("SELECT value FROM points"), {
    "points,name=21PT1019": [
      [at, 1.5],
      [at + 30_000, 2.5],
    ],
    "points,name=21PT1020": [
      [at, 10],
      [at + 30_000, 30],
    ],
  });
  assert.deepEqual(await rowsOf("SELECT value FROM points WHERE asset = 'Pump 1'"), {
    points: [
      [at, 1.5],
      [at + 30_000, 2.5],
    ],
  });
  assert.deepEqual(await rowsOf("SELECT mean(value) FROM points GROUP BY unit"), {
    "points,unit=bar": [[0, 11]],
  });
  assert.deepEqual(await rowsOf("SELECT text, value, name FROM latest"), {
    latest: [
      [at + 30_000, null, 2.5, "21PT1019"],
      [at + 30_000, null, 30, "21PT1020"],
      [at + 30_000, "off", null, "state"],
    ],
  });
});

test("a tag can have the name of a member of every object, and others have none of that name", async () => {
  const written = await fetch(`${server.baseUrl}/write?precision=ms`, {
    method: "POST",
    headers: { "api-key": server.key },
    body: `own,constructor=x v=1 ${at}\nown,toString=y v=2 ${at}`,
  });
  assert.equal(written.status, 204);
  const expected: Readonly<Record<string, Readonly<Record<string, readonly Row[]>>>> = {
    "SELECT v, constructor, toString FROM own": {
      own: [
        [at, 1, "x", null],
        [at, 2, null, "y"],
      ],
    },
    "SELECT v FROM own WHERE constructor = 'x'": { own: [[at, 1]] },
    "SELECT v FROM own WHERE constructor = ''": { own: [[at, 2]] },
    "SELECT v FROM own GROUP BY constructor": {
      "own,constructor=": [[at, 2]],
      "own,constructor=x": [[at, 1]],
    },
    "SHOW TAG VALUES FROM own WITH KEY =~ /./": {
      own: [
        ["constructor", "x"],
        ["toString", "y"],
      ],
    },
    "SELECT value, constructor FROM points WHERE name = '21PT1020'": {
      points: [
        [at, 10, null],
        [at + 30_000, 30, null],
      ],
    },
    "SELECT description, constructor, toString::string FROM events WHERE type = 'note'": {
      events: [[at + 1, "Seen", null, null]],
    },
  };
  for (const [q, rows] of Object.entries(expected)) assert.deepEqual(await rowsOf(q), rows, q);
});

test("functions, arithmetic, and functions over rows", async () => {
  const range = `time >= ${at}ms AND time < ${at + 120_000}ms`;
  const byMinute = "GROUP BY time(1m)";
  const expected: Readonly<Record<string, Readonly<Record<string, readonly Row[]>>>> = {
    "SELECT last(value) FROM points WHERE name = '21PT1019'": { points: [[at + 30_000, 2.5]] },
    "SELECT first(text) FROM points": { points: [[at, "on"]] },
    "SELECT count(*) FROM points WHERE asset = 'Plant'": { points: [[0, 2]] },
    [`SELECT mean(usage) / 100 AS share FROM cpu WHERE host = 'a' AND ${range} GROUP BY time(1m)`]: {
      cpu: [
        [at - 20_000, 0.01],
        [at + 40_000, 0.02],
        [at + 100_000, null],
      ],
    },
    [`SELECT derivative(mean(usage), 1s), cumulative_sum(max(usage)) FROM cpu WHERE ${range} ${byMinute}`]: {
      cpu: [
        [at - 20_000, null, 1],
        [at + 40_000, 0.041666666666666664, 6],
      ],
    },
    [`SELECT last(text) FROM points WHERE ${range} GROUP BY time(1m), name fill(previous)`]: {
      "points,name=state": [
        [at - 20_000, "off"],
        [at + 40_000, "off"],
        [at + 100_000, "off"],
      ],
    },
    [`SELECT count(usage) FROM cpu WHERE ${range} GROUP BY time(1m), host SLIMIT 1 SOFFSET 1`]: {
      "cpu,host=b": [
        [at - 20_000, 0],
        [at + 40_000, 1],
        [at + 100_000, 0],
      ],
    },
    [`SELECT count(usage) FROM cpu WHERE ${range} GROUP BY time(1m, ${"9".repeat(310)}w)`]: {
      cpu: [
        [at - 20_000, 1],
        [at + 40_000, 2],
        [at + 100_000, 0],
      ],
    },
    // Without a start, buckets begin with the first point.
    [`SELECT sum(usage) FROM cpu WHERE time < ${at + 40_000}ms GROUP BY time(1m)`]: {
      cpu: [[at - 20_000, 1]],
    },
    "SELECT mean(nothing) FROM cpu": {},
    "SELECT mean(usage) FROM cpu WHERE time > now() - 1h GROUP BY time(10s)": {},
  };
  for (const [q, rows] of Object.entries(expected)) assert.deepEqual(await rowsOf(q), rows, q);
});

test("events are annotations", async () => {
  const q = `SELECT description, "end", assets, type FROM events WHERE time >= ${at}ms`;
  assert.deepEqual(await rowsOf(q), {
    events: [
      [at, "Pump tripped", at + 60_000, "Pump 1", "trip"],
      [at + 1, "Seen", null, null, "note"],
    ],
  });
  assert.deepEqual(await rowsOf(`${q} AND type = 'trip' AND duration > 5 LIMIT 10`), {
    events: [[at, "Pump tripped", at + 60_000, "Pump 1", "trip"]],
  });
  assert.deepEqual(await rowsOf("SELECT description FROM events ORDER BY time DESC LIMIT 1"), {
    events: [[at + 1, "Seen"]],
  });
  assert.deepEqual(await rowsOf("SELECT description FROM /^events$/ LIMIT 1"), {
    events: [[at, "Pump tripped"]],
  });
  assert.deepEqual(await rowsOf(`SHOW TAG KEYS FROM events WHERE time > 0 AND time < ${at}ms`), {
    events: [["source"], ["subtype"], ["type"]],
  });
});

test("times are text, or numbers of a unit; in a time zone with its offset", async () => {
  const q = "SELECT usage FROM cpu WHERE host = 'b'";
  const timeOf = async (text: string, epoch: string) => {
    const { text: body } = await send(text, { parameters: { epoch } });
    return /"values":\[\[([^,]+),/.exec(body)![1];
  };
  assert.equal(await timeOf(q, ""), '"2023-11-14T22:14:20.001Z"');
  assert.equal(await timeOf(`${q} tz('Europe/Oslo')`, ""), '"2023-11-14T23:14:20.001+01:00"');
  const note = "SELECT description FROM events WHERE type = 'note' tz('Europe/Oslo')";
  assert.equal(await timeOf(note, ""), '"2023-11-14T23:13:20.001+01:00"');
  assert.equal(await timeOf(q, "ns"), "1700000060001000000");
  assert.equal(await timeOf(q, "u"), "1700000060001000");
  assert.equal(await timeOf(q, "s"), "1700000060");
  const local = "SELECT usage FROM cpu WHERE host = 'b' AND time > '2023-11-14 23:14:20' tz('Europe/Oslo')";
  assert.deepEqual(await rowsOf(local), { cpu: [[at + 60_001, 5]] });
  const refused = await send(q, { parameters: { epoch: "fortnight" } });
  assert.equal(refused.status, 400);
});

test("several statements have a result each, also where one is refused", async () => {
  const results = await resultsOf(
    "SELECT usage FROM cpu WHERE host='b'; DROP SERIES FROM cpu; SHOW DATABASES",
  );
  assert.deepEqual(
    results.map(({ error, series }) => error ?? series![0]!.values),
    [[[at + 60_001, 5]], "DROP SERIES is not supported", [["demo"]]],
  );
});

test("parameters are bound, never read as InfluxQL", async () => {
  const bound = async (value: unknown) => {
    const [result] = await resultsOf("SELECT usage FROM cpu WHERE host = $host", {
      params: JSON.stringify({ host: value }),
    });
    return result!.series?.[0]?.values;
  };
  assert.deepEqual(await bound("b"), [[at + 60_001, 5]]);
  assert.equal(await bound("b' OR host = 'a"), undefined);
  const problems = {
    "{}": "missing parameter: host",
    '{"host":1e400}': "unable to bind parameter host",
    '{"host":{"float":1e400}}': "unable to bind parameter host",
  };
  for (const [params, problem] of Object.entries(problems)) {
    const { status, text } = await send("SELECT usage FROM cpu WHERE time > $host", {
      parameters: { params },
    });
    assert.deepEqual([status, JSON.parse(text).error], [400, `error parsing query: ${problem}`]);
  }
  const [regex] = await resultsOf("SELECT usage FROM cpu WHERE host =~ $r AND time < $t", {
    params: JSON.stringify({ r: { regex: "^b$" }, t: 1_700_000_060_002_000_000 }),
  });
  assert.deepEqual(regex!.series![0]!.values, [[at + 60_001, 5]]);
});

test("rows come in chunks, or as CSV", async () => {
  const q = "SELECT usage FROM cpu; SELECT max(usage) FROM cpu GROUP BY host";
  const chunked = await send(q, { parameters: { epoch: "ms", chunked: "true", chunk_size: "2" } });
  const documents = chunked.text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).results[0]);
  const seen = documents.map(({ statement_id: id, partial, series: [one] }) => [
    id,
    partial,
    one.partial,
    one.values.length,
  ]);
  assert.deepEqual(seen, [
    [0, true, true, 2],
    [0, undefined, undefined, 1],
    [1, true, undefined, 1],
    [1, undefined, undefined, 1],
  ]);
  const csv = await send(q, { parameters: { epoch: "ms" }, headers: { accept: "application/csv" } });
  assert.match(csv.headers.get("content-type")!, /^text\/csv/);
  assert.deepEqual(csv.text.split("\n"), [
    "name,tags,time,usage",
    `cpu,,${at},1`,
    `cpu,,${at + 60_000},2`,
    `cpu,,${at + 60_001},5`,
    "",
    "name,tags,time,max",
    "cpu,host=a,0,2",
    "cpu,host=b,0,5",
    "",
  ]);
});

test("what is not served is refused by name", async () => {
  const refusals: Readonly<Record<string, string>> = {
    "CREATE DATABASE x": "CREATE DATABASE is not supported",
    "SHOW QUERIES": "SHOW QUERIES is not supported",
    "SHOW SERIES CARDINALITY": "SHOW SERIES CARDINALITY is not supported",
    "SHOW TAG KEY CARDINALITY": "SHOW TAG KEY is not supported",
    "SELECT percentile(usage, 5) FROM cpu": "undefined function percentile()",
    "SELECT holt_winters(mean(usage), 3, 2) FROM cpu": "undefined function holt_winters()",
    "SELECT mean(text) FROM points": "unsupported mean iterator type: string",
    "SELECT mean(usage) FROM cpu WHERE idle > 5": "conditions on fields with functions are not supported",
    "SELECT average(usage) FROM cpu":
      "average() of 2 series in one: use GROUP BY, so that each is on its own",
    "SELECT mean(value) FROM latest": "functions of latest are not supported: use last() of points",
    "SELECT count(id) FROM events": "functions of events are not supported",
    "SELECT id FROM /^(cpu|events)$/": "events and other measurements in one SELECT are not supported",
    'SHOW TAG VALUES FROM events WITH KEY = "type"': "SHOW TAG VALUES of events is not supported",
    "SHOW SERIES FROM /^events$/": "SHOW SERIES of events is not supported",
    "SHOW TAG KEYS FROM events WHERE type = 'trip'":
      "SHOW TAG KEYS of events with a condition is not supported",
    "SELECT mean(usage) FROM cpu WHERE time > 0 GROUP BY time(1ms)":
      "GROUP BY time gives more than 100000 buckets: use a longer interval",
  };
  for (const [q, message] of Object.entries(refusals)) assert.equal(await refusalOf(q), message, q);
  const beyond = "9".repeat(310);
  const unparsed: Readonly<Record<string, string>> = {
    "SELECT usage FROM": "found EOF, expected identifier",
    "SELECT usage, mean(usage) FROM cpu": "mixing aggregate and non-aggregate queries is not supported",
    "SELECT usage FROM cpu GROUP BY time(1m)": "GROUP BY requires at least one aggregate function",
    "SELECT mean(x) FROM (SELECT x FROM cpu)": "subqueries are not supported",
    "SELECT usage INTO copy FROM cpu": "SELECT INTO is not supported",
    [`SELECT usage FROM cpu WHERE time > ${beyond}.0`]: "a number is beyond the range of a double",
    [`SELECT usage FROM cpu LIMIT ${beyond}`]: "a number is beyond the range of a double",
    "SELECT usage FROM cpu tz('Mars/Olympus')": "unable to find time zone Mars/Olympus",
    "SELECT usage FROM cpu WHERE host =~ /(/": "error parsing regexp: missing closing ): `(`",
    INSERT: "found INSERT, expected SELECT, SHOW",
  };
  for (const [q, message] of Object.entries(unparsed)) {
    const { status, text } = await send(q);
    const isStatement = status === 200;
    const error = isStatement ? JSON.parse(text).results[0].error : JSON.parse(text).error;
    assert.equal(error, `error parsing query: ${message}`, q);
  }
  const flux = await fetch(`${server.baseUrl}/api/v2/query`, {
    method: "POST",
    headers: { "api-key": server.key },
  });
  assert.equal(flux.status, 400);
  assert.match(await flux.text(), /Flux is not supported: send InfluxQL to \/query/);
});

test("a query is a form too, and needs credentials where clients of InfluxDB send them", async () => {
  const body = new URLSearchParams({ q: "SELECT usage FROM cpu WHERE host='b'", epoch: "ms" });
  const form = await fetch(`${server.baseUrl}/influx/${server.project}/query?u=any&p=${server.key}`, {
    method: "POST",
    body,
  });
  assert.deepEqual(await form.json(), {
    results: [
      { statement_id: 0, series: [{ name: "cpu", columns: ["time", "usage"], values: [[at + 60_001, 5]] }] },
    ],
  });
  const q = "SELECT+usage+FROM+cpu+WHERE+host=~/^x?b$/";
  const unescaped = await fetch(`${server.baseUrl}/query?q=${q}&epoch=ms`, {
    headers: { "api-key": server.key },
  });
  assert.equal(unescaped.status, 200, "a question mark in the address need not be escaped");
  assert.match(await unescaped.text(), /"values":\[\[1700000060001,5\]\]/);
  for (const headers of [{}, { authorization: "Token wrong" }]) {
    const { status, headers: sent } = await fetch(`${server.baseUrl}/query?q=SHOW+DATABASES`, { headers });
    assert.deepEqual([status, sent.get("www-authenticate")], [401, 'Basic realm="Millrace"']);
  }
  const health = await fetch(`${server.baseUrl}/influx/${server.project}/health`);
  assert.equal(((await health.json()) as Item)["status"], "pass");
  const own = await fetch(`${server.baseUrl}/health`);
  assert.equal(((await own.json()) as Item)["status"], "ok");
});

test("a key for a subtree sees its series and the part of the path that it may see", async () => {
  const made = async (path: string, item: object) =>
    (await server.ask.v06(`POST ${path}`, { items: [item] })).items[0]!;
  const { items } = await server.ask("GET /assets?name=Pump%201");
  const scope = { assetIdScope: { subtreeIds: [String(items[0]!["id"])] } };
  const capabilities = [{ timeSeriesAcl: { actions: ["READ"], scope } }];
  const group = await made("/groups", { name: "edge", capabilities });
  const account = await made("/users", { uniqueName: "edge", groups: [group["id"]] });
  const { value: key } = (await made("/apikeys", { userId: account["id"] })) as { value: string };
  assert.deepEqual(await rowsOf("SHOW MEASUREMENTS", key), { measurements: [["latest"], ["points"]] });
  assert.deepEqual(await rowsOf("SHOW TAG VALUES FROM points WITH KEY =~ /./", key), {
    points: [
      ["asset", "Pump 1"],
      ["name", "21PT1019"],
      ["name", "state"],
      ["path", "Pump 1"],
      ["root", "Pump 1"],
      ["unit", "bar"],
    ],
  });
  assert.deepEqual(
    await rowsOf("SELECT value FROM points WHERE asset = 'Plant' OR name = '21PT1020'", key),
    {},
  );
  assert.deepEqual(await rowsOf("SELECT * FROM cpu", key), {});
  const events = await send("SELECT id FROM events", { key });
  assert.deepEqual([events.status, JSON.parse(events.text).code], [403, "forbidden"]);
});

test("a regular expression takes time linear in the text", async () => {
  const name = `${"a".repeat(200)}!`;
  await server.ask.v06("POST /timeseries", { items: [{ name }] });
  const used = process.cpuUsage();
  for (const regex of ["^(a+)+$", "^(a|a)*$", "(x+x+)+y|(a*)*b", "^((a{1,30}){1,30})$"])
    await resultsOf(`SHOW TAG VALUES FROM points WITH KEY = name WHERE name =~ /${regex}/`);
  const { user } = process.cpuUsage(used);
  assert.ok(user < 5e6, `${user} us`);
});

test("no text is an error of the server, however deep or random", async () => {
  const words = [
    ..."SELECT,FROM,WHERE,GROUP BY,time(1m),fill(none),mean(,value,*,(,),AND,OR,host,'a',=,=~,/a/,1,1h".split(
      ",",
    ),
    ...[
      "points",
      "cpu",
      "events",
      "LIMIT",
      "ORDER BY time DESC",
      "SHOW",
      "TAG VALUES",
      ";",
      '"',
      "$x",
      "-",
      "/",
      ",",
    ],
  ];
  const random = (count: number) =>
    Array.from({ length: count }, () => words[Math.floor(Math.random() * words.length)]).join(" ");
  const deep = [
    `SELECT ${"-".repeat(50_000)}1 FROM cpu`,
    `SELECT usage${"+usage".repeat(40_000)} FROM cpu`,
    `SELECT ${"(".repeat(50_000)} FROM cpu`,
    `SELECT usage FROM cpu WHERE ${"(".repeat(50_000)}`,
    `SELECT ${Array.from({ length: 50_000 }, () => "*").join(",")} FROM cpu`,
    `SELECT usage FROM cpu WHERE time > now()${" - 1h".repeat(40_000)}`,
    `SELECT usage FROM cpu WHERE host = '${"x".repeat(200_000)}'`,
  ];
  const texts = [...deep, ...Array.from({ length: 150 }, () => `SELECT usage FROM cpu ${random(4)}`)];
  for (const q of [...texts, ...Array.from({ length: 150 }, (_, at) => random(1 + (at % 12)))]) {
    const response = await fetch(`${server.baseUrl}/query`, {
      method: "POST",
      headers: { "api-key": server.key },
      body: new URLSearchParams({ q }),
    });
    assert.ok([200, 400].includes(response.status), `${response.status}: ${q.slice(0, 200)}`);
    await response.text();
  }
  const divided = await rowsOf("SELECT usage AS \"from\", idle / usage / 2 FROM cpu WHERE status = 'ok'");
  assert.deepEqual(divided, { cpu: [[at, 1, 49.5]] });
});
