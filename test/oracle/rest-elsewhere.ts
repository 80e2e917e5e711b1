// Reads over REST of records without assets, visible to every caller with the right or to none; and reads
// that compute from assets and series: tag matching, calculated series and similarity search.
import { compareText } from "../../src/lib/text.ts";
import type { Client } from "./client.ts";
import { aclOf, everyRight, holds, may, mayKnow, type Plant, type Suggested, type Thing } from "./plant.ts";
import { type RandomCaller, type RandomRequest, refused } from "./random-request.ts";
import { anyId, below, pointsOf, pointTimes, words } from "./rest-reads.ts";

const names = ["feeds a", "feeds b", "drains c"];
const rows = ["1", "2", "3"];

/** The label of a relationship. */
const labelOf = (externalId: string) => words[names.indexOf(externalId)];

/** Makes relationships, trends, connectors, suggestions and raw rows. */
export async function fillElsewhere(admin: Client, plant: Plant): Promise<void> {
  plant.related = plant.of("assets")[0]!.externalId;
  const ends = {
    ...{ sourceType: "asset", sourceExternalId: plant.related },
    ...{ targetType: "asset", targetExternalId: "b" },
  };
  const relationships = names.map((externalId) => ({
    ...{ externalId, ...ends },
    ...{ dataSetId: 7, labels: [labelOf(externalId)] },
  }));
  await admin(`POST ${below("0.6")}/relationships`, { items: relationships });
  const trends = names.map((name) => ({ name, description: labelOf(name), definition: { of: name } }));
  await admin(`POST ${below("0.6")}/trends`, { items: trends });
  const connectors = names.map((name) => ({
    ...{ name, source: labelOf(name), instance: "a", version: "1", startedTime: 0, status: "STOPPED" },
    counts: { received: 0, written: 0, refused: 0, dropped: 0 },
    buffer: { points: 0, bytes: 0 },
  }));
  await admin(`POST ${below("0.6")}/connectors/report`, { items: connectors });
  await fillSuggestions(admin, plant);
  const transformations = names.map((externalId) => ({
    ...{ externalId, name: labelOf(externalId), query: "SELECT 'a' AS externalId" },
    ...{ destination: { type: "events" }, action: "upsert" },
  }));
  await admin(`POST ${below("0.6")}/transformations`, { items: transformations });
  plant.tableAssetIds = plant
    .of("assets")
    .slice(0, 20)
    .map(({ id }) => id);
  const tables = [{ tableName: "rows", assetIds: plant.tableAssetIds }];
  await admin(`POST ${below("0.5")}/raw/plant/create?ensureParent=true`, { items: tables });
  const items = rows.map((key) => ({ key, columns: { of: key } }));
  await admin(`POST ${below("0.5")}/raw/plant/rows/create?ensureParent=true`, { items });
}

async function fillSuggestions(admin: Client, plant: Plant): Promise<void> {
  const assets = plant.of("assets");
  const box = { x: 0, y: 0, width: 0.5, height: 0.5 };
  const ends = [...plant.of("timeseries"), ...plant.of("files")].map(({ kind, id }, at) => ({
    ...{ kind, of: id, assetId: assets[at % assets.length]!.id, state: "OPEN" as const },
  }));
  const items = ends.map(({ kind, of, assetId }, at) => ({
    ...(kind === "files" ? { fileId: of, page: 1, box } : { seriesId: of }),
    ...{ assetId, tag: "t", score: at % 3 },
  }));
  const { json } = await admin(`POST ${below("0.6")}/suggestions`, { items });
  plant.suggestions = json.data.items.map(({ id }, at) => ({ ...ends[at]!, id }));
}

/** A suggestion is visible to those who may read the asset and the series or file. */
export function isSuggested({ plant, rights }: RandomCaller, { of, assetId }: Suggested) {
  return [of, assetId].every((id) => {
    const thing = plant.things.get(id);
    return thing !== undefined && may(plant, rights, "READ", thing);
  });
}

