// Writes in line protocol on a real server: names, kinds, refusals, credentials, addresses, rights.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { type Item, startTestServer, type TestServer, withFront } from "../../test/support/server.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer(withFront);
});
after(() => server.close());

const at = 1_700_000_000_000;

interface Sent {
  readonly path?: string;
  readonly query?: string;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Response {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
  readonly json: { readonly error: string; readonly code: string; readonly message: string };
}

/** Sends lines with times in milliseconds. */
async function write(
  lines: string | Buffer,
  { path, query = "", key, headers }: Sent = {},
): Promise<Response> {
  const parameters = `precision=ms&db=telegraf${query}`;
  const response = await fetch(
    `${server.baseUrl}${path ?? `/influx/${server.project}/write`}?${parameters}`,
    {
      method: "POST",
      body: typeof lines === "string" ? lines : new Uint8Array(lines),
      headers:
        headers?.["authorization"] === undefined
          ? { "api-key": key ?? server.key, ...headers }
          : { ...headers },
    },
  );
  const text = await response.text();
  return {
    status: response.status,
    text,
    headers: response.headers,
    json: text ? JSON.parse(text) : undefined,
  };
}

async function stored(lines: string, sent?: Sent): Promise<void> {
  const { status, text } = await write(lines, sent);
  assert.deepEqual([status, text], [204, ""]);
}

async function refusedWith(lines: string, message: string | RegExp, sent?: Sent): Promise<void> {
  const { status, json } = await write(lines, sent);
  const { error, code, message: second } = json;
  assert.deepEqual([status, code, second], [400, "invalid", error]);
  if (typeof message === "string") assert.equal(error, message);
  else assert.match(error, message);
}

async function seriesOf(name: string): Promise<Item | undefined> {
  const { items } = await server.ask(`GET /timeseries?includeMetadata=true&name=${encodeURIComponent(name)}`);
  return items[0];
}

async function pointsOf(name: string): Promise<unknown[]> {
  const path = `/timeseries/data/${encodeURIComponent(name)}?start=0&end=${at + 1e12}`;
  const { status, items } = await server.ask(`GET ${path}`);
  if (status === 404) return ["no series"];
  const [one] = items as unknown as [{ datapoints: { timestamp: number; value: unknown }[] }];
  return one.datapoints.map(({ timestamp, value }) => [timestamp - at, value]);
}

test("a line makes a series for each field, with its tags as metadata", async () => {
  await stored(`cpu,region=eu,host=a usage_idle=12.5,state="on",up=true,n=3i,m=4u ${at}`);
  const metadata = { host: "a", region: "eu", _measurement: "cpu" };
  for (const [field, value] of Object.entries({ usage_idle: 12.5, state: "on", up: 1, n: 3, m: 4 })) {
    const name = `cpu.host=a.region=eu.${field}`;
    assert.deepEqual(await pointsOf(name), [[0, value]]);
    const series = await seriesOf(name);
    assert.deepEqual(series!["metadata"], { ...metadata, _field: field });
    assert.equal(series!["isString"], field === "state");
  }
  await stored(`flow,unit=m3/h value=1 ${at}`);
  assert.equal((await seriesOf("flow.unit=m3/h.value"))!["unit"], "m3/h");
});

test("all valid lines are stored, and the others are named with their reasons", async () => {
  const lines = [`p v=1 ${at}`, "# a comment", "", `p v= ${at}`, `p v=3,w="open ${at}`, `p v=4 ${at + 4}`];
  await refusedWith(
    lines.join("\n"),
    "partial write: line 4: unable to parse 'p v= 1700000000000': missing field value; " +
      `line 5: unable to parse 'p v=3,w="open 1700000000000 p v=4 1700000000004': unbalanced quotes ` +
      "dropped=2",
  );
  assert.deepEqual(await pointsOf("p.v"), [[0, 1]]);
  assert.deepEqual(await pointsOf("p.w"), ["no series"]);
});

test("a line whose value does not fit its series is dropped whole", async () => {
  await stored(`kind number=1,text="a" ${at}`);
  const lines = [
    `kind number="x",fresh=1 ${at + 1}`,
    `kind number=2,text="b" ${at + 2}`,
    `kind text=3 ${at + 3}`,
    `mixed v=1 ${at}`,
    `mixed v="2" ${at + 1}`,
  ];
  await refusedWith(
    lines.join("\n"),
    "partial write: " +
      'line 1: field type conflict: input field "number" on measurement "kind" is type string, ' +
      'already exists as type float (series kind.number, value "x"); ' +
      'line 3: field type conflict: input field "text" on measurement "kind" is type float, ' +
      "already exists as type string (series kind.text, value 3); " +
      'line 5: field type conflict: input field "v" on measurement "mixed" is type string, ' +
      'already exists as type float (series mixed.v, value "2") dropped=3',
  );
  assert.deepEqual(await pointsOf("kind.number"), [
    [0, 1],
    [2, 2],
  ]);
  assert.deepEqual(await pointsOf("kind.text"), [
    [0, "a"],
    [2, "b"],
  ]);
  assert.deepEqual(await pointsOf("kind.fresh"), ["no series"]);
  assert.deepEqual(await pointsOf("mixed.v"), [[0, 1]]);
});

test("a message has the first five reasons and the number of the others", async () => {
  const lines = Array.from({ length: 9 }, (_, i) => `bad${i}`).join("\n");
  await refusedWith(lines, /^partial write: line 1: .*; line 5: [^;]*; and 4 more lines dropped=9$/);
});

test("times are rounded down to milliseconds; of equal times the last counts", async () => {
  const sent = { query: "&precision=ns" };
  const precise = await write(`ns v=1 ${at}000001\nns v=2 ${at}999999\nns v=3 ${at + 5}000000`, sent);
  assert.deepEqual([precise.status, precise.headers.get("x-millrace-rounded-times")], [204, "2"]);
  assert.deepEqual(await pointsOf("ns.v"), [
    [0, 2],
    [5, 3],
  ]);
  const whole = await write(`ns v=4 ${at + 6}000000`, sent);
  assert.equal(whole.headers.get("x-millrace-rounded-times"), null);
  for (const [precision, factor] of [
    ["s", 1_000],
    ["m", 60_000],
    ["h", 3_600_000],
  ] as const) {
    await stored(`unit_${precision} v=1 ${Math.floor(at / factor)}`, { query: `&precision=${precision}` });
    assert.deepEqual(await pointsOf(`unit_${precision}.v`), [[Math.floor(at / factor) * factor - at, 1]]);
  }
  await refusedWith("far v=1 9999999999999", /the time is outside of .* ms \(1900 to 2099\) dropped=1$/);
  assert.deepEqual(await pointsOf("far.v"), ["no series"]);
});

test("of equal times the last line counts, also where several tags and fields are one series", async () => {
  const sent = { query: "&series={tag:s}" };
  for (const first of [1, 11]) {
    const [one, two, three] = [first, first + 1, first + 2];
    const lines = [
      `m,s=shared,q=a v=${one} ${at}`,
      `m,s=shared,q=b v=${two} ${at}`,
      `m,s=shared,q=a v=${three},w=${three} ${at}`,
      `m,s=shared,q=b v=${two} ${at + 1}`,
      `m,s=shared,q=c v=${one} ${at + 1}`,
      `m,s=words,q=a v="${one}" ${at}`,
      `m,s=words,q=b v="${two}" ${at}`,
      `m,s=words,q=a v="${three}" ${at}`,
    ];
    await stored(lines.join("\n"), sent);
    assert.deepEqual(await pointsOf("shared"), [
      [0, three],
      [1, one],
    ]);
    assert.deepEqual(await pointsOf("words"), [[0, `${three}`]]);
    await stored(lines.slice(0, 5).toReversed().join("\n"), sent);
    assert.deepEqual(await pointsOf("shared"), [
      [0, one],
      [1, two],
    ]);
  }
});

test("a line without a time has that of the server", async () => {
  const before = Date.now();
  await stored("now v=1");
  const [[offset]] = (await pointsOf("now.v")) as [[number]];
  assert.ok(offset + at >= before && offset + at <= Date.now());
});

test("templates give the name of the series and its asset", async () => {
  const assets = await server.ask.v06("POST /assets", {
    items: [{ name: "Pump", externalId: "line 1 pump" }],
  });
  const [asset] = assets.items;
  const query = "&series={db}/{tag:plc}/{measurement}:{field}&asset={tag:line}%20{measurement}";
  await stored(`pump,plc=7,line=line\\ 1 speed=1 ${at}\nfan,plc=7,line=line\\ 1 speed=1 ${at}`, { query });
  assert.equal((await seriesOf("telegraf/7/pump:speed"))!["assetId"], asset!["id"]);
  assert.equal((await seriesOf("telegraf/7/fan:speed"))!["assetId"], undefined);
  const headers = { "X-Millrace-Series": "{tag:plc}.{field}", "X-Millrace-Asset": "none" };
  await stored(`pump,plc=8 speed=1 ${at}`, { headers });
  assert.deepEqual(await pointsOf("8.speed"), [[0, 1]]);
  await refusedWith(`pump speed=1 ${at}`, /a tag of the template \{tag:plc\}\.\{field\} is absent/, {
    headers,
  });
  const unknown = await write(`pump speed=1 ${at}`, { query: "&series={tags}{host}" });
  assert.equal(unknown.status, 400);
  assert.match(unknown.text, /Invalid field - series - expected the placeholders .* but got \{host\}/);
});

test("templates in headers are UTF-8, or else Latin-1", async () => {
  const { items } = await server.ask.v06("POST /assets", { items: [{ name: "Måler", externalId: "Måler" }] });
  // A header of `fetch` has one byte for each character, as that of Node.
  const bytesOf = (text: string) => Buffer.from(text).toString("latin1");
  const utf8 = { "X-Millrace-Series": bytesOf("Måling 温度.{field}"), "X-Millrace-Asset": bytesOf("Måler") };
  await stored(`temp v=1 ${at}`, { headers: utf8 });
  assert.equal((await seriesOf("Måling 温度.v"))!["assetId"], items[0]!["id"]);
  await stored(`temp v=2 ${at}`, { headers: { "X-Millrace-Series": "Måling.{field}" } });
  assert.deepEqual(await pointsOf("Måling.v"), [[0, 2]]);
});

test("a series renamed by the user is made again; a deleted one as well", async () => {
  await stored(`life v=1 ${at}`);
  const { id } = (await seriesOf("life.v")) as { id: number };
  await server.ask(`POST /timeseries/${id}/update`, { name: { set: "other" } });
  await stored(`life v=2 ${at + 1}`);
  assert.deepEqual(await pointsOf("other"), [[0, 1]]);
  assert.deepEqual(await pointsOf("life.v"), [[1, 2]]);
  await server.ask("POST /timeseries/delete", { items: [(await seriesOf("life.v"))!["id"]] });
  await stored(`life v=3 ${at + 2}`);
  assert.deepEqual(await pointsOf("life.v"), [[2, 3]]);
});

test("writes of the same new series at once all succeed", async () => {
  const lines = (n: number) =>
    Array.from({ length: 50 }, (_, i) => `race,i=${i} v=${n} ${at + n}`).join("\n");
  await Promise.all([1, 2, 3, 4, 5, 6].map((n) => stored(lines(n))));
  for (const i of [0, 49])
    assert.deepEqual(
      await pointsOf(`race.i=${i}.v`),
      [1, 2, 3, 4, 5, 6].map((n) => [n, n]),
    );
});

test("bodies may be gzip, and have more points than one write takes", async () => {
  const lines = Array.from({ length: 120_000 }, (_, i) => `many,i=${i % 3} v=${i} ${at + i}`).join("\n");
  const { status, text } = await write(gzipSync(lines), { headers: { "content-encoding": "gzip" } });
  assert.deepEqual([status, text], [204, ""]);
  const id = (await seriesOf("many.i=1.v"))!["id"];
  const { json } = await server.ask.v06(`GET /timeseries/${id}/data/count?start=0&end=${at + 1e9}`);
  assert.equal(JSON.stringify(json).includes("40000"), true, JSON.stringify(json));
  await stored("");
});

test("credentials are accepted where clients of InfluxDB send them", async () => {
  const { key, project } = server;
  const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`;
  const sends: readonly Sent[] = [
    { query: `&u=any&p=${key}` },
    { headers: { authorization: basic(`any:${key}`) } },
    { headers: { authorization: `Token ${key}` } },
    { headers: { authorization: `Token any:${key}` } },
    { headers: { authorization: `Bearer ${key}` } },
  ];
  const paths = ["/write", "/api/v2/write", `/influx/${project}/write`, `/influx/${project}/api/v2/write`];
  for (const path of paths) {
    for (const one of sends) {
      await stored(`login v=1 ${at}`, { ...one, path, headers: { "api-key": "", ...one.headers } });
    }
    for (const headers of [{}, { authorization: "Token wrong" }, { authorization: basic("any:wrong") }]) {
      const { status, json } = await write(`login v=2 ${at}`, {
        path,
        headers: { "api-key": "", ...headers },
      });
      assert.deepEqual([status, json.code], [401, "unauthorized"]);
    }
  }
  assert.deepEqual(await pointsOf("login.v"), [[0, 1]]);
  const other = await write(`login v=3 ${at}`, { path: "/influx/other/write" });
  assert.equal(other.status, 403);
  const query = await write("x v=1", { query: "&precision=fortnight" });
  assert.match(
    query.text,
    /Invalid field - precision - expected n, ns, u, us, ms, s, m or h but got fortnight/,
  );
});

test("ping needs no credentials", async () => {
  for (const path of ["/ping", `/influx/${server.project}/ping`])
    for (const method of ["GET", "HEAD"]) {
      const response = await fetch(server.baseUrl + path, { method });
      assert.deepEqual([response.status, response.headers.get("x-influxdb-version")], [204, "1.8.10"]);
    }
});

test("a key for a subtree writes and makes series there alone", async () => {
  const made = async (path: string, item: object) =>
    (await server.ask.v06(`POST ${path}`, { items: [item] })).items[0]!;
  const inside = await made("/assets", { name: "inside", externalId: "inside" });
  await made("/assets", { name: "outside", externalId: "outside" });
  const scope = { assetIdScope: { subtreeIds: [String(inside["id"])] } };
  const capabilities = [{ timeSeriesAcl: { actions: ["READ", "WRITE"], scope } }];
  const group = await made("/groups", { name: "edge", capabilities });
  const account = await made("/users", { uniqueName: "edge", groups: [group["id"]] });
  const { value: key } = (await made("/apikeys", { userId: account["id"] })) as { value: string };
  const sent = { key, query: "&asset={tag:on}" };
  await stored(`edge,on=inside v=1 ${at}`, sent);
  await stored(`hidden,on=outside v=1 ${at}`, { query: "&asset={tag:on}" });
  const lines = ["edge,on=inside v=2", "hidden,on=outside v=2", "fresh,on=outside v=2", "free v=2"];
  await refusedWith(
    lines.map((line) => `${line} ${at + 1}`).join("\n"),
    /write: line 2: the series hidden\.on=outside\.v exists, and .*; line 3: .*; line 4: .* dropped=3$/,
    sent,
  );
  assert.deepEqual(await pointsOf("edge.on=inside.v"), [
    [0, 1],
    [1, 2],
  ]);
  assert.deepEqual(await pointsOf("hidden.on=outside.v"), [[0, 1]]);
  for (const name of ["fresh.on=outside.v", "free.v"]) assert.deepEqual(await pointsOf(name), ["no series"]);
  const readers = [{ timeSeriesAcl: { actions: ["READ"], scope: { all: {} } } }];
  const readGroup = await made("/groups", { name: "readers", capabilities: readers });
  const reader = await made("/users", { uniqueName: "reader", groups: [readGroup["id"]] });
  const { value: readKey } = (await made("/apikeys", { userId: reader["id"] })) as { value: string };
  const forbidden = await write(`edge v=1 ${at}`, { key: readKey });
  assert.deepEqual([forbidden.status, forbidden.json.code], [403, "forbidden"]);
});

test("acknowledged lines are there after a restart", async () => {
  await stored(`durable v=1,s="x" ${at}`);
  await server.restart();
  assert.deepEqual(await pointsOf("durable.v"), [[0, 1]]);
  assert.deepEqual(await pointsOf("durable.s"), [[0, "x"]]);
});
