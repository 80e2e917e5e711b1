// The destination's asset, or an asset below it, is missing: the points stay in the buffer.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Fault, type Passed, withFaults } from "../../test/support/faulty-proxy.ts";
import { temporaryFolder } from "../../test/support/folder.ts";
import { idsOf, startTestServer, type TestServer } from "../../test/support/server.ts";
import { Connection, ServerProblem } from "../client/connection.ts";
import { Destination } from "./destination.ts";
import { ForwardBuffer } from "./forward-buffer.ts";
import { Forwarder } from "./forwarder.ts";
import { Health } from "./health.ts";
import type { SourcePoint } from "./records.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const anAsset = async (name: string): Promise<number> =>
  idsOf(await server.ask.v06("POST /assets", { items: [{ name }] }))[0]!;

/** Forwards the point of each series, one after the other; returns the counts and the messages. */
async function forwarded(
  asset: number,
  series: readonly { readonly name: string; readonly assetPath?: readonly string[] }[],
  { faultOf = () => undefined, between, later = [] }: Meanwhile = {},
) {
  return withFaults(server.baseUrl, faultOf, async (address) => {
    const [stop, messages] = [new AbortController(), [] as string[]];
    const health = new Health((line) => messages.push(line));
    const patience = { requestMs: 10_000, retriesMax: 0 };
    const connection = new Connection({ server: address, key: server.key }, stop.signal, patience);
    const below = { name: "test", prefix: "", asset, createSeries: true, createAssets: true };
    const buffer = new ForwardBuffer(temporaryFolder(), { bytesMax: 1e9, ageMsMax: 1e12 });
    const left = [...series];
    let attempts = 0;
    const forwarder = new Forwarder({
      ...{ buffer, health, destination: new Destination(connection, below), signal: stop.signal },
      async prepare() {
        await connection.login();
        const next = buffer.state.items === 0 ? left.shift() : undefined;
        if (next && left.length < series.length - 1) await between?.();
        if (next) buffer.put({ points: [{ series: next, timestamp: 1, value: 1 }] });
        if (next && later.length > 0) buffer.put({ points: later });
        attempts += 1;
        if (attempts > series.length + 1 || buffer.state.items === 0) stop.abort();
      },
    });
    const timer = setInterval(() => forwarder.stored(), 20);
    await forwarder.run();
    clearInterval(timer);
    const { written, refused } = buffer.counts;
    const waiting = buffer.state.items;
    buffer.close();
    return { counts: { written, refused, waiting }, messages };
  });
}

interface Meanwhile {
  readonly faultOf?: (request: Passed) => Fault;
  readonly between?: () => Promise<unknown>;
  /** Points that arrive after that of each series. */
  readonly later?: readonly SourcePoint[];
}

const kept = { written: 0, refused: 0, waiting: 1 };

for (const fault of [429, 503, "lose"] as const)
  test(`the points stay while it is not known whether the asset exists (${fault})`, async () => {
    const faultOf = ({ path }: Passed) => (path.endsWith("/assets/987654321") ? fault : undefined);
    const { counts } = await forwarded(987654321, [{ name: `unknown ${fault}` }], { faultOf });
    assert.deepEqual(counts, kept);
  });

test("an asset of the configuration that is no id refuses no points", async () => {
  const { counts, messages } = await forwarded(-1, [{ name: "no id" }]);
  assert.deepEqual(counts, kept);
  assert.match(messages.join(), /there is no asset -1 /);
});

test("the points stay while the asset above new assets does not exist", async () => {
  const { counts, messages } = await forwarded(987654321, [{ name: "lost", assetPath: ["a", "b"] }]);
  assert.deepEqual(counts, kept);
  assert.match(messages.join(), /there is no asset 987654321 /);
});

for (const [what, assetPath] of [
  ["of the new series", ["line", "press"]],
  ["above a new asset", ["line", "press", "motor"]],
] as const)
  test(`an asset ${what} that was deleted is created again`, async () => {
    const plant = await anAsset(`plant ${what}`);
    const childrenOf = (id: number) => server.ask.v06(`GET /assets/children?parentId=${id}`);
    const deleteLine = async () => {
      const ids = idsOf(await childrenOf(plant));
      const { status } = await server.ask.v06("POST /assets/delete", { items: ids });
      assert.equal(status, 200);
    };
    const series = [
      { name: `first ${what}`, assetPath: ["line", "press"] },
      { name: `second ${what}`, assetPath },
    ];
    const { counts } = await forwarded(plant, series, { between: deleteLine });
    assert.deepEqual(counts, { written: 2, refused: 0, waiting: 0 });
    let [parent] = [plant];
    for (const name of assetPath) {
      const { items } = await childrenOf(parent);
      assert.deepEqual(
        items.map((item) => item["name"]),
        [name],
      );
      parent = items[0]!["id"] as number;
    }
    const { items } = await server.ask.v06(`GET /timeseries?assetId=${parent}`);
    assert.deepEqual(
      items.map((item) => item["name"]),
      [`second ${what}`],
    );
  });

test("a series has the type of the first value that waits; others are refused", async () => {
  const below = await anAsset("plant of two types");
  const description = { name: "two-types" };
  const later = [{ series: { ...description, isString: true }, timestamp: 2, value: "n/a" }];
  const { counts } = await forwarded(below, [description], { later });
  assert.deepEqual(counts, { written: 1, refused: 1, waiting: 0 });
  const { items } = await server.ask.v06("GET /timeseries/data/two-types?start=0");
  assert.deepEqual(items[0]!["datapoints"], [{ timestamp: 1, value: 1 }]);
});

test("an invalid series below new assets is refused, and the next one is written", async () => {
  const plant = await anAsset("plant of an invalid series");
  const series = [
    { name: "x".repeat(10_000), assetPath: ["line"] },
    { name: "valid", assetPath: ["line"] },
  ];
  const { counts } = await forwarded(plant, series);
  assert.deepEqual(counts, { written: 1, refused: 1, waiting: 0 });
});

test("the points stay if an asset is deleted each time before its children are listed", async () => {
  const unknown = (name: string, status: number) =>
    new ServerProblem("unknown", { status, error: { code: status, notFound: [name] } });
  const json = async (_method: string, path: string) => {
    if (path.startsWith("assets/children")) throw unknown("7", 404);
    if (path.startsWith("assets/")) return {};
    throw unknown("new", 404);
  };
  const connection = { json, pathOf: (resource: string) => resource } as unknown as Connection;
  const below = { name: "test", prefix: "", asset: 1, createSeries: true, createAssets: true };
  const series = { name: "new", assetPath: ["line"] };
  const batch = [{ series, times: Float64Array.of(1), values: Float64Array.of(1) }];
  await assert.rejects(new Destination(connection, below).insert(batch), (problem: ServerProblem) => {
    assert.deepEqual([problem.status, problem.error], [undefined, {}], "it is not about records");
    return true;
  });
});
