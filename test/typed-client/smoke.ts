// A program that uses the generated client with every resource; first it is type-checked.
//
// Run by `typed-client.test.ts` against its server, of which it knows no more than any program would.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { hosting } from "../support/model-hosting.ts";
import { packageOf } from "../support/source-package.ts";
import * as api from "./generated/client-0.6.ts";

const { SMOKE_SERVER: baseUrl = "", SMOKE_PROJECT: project = "", SMOKE_KEY: key = "" } = process.env;
/** Operations that succeeded: a method and the path of a request. */
const succeeded: { readonly method: string; readonly path: string }[] = [];
api.defaults.baseUrl = baseUrl;
api.defaults.headers = { "api-key": key };
api.defaults.fetch = async (input, init) => {
  const response = await fetch(input, init);
  const { pathname } = new URL(String(input));
  if (response.ok) succeeded.push({ method: init?.method?.toLowerCase() ?? "get", path: pathname });
  return response;
};
const startMs = Date.UTC(2026, 0, 1);

/** The one item of an answer. */
function one<Item>({ data }: { readonly data: { readonly items: readonly Item[] } }): Item {
  assert.equal(data.items.length, 1);
  return data.items[0]!;
}

const newAsset = async (name: string) => one(await api.postAssets(project, { items: [{ name }] }));

test("project and login", async () => {
  assert.equal(one(await api.getProject(project)).urlName, project);
  assert.equal((await api.postLogin({ apiKey: key })).data.loggedIn, true);
  assert.equal((await api.getLoginStatus()).data.project, project);
  assert.equal((await api.getSessionOptions()).project, project);
  assert.equal((await api.getLogout()).data.loggedIn, false);
});

test("a refusal is a typed error", async () => {
  const refused = api.getAssetsByAssetId(project, 1);
  await assert.rejects(refused, (error: { status: number; data: api.Error }) => {
    assert.deepEqual([error.status, error.data.error.code], [404, 404]);
    return true;
  });
});

test("assets", async () => {
  const plant = await newAsset("plant");
  const pump = one(await api.postAssets(project, { items: [{ name: "pump", parentId: plant.id }] }));
  assert.deepEqual(pump.path, [plant.id, pump.id]);
  const change = { id: pump.id, description: { set: "feeds the boiler" } };
  assert.equal(one(await api.postAssetsUpdate(project, { items: [change] })).description, "feeds the boiler");
  assert.deepEqual((await api.getAssets(project, { name: "pump" })).data.items.length, 1);
  assert.equal((await api.getAssetsByAssetIdSubtree(project, plant.id)).data.items.length, 2);
  assert.equal(one(await api.getAssetsSearch(project, { query: "boiler" })).id, pump.id);
  assert.equal(one(await api.getAssetsChildren(project)).hasChildren, true);
  assert.equal((await api.getAssetsByAssetIdContents(project, plant.id)).data.assets, 1);
  await api.postAssetsDelete(project, { items: [plant.id] });
  assert.deepEqual((await api.getAssets(project)).data.items, []);
});

test("asset types and tag matching", async () => {
  const fields = [{ name: "rpm", valueType: "Long" as const }];
  const type = one(await api.postAssetsTypes(project, { items: [{ name: "motor", fields }] }));
  const types = [{ id: type.id, fields: [{ id: type.fields[0]!.id, value: 1500 }] }];
  const motor = one(await api.postAssets(project, { items: [{ name: "21-M-007", types }] }));
  assert.equal(motor.types[0]?.fields[0]?.value, 1500);
  const { matches } = one(await api.postTagmatching(project, { tagIds: ["21M7"] }));
  assert.deepEqual(matches, [{ tagId: "21-M-007", score: 0, platform: null }]);
  await api.postAssetsDelete(project, { items: [motor.id] });
});

test("time series and datapoints", async () => {
  const [series] = (await api.postTimeseries(project, { items: [{ name: "P-101/flow", unit: "m3/h" }] })).data
    .items;
  const items = [1, 2, 4].map((value, i) => ({ timestamp: startMs + i * 1000, value }));
  await api.postTimeseriesDataByName(project, "P-101/flow", { items });
  const range = { start: String(startMs), end: String(startMs + 3000) };
  const read = one(await api.getTimeseriesDataByName(project, "P-101/flow", range));
  assert.deepEqual(read.datapoints, items);
  const query = { start: startMs, end: startMs + 3000, aggregates: "max", granularity: "1m" };
  const aggregated = await api.postTimeseriesDataquery(project, { items: [{ id: series!.id }], ...query });
  assert.deepEqual(one(aggregated).datapoints, [{ timestamp: startMs, max: 4 }]);
  assert.equal(one(await api.getTimeseriesLatestByName(project, "P-101/flow")).value, 4);
  await api.deleteTimeseriesBySeries(project, series!.id);
  assert.deepEqual((await api.getTimeseries(project)).data.items, []);
});

