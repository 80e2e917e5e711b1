// Restrictions of model hosting: switched off, with fewer rights, across a stop and a crash.
import assert from "node:assert/strict";
import { chmodSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { pino } from "pino";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { hosting, modelHosting, runDue, waitForSeries } from "../../../test/support/model-hosting.ts";
import { startTestServer, type TestServer } from "../../../test/support/server.ts";
import { packageOf } from "../../../test/support/source-package.ts";
import { realSystem } from "../../lib/system.ts";
import { modelRoutes } from "./models.rest.ts";
import { scheduleRunTable } from "./schedules/schema.ts";
import { versionTable } from "./schema.ts";

test("while it is off, or without Python, each operation is refused and says what to do", async (t) => {
  const off = await startTestServer();
  t.after(() => off.close());
  for (const { method, path } of modelRoutes) {
    const address = path.replaceAll(/\{\w+\}/g, "1").replace("/analytics/models", "");
    const { send } = modelHosting(off);
    const names = { name: "n", packageName: "p", modelId: 1, sourcePackageId: 1, trainingDetails: {} };
    const dataSpec = { stride: 1, windowSize: 1, output: { timeSeries: { a: { id: 1 } } } };
    const update = { description: { set: "d" } };
    const whole = path.endsWith("/update") ? update : { ...names, instances: [], dataSpec };
    const body = method === "GET" ? undefined : whole;
    const response = await send(`${method} ${address}`, body);
    assert.equal(response.status, 400, `${method} ${path}`);
    assert.match(response.error!.message, /^Model hosting is off.*MILLRACE_MODELS=on enables it$/);
  }
});

test("on a server that runs as root without bubblewrap, each operation is refused; its log says why", {
  skip: process.getuid?.() !== 0 && "needs root",
}, async () => {
  const path = process.env["PATH"];
  const folder = temporaryFolder();
  chmodSync(folder, 0o755);
  symlinkSync("/usr/bin/python3", join(folder, "python3"));
  process.env["PATH"] = folder;
  const lines: string[] = [];
  const log = pino({ level: "info" }, { write: (line: string) => void lines.push(line) });
  const asRoot = await startTestServer({ hostsModels: true, log });
  process.env["PATH"] = path;
  const response = await modelHosting(asRoot).send("POST ", { name: "n" });
  assert.equal(response.status, 400);
  assert.match(response.error!.message, /^Model hosting needs bubblewrap on a server that runs as root/);
  const told = lines.map((line) => JSON.parse(line)).find(({ msg }) => /^Model hosting/.test(msg));
  assert.deepEqual([told?.level, told?.flaw], [50, "bubblewrap is not installed"]);
  assert.match(told?.msg, /^Model hosting is refused: as root/);
  await asRoot.close();
});

const minuteMs = 60_000;
const firstMs = Date.UTC(2026, 0, 1);
let nowMs = firstMs;
const system = { ...realSystem, nowMs: () => nowMs };

let server: TestServer;
let projectId = 0;
before(async () => {
  server = await startTestServer({ system, hostsModels: true });
  projectId = (await server.app.services.keys.callerOf(server.key))!.projectId;
});
after(() => server.close());

let names = 0;
async function newSeries(): Promise<number> {
  const response = await server.ask.v06("POST /timeseries", { items: [{ name: `series ${++names}` }] });
  return response.items[0]!["id"] as number;
}

/** A key of a new account with these rights. */
const keyWith = (...capabilities: readonly object[]) => keyUntil(undefined, capabilities);

async function keyUntil(expiresTime: number | undefined, capabilities: readonly object[]): Promise<string> {
  const made = async (path: string, item: object) =>
    (await server.ask.v06(`POST /${path}`, { items: [item] })).items[0]!;
  const group = await made("groups", { name: "some", capabilities });
  const user = await made("users", { uniqueName: `account ${++names}`, groups: [group["id"]] });
  return (await made("apikeys", { userId: user["id"], expiresTime }))["value"] as string;
}

const hostingAcl = { modelHostingAcl: { actions: ["READ", "WRITE"], scope: { all: {} } } };
const series = { timeSeriesAcl: { actions: ["READ", "WRITE"], scope: { all: {} } } };

const scheduleOf = (modelId: number, from: number, to: number) => ({
  ...{ name: "s", modelId, args: {} },
  dataSpec: {
    input: { timeSeries: { a: { id: from } } },
    output: { timeSeries: { out: { id: to, offset: 0 } } },
    ...{ stride: 10 * minuteMs, windowSize: 10 * minuteMs, start: nowMs + 10 * minuteMs },
  },
});

const telling = `class Model:
  def predict(self, instance, api_key): return api_key
`;
const silent = `class Model:
  def predict(self, instance): return {"timeSeries": {}}
`;

describe("rights", hosting, () => {
  test("code gets a key of the caller's that ends with the run", async () => {
    const { deployed, sent } = modelHosting(server);
    const { model } = await deployed(telling);
    const [key] = (await sent(`PUT /${model}/predict`, { instances: [1] }))["predictions"] as string[];
    assert.match(key!, /^mr_/);
    assert.equal((await server.ask("GET /timeseries", undefined, { "api-key": key })).status, 401);
    assert.equal((await server.ask.v06("GET /apikeys?all=true")).items.length, 1);
  });

  test("code of a user with fewer rights gets no key; an administrator's and one's own do", async () => {
    const [author, reader] = [await keyWith(hostingAcl), await keyWith(hostingAcl, series)];
    const byAuthor = await modelHosting(server, author).deployed(telling);
    const byReader = await modelHosting(server, reader).deployed(telling);
    const byAdministrator = await modelHosting(server).deployed(telling);
    const keyGiven = async (key: string, { model }: { model: number }) => {
      const response = await modelHosting(server, key).sent(`PUT /${model}/predict`, { instances: [1] });
      return (response["predictions"] as (string | null)[])[0] !== null;
    };
    assert.equal(await keyGiven(author, byAuthor), true);
    assert.equal(await keyGiven(author, byReader), true);
    assert.equal(await keyGiven(author, byAdministrator), true);
    assert.equal(await keyGiven(reader, byAuthor), false);
    assert.equal(await keyGiven(reader, byReader), true);
    assert.equal(await keyGiven(server.key, byReader), false);
  });

  test("one artifact of a user with fewer rights is enough", async () => {
    const author = modelHosting(server, await keyWith(hostingAcl));
    const { newModel, newPackage, sent, settled } = modelHosting(server);
    const [model, sourcePackageId] = [await newModel(), await newPackage(await packageOf(telling))];
    const made = await sent(`POST /${model}/versions`, { name: "v", sourcePackageId });
    const place = `/${model}/versions/${made["id"]}`;
    await author.sent(`POST ${place}/artifacts/upload`, { name: "a.txt" });
    await sent(`POST ${place}/deploy`, {});
    await settled(place);
    assert.deepEqual((await sent(`PUT ${place}/predict`, { instances: [1] }))["predictions"], [null]);
  });

  test("a schedule needs the rights on its series, when it is made and at each run", async () => {
    const [from, to] = [await newSeries(), await newSeries()];
    const { model } = await modelHosting(server).deployed(silent);
    const blind = await modelHosting(server, await keyWith(hostingAcl)).send(
      "POST /schedules",
      scheduleOf(model, from, to),
    );
    assert.equal(blind.status, 403);
    const key = await keyWith(hostingAcl, series);
    const { userId } = (await server.app.services.keys.callerOf(key))!;
    const { sent } = modelHosting(server, key);
    const id = (await sent("POST /schedules", scheduleOf(model, from, to)))["id"];
    nowMs += 10 * minuteMs;
    await runDue(server);
    assert.equal((await sent(`GET /schedules/${id}/runs`))["status"], "SUCCEEDED");
    await server.ask.v06("POST /users/delete", { items: [userId] });
    nowMs += 10 * minuteMs;
    await runDue(server);
    const run = await modelHosting(server).sent(`GET /schedules/${id}/runs`);
    assert.deepEqual(
      [run["status"], run["errorMsg"]],
      ["FAILED", "The service account of this request was deleted"],
    );
  });

  test("a schedule's data is not passed to code of a user who may not read it", async () => {
    const [from, to] = [await newSeries(), await newSeries()];
    const author = modelHosting(server, await keyWith(hostingAcl));
    const { model } = await author.deployed(silent);
    const { sent } = modelHosting(server);
    const id = (await sent("POST /schedules", scheduleOf(model, from, to)))["id"];
    nowMs += 10 * minuteMs;
    await runDue(server);
    const { errorMsg } = await sent(`GET /schedules/${id}/runs`);
    assert.equal(
      errorMsg,
      "An author of the active version may not use the series and files of this schedule",
    );
  });

  test("packages and artifacts are no files of the project", async () => {
    await modelHosting(server).deployed(silent);
    assert.deepEqual((await server.ask("GET /files")).items, []);
  });

  test("links to packages and artifacts end with the key that requested them", async () => {
    const { newModel, newPackage, sent } = modelHosting(
      server,
      await keyUntil(nowMs + minuteMs, [hostingAcl]),
    );
    const urlOf = async (methodAndPath: string, body?: object) => {
      const { uploadUrl, downloadUrl } = await sent(methodAndPath, body);
      return (uploadUrl ?? downloadUrl) as string;
    };
    const put = async (url: string) => (await fetch(url, { method: "PUT", body: "bytes" })).status;
    const get = async (url: string) => (await fetch(url)).status;
    const [model, sourcePackageId] = [await newModel(), await newPackage(await packageOf(silent))];
    const version = await sent(`POST /${model}/versions`, { name: "v", sourcePackageId });
    const artifacts = `/${model}/versions/${version["id"]}/artifacts`;
    assert.equal(await put(await urlOf(`POST ${artifacts}/upload`, { name: "a.txt" })), 200);
    const uploads = [
      await urlOf("POST /sourcepackages", { name: "p", packageName: "p" }),
      await urlOf(`POST ${artifacts}/upload`, { name: "b.txt" }),
    ];
    const downloads = [
      await urlOf(`GET /sourcepackages/${sourcePackageId}/code`),
      await urlOf(`GET ${artifacts}/a.txt`),
    ];
    const beginMs = nowMs;
    try {
      nowMs += minuteMs;
      for (const url of downloads) assert.equal(await get(url), 200);
      nowMs += 1;
      for (const url of downloads) assert.equal(await get(url), 403, url);
      for (const url of uploads) assert.equal(await put(url), 403, url);
    } finally {
      nowMs = beginMs;
    }
  });
});

describe("artifacts", hosting, () => {
  const trained = async (body: string) => {
    const { newModel, newPackage, sent, send, settled } = modelHosting(server);
    const code = `import os, sys
class Model:
  @staticmethod
  def train(open_artifact, folder):
    open_artifact("good", "w").write("learnt")
    ${body.replaceAll("\n", "\n    ")}
`;
    const [model, sourcePackageId] = [await newModel(), await newPackage(await packageOf(code))];
    const trainingDetails = { args: { folder: server.dataFolder } };
    const version = { name: "v", sourcePackageId, trainingDetails };
    const place = `/${model}/versions/${(await sent(`POST /${model}/versions/train`, version))["id"]}`;
    const { status, errorMsg } = await settled(place);
    const { items } = await send(`GET ${place}/artifacts`);
    return { status, errorMsg, names: items.map(({ name }) => name) };
  };

  test("are not read from the data folder through a link that replaces their folder", async () => {
    const body = 'os.rename("artifacts", "x")\nos.symlink(folder, "artifacts")';
    const { names, status, errorMsg } = await trained(body);
    assert.deepEqual([names, status], [[], "FAILED"]);
    assert.match(errorMsg as string, /^The artifacts cannot be read/);
  });

  test("are none when the training fails after some have come", async () => {
    const { names, status, errorMsg } = await trained('os.mkfifo("artifacts/pipe")');
    assert.deepEqual([names, status], [[], "FAILED"]);
    assert.equal(errorMsg, "The artifact pipe is neither a file nor a folder");
  });

  test("are none with names that lead elsewhere, which the code writes itself", async () => {
    const name = "artifacts/../../escaped";
    const body = `forged = b"\\0" + bytes([${name.length}]) + b"${name}" + bytes(3) + b"\\1x" + bytes(4)
for descriptor in range(3, 9):
  try:
    os.write(descriptor, forged)
  except OSError:
    pass`;
    const { names, status, errorMsg } = await trained(body);
    assert.deepEqual([names, status], [[], "FAILED"]);
    assert.equal(errorMsg, 'No artifact can have the name "../../escaped"');
  });
});

describe("a stop of the server", hosting, () => {
  test("gives a window back whose output was not begun; it is run once when the server is back", async () => {
    const [from, to] = [await newSeries(), await newSeries()];
    const code = `${waitForSeries}
class Model:
  def predict(self, instance):
    wait_for_series("end-of-the-run")
    return {"timeSeries": {"out": [[instance["timeSeries"]["a"]["end"], 1]]}}
`;
    const { deployed, sent, send } = modelHosting(server);
    const { model } = await deployed(code);
    const id = (await sent("POST /schedules", scheduleOf(model, from, to)))["id"];
    nowMs += 10 * minuteMs;
    const running = runDue(server);
    while ((await send(`GET /schedules/${id}/runs`)).items.length === 0) await delay(20);
    await server.restart();
    await running;
    assert.deepEqual((await send(`GET /schedules/${id}/runs`)).items, []);
    await server.ask("POST /timeseries", { items: [{ name: "end-of-the-run" }] });
    await runDue(server);
    await runDue(server);
    const { items } = await send(`GET /schedules/${id}/runs`);
    assert.deepEqual(
      items.map(({ windowEnd, status }) => [windowEnd, status]),
      [[nowMs, "SUCCEEDED"]],
    );
  });

  test("by a crash fails what was running, and begins what was waiting", async () => {
    const { newModel, newPackage, sent, settled } = modelHosting(server);
    const [model, sourcePackageId] = [await newModel(), await newPackage(await packageOf(silent))];
    const places: string[] = [];
    for (const name of ["running", "waiting"]) {
      const { id } = await sent(`POST /${model}/versions`, { name, sourcePackageId });
      places.push(`/${model}/versions/${id}`);
      const started = name === "running" ? { jobStartedTime: nowMs } : {};
      await server.app.services.catalog.write(projectId, async (tx) => {
        const [row] = await tx.get(versionTable, [id as number]);
        await tx.replace(versionTable, [{ ...row!, status: "DEPLOYING", ...started }]);
      });
    }
    const runId = server.app.services.ids.next();
    const span = { windowStart: 0, windowEnd: 1, startedTime: nowMs };
    await server.app.services.catalog.write(projectId, (tx) =>
      tx.insert(scheduleRunTable, [{ id: runId, scheduleId: 1, status: "RUNNING", ...span }]),
    );
    await server.restart();
    const [running, waiting] = [await settled(places[0]!), await settled(places[1]!)];
    assert.equal(waiting["status"], "READY");
    assert.equal(running["status"], "FAILED");
    assert.match(running["errorMsg"] as string, /^The server stopped while this ran/);
    const [run] = await server.app.services.catalog.read(projectId, (tx) =>
      tx.get(scheduleRunTable, [runId]),
    );
    assert.deepEqual([run!.status, run!.problem], ["FAILED", "The server stopped while this ran"]);
    await sent(`POST ${places[0]}/deploy`, {});
    assert.equal((await settled(places[0]!))["status"], "READY");
  });
});

describe("a schedule that has missed very many windows", hosting, () => {
  test("skips the oldest, and lists that", async () => {
    const { newModel, sent, send } = modelHosting(server);
    // Those of other tests would have missed as many.
    for (const { id } of (await send("GET /schedules")).items) await sent(`DELETE /schedules/${id}`);
    const input = scheduleOf(await newModel(), await newSeries(), await newSeries());
    const id = (await sent("POST /schedules", input))["id"];
    nowMs = input.dataSpec.start + 1_004 * 10 * minuteMs;
    const running = runDue(server);
    let runs = await send(`GET /schedules/${id}/runs`);
    while (runs.items.length < 2) runs = await send(`GET /schedules/${id}/runs`);
    await sent(`DELETE /schedules/${id}`);
    await running;
    const [skipped, first] = runs.items.toReversed();
    const fiveWindows = input.dataSpec.start + 4 * 10 * minuteMs;
    assert.deepEqual([skipped!["status"], skipped!["windowEnd"]], ["SKIPPED", fiveWindows]);
    assert.equal(first!["windowEnd"], fiveWindows + 10 * minuteMs);
    assert.equal((await send(`GET /schedules/${id}`)).status, 404);
  });
});
