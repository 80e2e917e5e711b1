// The demo plant over the API: the records and links of a load, who may start it, live values, restarts.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import {
  type Item,
  startTestServer,
  type TestResponse,
  type TestServer,
} from "../../../test/support/server.ts";
import { readDescription } from "../../demo/description.ts";
import { realSystem, type System } from "../../lib/system.ts";
import { ensureProject } from "../projects/projects.ts";

const description = readDescription();
const waitMsMax = 120_000;

let server: TestServer;
let percents: number[] = [];
let isDiskFull = false;
const system: System = {
  ...realSystem,
  freeDiskAt: async (folder) => {
    const free = await realSystem.freeDiskAt(folder);
    return isDiskFull ? { ...free, bytes: 0 } : free;
  },
};
before(async () => {
  server = await startTestServer({ system });
  ({ percents } = await loadedDemo({ days: 1 }));
});
after(() => server.close());

const ask: TestServer["ask"]["v06"] = (...args) => server.ask.v06(...args);
const stateOf = ({ items }: TestResponse): Item => items[0]!;

/** Starts the demo and reads its state until the load ends. */
async function loadedDemo(
  body: object,
): Promise<{ readonly percents: number[]; readonly steps: Set<string> }> {
  const read: number[] = [];
  const steps = new Set<string>();
  let state = stateOf(await ask("POST /demo", body));
  const giveUpMs = Date.now() + waitMsMax;
  while (state["status"] === "RUNNING") {
    assert.ok(Date.now() < giveUpMs, `still loading: ${JSON.stringify(state)}`);
    read.push(state["percent"] as number);
    steps.add(String(state["step"]));
    await pause(20);
    state = stateOf(await ask("GET /demo"));
  }
  assert.equal(state["status"], "DONE", String(state["error"]));
  return { percents: read, steps };
}

async function all(path: string, headers = {}): Promise<Item[]> {
  const found: Item[] = [];
  let cursor: string | undefined;
  do {
    const more = cursor === undefined ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const result = await ask(
      `GET ${path}${path.includes("?") ? "&" : "?"}limit=1000${more}`,
      undefined,
      headers,
    );
    assert.equal(result.status, 200, result.text);
    found.push(...result.items);
    cursor = result.nextCursor;
  } while (cursor);
  return found;
}

const latestMs = async (name: string) =>
  (await ask(`GET /timeseries/latest/${name}`)).items[0]!["timestamp"] as number;

/** Resolves when `isSo` does; fails after a long time. */
async function eventually(isSo: () => Promise<boolean>): Promise<void> {
  const giveUpMs = Date.now() + waitMsMax;
  while (!(await isSo())) {
    assert.ok(Date.now() < giveUpMs, "it did not happen in time");
    await pause(100);
  }
}

/** Resolves with the latest time when nothing that was missed is left to write. */
async function caughtUp(): Promise<number> {
  await eventually(async () => Date.now() - (await latestMs("24-FT-2005")) < 4000);
  return latestMs("24-FT-2005");
}

test("the load has told its progress, in percent that never decrease", () => {
  assert.ok(percents.length > 3);
  assert.deepEqual(
    percents,
    percents.toSorted((a, b) => a - b),
  );
  assert.ok(percents.every((percent) => percent >= 0 && percent <= 100));
});

test("the plant has its assets and series, linked, with units, types and points", async () => {
  const assets = await all("/assets");
  assert.equal(assets.length, description.assets.length);
  const byId = new Map(assets.map((asset) => [asset["id"], asset]));
  for (const row of description.assets) {
    const asset = assets.find(({ name }) => name === row.name)!;
    assert.equal(byId.get(asset["parentId"])?.["name"] ?? "", row.parent);
  }
  const series = await all("/timeseries?includeMetadata=true");
  assert.equal(series.length, description.series.length);
  for (const row of description.series) {
    const one = series.find(({ name }) => name === row.name)!;
    assert.equal(byId.get(one["assetId"])?.["name"], row.asset, row.name);
    assert.deepEqual(
      [one["isString"], one["isStep"]],
      [row.kind === "string", row.kind === "step"],
      row.name,
    );
    assert.equal(one["unit"] ?? "", row.unit);
    const points = await ask(`GET /timeseries/${one["id"]}/data?start=2d-ago&limit=20`);
    assert.ok(points.items.length > 0, `${row.name} has points`);
  }
});

