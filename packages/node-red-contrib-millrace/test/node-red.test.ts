// A real Node-RED with the nodes of this package, and the published ones for InfluxDB, against a server.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { launchTestBrowser } from "../../../test/support/browser.ts";
import { type CuttableProxy, cuttableProxy } from "../../../test/support/cuttable-proxy.ts";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { freePort } from "../../../test/support/free-port.ts";
import { needs } from "../../../test/support/needs.ts";
import { startTestServer, type TestServer } from "../../../test/support/server.ts";

const packageFolder = fileURLToPath(new URL("..", import.meta.url));
const modules = join(packageFolder, "node_modules");

let server: TestServer;
let proxy: CuttableProxy;
let nodeRed: ChildProcess;
let flows: string;
before(async () => {
  server = await startTestServer();
  proxy = await cuttableProxy(Number(new URL(server.baseUrl).port));
  const port = await freePort();
  const folder = userFolder(port);
  const program = join(modules, "node-red", "red.js");
  nodeRed = spawn(process.execPath, [program, "--userDir", folder], { stdio: "ignore" });
  flows = `http://127.0.0.1:${port}`;
  await until(async () => (await fetch(`${flows}/ready`).catch(() => undefined))?.ok === true, "Node-RED");
});
after(async () => {
  nodeRed.kill("SIGKILL");
  proxy.close();
  await server.close();
});

async function until(holds: () => Promise<boolean>, what: string): Promise<void> {
  for (const endMs = performance.now() + 60_000; !(await holds()); await pause(100))
    if (performance.now() > endMs) assert.fail(`not within a minute: ${what}`);
}

type Node = Readonly<Record<string, unknown>> & { readonly id: string };

/** A request to Node-RED, which goes through a node and comes back as the response. */
function endpoint(name: string, node: Readonly<Record<string, unknown>>): Node[] {
  const [enter, set, main, leave, failed] = ["enter", "set", "main", "leave", "failed"].map(
    (part) => `${name}-${part}`,
  ) as [string, string, string, string, string];
  const tab = { z: "flow", x: 0, y: 0 };
  const hasOutput = node["outputs"] !== 0;
  const func = "if (msg.payload && msg.payload.message) Object.assign(msg, msg.payload.message); return msg;";
  return [
    { ...tab, id: enter, type: "http in", url: `/${name}`, method: "post", wires: [[set]] },
    { ...tab, id: set, type: "function", func, outputs: 1, wires: [[main]] },
    { ...tab, ...node, id: main, wires: hasOutput ? [[leave]] : [] },
    ...(hasOutput ? [] : [{ ...tab, id: `${name}-done`, type: "complete", scope: [main], wires: [[leave]] }]),
    { ...tab, id: `${name}-catch`, type: "catch", scope: [main], wires: [[failed]] },
    {
      ...{ ...tab, id: failed, type: "function", outputs: 1, wires: [[leave]] },
      func: "msg.statusCode = 400; msg.payload = { problem: msg.error.message }; return msg;",
    },
    { ...tab, id: leave, type: "http response", statusCode: "" },
  ] as Node[];
}

/** The folder of Node-RED: its settings, the flows, and the packages as its palette installs them. */
function userFolder(port: number): string {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "node_modules"));
  const own = "node-red-contrib-millrace";
  const influx = "node-red-contrib-influxdb";
  symlinkSync(packageFolder, join(folder, "node_modules", own));
  symlinkSync(join(modules, influx), join(folder, "node_modules", influx));
  const dependencies = { [own]: "*", [influx]: "*" };
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "flows", dependencies }));
  const settings = {
    ...{ uiHost: "127.0.0.1", uiPort: port, flowFile: "flows.json", credentialSecret: false },
    // Nothing covers the editor at its first start.
    ...{ telemetry: { enabled: false }, editorTheme: { tours: false } },
  };
  writeFileSync(join(folder, "settings.js"), `module.exports = ${JSON.stringify(settings)};\n`);
  const nodes = [
    { id: "flow", type: "tab", label: "flow" },
    { id: "plant", type: "millrace-server", address: `http://127.0.0.1:${proxy.port}`, project: "demo" },
    {
      ...{ id: "influx", type: "influxdb", hostname: "127.0.0.1", port: new URL(server.baseUrl).port },
      ...{ protocol: "http", database: "demo", usetls: false, influxdbVersion: "1.x" },
    },
    ...endpoint("ready", { type: "function", func: "return msg;", outputs: 1 }).map((node) =>
      node["type"] === "http in" ? { ...node, method: "get" } : node,
    ),
    ...endpoint("write", { type: "millrace-write", server: "plant", create: true, outputs: 0 }),
    ...endpoint("strict", { type: "millrace-write", server: "plant", create: false, outputs: 0 }),
    ...endpoint("latest", { type: "millrace-read", server: "plant", what: "latest" }),
    ...endpoint("points", { type: "millrace-read", server: "plant", what: "points", start: "0" }),
    ...endpoint("aggregates", { type: "millrace-read", server: "plant", what: "aggregates", start: "0" }),
    ...endpoint("create", { type: "millrace-events", server: "plant", action: "create" }),
    ...endpoint("events", { type: "millrace-events", server: "plant", action: "read" }),
    ...endpoint("influx-out", { type: "influxdb out", influxdb: "influx", measurement: "pump", outputs: 0 }),
    ...endpoint("influx-in", {
      ...{ type: "influxdb in", influxdb: "influx", rawOutput: false },
      query: `SELECT value FROM points WHERE "name" = 'from node-red'`,
    }),
  ];
  writeFileSync(join(folder, "flows.json"), JSON.stringify(nodes));
  const login = { username: "any", password: server.key };
  writeFileSync(
    join(folder, "flows_cred.json"),
    JSON.stringify({ plant: { key: server.key }, influx: login }),
  );
  return folder;
}

