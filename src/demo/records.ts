// The records of the demo: assets and their types, series, accounts, relationships, pump curves and raw
// tables.
import type { Connection } from "../client/connection.ts";
import { type AssetDescription, type Description, type PumpRow, transmitterOf } from "./description.ts";
import { ensure, type Ids } from "./ensure.ts";
import { dayMs } from "./simulation/conditions.ts";
import { headAt } from "./simulation/parts.ts";

export const source = "Millrace demo";

/** The unit whose operator sees nothing else. */
const operatedUnit = "24 Distillation";
export const operatorName = "operator-24";

const assetTypes: Readonly<Record<string, readonly (readonly [name: string, valueType: string])[]>> = {
  pump: [
    ["flow", "Double"],
    ["head", "Double"],
    ["power", "Double"],
    ["manufacturer", "String"],
    ["model", "String"],
  ],
  motor: [
    ["power", "Double"],
    ["current", "Double"],
    ["speed", "Long"],
  ],
  valve: [
    ["cv", "Double"],
    ["fail", "String"],
  ],
  tank: [
    ["volume", "Double"],
    ["material", "String"],
    ["content", "String"],
  ],
  exchanger: [
    ["area", "Double"],
    ["fouling", "Double"],
  ],
};

interface AssetType {
  readonly id: number;
  readonly name: string;
  readonly fields: readonly { readonly id: number; readonly name: string; readonly valueType: string }[];
}

export async function loadAssets(connection: Connection, { assets }: Description): Promise<Ids> {
  const types = await ensureTypes(connection);
  const items = assets.map((asset) => ({
    ...{ name: asset.name, description: asset.description, externalId: asset.name, source },
    ...{ refId: asset.name, ...(asset.parent !== "" && { parentRefId: asset.parent }) },
    metadata: asset.details,
    ...typed(asset, types),
  }));
  return ensure(connection, { resource: "assets", member: "externalId" }, items);
}

async function ensureTypes(connection: Connection): Promise<ReadonlyMap<string, AssetType>> {
  const items = Object.entries(assetTypes).map(([name, fields]) => ({
    ...{ name, description: `A ${name} of the demo plant` },
    fields: fields.map(([field, valueType]) => ({ name: field, valueType })),
  }));
  await ensure(connection, { resource: "assets/types", member: "name" }, items);
  const types = new Map<string, AssetType>();
  const path = connection.pathOf("assets/types", "0.6");
  for await (const page of connection.pages<AssetType>(path, {}))
    for (const type of page) types.set(type.name, type);
  return types;
}

/** The values of the details that are fields of the type. */
function typed({ type, details }: AssetDescription, types: ReadonlyMap<string, AssetType>) {
  const known = types.get(type);
  if (!known) return {};
  const fields = known.fields.flatMap(({ id, name, valueType }) => {
    const value = details[name];
    if (value === undefined) return [];
    return [{ id, value: valueType === "String" ? value : Number(value) }];
  });
  return { types: [{ id: known.id, fields }] };
}

export async function loadSeries(
  connection: Connection,
  { series }: Description,
  assets: Ids,
): Promise<void> {
  const items = series.map((row) => ({
    ...{ name: row.name, externalId: row.name, description: row.description, assetId: assets.get(row.asset) },
    ...(row.unit !== "" && { unit: row.unit }),
    ...{ isString: row.kind === "string", isStep: row.kind === "step" },
    metadata: {
      ...(row.kind !== "string" && { low: `${row.low}`, high: `${row.high}` }),
      ...Object.fromEntries(row.alarms.map(({ kind, limit }) => [`alarm ${kind}`, `${limit}`])),
      unit: row.name.slice(0, 2),
    },
  }));
  await ensure(connection, { resource: "timeseries", member: "name" }, items);
}

/** An account that sees one unit: its assets, series, events, files and sequences. */
export async function loadOperator(connection: Connection, assets: Ids): Promise<void> {
  const scope = { assetIdScope: { subtreeIds: [assets.get(operatedUnit)] } };
  const acls = ["assetsAcl", "timeSeriesAcl", "eventsAcl", "filesAcl", "sequencesAcl"];
  const capabilities = acls.map((acl) => ({ [acl]: { actions: ["READ"], scope } }));
  const group = "operators of unit 24";
  const groups = await ensure(connection, { resource: "groups", member: "name", query: { all: "true" } }, [
    { name: group, capabilities },
  ]);
  const account = { uniqueName: operatorName, groups: [groups.get(group)] };
  await ensure(connection, { resource: "users", member: "uniqueName" }, [account]);
}