test("events, curves, relationships and raw tables are linked to assets and series", async () => {
  const ids = new Set((await all("/assets")).map(({ id }) => id));
  const names = new Set((await all("/timeseries")).map(({ name }) => name));
  const events = await all("/events");
  const types = new Set(events.map(({ type }) => type));
  for (const type of ["alarm", "batch", "work order"]) assert.ok(types.has(type), type);
  for (const { assetIds } of events)
    assert.ok((assetIds as number[]).length > 0 && (assetIds as number[]).every((id) => ids.has(id)));
  const curves = await all("/sequences");
  assert.equal(curves.length, description.pumps.length);
  for (const { assetId } of curves) assert.ok(ids.has(assetId));
  const body = { items: [{ limit: 100 }] };
  const rows = (await ask(`POST /sequences/${curves[0]!["id"]}/getdata`, body)).items[0]![
    "rows"
  ] as unknown[];
  assert.ok(rows.length > 10);
  for (const one of await all("/relationships"))
    for (const end of ["source", "target"]) {
      const isSeries = one[`${end}Type`] === "timeSeries";
      const known = isSeries
        ? names.has(one[`${end}ExternalId`])
        : description.assets.some(({ name }) => name === one[`${end}ExternalId`]);
      assert.ok(known, `${one[`${end}ExternalId`]}`);
    }
  const sensors = await all("/raw/instrumentation/sensors%20unit%2024");
  assert.ok(sensors.length > 40);
  for (const { key } of sensors) assert.ok(names.has(key), `${key} is a series`);
  const [table] = (await ask("GET /raw/instrumentation")).items;
  assert.ok((table!["assetIds"] as number[]).every((id) => ids.has(id)));
});

test("saved trends show series that exist, from a time before their end", async () => {
  const series = new Map((await all("/timeseries")).map(({ name, id }) => [name, id]));
  const trends = await all("/trends");
  assert.equal(trends.length, description.trends.length);
  for (const { name, definition } of trends) {
    const { series: shown, calc = [], start, end } = definition as TrendDefinition;
    for (const one of shown) assert.ok(series.has(one), `${name}: ${one}`);
    for (const one of calc) await assertHasResults(one, series);
    assert.ok(
      end === undefined ? /^\d+d-ago$/.test(start) : Date.parse(start) < Date.parse(end),
      String(name),
    );
  }
  assert.equal(trends.filter(({ definition }) => (definition as TrendDefinition).calc).length, 4);
});

interface TrendDefinition {
  readonly series: string[];
  readonly calc?: string[];
  readonly start: string;
  readonly end?: string;
}

/** The formula of a trend: `name|unit=expression`, with the names of series in brackets. */
async function assertHasResults(formula: string, series: ReadonlyMap<unknown, unknown>): Promise<void> {
  const [, name, text] = /^([^|=]+)\|[^|=]+=(.+)$/.exec(formula)!;
  const names = new Set([...text!.matchAll(/\[([^\]]+)\]/g)].map(([, one]) => one!));
  const aliases = [...names].map((alias) => {
    assert.ok(series.has(alias), `${name}: ${alias}`);
    return { alias, id: series.get(alias), aggregate: "average", granularity: "1h" };
  });
  const body = { items: [{ name, function: text, aliases }], start: "20h-ago", end: "now", limit: 100 };
  const { datapoints } = (await ask("POST /timeseries/dataquery", body)).items[0]!;
  assert.ok((datapoints as unknown[]).length > 15, `${name}: ${JSON.stringify(datapoints)}`);
}

test("the tags in the diagrams have suggestions, each of the asset with the same name", async () => {
  const names = new Map((await all("/assets")).map(({ id, name }) => [id, name]));
  const found = await all("/suggestions");
  const files = new Set(found.map(({ fileId }) => fileId));
  assert.deepEqual([files.size, found.length > 60], [3, true], `${found.length} suggestions`);
  for (const { tag, assetId, score, state } of found)
    assert.deepEqual([names.get(assetId), score, state], [tag, 0, "OPEN"]);
});

test("files are linked to assets and have their bytes and types", async () => {
  const ids = new Set((await all("/assets")).map(({ id }) => id));
  const files = await all("/files");
  assert.ok(files.length > 30, `${files.length} files`);
  for (const { assetIds, uploaded } of files)
    assert.ok(uploaded === true && (assetIds as number[]).every((id) => ids.has(id)));
  const begins = { "24-PID-001.svg": "<svg ", "23-P-1012A data sheet.pdf": "%PDF-1.4" };
  for (const [name, begin] of Object.entries(begins)) {
    const file = files.find(({ fileName }) => fileName === name)!;
    const link = (await ask(`GET /files/${file["id"]}/downloadlink`)).json as { data: string };
    const response = await fetch(link.data);
    assert.equal(response.headers.get("content-type"), file["fileType"]);
    assert.ok((await response.text()).startsWith(begin), name);
  }
});