function suggestions(caller: RandomCaller): RandomRequest {
  const { plant, random } = caller;
  const { of, assetId } = random.pick(plant.suggestions);
  const isFile = plant.things.get(of)?.kind === "files";
  const [query, isFound] = random.pick<[string, (one: Suggested) => boolean]>([
    ["", () => true],
    ["state=OPEN", ({ state }) => state === "OPEN"],
    ["state=REJECTED", () => false],
    [`assetId=${assetId}`, (one) => one.assetId === assetId],
    [isFile ? `fileId=${of}` : `seriesId=${of}`, (one) => one.of === of],
  ]);
  return {
    ask: `GET ${below("0.6")}/suggestions?${query}&limit=1000`,
    needs: ["suggestionsAcl", "READ"],
    seen: (reply) => reply.json.data.items.map((item) => item["id"]),
    expected: plant.suggestions.filter((one) => isFound(one) && isSuggested(caller, one)).map(({ id }) => id),
  };
}

function oneSuggestion(caller: RandomCaller): RandomRequest {
  const suggestion = caller.random.pick(caller.plant.suggestions);
  const { id } = suggestion;
  return {
    ask: `GET ${below("0.6")}/suggestions/${id}`,
    needs: ["suggestionsAcl", "READ"],
    seen: (reply) => reply.json.data.items.map((item) => item["id"]),
    expected: isSuggested(caller, suggestion)
      ? [id]
      : refused("ids-unknown", { field: "suggestionId", ids: [id], status: 404 }),
  };
}

function suggestionsOverOData(caller: RandomCaller): RandomRequest {
  return {
    ask: "GET /odata/v1/projects/demo/Suggestions/$count",
    needs: ["suggestionsAcl", "READ"],
    refusals: "by status",
    seen: (reply) => Number(reply.text),
    expected: caller.plant.suggestions.filter((one) => isSuggested(caller, one)).length,
  };
}

const related = ["relationshipsAcl", "READ"] as const;

function relationships({ random }: RandomCaller): RandomRequest {
  const wanted = random.some([...names, "none"], 3);
  const isList = wanted.includes("none") || wanted.length === 0;
  if (isList)
    return {
      ask: `GET ${below("0.6")}/relationships?limit=100`,
      needs: related,
      seen: (reply) => reply.json.data.items.map((item) => item["externalId"]),
      expected: names,
    };
  return {
    ask: `POST ${below("0.5")}/relationships/byids`,
    body: { items: wanted },
    needs: related,
    seen: (reply) => reply.json.data.items.map((item) => item["externalId"]),
    expected: wanted,
  };
}

/** A trend is visible to all who may read trends, whatever its definition names. */
function trends({ random }: RandomCaller): RandomRequest {
  const [name, word] = [random.pick(names), random.pick(words)];
  const [query, isFound] = random.pick<[string, (one: string) => boolean]>([
    ["", () => true],
    [`name=${encodeURIComponent(name)}`, (one) => one === name],
    [`query=${word}`, (one) => labelOf(one) === word],
    ["owner=nobody", () => false],
  ]);
  return {
    ask: `GET ${below("0.6")}/trends?${query}`,
    needs: ["trendsAcl", "READ"],
    seen: (reply) => reply.json.data.items.map((item) => item["definition"]),
    expected: names.filter(isFound).map((of) => ({ of })),
  };
}

function connectors({ random }: RandomCaller): RandomRequest {
  const [name, source] = [random.pick(names), random.pick(words)];
  const [query, isFound] = random.pick<[string, (one: string) => boolean]>([
    ["", () => true],
    [`name=${encodeURIComponent(name)}`, (one) => one === name],
    [`source=${source}`, (one) => labelOf(one) === source],
    ["status=SILENT", () => false],
  ]);
  return {
    ask: `GET ${below("0.6")}/connectors?${query}`,
    needs: ["connectorsAcl", "READ"],
    seen: (reply) => reply.json.data.items.map((item) => item["name"]),
    expected: names.filter(isFound),
  };
}

const transforming = ["transformationsAcl", "READ"] as const;

function transformations(caller: RandomCaller): RandomRequest {
  // Each query is a process.
  if (caller.random.chance(0.2)) return queryOfRecords(caller);
  const externalId = caller.random.pick([...names, "none"]);
  return {
    ask: `GET ${below("0.6")}/transformations?externalId=${encodeURIComponent(externalId)}`,
    needs: transforming,
    seen: (reply) => reply.json.data.items.map((item) => item["externalId"]),
    expected: names.filter((one) => one === externalId),
  };
}

