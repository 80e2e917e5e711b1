// Model hosting over the API: a package is uploaded, trained, used for predictions, and scheduled.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { hosting, modelHosting, runDue } from "../../../test/support/model-hosting.ts";
import { type Item, startTestServer, type TestServer } from "../../../test/support/server.ts";
import { fixturePackage, packageOf } from "../../../test/support/source-package.ts";
import { realSystem } from "../../lib/system.ts";

const minuteMs = 60_000;
const firstMs = Date.UTC(2026, 0, 1);

/** The server's clock stands where a test sets it. */
let nowMs = Date.UTC(2026, 0, 2);
const system = { ...realSystem, nowMs: () => nowMs };

let server: TestServer;
let { send, sent, newPackage, newModel, deployed, settled } = {} as ReturnType<typeof modelHosting>;
before(async () => {
  server = await startTestServer({ system, hostsModels: true });
  ({ send, sent, newPackage, newModel, deployed, settled } = modelHosting(server));
});
after(() => server.close());

let names = 0;
async function newSeries(points: readonly (readonly [number, number])[] = []): Promise<number> {
  const name = `series ${++names}`;
  const [series] = (await server.ask.v06("POST /timeseries", { items: [{ name }] })).items;
  const items = points.map(([timestamp, value]) => ({ timestamp, value }));
  if (items.length > 0) await server.ask(`POST /timeseries/data/${encodeURIComponent(name)}`, { items });
  return series!["id"] as number;
}

async function pointsOf(id: number): Promise<(readonly [number, number])[]> {
  const response = await server.ask(`GET /timeseries/${id}/data?start=0&end=${firstMs * 2}&limit=10000`);
  assert.equal(response.status, 200, response.text);
  const points = response.items[0]!["datapoints"] as { timestamp: number; value: number }[];
  return points.map(({ timestamp, value }) => [timestamp, value]);
}

async function runsOf(schedule: number): Promise<Item[]> {
  const response = await send(`GET /schedules/${schedule}/runs`);
  return [...response.items].reverse();
}

const level = (count: number) =>
  Array.from({ length: count }, (_, i) => [firstMs + i * minuteMs, 10 + (i % 2)] as const);