test("events, event transformers and semantic types", async () => {
  const asset = await newAsset("boiler");
  const transformer = one(await api.postEventtransformers(project, { items: [{ name: "alarms" }] }));
  const alarm = {
    type: "alarm",
    startTime: startMs,
    assetIds: [asset.id],
    eventTransformerId: transformer.id,
    eventReferenceKey: "a-1",
  };
  const event = one(await api.postEvents(project, { items: [alarm] }));
  assert.equal(one(await api.getEvents(project, { $type: "alarm" })).id, event.id);
  const wanted = { transformerId: transformer.id, eventReferenceKeys: ["a-1"] };
  assert.equal(one(await api.postEventsByreference(project, wanted)).id, event.id);
  const named = one(await api.postSemantictypes(project, { items: [{ name: "temperature" }] }));
  assert.deepEqual((await api.getSemantictypes(project)).data.items, [named]);
  await api.postEventsDelete(project, { items: [event.id] });
  await assert.rejects(api.getEventsByEventId(project, event.id), { status: 404 });
});

test("files, by the links of the server", async () => {
  const started = await api.postFilesInitupload(project, { fileName: "manual.txt", fileType: "text/plain" });
  const { fileId, uploadURL } = started.data;
  const sent = await api.defaults.fetch!(uploadURL, { method: "PUT", body: "how it works" });
  assert.equal(sent.status, 200);
  assert.equal(one(await api.getFilesByFileId(project, fileId)).uploaded, true);
  const link = await api.getFilesByFileIdDownloadlink(project, fileId);
  assert.equal(await (await fetch(link.data)).text(), "how it works");
  assert.deepEqual((await api.getFilesDirectories(project)).data.items, []);
  assert.equal((await api.getStorageByFileIdInfo(project, fileId)).data.fileName, "manual.txt");
  assert.deepEqual((await api.postFilesDelete(project, { items: [fileId] })).data.deleted, [fileId]);
});

test("raw", async () => {
  const row = { key: "r1", columns: { speed: 1.5, tags: ["a", { b: null }] } };
  await api.postRawByDatabaseByTableCreate(
    project,
    "erp",
    "orders",
    { items: [row] },
    { ensureParent: true },
  );
  assert.deepEqual(one(await api.getRaw(project)), { dbName: "erp" });
  assert.deepEqual(one(await api.getRawByDatabase(project, "erp")), { tableName: "orders" });
  assert.deepEqual(one(await api.getRawByDatabaseByTable(project, "erp", "orders")).columns, row.columns);
  assert.equal(one(await api.getRawByDatabaseByTableByKey(project, "erp", "orders", "r1")).key, "r1");
  await api.postRawDelete(project, { items: [{ dbName: "erp" }] }, { recursive: true });
  assert.deepEqual((await api.getRaw(project)).data.items, []);
});

test("sequences", async () => {
  const columns = [{ externalId: "depth", valueType: "DOUBLE" as const }];
  const sequence = one(await api.postSequences(project, { items: [{ externalId: "well", columns }] }));
  const columnId = sequence.columns[0]!.id;
  const rows = [{ rowNumber: 1, values: [{ columnId, value: 12.5 }] }];
  await api.postSequencesBySequenceIdPostdata(project, sequence.id, { items: [{ rows }] });
  const read = await api.postSequencesBySequenceIdGetdata(project, sequence.id, {
    items: [{ columnIds: [columnId] }],
  });
  assert.deepEqual(one(read).rows[0]?.values[0]?.value, 12.5);
  await api.deleteSequencesBySequenceId(project, sequence.id);
  assert.deepEqual((await api.getSequences(project)).data.items, []);
});

test("relationships", async () => {
  const link = {
    externalId: "feeds",
    sourceType: "asset" as const,
    sourceExternalId: "pump",
    targetType: "asset" as const,
    targetExternalId: "boiler",
  };
  assert.equal(one(await api.postRelationships(project, { items: [link] })).externalId, "feeds");
  assert.equal(
    one(await api.getRelationships(project, { sourceExternalId: "pump" })).targetExternalId,
    "boiler",
  );
  await api.deleteRelationshipsByExternalId(project, "feeds");
  assert.deepEqual((await api.getRelationships(project)).data.items, []);
});

