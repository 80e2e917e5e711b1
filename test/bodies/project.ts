// A project with records of every resource, for tests that send bodies generated from the route tables.
import assert from "node:assert/strict";
import type { ApiVersion } from "../../src/rest/route.ts";

type Item = Readonly<Record<string, unknown>>;
type Items = { readonly items: readonly Item[] };

/** Sends one request below the project; returns the parsed response. */
export type Send = (
  version: ApiVersion,
  methodAndPath: string,
  body?: object,
) => Promise<{ readonly status: number; readonly text: string }>;

/** How many records a project has of each kind. */
export interface Counts {
  readonly assets: number;
  readonly series: number;
  readonly events: number;
  readonly rawRows: number;
  readonly others: number;
  /** Of a server that hosts models. */
  readonly models: number;
  /** Numeric points of the first series. */
  readonly points: number;
}

export const kinds = [
  ...["asset", "series", "event", "sequence", "file", "group", "account", "key", "category", "type", "field"],
  ...["transformer", "column", "model", "package", "trend", "connector", "transformation", "suggestion"],
] as const;
export type Kind = (typeof kinds)[number];

/** The ids of the records by kind, in the order of creation. */
export type Ids = Readonly<Record<Kind, readonly number[]>>;

const itemsPerRequest = 10_000;
/** Of the points and events. */
export const firstTime = Date.UTC(2024, 0, 1);

const many = <One>(count: number, make: (index: number) => One): One[] =>
  Array.from({ length: count }, (_, index) => make(index));

const idsOf = (items: readonly Item[]) => items.map((item) => item["id"] as number);

/** Creates the records; each refusal fails the test. */
export async function fillProject(send: Send, counts: Counts): Promise<Ids> {
  const project = new Project(send);
  const asset = await project.createIds("/assets", counts.assets, (i) => ({
    ...{ name: `21-PT-${i}`, description: "pump", metadata },
  }));
  await createRaw(project, counts);
  return {
    asset,
    ...(await createPlant(project, counts, asset)),
    ...(await createSequences(project, counts)),
    ...(await createFiles(project, counts, asset)),
    ...(await createAccess(project, counts)),
    ...(await createModels(project, counts)),
  };
}

const metadata = { site: "north", unit: "7" };

class Project {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  async post(path: string, body: object): Promise<object> {
    const { status, text } = await this.#send("0.6", `POST ${path}`, body);
    assert.ok(status < 300, `POST ${path}: ${status} ${text.slice(0, 500)}`);
    return (JSON.parse(text) as { readonly data?: object }).data ?? {};
  }

  async create(path: string, count: number, make: (index: number) => object): Promise<Item[]> {
    const created: Item[] = [];
    for (let from = 0; from < count; from += itemsPerRequest) {
      const items = many(Math.min(itemsPerRequest, count - from), (index) => make(from + index));
      created.push(...(((await this.post(path, { items })) as Partial<Items>).items ?? []));
    }
    return created;
  }

  async createIds(path: string, count: number, make: (index: number) => object): Promise<number[]> {
    return idsOf(await this.create(path, count, make));
  }
}

const newTransformation = (i: number) => ({
  ...{ externalId: `transformation ${i}`, name: `transformation ${i}`, query: "SELECT 'a' AS externalId" },
  ...{ destination: { type: "events" }, action: "upsert" },
});
const connectorReport = (i: number) => ({
  ...{ name: `connector ${i}`, instance: "a", source: "mqtt", version: "1", startedTime: firstTime },
  ...{ status: "RUNNING", counts: { received: 1, written: 1, refused: 0, dropped: 0 } },
  buffer: { points: 0, bytes: 0 },
});

