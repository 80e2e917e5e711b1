// Background work of servers that share a catalog, in processes of their own: it runs once, continues when
// its server is killed, and a server that hung writes nothing for work that another one took over.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { temporaryFolder } from "../support/folder.ts";
import { hosting, modelHosting, waitForSeries } from "../support/model-hosting.ts";
import { needs } from "../support/needs.ts";
import { type PostgresServer, startPostgres, statement } from "../support/postgres.ts";
import { endLeftProcesses, serveMillrace } from "../support/process.ts";
import { testS3 } from "../support/s3-store.ts";
import type { Ask, AskFunction, Item, TestResponse } from "../support/server.ts";
import { packageOf } from "../support/source-package.ts";

const adminKey = "a-key-of-all-servers-with-enough-letters";
const leaseMs = 15_000;
/** Only a fault lasts as long: a busy machine takes minutes for steps that else take the time of a lease. */
const untilMsMax = 16 * leaseMs;

interface Server extends Awaited<ReturnType<typeof serveMillrace>> {
  readonly ask: Ask;
}

/** Version 0.6 of another process; responses are not compared with the description. */
function asking(baseUrl: string): AskFunction {
  return async (methodAndPath, body) => {
    const [method, path] = methodAndPath.split(" ");
    const response = await fetch(`${baseUrl}/api/0.6/projects/default${path}`, {
      method: method!,
      headers: { "api-key": adminKey, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const json = text.startsWith("{") ? JSON.parse(text) : undefined;
    const { status } = response;
    return { status, text, json, items: json?.data?.items ?? [], error: json?.error } as TestResponse;
  };
}

/** Repeats until the result is as wanted. */
async function until<Result>(
  read: () => Promise<Result>,
  isWanted: (result: Result) => boolean,
): Promise<Result> {
  const endMs = performance.now() + untilMsMax;
  for (;;) {
    const result = await read();
    if (isWanted(result)) return result;
    if (performance.now() > endMs) assert.fail(`after ${untilMsMax} ms: ${JSON.stringify(result)}`);
    await pause(100);
  }
}

// Each test has its own servers and mostly waits, for leases and for the windows of a schedule.
const options = { ...needs("postgresql"), ...(hosting.skip && hosting), concurrency: 2 };
describe("background work", options, () => {
  let postgres: PostgresServer;
  before(async () => {
    postgres = await startPostgres();
  });
  after(() => {
    endLeftProcesses();
    postgres.remove();
  });

  /** A new catalog and bucket; the function starts a server on them. */
  async function newInstallation(name: string, more: Readonly<Record<string, string>> = {}) {
    await statement(postgres.url("postgres"), `create database ${name}`);
    const { location, credentials } = (await testS3()).place();
    const environment = {
      MILLRACE_CATALOG: postgres.url(name),
      MILLRACE_BLOBS: `s3://${location.bucket}/${location.prefix}?endpoint=${location.endpoint}`,
      AWS_ACCESS_KEY_ID: credentials!.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials!.secretAccessKey,
      MILLRACE_MODELS: "on",
      MILLRACE_OUTBOUND_NETWORKS: "127.0.0.0/8",
      ...more,
    };
    return async (): Promise<Server> => {
      const server = await serveMillrace(environment, temporaryFolder());
      const v06 = asking(server.baseUrl);
      return { ...server, ask: Object.assign(v06, { v04: v06, v05: v06, v06, root: v06 }) };
    };
  }

  /** A schedule with windows of this length that writes one point a window; the code runs before. */
  async function newSchedule(server: Server, body: string, strideMs: number) {
    const { deployed, sent } = modelHosting(server);
    const made = await server.ask.v06("POST /timeseries", { items: [{ name: "in" }, { name: "out" }] });
    const [from, to] = made.items.map(({ id }) => id as number);
    const code = `${waitForSeries}
class Model:
  def predict(self, instance):
    ${body}
    return {"timeSeries": {"out": [[instance["timeSeries"]["a"]["end"], 1]]}}
`;
    const { model } = await deployed(code);
    const schedule = await sent("POST /schedules", {
      ...{ name: "s", modelId: model, args: {} },
      dataSpec: {
        input: { timeSeries: { a: { id: from } } },
        output: { timeSeries: { out: { id: to, offset: 0 } } },
        ...{ stride: strideMs, windowSize: strideMs, start: Date.now() },
      },
    });
    return schedule["id"] as number;
  }

  const runsOf = async (server: Server, schedule: number): Promise<readonly Item[]> =>
    (await server.ask.v06(`GET /analytics/models/schedules/${schedule}/runs?limit=1000`)).items;

  const pointsOf = async (server: Server): Promise<number[]> =>
    (await server.ask.v06("GET /timeseries/data/out?start=0&limit=10000")).items.flatMap((one) =>
      (one["datapoints"] as { timestamp: number }[]).map(({ timestamp }) => timestamp),
    );

  test("of two servers that start a new catalog at once, one makes the administrator's key", async () => {
    const start = await newInstallation("first_start");
    const servers = await Promise.all([start(), start()]);
    const keys = servers.flatMap(({ output }) =>
      [...output().matchAll(/API key +(mr_\S+)/g)].map(([, key]) => key!),
    );
    assert.equal(keys.length, 1, servers.map(({ output }) => output()).join());
    for (const { baseUrl } of servers) {
      const url = `${baseUrl}/api/0.6/projects/default/apikeys`;
      const listed = await fetch(url, { headers: { "api-key": keys[0]! } });
      assert.equal(listed.status, 200);
      assert.equal(((await listed.json()) as { data: { items: unknown[] } }).data.items.length, 1);
    }
    for (const { child } of servers) child.kill("SIGKILL");
  });

  test("each window of a schedule runs once, on one of two servers", async () => {
    const start = await newInstallation("windows", { MILLRACE_ADMIN_KEY: adminKey });
    const [one, two] = [await start(), await start()];
    const schedule = await newSchedule(one, "time.sleep(0.1)", 1_000);
    const ended = (runs: readonly Item[]) => runs.filter(({ status }) => status !== "RUNNING");
    const runs = ended(
      await until(
        () => runsOf(two, schedule),
        (runs) => ended(runs).length >= 15,
      ),
    );
    assert.deepEqual(new Set(runs.map(({ status }) => status)), new Set(["SUCCEEDED"]));
    const ends = runs.map(({ windowEnd }) => windowEnd as number).toSorted((a, b) => a - b);
    assert.deepEqual(
      ends,
      ends.map((_, at) => ends[0]! + at * 1_000),
      "no window twice, none missing",
    );
    const written = [...(await pointsOf(one)), ...(await pointsOf(two))];
    assert.equal(new Set(written).size, written.length, "no output written by both");
    for (const end of ends) assert.ok(written.includes(end));
    for (const { child } of [one, two]) child.kill("SIGKILL");
  });

  test("after kill -9 of a server, the other one continues its work, or says that it failed", async () => {
    const start = await newInstallation("killed", { MILLRACE_ADMIN_KEY: adminKey });
    const [one, two] = [await start(), await start()];
    const { newModel, newPackage, sent } = modelHosting(one);
    const code = "import time\ntime.sleep(600)\nclass Model:\n  def predict(self, instance): return 1\n";
    const [model, sourcePackageId] = [await newModel(), await newPackage(await packageOf(code))];
    const { id } = await sent(`POST /${model}/versions`, { name: "slow", sourcePackageId });
    await sent(`POST /${model}/versions/${id}/deploy`, {});
    const place = `GET /${model}/versions/${id}`;
    assert.equal((await modelHosting(two).sent(place))["status"], "DEPLOYING");
    const demo = async (server: Server) => (await server.ask.v06("GET /demo")).items[0]!;
    assert.equal((await one.ask.v06("POST /demo", { days: 10 })).status, 200);
    await until(
      () => demo(one),
      ({ percent }) => Number(percent) >= 2,
    );
    assert.equal((await demo(two))["status"], "RUNNING");
    one.child.kill("SIGKILL");
    const failed = await until(
      () => modelHosting(two).sent(place),
      ({ status }) => status !== "DEPLOYING",
    );
    assert.equal(failed["status"], "FAILED");
    assert.match(failed["errorMsg"] as string, /^The server stopped while this ran/);
    const isLoaded = ({ status, isLive }: Item) => status === "DONE" && isLive === true;
    await until(() => demo(two), isLoaded);
    for (const { child } of [two]) child.kill("SIGKILL");
  });

  test("a server that hung writes nothing for a window that another one has given up", async () => {
    const start = await newInstallation("hung", { MILLRACE_ADMIN_KEY: adminKey });
    const one = await start();
    const schedule = await newSchedule(one, `wait_for_series("end")`, 600_000);
    const status = async (server: Server) => (await runsOf(server, schedule))[0]?.["status"];
    await until(
      () => status(one),
      (now) => now === "RUNNING",
    );
    one.child.kill("SIGSTOP");
    const stoppedMs = performance.now();
    const two = await start();
    const early = await status(two);
    if (performance.now() - stoppedMs < leaseMs / 2)
      assert.equal(early, "RUNNING", "a start takes nothing over");
    assert.equal(
      await until(
        () => status(two),
        (now) => now !== "RUNNING",
      ),
      "FAILED",
    );
    one.child.kill("SIGCONT");
    await until(
      () => one.ask.v06("POST /timeseries", { items: [{ name: "end" }] }),
      ({ status }) => status === 200,
    );
    await pause(3_000);
    assert.deepEqual(await pointsOf(one), []);
    const [run, ...others] = await runsOf(one, schedule);
    assert.deepEqual([run!["status"], run!["errorMsg"]], ["FAILED", "The server stopped while this ran"]);
    assert.deepEqual(others, []);
    // It has a new lease, so that it runs the windows of another schedule.
    two.child.kill("SIGKILL");
    const { sent } = modelHosting(one);
    const again = await sent(`GET /schedules/${schedule}`);
    const { name, modelId, args, dataSpec } = again;
    const spec = { ...(dataSpec as object), start: Date.now() };
    const { id } = await sent("POST /schedules", { name, modelId, args, dataSpec: spec });
    const [later] = await until(
      () => runsOf(one, id as number),
      ([latest]) => latest?.["status"] === "SUCCEEDED",
    );
    assert.deepEqual(await pointsOf(one), [later!["windowEnd"]]);
    one.child.kill("SIGKILL");
  });
});