describe("a package on its way to a prediction", hosting, () => {
  test("is trained with its caller's key, deployed, used for a prediction, and read back", async () => {
    const series = await newSeries(level(100));
    const sourcePackageId = await newPackage(await fixturePackage("deviation"), "deviation");
    assert.equal((await sent(`GET /sourcepackages/${sourcePackageId}`))["isUploaded"], true);
    const model = await newModel();
    const data_spec = {
      timeSeries: { level: { id: series, start: firstMs, end: firstMs + 100 * minuteMs } },
    };
    const trainingDetails = { sourcePackageId, args: { data_spec, unknown: null }, scaleTier: "BASIC" };
    const made = await sent(`POST /${model}/versions/train`, {
      name: "v1",
      sourcePackageId,
      trainingDetails,
    });
    assert.deepEqual([made["status"], made["errorMsg"]], ["TRAINING", null]);
    const place = `/${model}/versions/${made["id"]}`;
    const version = await settled(place);
    assert.deepEqual([version["status"], version["errorMsg"]], ["READY", null]);
    const { args, ...details } = version["trainingDetails"] as Item;
    assert.deepEqual(args, trainingDetails.args);
    assert.deepEqual(details, {
      sourcePackageId,
      scaleTier: "BASIC",
      machineType: null,
      completedTime: nowMs,
    });

    assert.deepEqual(await sent(`PUT ${place}/predict`, { instances: [10.5, 11], args: {} }), {
      predictions: [0, 1],
    });
    const noVersion = await send(`PUT /${model}/predict`, { instances: [1] });
    assert.equal(
      noVersion.error?.message,
      "The model quality has no active version; set its activeVersionId",
    );
    await sent(`PUT /${model}/update`, { activeVersionId: { set: made["id"] } });
    assert.deepEqual((await sent(`PUT /${model}/predict`, { instances: [12] }))["predictions"], [3]);

    const { items: artifacts } = await send(`GET ${place}/artifacts`);
    assert.deepEqual(
      artifacts.map(({ name }) => name),
      ["learnt/numbers.json"],
    );
    const { downloadUrl } = await sent(`GET ${place}/artifacts/learnt/numbers.json`);
    const learnt = await (await fetch(downloadUrl as string)).json();
    assert.deepEqual(learnt, { middle: 10.5, spread: 0.5 });
    assert.deepEqual(await sent(`GET ${place}/log?logType=both`), {
      train: ["read 100 points of level"],
      predict: [],
    });
    assert.equal((await send("GET /sourcepackages")).items.length > 0, true);
  });

  test("is read beside data as well, where the oldest clients look", async () => {
    const { model, place } = await deployed("class Model:\n  def predict(self, instance): return instance\n");
    const { json } = await send(`GET ${place}`);
    const { data, ...beside } = json as { data: { items: Item[] } };
    assert.deepEqual(data.items, [beside]);
    const list = (await send(`GET /${model}/versions`)).json as { data: { items: Item[] }; items: Item[] };
    assert.deepEqual(list.items, list.data.items);
    const predicted = (await send(`PUT ${place}/predict`, { instances: [1] })).json;
    assert.deepEqual(predicted, { data: { predictions: [1] }, predictions: [1] });
    const created = await send("POST /sourcepackages", { name: "s", packageName: "p" });
    const { data: members, ...rest } = created.json as { data: Item };
    const same: Item = rest;
    assert.deepEqual(members, same);
    assert.ok(same["id"] && same["uploadUrl"]);
  });

  test("that fails is told with 200, and its traceback is in the log", async () => {
    const { model, place } = await deployed(
      "class Model:\n  def predict(self, instance): raise ValueError(instance)\n",
    );
    const response = await send(`PUT /${model}/predict`, { instances: ["no such thing"] });
    assert.equal(response.status, 200);
    assert.deepEqual(response.json, { error: { message: "ValueError: no such thing", code: 500 } });
    const { predict, train } = await sent(`GET ${place}/log?logType=predict`);
    assert.equal((predict as string[])[0], "Traceback (most recent call last):");
    assert.deepEqual(train, []);
    assert.deepEqual(await sent(`GET ${place}/log?logType=train`), { predict: [], train: [] });
  });

  test("shows its log while it trains, and stops when it is deleted", async () => {
    const code = await packageOf(`
import os, time
class Model:
  @staticmethod
  def train(file_io):
    print("first")
    while not os.path.exists("never"): time.sleep(0.05)
  def predict(self, instance): return instance
`);
    const sourcePackageId = await newPackage(code);
    const model = await newModel();
    const body = { name: "long", trainingDetails: { sourcePackageId, args: {} } };
    const place = `/${model}/versions/${(await sent(`POST /${model}/versions/train`, body))["id"]}`;
    const log = () => sent(`GET ${place}/log`);
    while (((await log())["train"] as string[]).length === 0) await delay(20);
    assert.deepEqual(await log(), { train: ["first"], predict: [] });
    assert.deepEqual(await sent(`GET ${place}/log?logType=predict`), { train: [], predict: [] });
    assert.equal((await sent(`GET ${place}`))["status"], "TRAINING");
    assert.equal((await send(`DELETE ${place}`)).status, 200);
    assert.equal((await send(`GET ${place}/log`)).status, 404);
  });

  test("whose training or loading fails has FAILED and says why", async () => {
    const code = `class Model:
  @staticmethod
  def train(open_artifact, reason):
    raise RuntimeError(reason)
  @staticmethod
  def load(open_artifact):
    return open_artifact("missing")
`;
    const sourcePackageId = await newPackage(await packageOf(code));
    const model = await newModel();
    const trainingDetails = { args: { reason: "too little data" } };
    const made = await sent(`POST /${model}/versions/train`, { name: "v", sourcePackageId, trainingDetails });
    const place = `/${model}/versions/${made["id"]}`;
    const failed = await settled(place);
    assert.deepEqual([failed["status"], failed["errorMsg"]], ["FAILED", "RuntimeError: too little data"]);
    const refused = await send(`PUT ${place}/predict`, { instances: [1] });
    assert.deepEqual([refused.status, refused.error?.message], [409, "The version v is FAILED, not READY"]);
    await sent(`POST ${place}/deploy`, {});
    assert.match((await settled(place))["errorMsg"] as string, /^FileNotFoundError: .*missing/);
  });

  test("is refused where it does not fit, and no version is made", async () => {
    const model = await newModel();
    const made = { name: "p", packageName: "m", availableOperations: ["PREDICT"] };
    const { id: unsent } = await sent("POST /sourcepackages", made);
    const args = { big: "x".repeat(70_000) };
    for (const [path, body, message] of [
      ["versions", { sourcePackageId: 1 }, "No such ids: 1"],
      ["versions/train", { sourcePackageId: 1, trainingDetails: {} }, "No such ids: 1"],
      ["versions/train", { trainingDetails: {} }, "Missing required field - sourcePackageId"],
      [
        "versions/train",
        { sourcePackageId: unsent, trainingDetails: {} },
        "The source package p has no TRAIN in availableOperations",
      ],
      [
        "versions/train",
        { sourcePackageId: unsent, trainingDetails: { args } },
        "Invalid field - trainingDetails.args - expected a value that has at most 65536 characters as JSON " +
          "but got object",
      ],
    ] as const) {
      const response = await send(`POST /${model}/${path}`, { name: "v", ...body });
      assert.deepEqual([response.status, response.error?.message], [400, message]);
    }
    const { id } = await sent(`POST /${model}/versions`, { name: "v", sourcePackageId: unsent });
    const early = await send(`POST /${model}/versions/${id}/deploy`, {});
    assert.deepEqual(
      [early.status, early.error?.message],
      [400, "The bytes of the file m.tar.gz have not been uploaded yet"],
    );
    assert.equal((await send(`GET /${model}/versions`)).items.length, 1);
    assert.equal((await send("POST /1/versions", { name: "v", sourcePackageId: unsent })).status, 404);
  });

  test("gets artifacts from its author until it is deployed", async () => {
    const code = `class Model:
  def __init__(self, text): self.text = text
  @staticmethod
  def load(file_io): return Model(file_io("sub_dir/a.txt").read())
  def predict(self, instance): return self.text + instance
`;
    const sourcePackageId = await newPackage(await packageOf(code));
    const model = await newModel();
    const made = await sent(`POST /${model}/versions`, { name: "v", sourcePackageId });
    const place = `/${model}/versions/${made["id"]}`;
    const upload = async (name: string) => sent(`POST ${place}/artifacts/upload`, { name });
    for (const text of ["first", "second"]) {
      const { uploadUrl } = await upload("sub_dir/a.txt");
      assert.equal((await fetch(uploadUrl as string, { method: "PUT", body: text })).status, 200);
    }
    const { uploadUrl: late } = await upload("sub_dir/b.txt");
    const outside = await send(`POST ${place}/artifacts/upload`, { name: "../a.txt" });
    assert.equal(
      outside.error?.message,
      "Invalid field - name - expected a path such as folder/file.txt but got ../a.txt",
    );
    const { items } = await send(`GET ${place}/artifacts`);
    assert.deepEqual(items, [{ name: "sub_dir/a.txt", size: 6 }]);
    await sent(`POST ${place}/deploy`, {});
    assert.equal((await settled(place))["status"], "READY");
    assert.deepEqual((await sent(`PUT ${place}/predict`, { instances: ["!"] }))["predictions"], ["second!"]);
    assert.equal((await fetch(late as string, { method: "PUT", body: "late" })).status, 404);
    const after = await send(`POST ${place}/artifacts/upload`, { name: "c.txt" });
    assert.equal(after.status, 409);
    assert.equal((await send(`GET ${place}/artifacts/sub_dir/none.txt`)).status, 404);
  });

  test("is gone when its code was deleted", async () => {
    const { model, place } = await deployed("class Model:\n  def predict(self, instance): return instance\n");
    const { sourcePackageId } = await sent(`GET ${place}`);
    const source = `/sourcepackages/${sourcePackageId}`;
    const { downloadUrl } = await sent(`GET ${source}/code`);
    assert.equal((await fetch(downloadUrl as string)).status, 200);
    await sent(`DELETE ${source}/code`);
    assert.equal((await fetch(downloadUrl as string)).status, 404);
    for (const again of [`GET ${source}/code`, `DELETE ${source}/code`])
      assert.match((await send(again)).error!.message, /has been deleted$/);
    assert.equal((await sent(`GET ${source}`))["isUploaded"], false);
    assert.match((await send(`PUT /${model}/predict`, { instances: [1] })).error!.message, /deleted/);
    assert.equal((await sent(`PUT ${source}/deprecate`, {}))["isDeprecated"], true);
    await sent(`DELETE ${source}`);
    assert.equal((await send(`GET ${source}`)).status, 404);
    await sent(`DELETE /${model}`);
    assert.equal((await send(`GET ${place}`)).status, 404);
  });
});