/** Sends a message with this payload and members through an endpoint. */
async function message(name: string, payload: unknown, members: object = {}) {
  const response = await fetch(`${flows}/${name}`, {
    method: "POST",
    body: JSON.stringify({ message: { payload, ...members } }),
    headers: { "content-type": "application/json" },
  });
  const text = await response.text();
  return { status: response.status, json: (text && JSON.parse(text)) as never, text };
}

const written = async (series: string) =>
  (await server.ask.v06(`GET /timeseries/data/${series}?limit=100000`)).items[0]!["datapoints"];

test("writes values, points and arrays, and creates what is missing", async () => {
  assert.equal((await message("write", 12.5, { topic: "flow", timestamp: 1_000 })).status, 200);
  assert.equal((await message("write", { value: true, timestamp: 2_000 }, { series: "flow" })).status, 200);
  const points = [
    { series: "flow", timestamp: "1970-01-01T00:00:03Z", value: 3 },
    { series: "phase", timestamp: 4_000, value: "HEAT" },
  ];
  assert.equal((await message("write", points)).status, 200);
  assert.deepEqual(await written("flow"), [
    { timestamp: 1_000, value: 12.5 },
    { timestamp: 2_000, value: 1 },
    { timestamp: 3_000, value: 3 },
  ]);
  assert.deepEqual(await written("phase"), [{ timestamp: 4_000, value: "HEAT" }]);
});

test("refusals reach a catch node with their reason, and nothing else is lost", async () => {
  for (const [payload, members, reason] of [
    [5, {}, /the series is not named/],
    [{ value: { a: 1 } }, { topic: "flow" }, /must be a number/],
    [{ value: 1, timestamp: "yesterday" }, { topic: "flow" }, /is not a time/],
    ["text", { topic: "flow" }, /the series has numbers/],
  ] as const) {
    const { status, text } = await message("write", payload, members);
    assert.equal(status, 400, text);
    assert.match(text, reason);
  }
  const { status, text } = await message("strict", 1, { topic: "unknown" });
  assert.equal(status, 400, text);
  // The first one decides the type of the series.
  assert.equal((await message("write", -1, { topic: "mixed", timestamp: 100_000 })).status, 200);
  const many = Array.from({ length: 20 }, (_, index) =>
    message("write", index === 7 ? "text" : index, { topic: "mixed", timestamp: 1_000 * index }),
  );
  const statuses = (await Promise.all(many)).map((one) => one.status);
  assert.equal(
    statuses.filter((one) => one === 200).length,
    ((await written("mixed")) as object[]).length - 1,
  );
});

test("waits while the server is away, and writes then", async () => {
  proxy.become("closed");
  const waiting = message("write", 99, { topic: "flow", timestamp: 99_000 });
  assert.equal(await Promise.race([waiting, pause(1_500, "waits")]), "waits");
  proxy.become("open");
  assert.equal((await waiting).status, 200);
  assert.ok(JSON.stringify(await written("flow")).includes('{"timestamp":99000,"value":99}'));
});

test("reads the latest point, every point and aggregates", async () => {
  const count = 25_000;
  const datapoints = Array.from({ length: count }, (_, index) => ({
    timestamp: 1_000 * index,
    value: index,
  }));
  await server.ask.v06("POST /timeseries", { items: [{ name: "long" }] });
  await server.ask.v06("POST /timeseries/data/long", { items: datapoints });
  const latest = await message("latest", "", { series: "long" });
  assert.deepEqual(latest.json, datapoints.at(-1));
  const points = await message("points", "", { series: "long" });
  assert.deepEqual(points.json, datapoints);
  const some = await message("points", "", { series: "long", limit: 12_000 });
  assert.deepEqual(some.json, datapoints.slice(0, 12_000));
  const wanted = { series: "long", aggregates: "average,count", granularity: "1s", end: 1_000 * count };
  const aggregates = (await message("aggregates", "", wanted)).json as { timestamp: number; count: number }[];
  assert.equal(aggregates.length, count);
  assert.ok(aggregates.every(({ timestamp, count }, index) => timestamp === 1_000 * index && count === 1));
  assert.match((await message("points", "", { series: "nothing" })).text, /problem/);
});

