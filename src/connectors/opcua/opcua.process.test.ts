// `millrace connect` between a real OPC UA server and a real server: names, types and units, and no
// value is lost or doubled when either side, the network or the connector fails.
import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { type CuttableProxy, cuttableProxy } from "../../../test/support/cuttable-proxy.ts";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { freePort } from "../../../test/support/free-port.ts";
import {
  endLeftProcesses,
  type RunningProcess,
  runMillrace,
  serveMillrace,
} from "../../../test/support/process.ts";
import { installCommand } from "./library.ts";
import { plantNamespace, type ServerCommand, type ServerOptions, type Written } from "./test-server.ts";

const adminKey = "the-key-of-the-connector-0123456789-abcdef";
const library = new URL("node_modules/node-opcua-server/package.json", import.meta.url);
const isMissing = existsSync(library) ? false : "needs the library of OPC UA: npm run test:connectors";
type Json = Readonly<Record<string, unknown>>;

async function until(isTrue: () => Promise<boolean>, what: string): Promise<void> {
  const endMs = performance.now() + 90_000;
  while (!(await isTrue())) {
    if (performance.now() > endMs) assert.fail(`not within 90 s: ${what}`);
    await pause(100);
  }
}

interface PlantServer {
  readonly port: number;
  tell(command: ServerCommand): Promise<unknown>;
  kill(): Promise<void>;
}