test("connectors", async () => {
  const counts = { received: 2, written: 1, refused: 0, dropped: 0 };
  const report = {
    ...{ name: "hall", instance: "a", source: "mqtt", version: "1", startedTime: 0, counts },
    ...{ status: "STOPPED" as const, buffer: { points: 1, bytes: 10 } },
  };
  const { id } = one(await api.postConnectorsReport(project, { items: [report] }));
  assert.deepEqual(one(await api.getConnectorsByConnectorId(project, id)).counts, counts);
  await api.postConnectorsDelete(project, { items: [id] });
  assert.deepEqual((await api.getConnectors(project, { status: "STOPPED" })).data.items, []);
});

test("the audit log", async () => {
  const records = (await api.getAudit(project, { kind: "deletion", limit: 1 })).data.items;
  assert.deepEqual(
    records.map(({ kind, result }) => [kind, result]),
    [["deletion", "done"]],
  );
  assert.equal((await api.getAuditVerification(project)).data.isIntact, true);
});

test("retention rules", async () => {
  const { id } = one(await api.postTimeseries(project, { items: [{ name: "retained" }] }));
  const target = { seriesId: id, keepDays: 36_500 };
  const { data } = await api.postRetentionrulesPreview(project, target);
  assert.deepEqual([data.examined, data.points], [1, 0]);
  const rule = one(await api.postRetentionrules(project, { items: [{ name: "retained", ...target }] }));
  const change = { id: rule.id, keepDays: { set: 36_000 } };
  assert.equal(one(await api.postRetentionrulesUpdate(project, { items: [change] })).keepDays, 36_000);
  const read = one(await api.getRetentionrulesByRetentionRuleId(project, rule.id));
  assert.deepEqual(read, one(await api.getRetentionrules(project, { seriesId: id })));
  await api.postRetentionrulesDelete(project, { items: [rule.id] });
  assert.deepEqual((await api.getRetentionrules(project)).data.items, []);
});

test("transformations", async () => {
  const item = {
    ...{ externalId: "t", name: "t", query: "SELECT 'e' AS externalId, 'typed' AS type" },
    ...{ destination: { type: "events" as const }, action: "upsert" as const },
  };
  const { id } = one(await api.postTransformations(project, { items: [item] }));
  const { created } = (await api.postTransformationsByTransformationIdPlan(project, id)).data;
  assert.deepEqual([created.count, created.rows[0]?.key], [1, "e"]);
  assert.deepEqual((await api.getTransformationsByTransformationIdRuns(project, id)).data.items, []);
  await api.postTransformationsDelete(project, { items: [id] });
  assert.deepEqual((await api.getTransformations(project)).data.items, []);
});

test("trends", async () => {
  const definition = { series: [{ name: "flow", color: null }] };
  const trend = one(await api.postTrends(project, { items: [{ name: "feed", definition }] }));
  assert.deepEqual(one(await api.getTrends(project, { query: "fee" })).definition, definition);
  const change = { id: trend.id, description: { set: "of the boiler" } };
  assert.equal(one(await api.postTrendsUpdate(project, { items: [change] })).description, "of the boiler");
  const query = { userId: trend.ownerId! };
  const explained = (await api.getAccessExplanation(project, "trends", trend.id, query)).data;
  assert.deepEqual([explained.allowed, explained.grants.length], [true, 1]);
  await api.deleteTrendsByTrendId(project, trend.id);
  assert.deepEqual((await api.getTrends(project)).data.items, []);
});

test("configuration", async () => {
  const documents = { series: [{ name: "configured", unit: "bar" }] };
  const { data } = await api.postConfiguration(project, { ...documents, dryRun: true });
  assert.deepEqual([data.applied, data.differences.map(({ change }) => change)], [false, ["created"]]);
  const applied = (await api.postConfiguration(project, { ...documents, digest: data.digest })).data;
  assert.deepEqual([applied.applied, applied.unchanged], [true, 0]);
  const listed = (await api.getConfigurationSeries(project, { limit: 1_000 })).data.items;
  assert.equal(listed.find(({ name }) => name === "configured")?.unit, "bar");
});