/** A query has the rights of its caller; a kind that the caller may not read is no table. */
function queryOfRecords({ plant, rights, random }: RandomCaller): RandomRequest {
  const visible = (kind: "assets" | "timeseries") =>
    holds(rights, aclOf[kind], "READ")
      ? plant.of(kind).filter((one) => may(plant, rights, "READ", one))
      : undefined;
  const [assets, series] = [visible("assets"), visible("timeseries")];
  const ids = new Set(assets?.map(({ id }) => id));
  const [query, found] = random.pick<[string, readonly Thing[] | undefined]>([
    ["SELECT name FROM millrace.assets", assets],
    ["SELECT name FROM millrace.series", series],
    [
      "SELECT s.name FROM millrace.series s JOIN millrace.assets a ON a.id = s.assetId",
      assets && series?.filter(({ assetIds: [id] }) => id !== undefined && ids.has(id)),
    ],
  ]);
  return {
    ask: `POST ${below("0.6")}/transformations/preview`,
    body: { query: `${query} ORDER BY 1`, limit: 1_000 },
    needs: transforming,
    refusals: "by status",
    seen: (reply) => (reply.json as unknown as { data: { rows: string[][] } }).data.rows.map(([one]) => one),
    expected: found ? found.map(({ name }) => name).sort() : { status: 400 },
  };
}

function connectorsOverOData(caller: RandomCaller): RandomRequest {
  const isStopped = caller.random.chance(0.5);
  const filter = encodeURIComponent(`Status ${isStopped ? "eq" : "ne"} 'STOPPED'`).replaceAll("'", "%27");
  return {
    ask: `GET /odata/v1/projects/demo/Connectors?$filter=${filter}`,
    needs: ["connectorsAcl", "READ"],
    refusals: "by status",
    seen: (reply) => (reply.json as unknown as { value: { Name: string }[] }).value.map(({ Name }) => Name),
    expected: isStopped ? names : [],
  };
}

/** The external id of a hidden asset does not show in related records. */
function relationshipsOfAsset(caller: RandomCaller): RandomRequest {
  const { plant, rights, random } = caller;
  const related = plant.of("assets").filter(({ externalId }) => externalId === plant.related);
  const assetId = related.length > 0 && random.chance(0.5) ? related[0]!.id : anyId(caller, "assets");
  const asset = plant.things.get(assetId);
  const isRelated = asset?.externalId === plant.related && may(plant, rights, "READ", asset);
  return {
    ask: `GET ${below("0.6")}/relationships?assetId=${assetId}`,
    needs: ["relationshipsAcl", "READ"],
    seen: (reply) => reply.json.data.items.map((item) => item["externalId"]),
    expected: isRelated ? names : [],
  };
}

/** Filters by members of a relationship itself, which no right hides. */
function filteredRelationships({ random }: RandomCaller): RandomRequest {
  const [externalId, label] = [random.pick([...names, "none"]), random.pick(words)];
  const [query, isFound] = random.pick<[string, (name: string) => boolean]>([
    [`externalId=${encodeURIComponent(externalId)}`, (name) => name === externalId],
    [`labels=${label}`, (name) => labelOf(name) === label],
    ["dataSetId=7", () => true],
    ["dataSetId=8", () => false],
  ]);
  return {
    ask: `GET ${below("0.6")}/relationships?${query}`,
    needs: related,
    seen: (reply) => reply.json.data.items.map((item) => item["externalId"]),
    expected: names.filter(isFound),
  };
}

/** Links of raw tables belong to the tables: a caller who lists tables sees them. */
function tablesOfAsset(caller: RandomCaller): RandomRequest {
  const { plant, random } = caller;
  const assetId = random.chance(0.5) ? random.pick(plant.tableAssetIds) : anyId(caller, "assets");
  const isLinked = plant.tableAssetIds.includes(assetId) && plant.things.has(assetId);
  const [path, member, name] = random.pick([
    ["raw", "dbName", "plant"],
    ["raw/plant", "tableName", "rows"],
  ] as const);
  return {
    ask: `GET ${below(random.pick(["0.4", "0.5", "0.6"]))}/${path}?assetId=${assetId}`,
    needs: ["rawAcl", "LIST"],
    seen: (reply) => reply.json.data.items.map((item) => item[member]),
    expected: isLinked ? [name] : [],
  };
}

