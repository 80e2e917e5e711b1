// From dirty lists and readings to a tree, linked series, events and datapoints: tags and temperatures are
// real (Tennessee Eastman, Numenta), the ERP around them is made, with decimal commas, three forms of dates,
// repeated and missing tags, and text from Latin-1. With PROOF=long there are a million raw rows.
import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { fromTimestamp } from "../../src/lib/timestamp-format.ts";
import { isLong } from "../support/proof.ts";
import { type Item, startTestServer, type TestServer } from "../support/server.ts";
import { outcome, Transformations } from "../support/transformations.ts";
import { rowsOf, withData } from "./shared-data.ts";

const zone = "Europe/Oslo";
let server: TestServer;
let on: Transformations;
before(async () => {
  server = await startTestServer();
  on = new Transformations(server);
});
after(() => server.close());

const latin1 = (...bytes: readonly number[]) => new TextDecoder("latin1").decode(Uint8Array.from(bytes));
const places = [
  ["plant", "Anlage", undefined],
  ["u1", `K${latin1(0xf8)}levann`, "plant"],
  ["u2", `${latin1(0xdc)}berlauf`, "plant"],
  ["u3", `R${latin1(0xe9)}acteur`, "u1"],
] as const;

/** Spellings of a tag that mean the same. */
const spellings = (tag: string): readonly [string, string, string] => {
  const [, letters, digits] = /^([A-Z]+)(\d+)$/.exec(tag)!;
  return [tag, `${letters}-${digits!.padStart(3, "0")}`, `${letters!.toLowerCase()}_${digits}`];
};

const withComma = (value: number) => String(value).replace(".", ",");

/** A time in one of three forms. An hour that the clock shows twice is written with its offset. */
function written(timeMs: number, form: number): string {
  const local = fromTimestamp(timeMs, "dd.MM.yyyy HH:mm", zone) as string;
  const isRepeated = [-3_600_000, 3_600_000].some(
    (apart) => fromTimestamp(timeMs + apart, "dd.MM.yyyy HH:mm", zone) === local,
  );
  if (form === 0 || isRepeated) return new Date(timeMs).toISOString();
  return form === 1 ? local : (fromTimestamp(timeMs, "MMM d, yyyy h:mm a", zone) as string);
}

const timeIn = (column: string) =>
  `coalesce(to_timestamp(${column}), to_timestamp(${column}, 'dd.MM.yyyy HH:mm', '${zone}'),
    to_timestamp(${column}, 'MMM d, yyyy h:mm a', '${zone}'))`;

const queries = {
  tree: `SELECT key AS externalId, title AS name, parent AS parentExternalId FROM erp.locations`,
  series: `SELECT tag AS name, trim(description) AS description, unit, asset_id(location) AS assetId,
      json_object('high', CAST(try_cast(high, 'real', ',') AS TEXT)) AS metadata
    FROM (SELECT *, row_number() OVER (PARTITION BY normalise_tag(tag) ORDER BY key) AS place
      FROM erp.sensors WHERE trim(tag) <> '') WHERE place = 1`,
  events: `SELECT 'order-' || o.key AS externalId, o.text AS description, 'order' AS type,
      ${timeIn("o.start")} AS startTime, iif(a.id IS NULL, NULL, json_array(a.id)) AS assetIds
    FROM erp.orders o LEFT JOIN millrace.assets a ON a.externalId = o.location
    WHERE is_new('orders', o.commitNumber)`,
  points: `SELECT s.name, ${timeIn("r.time")} AS timestamp, try_cast(r.value, 'real', ',') AS value
    FROM historian.readings r
    JOIN (SELECT name, normalise_tag(name) AS plain FROM millrace.series) s ON s.plain = normalise_tag(r.tag)
    WHERE is_new('readings', r.commitNumber)`,
} as const;

interface Reading {
  readonly timeMs: number;
  readonly value: number;
}

const minuteMs = 60_000;
const orderEveryMs = isLong ? 10 * minuteMs : 60 * minuteMs;
const ordersStart = Date.UTC(2014, 1, 1, 12);
const orderOf = (at: number) => ({
  text: `Pr${latin1(0xfc)}fung ${at}`,
  start: at % 25 === 7 ? "31.02.2014 10:00" : written(ordersStart + at * orderEveryMs, at % 3),
  ...(at % 10 !== 3 && { location: places[at % places.length]![0] }),
});