test("tag matching finds the assets of the functional locations of the ERP system", async () => {
  const rows = await all("/raw/erp/equipment");
  const tags = rows.map(({ columns }) => (columns as Item)["functionalLocation"] as string);
  const { items } = await ask("POST /tagmatching", {
    tagIds: tags.slice(0, 20),
    metadata: {},
    fuzzyThreshold: 0,
  });
  for (const { matches, tagId } of items) assert.ok((matches as unknown[]).length > 0, `${tagId}`);
});

test("the calculations of the raw table give values", async () => {
  const series = new Map((await all("/timeseries")).map(({ name, id }) => [name, id]));
  const expected: Readonly<Record<string, readonly [number, number]>> = {
    "boiler efficiency": [80, 100],
    "column mass balance": [-0.8, 0.8],
    "steam for each m3 of product": [200, 900],
    "preheater heat transfer": [0.3, 3],
  };
  for (const { key, columns } of await all("/raw/engineering/calculations")) {
    const {
      function: formula,
      aliases,
      aggregate,
      granularity,
    } = columns as {
      function: string;
      aliases: Record<string, string>;
      aggregate: string;
      granularity: string;
    };
    const item = {
      ...{ name: key, function: formula },
      aliases: Object.entries(aliases).map(([alias, name]) => ({
        alias,
        id: series.get(name),
        aggregate,
        granularity,
      })),
    };
    const body = { items: [item], start: "20h-ago", end: "now", limit: 100 };
    const points = (await ask("POST /timeseries/dataquery", body)).items[0]!["datapoints"] as {
      value: number;
    }[];
    assert.ok(points.length > 15, `${key}: ${points.length}`);
    const [low, high] = expected[key as string]!;
    const mean = points.reduce((sum, { value }) => sum + value, 0) / points.length;
    assert.ok(mean > low && mean < high, `${key}: ${mean}`);
  }
});

test("the operator sees one unit in every list, and may change nothing", async () => {
  const { app, project } = server;
  const { project: owner } = await ensureProject(app.services, project);
  const account = (await all("/users")).find(({ uniqueName }) => uniqueName === "operator-24")!;
  const { key } = await app.services.keys.create(owner, "test", { accountId: account["id"] as number });
  const operator = { "api-key": key };
  const assets = await all("/assets", operator);
  const names = assets.map(({ name }) => String(name));
  assert.ok(names.length > 30 && names.length < 50 && names.includes("24 Distillation"));
  for (const name of names) assert.match(name, /^24[ -]/);
  const ids = new Set(assets.map(({ id }) => id));
  const series = await all("/timeseries", operator);
  const expected = description.series.filter(({ asset }) => names.includes(asset));
  assert.deepEqual(series.map(({ name }) => name).toSorted(), expected.map(({ name }) => name).toSorted());
  for (const list of ["/events", "/files", "/sequences"])
    for (const one of await all(list, operator)) {
      const linked = (one["assetIds"] as number[] | undefined) ?? [one["assetId"]];
      assert.ok(
        linked.some((id) => ids.has(id)),
        `${list} ${JSON.stringify(one)}`,
      );
    }
  assert.ok((await all("/events", operator)).length > 0 && (await all("/files", operator)).length > 8);
  for (const search of [
    "/assets/search?query=23",
    "/timeseries/search?query=23-FT-1012",
    "/events/search?query=ethanol",
  ])
    for (const { name, description: text } of (await ask(`GET ${search}`, undefined, operator)).items)
      assert.doesNotMatch(`${name} ${text}`, /^23-/);
  for (const forbidden of [
    "GET /raw",
    "GET /relationships",
    "GET /demo",
    "POST /demo",
    "DELETE /demo",
    "GET /users",
  ])
    assert.equal((await ask(forbidden, undefined, operator)).status, 403, forbidden);
  const hidden = await ask("GET /timeseries/data/23-FT-1012", undefined, operator);
  assert.equal(hidden.status, 404);
  const write = { items: [{ timestamp: 1, value: 1 }] };
  assert.equal((await ask("POST /timeseries/data/24-FT-2005", write, operator)).status, 403);
});

test("live values are written every second, continue after a restart, and end with DELETE", async () => {
  const first = await caughtUp();
  await eventually(async () => (await latestMs("24-FT-2005")) >= first + 3000);
  const points = await ask(`GET /timeseries/data/24-FT-2005?start=${first}&end=${first + 3001}`);
  assert.deepEqual(
    (points.items[0]!["datapoints"] as Item[]).map(({ timestamp }) => timestamp),
    [0, 1000, 2000, 3000].map((since) => first + since),
  );
  await server.restart();
  assert.deepEqual(
    [stateOf(await ask("GET /demo"))["status"], stateOf(await ask("GET /demo"))["isLive"]],
    ["DONE", true],
  );
  const restarted = Date.now();
  await eventually(async () => (await latestMs("24-FT-2005")) > restarted);
  assert.equal((await ask("DELETE /demo")).status, 200);
  assert.equal(stateOf(await ask("GET /demo"))["isLive"], false);
  const ended = await latestMs("24-FT-2005");
  await pause(2500);
  assert.equal(await latestMs("24-FT-2005"), ended);
  await server.restart();
  await pause(1500);
  assert.equal(await latestMs("24-FT-2005"), ended, "a restart does not turn live values on");
  assert.equal(stateOf(await ask("POST /demo"))["isLive"], true);
  await eventually(async () => (await latestMs("24-FT-2005")) > ended);
});