async function createPlant(project: Project, counts: Counts, asset: readonly number[]) {
  const { others } = counts;
  const nth = (i: number) => asset[i % asset.length]!;
  const type = await project.create("/assets/types", others, (i) => ({
    ...{ name: `type ${i}`, fields: [{ name: "power", valueType: "Long" }] },
  }));
  const series = await project.createIds("/timeseries", counts.series, (i) => ({
    ...{ name: `series ${i}`, assetId: nth(i), metadata },
  }));
  const datapoints = many(counts.points, (i) => ({ timestamp: firstTime + i * 1_000, value: i % 97 }));
  await project.post("/timeseries/data", { items: [{ name: "series 0", datapoints }] });
  const event = await project.createIds("/events", counts.events, (i) => ({
    ...{ startTime: firstTime + i, type: "alarm", description: "pump stopped", assetIds: [nth(i)], metadata },
  }));
  await project.create("/relationships", others, (i) => ({
    externalId: `relationship ${i}`,
    ...{ sourceType: "asset", sourceExternalId: `a${i}` },
    ...{ targetType: "timeSeries", targetExternalId: `t${i}` },
  }));
  return {
    ...{ type: idsOf(type), field: type.flatMap((one) => idsOf(one["fields"] as Item[])), series, event },
    connector: await project.createIds("/connectors/report", others, connectorReport),
    suggestion: await project.createIds("/suggestions", others, (i) => ({
      ...{ seriesId: series[i % series.length], assetId: nth(i + 1), tag: `series ${i}`, score: 1 },
    })),
    transformation: await project.createIds("/transformations", others, newTransformation),
    trend: await project.createIds("/trends", others, (i) => ({ name: `trend ${i}`, definition: {} })),
    transformer: await project.createIds("/eventtransformers", others, (i) => ({ name: `transformer ${i}` })),
  };
}

async function createSequences(project: Project, { others }: Counts) {
  const columns = [
    { externalId: "a", valueType: "LONG" },
    { externalId: "b", valueType: "STRING" },
  ];
  const created = await project.create("/sequences", others, (i) => ({
    externalId: `sequence ${i}`,
    columns,
  }));
  const column = created.flatMap((one) => idsOf(one["columns"] as Item[]));
  const values = (i: number) => [
    { columnId: column[0], value: i },
    { columnId: column[1], value: "text" },
  ];
  const rows = many(others, (i) => ({ rowNumber: i, values: values(i) }));
  await project.post(`/sequences/${created[0]!["id"]}/postdata`, { items: [{ rows }] });
  return { sequence: idsOf(created), column };
}

async function createFiles(project: Project, { others }: Counts, asset: readonly number[]) {
  const file: number[] = [];
  for (let i = 0; i < others; i++) {
    const sent = { fileName: `file ${i}.txt`, assetIds: [asset[i % asset.length]] };
    file.push(((await project.post("/files/initupload", sent)) as { fileId: number }).fileId);
  }
  return { file };
}

async function createRaw(project: Project, { rawRows }: Counts) {
  await project.post("/raw/create", { items: [{ dbName: "database" }] });
  await project.post("/raw/database/create", { items: [{ tableName: "table" }] });
  await project.create("/raw/database/table/create", rawRows, (i) => ({
    ...{ key: `row ${i}`, columns: { n: i, s: "x" } },
  }));
}

async function createAccess(project: Project, { others }: Counts) {
  const account = await project.createIds("/users", others, (i) => ({ uniqueName: `account ${i}` }));
  return {
    account,
    category: await project.createIds("/securitycategories", others, (i) => ({ name: `category ${i}` })),
    group: await project.createIds("/groups", others, (i) => ({ name: `group ${i}` })),
    key: await project.createIds("/apikeys", others, () => ({ userId: account[0] })),
  };
}

async function createModels(project: Project, { models }: Counts) {
  const ids = { model: [] as number[], package: [] as number[] };
  const named = { description: "finds anomalies", metadata };
  const code = { packageName: "anomalies", availableOperations: ["TRAIN"], runtimeVersion: "1" };
  for (let i = 0; i < models; i++) {
    const one = { ...named, ...code, name: `package ${i}` };
    ids.package.push(((await project.post("/analytics/models/sourcepackages", one)) as { id: number }).id);
    const { items } = (await project.post("/analytics/models", { ...named, name: `model ${i}` })) as Items;
    ids.model.push(...idsOf(items));
  }
  return ids;
}