describe("models and versions", hosting, () => {
  test("have every member, null where there is nothing, and change", async () => {
    const made = await sent("POST ", {
      name: "m",
      description: null,
      metadata: { a: "b" },
      inputFields: [{ x: 1 }],
    });
    assert.deepEqual(made, {
      ...{ id: made["id"], name: "m", project: "demo", description: null, createdTime: nowMs },
      ...{ metadata: { a: "b" }, isDeprecated: false, activeVersionId: null },
      ...{ inputFields: [{ x: 1 }], outputFields: null },
    });
    const change = { description: { set: "text" }, metadata: { set: {} } };
    const changed = await sent(`PUT /${made["id"]}/update`, change);
    assert.deepEqual(changed, { ...made, description: "text", metadata: {} });
    assert.equal((await sent(`PUT /${made["id"]}/deprecate`, {}))["isDeprecated"], true);
    assert.deepEqual(await sent(`GET /${made["id"]}`), { ...changed, isDeprecated: true });
    const foreign = await send(`PUT /${made["id"]}/update`, { activeVersionId: { set: 1 } });
    assert.deepEqual([foreign.status, foreign.error?.message], [400, "No such ids: 1"]);
    const page = await send("GET ?limit=1");
    const { nextCursor } = page.json as { nextCursor?: string };
    assert.ok(nextCursor);
    assert.equal(nextCursor, page.nextCursor);
    assert.notDeepEqual((await send(`GET ?limit=1&cursor=${nextCursor}`)).items, page.items);
  });

  test("a version is the model's own, and leaves it without an active one when it is deleted", async () => {
    const { model, version, place } = await deployed(
      "class Model:\n  def predict(self, instance): return 1\n",
    );
    const other = await newModel();
    assert.equal((await send(`GET /${other}/versions/${version}`)).status, 404);
    assert.deepEqual(
      (await send(`GET /${model}/versions`)).items.map(({ id }) => id),
      [version],
    );
    const changed = await sent(`PUT ${place}/update`, { description: { set: "one" } });
    assert.equal(changed["description"], "one");
    assert.equal((await sent(`PUT ${place}/deprecate`, {}))["isDeprecated"], true);
    const again = await send(`POST ${place}/deploy`, {});
    const needed = "AWAITING_MANUAL_DEPLOYMENT or FAILED";
    assert.deepEqual(
      [again.status, again.error?.message],
      [409, `The version first is READY, not ${needed}`],
    );
    await sent(`DELETE ${place}`);
    assert.equal((await sent(`GET /${model}`))["activeVersionId"], null);
  });
});