function oneRelationship({ random }: RandomCaller): RandomRequest {
  const externalId = random.pick([...names, "none"]);
  const details = { what: "relationship", externalIds: [externalId], status: 404 } as const;
  return {
    ask: `GET ${below("0.6")}/relationships/${encodeURIComponent(externalId)}`,
    needs: related,
    seen: (reply) => reply.json.data.items.map((item) => item["externalId"]),
    expected: externalId === "none" ? refused("external-ids-unknown", details) : [externalId],
  };
}

function raw({ random }: RandomCaller): RandomRequest {
  const member = (name: string): RandomRequest["seen"] => {
    return (reply) => reply.json.data.items.map((item) => item[name]);
  };
  const list = ["rawAcl", "LIST"] as const;
  const read = ["rawAcl", "READ"] as const;
  const at = `GET ${below(random.pick(["0.4", "0.5", "0.6"]))}/raw`;
  return random.pick<RandomRequest>([
    { ask: at, needs: list, seen: member("dbName"), expected: ["plant"] },
    { ask: `${at}/plant`, needs: list, seen: member("tableName"), expected: ["rows"] },
    { ask: `${at}/plant/rows`, needs: read, seen: member("key"), expected: rows },
    { ask: `${at}/plant/rows/2`, needs: read, seen: member("columns"), expected: [{ of: "2" }] },
  ]);
}

/** A name that the caller may not see is near to no tag. */
function tagMatching(caller: RandomCaller): RandomRequest {
  const { plant, rights, random } = caller;
  const asset = random.pick(plant.of("assets"));
  const match = { tagId: asset.name, score: 0, platform: null };
  return {
    ask: `POST ${below("0.5")}/tagmatching`,
    body: { tagIds: [asset.name], metadata: { fuzzyThreshold: 0, platform: null } },
    needs: ["assetsAcl", "READ"],
    seen: (reply) => reply.json.data.items,
    expected: [{ tagId: asset.name, matches: may(plant, rights, "READ", asset) ? [match] : [] }],
  };
}

/** The sum of two series is for those who may read both. */
function sum(caller: RandomCaller): RandomRequest {
  const { plant, rights } = caller;
  const ids = [...new Set([anyId(caller, "timeseries"), anyId(caller, "timeseries")])];
  const hidden = ids.filter((id) => {
    const series = plant.things.get(id);
    return series?.kind !== "timeseries" || !may(plant, rights, "READ", series);
  });
  const total = ids.reduce((one, other) => one + other, 0);
  return {
    ask: `POST ${below("0.6")}/timeseries/dataquery`,
    body: {
      items: [{ name: "sum", function: ids.map((id) => `[${id}]`).join("+") }],
      ...{ start: "0", end: "9000" },
    },
    needs: ["timeSeriesAcl", "READ"],
    seen: (reply) => reply.json.data.items,
    expected:
      hidden.length > 0
        ? refused("series-unknown", { keys: hidden })
        : [{ name: "sum", datapoints: pointsOf(total) }],
  };
}

const anySeries = ({ plant, random }: RandomCaller): Thing => random.pick(plant.of("timeseries"));

/** The points of one series, looked for in another: both are as far apart as their ids. */
function similarity(caller: RandomCaller): RandomRequest {
  const { plant, rights } = caller;
  const [input, searched] = [anySeries(caller), anySeries(caller)];
  const [inputTagId, tagId] = [input.name, searched.name];
  const hidden = [...new Set([input, searched])].filter((one) => !may(plant, rights, "READ", one));
  const keys = hidden.map(({ name }) => name);
  const match = { from: pointTimes[0]!, to: pointTimes.at(-1)! + 1, tagId, inputTagId, mode: "value" };
  const expected = [{ ...match, apart: Math.abs(input.id - searched.id) }];
  const refusal = holds(rights, "timeSeriesAcl", "READ")
    ? refused("series-unknown", { keys })
    : refused("forbidden", { acl: "timeSeriesAcl", action: "READ" });
  const interval = { start: 0, end: 9_000 };
  return {
    ask: `POST ${below("0.4")}/similaritysearch`,
    body: {
      ...{ inputTags: [inputTagId], queryTags: [tagId], modes: ["value"], limit: 5 },
      ...{ inputInterval: interval, queryInterval: interval },
    },
    needs: ["analyticsAcl", "EXECUTE"],
    seen: (reply) =>
      reply.json.data.items.map(({ score, ...found }) => ({
        ...found,
        apart: Math.round(Number(score) / Math.sqrt(pointTimes.length)),
      })),
    expected: hidden.length > 0 ? refusal : expected,
  };
}