type Row = readonly [key: string, columns: object];

const readingRows = (tag: string, readings: readonly Reading[]): Row[] =>
  readings.map(({ timeMs, value }, at) => [
    `${tag}-${String(at).padStart(5, "0")}`,
    { tag: spellings(tag)[at % 3], time: written(timeMs, at % 3), value: withComma(value) },
  ]);

async function put(database: string, table: string, rows: readonly Row[]): Promise<void> {
  for (let from = 0; from < rows.length; from += 10_000)
    await on.putRaw([database, table], Object.fromEntries(rows.slice(from, from + 10_000)));
}

const stored = async (name: string) => {
  const { json } = await server.ask(`GET /timeseries/data/${name}?start=0&limit=100000`);
  const { data } = json as { data: { items: { datapoints: { timestamp: number; value: number }[] }[] } };
  return data.items[0]!.datapoints.map(({ timestamp: timeMs, value }) => ({ timeMs, value }));
};

interface Tag {
  readonly tag: string;
  readonly description: string;
  readonly unit: string;
}

type Order = ReturnType<typeof orderOf>;

/** How often the list has a sensor that it repeats. */
const repeats = isLong ? 1_000 : 3;

/** Writes the lists of the ERP system as raw rows: the sensors, and so many orders. */
async function putLists(tags: readonly Tag[], orderCount: number): Promise<readonly Order[]> {
  const sensors = tags.flatMap(({ tag, description, unit }, at) =>
    Array.from({ length: at % 5 === 0 ? repeats : 1 }, (_, time) => ({
      ...{ tag: spellings(tag)[time % 3], description: ` ${description} `, unit },
      ...{ location: places[at % places.length]![0], high: `1.${String(at).padStart(3, "0")},5` },
    })),
  );
  const noTags = [{ description: "no tag" }, { tag: "", description: "blank" }, { tag: null }];
  const table = (rows: readonly object[]) =>
    rows.map((row, at): Row => [String(at).padStart(7, "0"), row]).toReversed();
  const locations = places.map(([key, title, parent]): Row => [key, { title, ...(parent && { parent }) }]);
  await put("erp", "locations", locations.toReversed());
  await put("erp", "sensors", table([...sensors, ...noTags]));
  const orders = Array.from({ length: orderCount }, (_, at) => orderOf(at));
  await put("erp", "orders", table(orders));
  return orders;
}