test("events that were open at a restart end once", async () => {
  const events = await all("/events");
  const ids = events.map(({ externalId }) => externalId);
  assert.equal(new Set(ids).size, ids.length);
  const open = events.filter(({ endTime, type }) => endTime === undefined && type === "batch");
  assert.ok(open.length <= 2, `${open.length} batches are open`);
});

test("what a full disk refuses is written when there is space again: no second is missing", async () => {
  const before = await caughtUp();
  isDiskFull = true;
  await eventually(async () => {
    const write = await ask("POST /timeseries/data/24-FT-2005", { items: [{ timestamp: 1, value: 1 }] });
    return write.status === 503;
  });
  await pause(2500);
  const full = await latestMs("24-FT-2005");
  isDiskFull = false;
  await eventually(async () => (await latestMs("24-FT-2005")) > full + 3000);
  const after = await latestMs("24-FT-2005");
  const points = await ask(`GET /timeseries/data/24-FT-2005?start=${before}&end=${after + 1}&limit=10000`);
  const times = (points.items[0]!["datapoints"] as Item[]).map(({ timestamp }) => timestamp as number);
  assert.equal(times.length, (after - before) / 1000 + 1);
});

test("live values end with a reason when one of their series is deleted", async () => {
  const [series] = (await ask("GET /timeseries?name=26-ET-3300")).items;
  assert.equal((await ask(`DELETE /timeseries/${series!["id"]}`)).status, 200);
  await eventually(async () => stateOf(await ask("GET /demo"))["isLive"] === false);
  const { status, error } = stateOf(await ask("GET /demo"));
  assert.equal(status, "DONE");
  assert.match(String(error), /404.*26-ET-3300/);
});

test("a project with assets is refused, and so is a caller that does not administer groups", async () => {
  const other = await startTestServer();
  try {
    await other.ask.v06("POST /assets", { items: [{ name: "pump" }] });
    const refused = await other.ask.v06("POST /demo");
    assert.equal(refused.status, 409);
    assert.match(refused.error!.message, /has assets/);
    assert.equal(stateOf(await other.ask.v06("GET /demo"))["status"], "NONE");
    const few = [{ projectsAcl: { actions: ["READ", "UPDATE"], scope: { all: {} } } }];
    const [group] = (await other.ask.v06("POST /groups", { items: [{ name: "few", capabilities: few }] }))
      .items;
    const [user] = (
      await other.ask.v06("POST /users", { items: [{ uniqueName: "u", groups: [group!["id"]] }] })
    ).items;
    const [made] = (await other.ask.v06("POST /apikeys", { items: [{ userId: user!["id"] }] })).items;
    const headers = { "api-key": String(made!["value"]) };
    for (const change of ["POST /demo", "DELETE /demo"]) {
      const result = await other.ask.v06(change, undefined, headers);
      assert.equal(result.status, 403);
      assert.match(result.error!.message, /administers groups/);
    }
    assert.equal((await other.ask.v06("GET /demo", undefined, headers)).status, 200);
    for (const days of [0, 91, 1.5]) assert.equal((await other.ask.v06("POST /demo", { days })).status, 400);
  } finally {
    await other.close();
  }
});

test("a load that was ended fails; POST and a restart continue it without doubles", async () => {
  const other = await startTestServer();
  const original = server;
  try {
    server = other;
    await ask("POST /demo", { days: 3 });
    await eventually(async () => (stateOf(await ask("GET /demo"))["percent"] as number) > 8);
    await ask("DELETE /demo");
    const ended = stateOf(await ask("GET /demo"));
    assert.deepEqual([ended["status"], ended["isLive"]], ["FAILED", false]);
    assert.match(String(ended["error"]), /ended before/);
    await ask("POST /demo");
    await eventually(async () => (stateOf(await ask("GET /demo"))["percent"] as number) > 8);
    await other.restart();
    await loadedDemo({});
    assert.equal((await all("/assets")).length, description.assets.length);
    assert.equal((await all("/timeseries")).length, description.series.length);
    assert.equal(stateOf(await ask("GET /demo"))["error"], undefined);
  } finally {
    server = original;
    await other.close();
  }
});