test("creates events, once each, and reads them", async () => {
  const event = { source: "node-red", type: "alarm", startTime: 5_000, description: "high" };
  const events = [1, 2, 3].map((number) => ({ ...event, sourceId: `alarm ${number}` }));
  assert.equal((await message("create", events.slice(0, 2))).status, 200);
  assert.equal((await message("create", events)).status, 200);
  const { json } = await message("events", { type: "alarm" });
  assert.deepEqual((json as { sourceId: string }[]).map(({ sourceId }) => sourceId).sort(), [
    "alarm 1",
    "alarm 2",
    "alarm 3",
  ]);
});

test("the published nodes for InfluxDB write and read", async () => {
  assert.equal((await message("influx-out", [{ speed: 1_450 }, { area: "north" }])).status, 200);
  const { items } = await server.ask.v06("GET /timeseries?limit=1000");
  const made = items.find(({ name }) => String(name).startsWith("pump.") && String(name).endsWith(".speed"));
  assert.ok(made, JSON.stringify(items.map(({ name }) => name)));
  await server.ask.v06("POST /timeseries", { items: [{ name: "from node-red" }] });
  await server.ask.v06("POST /timeseries/data/from%20node-red", { items: [{ timestamp: 7_000, value: 42 }] });
  const { json, text } = await message("influx-in", "");
  assert.equal((json as { value: number }[])[0]?.value, 42, text);
});

test("the editor shows the settings of each node, and deploys them", needs("chromium"), async (t) => {
  const browser = await launchTestBrowser();
  t.after(() => browser.close());
  const page = await browser.newPage();
  page.setDefaultTimeout(120_000);
  const problems: string[] = [];
  page.on("pageerror", ({ message: text }) => problems.push(text));
  await page.goto(flows);
  for (const type of ["write", "read", "events"])
    await page.locator(`.red-ui-palette-node[data-palette-type="millrace-${type}"]`).waitFor();
  const open = async (id: string) => {
    const node = `RED.nodes.node(${JSON.stringify(id)})`;
    await page.waitForFunction(`window.RED && ${node}`);
    await page.evaluate(`RED.editor.edit(${node})`);
    await page.locator("#node-input-name").waitFor();
  };
  const done = async () => {
    await page.locator("#node-dialog-ok").click();
    await page.locator("#node-dialog-ok").waitFor({ state: "detached" });
  };
  await open("latest-main");
  assert.equal(await page.locator("#node-input-what").inputValue(), "latest");
  await done();
  await open("events-main");
  assert.equal(await page.locator("#node-input-action").inputValue(), "read");
  await done();
  await open("write-main");
  assert.equal(await page.locator("#node-input-create").isChecked(), true);
  await page.locator("#node-input-series").fill("from the editor");
  // The server of the node: its page opens over that of the node.
  await page.locator("#node-input-btn-server-edit").click();
  await page.locator("#node-config-input-project").waitFor();
  assert.equal(await page.locator("#node-config-input-project").inputValue(), "demo");
  assert.notEqual(await page.locator("#node-config-input-key").inputValue(), server.key);
  await page.locator("#node-config-input-name").fill("the plant");
  await page.locator("#node-config-input-key").fill(server.key);
  await page.locator("#node-config-dialog-ok").click();
  await done();
  await page.locator("#red-ui-header-button-deploy").click();
  const deployed = async () => {
    const nodes = (await (await fetch(`${flows}/flows`)).json()) as Node[];
    return nodes.find(({ id }) => id === "write-main")!["series"] === "from the editor";
  };
  await until(deployed, "the deployment");
  await until(async () => (await message("write", 5, { timestamp: 1_000 })).status === 200, "a write");
  assert.deepEqual(await written("from%20the%20editor"), [{ timestamp: 1_000, value: 5 }]);
  assert.deepEqual(problems, []);
});

/** The flow of docs/node-red.md, which the editor puts onto the tab that is open. */
function documentedFlow(): { nodes: Node[]; configs: Node[] } {
  const document = readFileSync(new URL("../../../docs/node-red.md", import.meta.url), "utf8");
  const [, json] = /```json\n([\s\S]*?)```/.exec(document)!;
  const all = JSON.parse(json!) as Node[];
  return { nodes: all.filter(({ wires }) => wires), configs: all.filter(({ wires }) => !wires) };
}

test("the flow of the documentation writes a value each second, once the key is entered", async () => {
  const { nodes, configs } = documentedFlow();
  const entered = { address: `http://127.0.0.1:${proxy.port}`, project: "demo" };
  const withKey = configs.map((one) => ({ ...one, ...entered, credentials: { key: server.key } }));
  const response = await fetch(`${flows}/flow`, {
    method: "POST",
    body: JSON.stringify({ label: "from the documentation", nodes, configs: withKey }),
    headers: { "content-type": "application/json" },
  });
  assert.equal(response.status, 200, await response.text());
  const points = async () => {
    const { items } = await server.ask.v06("GET /timeseries?name=node-red.random");
    return items.length === 0 ? [] : ((await written("node-red.random")) as { value: number }[]);
  };
  await until(async () => (await points()).length >= 2, "two points");
  for (const { value } of await points()) assert.ok(value >= 0 && value < 1, String(value));
});