/** Material flows, and which loop controls which valve. */
export async function loadRelationships(
  connection: Connection,
  { loops, flows }: Description,
): Promise<void> {
  const asset = (label: string, from: string, to: string) => ({
    ...{ externalId: `${label} ${from} ${to}`, labels: [label] },
    ...{ sourceType: "asset", sourceExternalId: from, targetType: "asset", targetExternalId: to },
  });
  const items = [
    ...flows.map(({ from, to }) => asset("flows to", from, to)),
    ...loops.flatMap(({ tag, valve }) => [
      {
        ...{ externalId: `controls ${tag} ${valve}`, labels: ["controls"] },
        ...{ sourceType: "timeSeries", sourceExternalId: `${tag}.OP` },
        ...{ targetType: "asset", targetExternalId: valve },
      },
      {
        ...{ externalId: `measured by ${tag}`, labels: ["measured by"] },
        ...{ sourceType: "timeSeries", sourceExternalId: `${tag}.OP` },
        ...{ targetType: "timeSeries", targetExternalId: transmitterOf(tag) },
      },
    ]),
  ];
  await ensure(connection, { resource: "relationships", member: "externalId" }, items);
}

/** Trends as the console saves them: the search parameters of its page. */
export async function loadTrends(
  connection: Connection,
  { trends }: Description,
  endMs: number,
): Promise<void> {
  const iso = (daysBefore: number) => new Date(endMs - daysBefore * dayMs).toISOString();
  const items = trends.map(({ name, description, series, formulas, from, to, events }) => ({
    ...{ name, description },
    definition: {
      series,
      ...(formulas.length > 0 && { calc: formulas }),
      ...(to === undefined ? { start: `${from}d-ago`, live: true } : { start: iso(from), end: iso(to) }),
      ...(events.length > 0 && { events }),
    },
  }));
  await ensure(connection, { resource: "trends", member: "name" }, items);
}

/** The curve of each pump: head, power and efficiency by flow. */
export async function loadPumpCurves(
  connection: Connection,
  { pumps }: Description,
  assets: Ids,
): Promise<void> {
  const curve = (tag: string) => `${tag} curve`;
  const items = pumps.map(({ tag, service }) => ({
    ...{ name: curve(tag), externalId: curve(tag), assetId: assets.get(tag) },
    description: `${service}: head, power and efficiency by flow`,
    columns: [
      { name: "flow", externalId: "flow", valueType: "DOUBLE", metadata: { unit: "m3/h" } },
      { name: "head", externalId: "head", valueType: "DOUBLE", metadata: { unit: "m" } },
      { name: "power", externalId: "power", valueType: "DOUBLE", metadata: { unit: "kW" } },
      { name: "efficiency", externalId: "efficiency", valueType: "DOUBLE", metadata: { unit: "%" } },
    ],
  }));
  const ids = await ensure(connection, { resource: "sequences", member: "externalId" }, items);
  const path = connection.pathOf("sequences/byids", "0.6");
  const body = JSON.stringify({ items: pumps.map(({ tag }) => ({ id: ids.get(curve(tag)) })) });
  const { data } = (await connection.json("POST", path, { body })) as { data: { items: Sequence[] } };
  for (const [at, { id, columns }] of data.items.entries()) {
    const rows = curveRows(pumps[at]!).map((values, rowNumber) => ({
      rowNumber,
      values: values.map((value, column) => ({ columnId: columns[column]!.id, value: rounded(value) })),
    }));
    const rowsPath = connection.pathOf(`sequences/${id}/postdata`, "0.6");
    await connection.json("POST", rowsPath, { body: JSON.stringify({ items: [{ rows }] }) });
  }
}

interface Sequence {
  readonly id: number;
  readonly columns: readonly { readonly id: number }[];
}

const rounded = (value: number) => Math.round(value * 1000) / 1000;

const curveSteps = 12;

/** Flow, head, power and efficiency, from no flow to more than the rated one. */
const curveRows = ({ flow, head: ratedHead }: PumpRow): (readonly number[])[] =>
  Array.from({ length: curveSteps + 1 }, (_, step) => {
    const load = (step / curveSteps) * 1.3;
    const head = headAt(ratedHead, load);
    const efficiency = 68 * (1 - (load - 1) ** 2);
    const hydraulic = (Math.max(load, 0.15) * flow * head * 9.81) / 3600;
    const power = hydraulic / (Math.max(efficiency, 19) / 100);
    return [load * flow, head, power, efficiency];
  });

/** The rows of a raw table. */
export interface RawTable {
  readonly database: string;
  readonly table: string;
  /** The assets that the table is linked to. */
  readonly assets: readonly string[];
  readonly rows: readonly { readonly key: string; readonly columns: Readonly<Record<string, unknown>> }[];
}

export async function loadRawTables(
  connection: Connection,
  tables: readonly RawTable[],
  assets: Ids,
): Promise<void> {
  for (const { database, table, assets: names, rows } of tables) {
    const inDatabase = `raw/${encodeURIComponent(database)}`;
    const create = { tableName: table, assetIds: names.map((name) => assets.get(name)) };
    const post = (path: string, body: object) =>
      connection.json("POST", `${connection.pathOf(path, "0.6")}?ensureParent=true`, {
        body: JSON.stringify(body),
      });
    await post(`${inDatabase}/create`, { items: [create] });
    await post(`${inDatabase}/${encodeURIComponent(table)}/create`, { items: rows });
  }
}