/** A search for the points of a series among its own, as a job of the caller. */
function patternSearch(caller: RandomCaller): RandomRequest {
  const { plant, rights } = caller;
  const series = anySeries(caller);
  const isRead = may(plant, rights, "READ", series);
  const spec = { timeSeries: [{ id: series.id }], aggregates: [], start: 0, end: 9_000 };
  const refusal = holds(rights, "timeSeriesAcl", "READ")
    ? refused("series-unknown", { keys: [series.id] })
    : refused("forbidden", { acl: "timeSeriesAcl", action: "READ" });
  return {
    ask: `POST ${below("0.5")}/analytics/patternsearch/search`,
    body: { timeSeriesDataSpec: [spec], arguments: { minRange: 0, maxRange: 9_000 } },
    needs: ["analyticsAcl", "EXECUTE"],
    async seen(reply, client) {
      const { jobId } = reply.json as unknown as { jobId: number };
      const at = `GET ${below("0.5")}/analytics`;
      for (;;) {
        const { json } = await client(`${at}/jobs/${jobId}`);
        if ((json as unknown as { status: string }).status !== "RUNNING") break;
      }
      plant.job = { id: jobId, rights };
      return (await client(`${at}/patternsearch/${jobId}`)).json.data.items;
    },
    expected: isRead ? [{ from: pointTimes[0], to: pointTimes.at(-1)! + 1, score: 0 }] : refusal,
  };
}

/** A job is seen by its caller and by administrators. */
function job({ plant, rights }: RandomCaller): RandomRequest {
  const { id, rights: owner } = plant.job ?? { id: 5, rights: undefined };
  const isSeen = owner !== undefined && (rights === owner || rights === everyRight);
  return {
    ask: `GET ${below("0.5")}/analytics/jobs/${id}`,
    needs: ["analyticsAcl", "READ"],
    seen: (reply) => (reply.json as unknown as { id: number }).id,
    expected: isSeen ? id : refused("ids-unknown", { field: "jobId", ids: [id], status: 404 }),
  };
}

/** Documents of series; the external id of a hidden asset does not show. */
function configurationOfSeries({ plant, rights }: RandomCaller): RandomRequest {
  const readable = plant.of("timeseries").filter((one) => may(plant, rights, "READ", one));
  const assetOf = ({ assetIds: [id] }: Thing) =>
    id !== undefined && mayKnow(plant, rights, { kind: "timeseries", action: "READ" }, id)
      ? plant.things.get(id)?.externalId
      : undefined;
  const named = (one: Thing): [string, string | undefined] => [one.name, assetOf(one)];
  return {
    ask: `GET ${below("0.6")}/configuration/series?limit=10000`,
    needs: ["timeSeriesAcl", "READ"],
    seen: (reply) => reply.json.data.items.map((item) => [item["name"], item["asset"]]).sort(byFirst),
    expected: readable.map(named).sort(byFirst),
  };
}

const byFirst = ([one]: readonly unknown[], [other]: readonly unknown[]) =>
  compareText(String(one), String(other));

export const readsElsewhere = [
  ...[relationships, oneRelationship, relationshipsOfAsset, filteredRelationships],
  ...[trends, transformations, connectors, connectorsOverOData, raw, tablesOfAsset, tagMatching, tagMatching],
  ...[suggestions, oneSuggestion, suggestionsOverOData],
  ...[sum, sum, similarity, similarity, configurationOfSeries],
];

/** Only the capability shows records, whatever else the caller may see or has done. */
function auditRecords({ random }: RandomCaller): RandomRequest {
  const path = random.pick([
    "/audit?limit=1",
    "/audit?kind=rights&limit=1",
    "/audit?account=administrator&limit=1",
  ]);
  return {
    ask: `GET ${below("0.6")}${path}`,
    needs: ["auditAcl", "READ"],
    seen: (reply) => reply.json.data.items.length,
    expected: 1,
  };
}

/** Reads of jobs and of the audit log, whose ids and times differ between two servers. */
export const readsOfJobs = [patternSearch, job, auditRecords];