const echo = `class Model:
  def predict(self, instance, data, api_key, factor=1):
    points = data["timeSeries"]["a"]
    times = zip(points["timestamps"], points["values"])
    return {"timeSeries": {"out": [[t, v * factor] for t, v in times]}}
`;

/** Of windows of ten minutes, one every ten minutes, the first one ending ten minutes after `firstMs`. */
function scheduleOf(model: number, { from, to, ...times }: { from: number; to: number; slack?: number }) {
  const input = { timeSeries: { a: { id: from } } };
  const output = { timeSeries: { out: { id: to, offset: 0 } } };
  const span = { stride: 10 * minuteMs, windowSize: 10 * minuteMs, start: firstMs + 10 * minuteMs };
  return { name: "s", modelId: model, args: { factor: 2 }, dataSpec: { input, output, ...span, ...times } };
}

describe("a schedule", hosting, () => {
  test("runs each window once, in order, also those that were missed", async () => {
    const { model } = await deployed(echo);
    const [from, to] = [await newSeries(level(60)), await newSeries()];
    nowMs = firstMs;
    const newSchedule = scheduleOf(model, { from, to });
    const schedule = await sent("POST /schedules", newSchedule);
    assert.deepEqual([schedule["args"], schedule["dataSpec"]], [newSchedule.args, newSchedule.dataSpec]);
    const id = schedule["id"] as number;
    await runDue(server);
    assert.deepEqual(await runsOf(id), []);
    nowMs = firstMs + 35 * minuteMs;
    await Promise.all([runDue(server), runDue(server)]);
    await runDue(server);
    const runs = await runsOf(id);
    const ends = [10, 20, 30].map((minutes) => firstMs + minutes * minuteMs);
    assert.deepEqual(
      runs.map(({ windowEnd, status, datapoints }) => [windowEnd, status, datapoints]),
      [
        [ends[0], "SUCCEEDED", 10],
        [ends[1], "SUCCEEDED", 10],
        [ends[2], "SUCCEEDED", 10],
      ],
    );
    assert.deepEqual(
      await pointsOf(to),
      level(30).map(([time, value]) => [time, value * 2]),
    );
    await sent(`PUT /schedules/${id}/deprecate`, {});
    nowMs += 60 * minuteMs;
    await runDue(server);
    assert.equal((await runsOf(id)).length, 3);
    await sent(`DELETE /schedules/${id}`);
    assert.equal((await send(`GET /schedules/${id}`)).status, 404);
  });

  test("changed by a configuration continues, and is listed under the name of its model", async () => {
    const { model } = await deployed(echo, "flow of the plant");
    const [from, to] = [await newSeries(level(60)), await newSeries()];
    nowMs = firstMs + 15 * minuteMs;
    const name = "configured";
    const first = (await sent("POST /schedules", { ...scheduleOf(model, { from, to }), name }))["id"];
    await runDue(server);
    assert.equal((await runsOf(first as number)).length, 1);
    const inUse = async (): Promise<Item> => {
      const { items } = await server.ask.v06("GET /configuration/modelSchedules");
      return items.find((item) => item["name"] === name)!;
    };
    const apply = async (changes: object): Promise<number> => {
      const before = (await send("GET /schedules?limit=1000")).items.map(({ id }) => id);
      const modelSchedules = [{ ...(await inUse()), ...changes }];
      const { status, text } = await server.ask.v06("POST /configuration", { modelSchedules });
      assert.equal(status, 200, text);
      const { items } = await send("GET /schedules?limit=1000");
      return items.find(({ id }) => !before.includes(id))!["id"] as number;
    };
    const windows = async (id: number) => (await runsOf(id)).map(({ windowEnd }) => windowEnd);
    nowMs = firstMs + 25 * minuteMs;
    const described = await apply({ description: "of the plant" });
    await runDue(server);
    assert.deepEqual(await windows(described), [firstMs + 20 * minuteMs]);
    const { dataSpec } = (await inUse()) as { dataSpec: { start: number } };
    const again = await apply({ dataSpec: { ...dataSpec, start: dataSpec.start + minuteMs } });
    await runDue(server);
    assert.deepEqual(await windows(again), [firstMs + 11 * minuteMs, firstMs + 21 * minuteMs]);
    await sent(`PUT /${model}/deprecate`, {});
    assert.equal((await inUse())["model"], "flow of the plant");
    await sent(`PUT /schedules/${again}/deprecate`, {});
  });

  test("waits for late data as long as its slack says", async () => {
    const { model } = await deployed(echo);
    nowMs = firstMs;
    const [late, endless] = [await newSeries(level(5)), await newSeries(level(5))];
    const [to, other] = [await newSeries(), await newSeries()];
    const waits = (await sent("POST /schedules", scheduleOf(model, { from: late, to, slack: minuteMs })))[
      "id"
    ];
    const patient = (
      await sent("POST /schedules", scheduleOf(model, { from: endless, to: other, slack: -1 }))
    )["id"];
    nowMs = firstMs + 10 * minuteMs;
    await runDue(server);
    assert.deepEqual([await runsOf(waits as number), await runsOf(patient as number)], [[], []]);
    nowMs += minuteMs;
    await runDue(server);
    assert.equal((await runsOf(waits as number)).length, 1);
    assert.deepEqual(await runsOf(patient as number), []);
    const name = (await server.ask(`GET /timeseries/${endless}`)).items[0]!["name"] as string;
    const items = [{ timestamp: firstMs + 10 * minuteMs, value: 1 }];
    await server.ask(`POST /timeseries/data/${encodeURIComponent(name)}`, { items });
    await runDue(server);
    assert.equal((await runsOf(patient as number)).length, 1);
  });

  test("lists a failed run with its reason, and continues", async () => {
    const { model } = await deployed(
      'class Model:\n  def predict(self, instance): return {"timeSeries": {"out": [[0, 1]]}}\n',
    );
    nowMs = firstMs;
    const [from, to] = [await newSeries(), await newSeries()];
    const id = (await sent("POST /schedules", scheduleOf(model, { from, to })))["id"] as number;
    nowMs = firstMs + 20 * minuteMs;
    await runDue(server);
    const [first, second] = await runsOf(id);
    const range = `${firstMs} to ${firstMs + 10 * minuteMs}`;
    assert.equal(first!["status"], "FAILED");
    assert.equal(first!["errorMsg"], `Invalid field - out - expected times from ${range} (ms) but got [0,1]`);
    assert.equal(second!["status"], "FAILED");
    assert.deepEqual(await pointsOf(to), []);
  });

  test("takes the older form: tables of aggregates, their gaps filled, and files", async () => {
    const code = `import json
class Model:
  def predict(self, instance, data):
    print(json.dumps({"instance": instance, "data": {**data, "files": sorted(data["files"])}}))
    print(open(data["files"]["note"]).read())
    return {"timeSeries": {"total": [[data["dataFrames"]["t"]["timestamp"][0], 1]]}}
`;
    const { model, place } = await deployed(code);
    const start = await server.ask("POST /files/initupload", { fileName: `note ${model}` });
    const { fileId, uploadURL } = (start.json as { data: { fileId: number; uploadURL: string } }).data;
    await fetch(uploadURL, { method: "PUT", body: "a note" });
    const points = [1, 4].map((minute) => [firstMs + minute * minuteMs, minute] as const);
    const [from, to] = [await newSeries(points), await newSeries()];
    nowMs = firstMs;
    const timeSeries = [
      { id: from, label: "a" },
      { id: from, label: "b", missingDataStrategy: "linearInterpolation" },
    ];
    const table = {
      timeSeries,
      aggregates: ["max"],
      granularity: "1m",
      missingDataStrategy: "ffill",
      label: "t",
    };
    const span = { start: firstMs, end: firstMs + 6 * minuteMs };
    const inputDataSpec = {
      timeSeriesDataSpecs: [{ ...table, ...span }],
      filesDataSpec: { fileIds: { note: fileId } },
    };
    const outputDataSpec = { timeSeriesDataSpecs: [{ timeSeries: [{ id: to, label: "total" }] }] };
    const newSchedule = { name: "old", modelId: model, args: {}, inputDataSpec, outputDataSpec };
    const schedule = await sent("POST /schedules", newSchedule);
    assert.deepEqual(schedule["inputDataSpec"], inputDataSpec);
    nowMs = firstMs + 6 * minuteMs;
    await runDue(server);
    assert.deepEqual(
      (await runsOf(schedule["id"] as number)).map(({ status, errorMsg }) => [status, errorMsg]),
      [["SUCCEEDED", null]],
    );
    assert.deepEqual(await pointsOf(to), [[firstMs, 1]]);
    const [printed, note] = (await sent(`GET ${place}/log`))["predict"] as string[];
    assert.equal(note, "a note");
    const { instance, data } = JSON.parse(printed!);
    assert.deepEqual(data, {
      timeSeries: {},
      dataFrames: {
        t: {
          timestamp: [0, 1, 2, 3, 4, 5].map((minute) => firstMs + minute * minuteMs),
          "a|max": [null, 1, 1, 1, 4, 4],
          "b|max": [null, 1, 2, 3, 4, null],
        },
      },
      files: ["note"],
    });
    const [{ start: from0, end: to0 }] = instance.timeSeriesDataSpecs;
    assert.deepEqual([from0, to0], [span.start, span.end]);
  });

  test("is refused where it cannot mean anything, and then nothing is made", async () => {
    const model = await newModel();
    const [from, to] = [await newSeries(), await newSeries()];
    const [texts] = (await server.ask.v06("POST /timeseries", { items: [{ name: "texts", isString: true }] }))
      .items;
    const good = scheduleOf(model, { from, to });
    const before = (await send("GET /schedules")).items.length;
    const inputs = (timeSeries: object) => ({ dataSpec: { ...good.dataSpec, input: { timeSeries } } });
    for (const [change, message] of [
      [{ modelId: 1 }, "No such ids: 1"],
      [{ dataSpec: undefined }, "Missing required fields - dataSpec.windowSize, dataSpec.stride"],
      [inputs({ a: { id: 1 } }), "No such time series: 1"],
      [
        inputs({ a: { id: from, aggregate: "avg" } }),
        "Missing required field - dataSpec.input.timeSeries.a.granularity",
      ],
      [
        inputs({ a: { id: from, aggregate: "avg", granularity: "1h" } }),
        "Invalid field - dataSpec.stride - expected a multiple of the largest granularity (3600000 ms) " +
          "but got 600000",
      ],
      [
        inputs({ a: { id: texts!["id"], aggregate: "avg", granularity: "1m" } }),
        "The time series texts has strings, which have no aggregates",
      ],
      [
        { dataSpec: { ...good.dataSpec, slack: -2 } },
        "Invalid field - dataSpec.slack - expected a value >= -1 but got -2",
      ],
      [{ dataSpec: { ...good.dataSpec, output: {} } }, "Missing required field - dataSpec.output.timeSeries"],
    ] as const) {
      const response = await send("POST /schedules", { ...good, ...change });
      assert.deepEqual([response.status, response.error?.message], [400, message]);
    }
    assert.equal((await send("GET /schedules")).items.length, before);
  });
});