async function allOf(path: string): Promise<Item[]> {
  const items: Item[] = [];
  for (let cursor = ""; ; ) {
    const { json } = await on.ask(`GET ${path}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
    const { data } = json as { data: { items: Item[]; nextCursor?: string } };
    for (const item of data.items) items.push(item);
    if (data.nextCursor === undefined) return items;
    cursor = data.nextCursor;
  }
}

/** The tree, the links of the series and the events are those that the lists mean. */
async function checkPlant(tags: readonly Tag[], orders: readonly Order[]): Promise<void> {
  const assets = (await on.ask("GET /assets?limit=100")).items;
  const byId = new Map(assets.map((asset) => [asset["id"], asset]));
  const place = (id: unknown) => byId.get(id)?.["externalId"];
  assert.deepEqual(
    assets.map((one) => [one["externalId"], one["name"], place(one["parentId"])]).sort(),
    [...places].sort(),
  );
  const series = (await on.ask("GET /timeseries?limit=1000&includeMetadata=true")).items;
  const linked = series.map((one) => [one["name"], one["description"], one["unit"], place(one["assetId"])]);
  const expected = tags.map(({ tag, description, unit }, at) => [
    ...[tag, description.trim(), unit, places[at % places.length]![0]],
  ]);
  assert.deepEqual(linked.sort(), expected.sort());
  const events = await allOf("/events?limit=1000");
  assert.equal(events.length, orders.length);
  const byName = new Map(events.map((event) => [event["externalId"], event]));
  for (const [at, { text, location }] of orders.entries()) {
    const event = byName.get(`order-${String(at).padStart(7, "0")}`)!;
    const start = at % 25 === 7 ? undefined : ordersStart + at * orderEveryMs;
    const [linkedTo] = (event["assetIds"] ?? []) as readonly number[];
    assert.deepEqual([event["description"], event["startTime"]], [text, start]);
    assert.equal(place(linkedTo), location);
  }
}

const files = {
  tags: "tep/tags.csv",
  ambient: "nab-industrial/ambient_temperature_system_failure.csv",
  machine: "nab-industrial/machine_temperature_system_failure.csv",
  plant: "tep/measurements.csv",
} as const;
const missing = Object.values(files)
  .map((name) => withData(name))
  .find(({ skip }) => skip !== false);

/** Of equal times, the later one counts. */
function temperatures(file: string): Reading[] {
  const times = rowsOf(file)
    .slice(1)
    .map(([time, value]) => [Date.parse(`${time!.replace(" ", "T")}Z`), Number(value)] as const);
  return [...new Map(times)].map(([timeMs, value]) => ({ timeMs, value }));
}

/** The measurements of each tag of the plant, one simulated run a month. */
function measured(tag: string): Reading[] {
  const [header, ...rows] = rowsOf(files.plant);
  const at = header!.indexOf(tag);
  const runs = [...new Set(rows.map(([run]) => run))];
  const startMs = (run: string) => Date.UTC(2020, runs.indexOf(run), 1);
  return rows.map((row) => ({
    timeMs: startMs(row[0]!) + Number(row[1]) * minuteMs,
    value: Number(row[at]),
  }));
}

/** Real readings by tag: the temperatures of two machines, and with PROOF=long all of the plant. */
function readingsOf(tags: readonly Tag[]): Map<string, readonly Reading[]> {
  const [ambient, machine] = [tags[4]!.tag, tags[5]!.tag];
  if (!isLong) return new Map([[ambient, temperatures(files.ambient)]]);
  const found = new Map(tags.map(({ tag }) => [tag, measured(tag)]));
  found.get(ambient)!.push(...temperatures(files.ambient));
  found.get(machine)!.push(...temperatures(files.machine));
  return found;
}

const inOrder = (readings: readonly Reading[]) =>
  readings.toSorted((one, other) => one.timeMs - other.timeMs);

it("raw lists and readings become the plant; a second run changes nothing", missing ?? {}, async (t) => {
  const tags = rowsOf(files.tags)
    .slice(1)
    .map(([tag, description, unit]) => ({ tag: tag!, description: description!, unit: unit! }));
  const readings = readingsOf(tags);
  const points = [...readings.values()].reduce((sum, one) => sum + one.length, 0);
  const orders = await putLists(tags, isLong ? 1_000_000 - points : 300);
  for (const [tag, some] of readings) await put("historian", "readings", readingRows(tag, some));

  const ids = {
    tree: await on.save("tree", queries.tree),
    series: await on.save("series", queries.series, { destination: { type: "series" } }),
    events: await on.save("events", queries.events, { destination: { type: "events" } }),
    points: await on.save("points", queries.points, { destination: { type: "datapoints" } }),
  };
  const made = { tree: places.length, series: tags.length, events: orders.length, points };
  const kinds = ["tree", "series", "events", "points"] as const;
  const run = async (kind: (typeof kinds)[number], what: string) => {
    const startMs = performance.now();
    const done = outcome(await on.run(ids[kind]));
    t.diagnostic(`${kind}, ${what}: ${JSON.stringify(done)}, ${Math.round(performance.now() - startMs)} ms`);
    return done;
  };
  for (const kind of kinds)
    assert.deepEqual(await run(kind, "first run"), { status: "COMPLETED", created: made[kind] }, kind);

  await checkPlant(tags, orders);
  for (const [tag, some] of readings) assert.deepEqual(await stored(tag), inOrder(some));

  for (const kind of kinds) {
    await on.ask(`POST /transformations/${ids[kind]}/reset`, {});
    assert.deepEqual(await run(kind, "again"), { status: "COMPLETED", unchanged: made[kind] }, kind);
  }
  const { tag } = tags[4]!;
  const before = readings.get(tag)!;
  const changed = before.map((one, at) => (at % 4 === 0 && at < 4_000 ? { ...one, value: at + 0.5 } : one));
  const rows = readingRows(tag, changed).filter((_, at) => at % 4 === 0 && at < 4_000);
  await put("historian", "readings", rows);
  assert.deepEqual(await run("points", "1,000 changed rows"), { status: "COMPLETED", changed: 1_000 });
  assert.deepEqual(await run("events", "no changed rows"), { status: "COMPLETED" });
  assert.deepEqual(await stored(tag), inOrder(changed));
});