async function startPlant(options: Partial<ServerOptions> = {}): Promise<PlantServer> {
  const port = options.port ?? (await freePort());
  const file = new URL("./test-server.ts", import.meta.url).pathname;
  const given = JSON.stringify({ folder: temporaryFolder(), ...options, port });
  const child = fork(file, [given], { execArgv: [], stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const [ready] = await Promise.race([once(child, "message"), once(child, "exit")]);
  assert.deepEqual(ready, { ready: true }, "the OPC UA server starts");
  let last = 0;
  return {
    port,
    async tell(command) {
      const id = ++last;
      child.send({ id, command });
      for (;;) {
        const [response] = (await once(child, "message")) as [{ id: number; result: unknown }];
        if (response.id === id) return response.result;
      }
    },
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}

describe("OPC UA", { skip: isMissing }, () => {
  let plant: PlantServer;
  let proxy: CuttableProxy;
  let server: Awaited<ReturnType<typeof serveMillrace>>;
  before(async () => {
    plant = await startPlant();
    proxy = await cuttableProxy(plant.port);
    const settings = { MILLRACE_ADMIN_KEY: adminKey, MILLRACE_DATA: temporaryFolder() };
    server = await serveMillrace(settings, temporaryFolder());
    await plant.tell({ do: "tick", everyMs: 250 });
  });
  after(async () => {
    endLeftProcesses();
    proxy.close();
    await plant.kill();
  });

  async function api(method: string, path: string, body?: object): Promise<Json[]> {
    const response = await fetch(`${server.baseUrl}/api/0.6/projects/default/${path}`, {
      method,
      headers: { "api-key": adminKey, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    const { data, error } = (await response.json()) as { data?: { items: Json[] }; error?: Json };
    assert.equal(response.status, 200, JSON.stringify(error));
    return data!.items;
  }

  const seriesOf = async (name: string): Promise<Json | undefined> =>
    (await api("GET", `timeseries?includeMetadata=true&name=${encodeURIComponent(name)}`))[0];

  async function pointsOf(name: string): Promise<{ timestamp: number; value: unknown }[]> {
    if (!(await seriesOf(name))) return [];
    const [item] = await api("GET", `timeseries/data/${encodeURIComponent(name)}?start=0&limit=10000`);
    return item!["datapoints"] as { timestamp: number; value: unknown }[];
  }

  const endpoint = (port: number) => `opc.tcp://127.0.0.1:${port}`;

  /** A configuration file. Each value of the temperature is sampled: they are 250 ms apart. */
  function configured(name: string, source: Json, more: Json = {}): string {
    const file = join(temporaryFolder(), "plant.yaml");
    const certificates = join(temporaryFolder(), "certificates");
    const content = {
      ...{ version: 1, name },
      source: {
        ...{ type: "opcua", endpoint: endpoint(plant.port), security: { certificates } },
        subscribe: { sampling: "50ms", publishing: "200ms", queue: 100 },
        ...source,
      },
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the connector replaces it.
      destination: { server: server.baseUrl, key: "${MILLRACE_KEY}", prefix: `${name}/`, ...more },
    };
    writeFileSync(file, JSON.stringify(content));
    return file;
  }

  const connect = (file: string, words: readonly string[] = [], more: NodeJS.ProcessEnv = {}) =>
    runMillrace(["connect", file, ...words], { MILLRACE_KEY: adminKey, ...more }, temporaryFolder());

  async function stopped(connector: RunningProcess): Promise<string> {
    connector.child.kill("SIGINT");
    const { status, output, errors } = await connector.ended;
    assert.equal(status, 0, output + errors);
    return output;
  }

  const subscribedTimes = ({ output }: RunningProcess): number => output().split("Subscribed to").length - 1;
  const temperature = { browse: { include: ["Plant/Boiler/Temperature"] } };

  /** Waits for more values, and compares all values since the first with those of the OPC UA server. */
  async function assertAllArrived(name: string, connector: RunningProcess): Promise<void> {
    const series = `${name}/Plant/Boiler/Temperature`;
    const written = (await plant.tell({ do: "written" })) as Written;
    const [lastMs] = written.at(-1)!;
    await until(
      async () => ((await pointsOf(series)).at(-1)?.timestamp ?? 0) > lastMs + 500,
      `values after ${new Date(lastMs).toISOString()}: ${connector.output()}`,
    );
    // The history may still be on its way.
    const expected = async () => {
      const points = await pointsOf(series);
      const [first, last] = [points[0]!.timestamp, points.at(-1)!.timestamp];
      const all = (await plant.tell({ do: "written" })) as Written;
      return { points, all: all.filter(([timeMs]) => timeMs >= first && timeMs <= last) };
    };
    await until(async () => {
      const { points, all } = await expected();
      return points.length >= all.length;
    }, `all values: ${connector.output()}`);
    const { points, all } = await expected();
    assert.deepEqual(
      points.map(({ timestamp, value }) => [timestamp, value]),
      all,
    );
  }

  test("variables become series with names, types, units, and assets", async () => {
    const file = configured("first", {}, { createAssets: true });
    const connector = connect(file);
    const expected: Readonly<Record<string, unknown>> = {
      ...{ Running: 1, Energy: -1, Total: 2 ** 32 + 5, Pressure: 1.5, Any: 4, Text: "ready" },
      ...{ Note: "läuft", Started: "1970-01-01T00:00:05.000Z", State: "Heating" },
    };
    for (const [name, value] of Object.entries(expected)) {
      const series = `first/Plant/Boiler/${name}`;
      await until(async () => (await pointsOf(series)).length > 0, name);
      assert.deepEqual(
        (await pointsOf(series)).map((point) => point.value),
        [value],
        name,
      );
    }
    await until(async () => (await pointsOf("first/Plant/Boiler/Temperature")).length > 1, "temperatures");
    const found = (await seriesOf("first/Plant/Boiler/Temperature"))!;
    assert.deepEqual([found["unit"], found["description"]], ["degC", "Of the water"]);
    assert.deepEqual(found["metadata"], { nodeId: `nsu=${plantNamespace};s=Temperature`, dataType: "i=11" });
    assert.equal((await seriesOf("first/Plant/Boiler/Running"))!["isStep"], true);
    assert.equal((await seriesOf("first/Plant/Boiler/State"))!["isString"], true);
    assert.equal(await seriesOf("first/Plant/Boiler/Curve"), undefined);
    const names = (await api("GET", "assets?limit=100")).map((asset) => asset["name"]);
    assert.ok(names.includes("Plant") && names.includes("Boiler"), String(names));
    const all = await api("GET", "timeseries?limit=1000");
    const ours = all.filter((one) => String(one["name"]).startsWith("first/"));
    assert.equal(ours.length, 10, "the variables of the object Server are not read");
    assert.match(await stopped(connector), /Subscribed to 10 variables in 1 subscription, 1 others/);
  });

  test("integers of 64 bits that no number holds are refused, rounded or strings", async () => {
    // 2^53 + 1, as its upper and lower 32 bits.
    await plant.tell({ do: "set", name: "Total", value: [2 ** 21, 1] });
    const browse = { include: ["**/Total"] };
    const ways = ["exact", "rounded", "string"];
    const connectors = ways.map((integers64) => connect(configured(integers64, { browse, integers64 })));
    const values = async (way: string) =>
      (await pointsOf(`${way}/Plant/Boiler/Total`)).map(({ value }) => value);
    for (const way of ["rounded", "string"])
      await until(async () => (await values(way)).length > 0, `the value of ${way}`);
    const refusal = /A point of Plant.Boiler.Total is 9007199254740993, an integer that no number holds/;
    await until(async () => refusal.test(connectors[0]!.output()), "the refusal");
    for (const connector of connectors) await stopped(connector);
    assert.deepEqual(await Promise.all(ways.map(values)), [[], [2 ** 53], ["9007199254740993"]]);
    await plant.tell({ do: "set", name: "Total", value: [1, 5] });
  });

  test("bad values are dropped, become events, or are a series of status codes", async () => {
    const browse = { include: ["**/Pressure"] };
    const qualities = ["drop", "gap", "series"];
    const connectors = qualities.map((quality) => connect(configured(quality, { browse, quality })));
    const values = async (quality: string, series = "Pressure") =>
      (await pointsOf(`${quality}/Plant/Boiler/${series}`)).map(({ value }) => value);
    const all = async (isTrue: (quality: string) => Promise<boolean>) =>
      (await Promise.all(qualities.map(isTrue))).every(Boolean);
    await until(() => all(async (one) => (await values(one)).length === 1), "the first value");
    const set = async (value: number, status: string) => {
      await plant.tell({ do: "set", name: "Pressure", value, status });
      await pause(600);
    };
    await set(7, "BadSensorFailure");
    await set(2.5, "UncertainLastUsableValue");
    await set(1.5, "Good");
    await until(() => all(async (one) => (await values(one)).length === 3), "the last value");
    for (const quality of qualities) assert.deepEqual(await values(quality), [1.5, 2.5, 1.5]);
    const codes = [0, 0x808c0000, 0x40900000, 0];
    await until(async () => (await values("series", "Pressure.quality")).length === 4, "the status codes");
    assert.deepEqual(await values("series", "Pressure.quality"), codes);
    const gaps = async () => await api("GET", "events?type=opcua&subtype=gap");
    await until(async () => (await gaps()).length > 0, "the event");
    const [event, ...others] = await gaps();
    assert.deepEqual([others.length, event!["source"]], [0, "gap"]);
    assert.match(String(event!["description"]), /Pressure had no good value: BadSensorFailure/);
    assert.ok(Number(event!["endTime"]) > Number(event!["startTime"]));
    assert.equal(await seriesOf("drop/Plant/Boiler/Pressure.quality"), undefined);
    for (const connector of connectors) await stopped(connector);
  });

  test("a lost connection and a half-open network leave no gap", async () => {
    const subscribe = { sampling: "50ms", publishing: "200ms", queue: 100, silence: 2 };
    const file = configured("network", { ...temperature, subscribe, endpoint: endpoint(proxy.port) });
    const connector = connect(file);
    await until(async () => subscribedTimes(connector) === 1, "the start");
    await pause(1_000);
    proxy.become("closed");
    await pause(2_000);
    proxy.become("open");
    await until(async () => subscribedTimes(connector) === 2, `the return: ${connector.output()}`);
    await assertAllArrived("network", connector);
    proxy.become("half-open");
    await until(async () => connector.output().includes("is silent"), connector.output());
    proxy.become("open");
    await until(async () => subscribedTimes(connector) === 3, `the second return: ${connector.output()}`);
    await assertAllArrived("network", connector);
    const events = async () => await api("GET", "events?type=opcua&subtype=outage&source=network");
    await until(async () => (await events()).length === 2, "the events of the outages");
    assert.match(await stopped(connector), /source: works again/);
  });

  test("a clock that is set back leaves no gap", async () => {
    const file = configured("clock", { ...temperature, endpoint: endpoint(proxy.port) });
    const clock = new URL("../../../test/support/stepping-clock.ts", import.meta.url).href;
    const connector = connect(file, [], { NODE_OPTIONS: `--import=${clock}` });
    await until(async () => subscribedTimes(connector) === 1, "the start");
    await until(async () => (await pointsOf("clock/Plant/Boiler/Temperature")).length > 1, "values");
    connector.child.kill("SIGUSR2");
    proxy.become("closed");
    await until(async () => connector.output().includes("source: "), "the problem");
    await pause(1_000);
    proxy.become("open");
    await until(async () => subscribedTimes(connector) === 2, `the return: ${connector.output()}`);
    await assertAllArrived("clock", connector);
    assert.match(await stopped(connector), /source: works again/);
  });

  test("a subscription that died while the session lives is replaced", async () => {
    const connector = connect(configured("silent", temperature));
    await until(async () => subscribedTimes(connector) === 1, "the start");
    await pause(1_000);
    await plant.tell({ do: "silence" });
    await until(async () => subscribedTimes(connector) === 2, `the return: ${connector.output()}`);
    await assertAllArrived("silent", connector);
    assert.match(await stopped(connector), /A subscription is silent for \d+ s/);
  });

  test("a killed connector fills its gap, and reads the history back to a date", async () => {
    const [firstMs] = ((await plant.tell({ do: "written" })) as Written)[0]!;
    const history = { backfill: new Date(firstMs - 1_000).toISOString() };
    const file = configured("killed", { ...temperature, history });
    let connector = connect(file);
    const first = async () => (await pointsOf("killed/Plant/Boiler/Temperature"))[0]?.value;
    await until(async () => (await first()) === 1, "the oldest value");
    for (const _ of [1, 2]) {
      connector.child.kill("SIGKILL");
      await connector.ended;
      await pause(1_500);
      connector = connect(file);
      await until(async () => subscribedTimes(connector) === 1, "the return");
      await assertAllArrived("killed", connector);
    }
    await stopped(connector);
  });

  test("a history that is refused for a while is read again", async () => {
    const file = configured("refused", temperature);
    const connector = connect(file);
    await until(async () => (await pointsOf("refused/Plant/Boiler/Temperature")).length > 0, "the start");
    connector.child.kill("SIGKILL");
    await connector.ended;
    await pause(1_000);
    await plant.tell({ do: "refuse history", times: 2 });
    const again = connect(file);
    await until(async () => again.output().includes("of the history fill"), "the history");
    await assertAllArrived("refused", again);
    await stopped(again);
    const [event] = await api("GET", "events?type=opcua&subtype=outage&source=refused");
    assert.match(String(event!["description"]), /of 0 the server did not give it/);
  });

  test("new variables are found while it runs", async () => {
    const browse = { include: ["**/New*"], every: "1s" };
    const connector = connect(configured("new", { browse }));
    await until(async () => subscribedTimes(connector) === 1, "the start");
    await plant.tell({ do: "add", name: "New1" });
    await until(async () => (await pointsOf("new/Plant/Boiler/New1")).length === 1, "its value");
    assert.match(await stopped(connector), /Found 1 new variables/);
  });

  test("a restarted server with other numbers of namespaces has the same series", async () => {
    const connector = connect(configured("restarted", { browse: { include: ["**/Pressure"], name: "id" } }));
    const series = `restarted/nsu=${plantNamespace};s=Pressure`;
    await until(async () => (await pointsOf(series)).length === 1, "the first value");
    const { port } = plant;
    await plant.kill();
    plant = await startPlant({ port, namespacesBefore: ["urn:a", "urn:b"] });
    await until(async () => subscribedTimes(connector) === 2, `the return: ${connector.output()}`);
    await plant.tell({ do: "set", name: "Pressure", value: 9 });
    await until(async () => (await pointsOf(series)).at(-1)?.value === 9, "the new value");
    const all = await api("GET", "timeseries?limit=1000");
    assert.equal(all.filter((one) => String(one["name"]).startsWith("restarted/")).length, 1);
    await stopped(connector);
  });

  test("check names what a server offers, and what it needs to trust us", async () => {
    const folder = temporaryFolder();
    const strict = await startPlant({ folder, refusesUnknownClients: true });
    const security = { certificates: join(temporaryFolder(), "pki"), mode: "SignAndEncrypt" };
    const source = { endpoint: endpoint(strict.port), security };
    const check = async (more: Json = {}) =>
      (await connect(configured("safe", { ...source, ...more }), ["check"]).ended).output;
    const refused = await check();
    assert.match(
      refused,
      /^failed +source: .*offers None\/None, Sign\/Basic256Sha256.*thumbprint [0-9A-F]{40}/,
    );
    const own = /our certificate is (\S+),/.exec(refused)![1]!;
    mkdirSync(join(folder, "pki/trusted/certs"), { recursive: true });
    rmSync(join(folder, "pki/rejected"), { recursive: true });
    copyFileSync(own, join(folder, "pki/trusted/certs/millrace.pem"));
    await strict.kill();
    const trusting = await startPlant({ port: strict.port, folder, refusesUnknownClients: true });
    assert.match(await check(), /^ok +source: .*it accepts a session/);
    assert.match(await check({ user: { name: "u", password: "p" } }), /^ok /);
    assert.match(await check({ user: { name: "u", password: "q" } }), /^failed /);
    await trusting.kill();
    const other = await startPlant({ port: strict.port });
    assert.match(await check(), /^failed /, "another certificate of the server is not trusted");
    await other.kill();
  });

  test("discover proposes folders with their numbers of variables", async () => {
    const { output } = await connect(configured("proposal", { quality: "gap" }), ["discover"]).ended;
    assert.match(output, /^ {2}quality: gap$/m);
    assert.match(output, /# \d: urn:plant/);
    assert.match(output, /- Plant\/Boiler\/\* # 10 variables, 1 with history/);
    assert.match(output, /# Variables that are arrays, or neither numbers nor strings: 1/);
  });
});

test("without the library the message has the command that installs it", async () => {
  const file = join(temporaryFolder(), "plant.yaml");
  const content = {
    ...{ version: 1, name: "none", source: { type: "opcua", endpoint: "opc.tcp://127.0.0.1:1" } },
    destination: { server: "http://127.0.0.1:1", key: "none" },
  };
  writeFileSync(file, JSON.stringify(content));
  const hook = `import { registerHooks } from "node:module";
    registerHooks({ resolve(name, context, next) {
      if (!name.startsWith("node-opcua")) return next(name, context);
      throw Object.assign(new Error(name), { code: "MODULE_NOT_FOUND" });
    } });`;
  const options = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(hook)}` };
  const { output, status } = await runMillrace(["connect", file, "check"], options, temporaryFolder()).ended;
  assert.equal(status, 1);
  assert.ok(output.includes(`failed  source: `) && output.includes(installCommand), output);
});