test("suggestions", async () => {
  const asset = one(await api.postAssets(project, { items: [{ name: "31-PT-0007" }] }));
  const series = one(await api.postTimeseries(project, { items: [{ name: "31PT7.PV" }] }));
  const { data } = await api.postSuggestionsTimeseries(project, { scoreMax: 0 });
  assert.deepEqual([data.examined >= 1, data.proposed], [true, 1]);
  const suggestion = one(await api.getSuggestions(project, { seriesId: series.id }));
  assert.deepEqual([suggestion.assetId, suggestion.tag, suggestion.score], [asset.id, "31PT7", 0]);
  const accepted = one(await api.postSuggestionsAccept(project, { items: [suggestion.id] }));
  assert.equal(accepted.state, "ACCEPTED");
  assert.equal(one(await api.getTimeseries(project, { name: "31PT7.PV" })).assetId, asset.id);
});

test("demo plant", async () => {
  const { status, isLive } = one(await api.getDemo(project));
  assert.deepEqual([status, isLive], ["NONE", false]);
});

test("service accounts, keys, groups and security categories", async () => {
  const capabilities = [{ eventsAcl: { actions: ["READ" as const], scope: { all: {} } } }];
  const group = one(await api.postGroups(project, { items: [{ name: "readers", capabilities }] }));
  assert.deepEqual(group.capabilities, capabilities);
  const user = one(await api.postUsers(project, { items: [{ uniqueName: "robot", groups: [group.id] }] }));
  assert.equal(one(await api.getGroupsByGroupIdUsers(project, group.id)).id, user.id);
  const key = one(await api.postApikeys(project, { items: [{ userId: user.id }] }));
  const asRobot = { headers: { "api-key": key.value } };
  assert.deepEqual((await api.getEvents(project, {}, asRobot)).data.items, []);
  await assert.rejects(api.getAssets(project, {}, asRobot), { status: 403 });
  await api.postApikeysDelete(project, { items: [key.id] });
  await assert.rejects(api.getEvents(project, {}, asRobot), { status: 401 });
  assert.equal(one(await api.putDefaultgroup(project, { items: [group.id] })).defaultGroupId, group.id);
  const category = one(await api.postSecuritycategories(project, { items: [{ name: "secret" }] }));
  assert.deepEqual((await api.getSecuritycategories(project)).data.items, [category]);
});

test("records restored from an archive", async () => {
  const { id } = await newAsset("restored");
  const times = { createdTime: startMs, lastUpdatedTime: startMs + 1 };
  await api.postRestoreTimesByResource(project, "assets", { items: [{ id, ...times }] });
  assert.equal(one(await api.getAssetsByAssetId(project, id)).createdTime, startMs);
});

test("models", hosting, async () => {
  const named = { name: "twice", packageName: "m", availableOperations: ["PREDICT" as const] };
  const source = (await api.postAnalyticsModelsSourcepackages(project, named)).data;
  const body = await packageOf("class Model:\n  def predict(self, instance): return 2 * instance\n");
  assert.equal((await fetch(source.uploadUrl, { method: "PUT", body })).status, 200);
  const model = one(await api.postAnalyticsModels(project, { name: "twice" }));
  const wanted = { name: "first", sourcePackageId: source.id };
  const version = one(await api.postAnalyticsModelsByModelIdVersions(project, model.id, wanted));
  await api.postAnalyticsModelsByModelIdVersionsByVersionIdDeploy(project, model.id, version.id, {});
  const read = async () =>
    one(await api.getAnalyticsModelsByModelIdVersionsByVersionId(project, model.id, version.id));
  while ((await read()).status === "DEPLOYING") await delay(50);
  const activeVersionId = { set: version.id };
  one(await api.putAnalyticsModelsByModelIdUpdate(project, model.id, { activeVersionId }));
  const asked = await api.putAnalyticsModelsByModelIdPredict(project, model.id, { instances: [21] });
  assert.deepEqual(asked.data, { predictions: [42] });
  await api.deleteAnalyticsModelsByModelId(project, model.id);
  assert.deepEqual((await api.getAnalyticsModels(project)).data.items, []);
});

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly tags: readonly [string] }>>>>;
}

/** Without Python models can only be refused. */
test("no resource of the description was left out", hosting, async () => {
  const response = await fetch(`${baseUrl}/api/0.6/openapi.json`);
  const { paths } = (await response.json()) as Description;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { tags }]) => {
      const pattern = new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`);
      return { method, pattern, tag: tags[0] };
    }),
  );
  const used = new Set(
    operations
      .filter(({ method, pattern }) =>
        succeeded.some((one) => one.method === method && pattern.test(one.path)),
      )
      .map(({ tag }) => tag),
  );
  assert.deepEqual(
    [...new Set(operations.map(({ tag }) => tag))].filter((tag) => !used.has(tag)),
    [],
  );
});
