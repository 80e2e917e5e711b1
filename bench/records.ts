// W11 and raw rows: only Millrace is measured, because no peer has assets or raw tables.
import { randomFrom, seed } from "./generate.ts";
import { type Connection, drive, expectSuccess, openConnections, type RequestBytes } from "./http.ts";
import { areaName, assetsPerUnit, plantTop, plantUnit } from "./plant.ts";
import { get, post } from "./systems/millrace.ts";
import { type Figures, percentile, timesOf } from "./workloads.ts";

export interface RecordsScale {
  /** Of a thousand assets each; the first ones are loaded by the clock. */
  readonly units: number;
  readonly timedUnits: number;
  readonly rawRows: number;
  readonly reads: number;
}

export const fullRecords: RecordsScale = { units: 1_000, timedUnits: 100, rawRows: 1_000_000, reads: 50 };
export const quickRecords: RecordsScale = { units: 40, timedUnits: 20, rawRows: 40_000, reads: 10 };

const pageItems = 1_000;
const areaAssets = 10_000;
const rowsPerRequest = 10_000;
export const rawKey = (row: number) => `row-${String(row).padStart(8, "0")}`;

/** One round on a fresh server. */
export async function measureRecords(port: number, scale: RecordsScale): Promise<Partial<Figures>> {
  const connections = await openConnections(port);
  try {
    const assets = await assetFigures(connections, scale);
    return { ...assets, ...(await rawFigures(connections, scale)) };
  } finally {
    for (const one of connections) one.close();
  }
}

async function assetFigures(
  connections: readonly Connection[],
  { units, timedUnits, reads }: RecordsScale,
): Promise<Partial<Figures>> {
  const [connection] = connections as readonly [Connection];
  const create = (items: readonly object[]) => post("/assets", JSON.stringify({ items }));
  const loading = (from: number, to: number) =>
    drive(
      connections,
      Array.from({ length: to - from }, (_, at) => create(plantUnit(from + at, seed))),
    );
  await drive(connections, [create(plantTop(units))]);
  const seconds = await loading(0, timedUnits);
  for (let unit = timedUnits; unit < units; unit += timedUnits)
    await loading(unit, Math.min(units, unit + timedUnits));
  const p50 = async (path: string) => {
    const times = await timesOf(reads, async () => expectSuccess(await connection.send(get(path))));
    return percentile(times, 0.5);
  };
  const search = (asked: Readonly<Record<string, string>>) =>
    p50(`/assets/search?${new URLSearchParams(asked)}`);
  const pages = await pagesOf(connection, `/assets?limit=${pageItems}`, reads);
  const area = await idOf(connection, areaName(0));
  const subtree = await pagesOf(
    connection,
    `/assets/${area}/subtree?limit=${pageItems}`,
    Number.POSITIVE_INFINITY,
  );
  if (subtree.length !== Math.ceil((areaAssets + 1) / pageItems)) throw new Error("a subtree is not whole");
  return {
    W11create: (timedUnits * assetsPerUnit) / seconds,
    W11page: percentile(pages, 0.5),
    W11subtree: subtree.reduce((sum, one) => sum + one, 0),
    W11rare: await search({ name: "flare stack 17-3" }),
    W11common: await search({ name: "pump" }),
    W11prefix: await search({ name: "pu" }),
    W11description: await search({ description: "spare bearing" }),
    W11sorted: await search({ name: "pump", sort: "createdTime" }),
  };
}

async function idOf(connection: Connection, name: string): Promise<number> {
  const { body } = expectSuccess(await connection.send(get(`/assets?${new URLSearchParams({ name })}`)));
  const { data } = JSON.parse(body.toString()) as { data: { items: { id: number }[] } };
  return data.items[0]!.id;
}

/** Milliseconds of each page of a list, by its cursors, until it ends or there are so many. */
async function pagesOf(connection: Connection, path: string, most: number): Promise<number[]> {
  const times: number[] = [];
  for (let cursor: string | undefined = ""; cursor !== undefined && times.length < most; ) {
    const request = get(cursor === "" ? path : `${path}&cursor=${cursor}`);
    const started = performance.now();
    const { body } = expectSuccess(await connection.send(request));
    times.push(performance.now() - started);
    cursor = /"nextCursor":"([^"]+)"/.exec(body.toString("latin1"))?.[1];
  }
  return times;
}

async function rawFigures(
  connections: readonly Connection[],
  { rawRows, reads }: RecordsScale,
): Promise<Partial<Figures>> {
  const [connection] = connections as readonly [Connection];
  const table = (name: string, order: Uint32Array): Promise<number> => {
    const requests: RequestBytes[] = [];
    for (let at = 0; at < order.length; at += rowsPerRequest)
      requests.push(rowsRequest(name, order.subarray(at, at + rowsPerRequest)));
    return drive(connections, requests);
  };
  const inOrder = Uint32Array.from({ length: rawRows }, (_, row) => row);
  const ordered = await table("ordered", inOrder);
  const pages = await pagesOf(connection, `/raw/bench/ordered?limit=${rowsPerRequest}`, reads);
  const shuffled = await table("shuffled", shuffle(inOrder));
  return {
    rawOrdered: rawRows / ordered,
    rawShuffled: rawRows / shuffled,
    rawPage: percentile(pages, 0.5),
  };
}

export function rowsRequest(table: string, rows: Uint32Array): RequestBytes {
  const items = Array.from(rows, (row) => `{"key":"${rawKey(row)}","columns":${rawColumns(row)}}`);
  return post(`/raw/bench/${table}/create?ensureParent=true`, `{"items":[${items.join(",")}]}`);
}

const rawColumns = (row: number) =>
  `{"tag":"P-${row % 977}","value":${(row % 1000) / 8},"unit":"bar","ok":true}`;

/** In a random order, the same each time. */
function shuffle(rows: Uint32Array): Uint32Array {
  const random = randomFrom(seed);
  const shuffled = rows.slice();
  for (let last = shuffled.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [shuffled[last], shuffled[other]] = [shuffled[other]!, shuffled[last]!];
  }
  return shuffled;
}
