// From dirty lists and readings to a tree, linked series, events and datapoints: tags and temperatures are
// real (Tennessee Eastman, Numenta), the ERP around them is made, with decimal commas, three forms of dates,
// repeated and missing tags, and text from Latin-1.
import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { fromTimestamp } from "../../src/sql-runner/engine/timestamp-functions.ts";
import { startTestServer, type TestServer } from "../support/server.ts";
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

const hourMs = 3_600_000;
const ordersStart = Date.UTC(2014, 1, 1, 12);
const orderOf = (at: number) => ({
  text: `Pr${latin1(0xfc)}fung ${at}`,
  start: at % 25 === 7 ? "31.02.2014 10:00" : written(ordersStart + at * hourMs, at % 3),
  ...(at % 10 !== 3 && { location: places[at % places.length]![0] }),
});

const readingRows = (tag: string, readings: readonly Reading[]) =>
  Object.fromEntries(
    readings.map(({ timeMs, value }, at) => [
      `r${String(at).padStart(5, "0")}`,
      { tag: spellings(tag)[at % 3], time: written(timeMs, at % 3), value: withComma(value) },
    ]),
  );

async function putReadings(tag: string, readings: readonly Reading[]): Promise<void> {
  await on.putRaw(["historian", "readings"], readingRows(tag, readings));
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

/** Writes the lists of the ERP system as raw rows; returns the orders. */
async function putLists(tags: readonly Tag[]): Promise<readonly Order[]> {
  const sensors = tags.flatMap(({ tag, description, unit }, at) =>
    spellings(tag)
      .slice(0, at % 5 === 0 ? 3 : 1)
      .map((spelling) => ({
        ...{ tag: spelling, description: ` ${description} `, unit, location: places[at % places.length]![0] },
        high: `1.${String(at).padStart(3, "0")},5`,
      })),
  );
  const noTags = [{ description: "no tag" }, { tag: "", description: "blank" }, { tag: null }];
  const table = (rows: readonly object[]) =>
    Object.fromEntries(rows.map((row, at) => [String(at).padStart(4, "0"), row]));
  const locations = places.map(([key, title, parent]) => [key, { title, ...(parent && { parent }) }]);
  await on.putRaw(["erp", "locations"], Object.fromEntries(locations.reverse()));
  await on.putRaw(["erp", "sensors"], table([...sensors, ...noTags]));
  const orders = Array.from({ length: 300 }, (_, at) => orderOf(at));
  await on.putRaw(["erp", "orders"], table(orders));
  return orders;
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
  const events = (await on.ask("GET /events?limit=1000")).items;
  const byName = new Map(events.map((event) => [event["externalId"], event]));
  for (const [at, { text, location }] of orders.entries()) {
    const event = byName.get(`order-${String(at).padStart(4, "0")}`)!;
    const start = at % 25 === 7 ? undefined : ordersStart + at * hourMs;
    const [linkedTo] = (event["assetIds"] ?? []) as readonly number[];
    assert.deepEqual([event["description"], event["startTime"]], [text, start]);
    assert.equal(place(linkedTo), location);
  }
}

const needed = ["tep/tags.csv", "nab-industrial/ambient_temperature_system_failure.csv"];
const missing = needed.map((name) => withData(name)).find(({ skip }) => skip !== false);

it("raw lists and readings become the plant; a second run changes nothing", missing ?? {}, async () => {
  const tags = rowsOf(needed[0]!)
    .slice(1)
    .map(([tag, description, unit]) => ({ tag: tag!, description: description!, unit: unit! }));
  const times = rowsOf(needed[1]!)
    .slice(1)
    .map(([time, value]) => [Date.parse(`${time!.replace(" ", "T")}Z`), Number(value)] as const);
  const readings = [...new Map(times)].map(([timeMs, value]): Reading => ({ timeMs, value }));
  const orders = await putLists(tags);
  const { tag } = tags[4]!;
  await putReadings(tag, readings);

  const ids = {
    tree: await on.save("tree", queries.tree),
    series: await on.save("series", queries.series, { destination: { type: "series" } }),
    events: await on.save("events", queries.events, { destination: { type: "events" } }),
    points: await on.save("points", queries.points, { destination: { type: "datapoints" } }),
  };
  const made = { tree: places.length, series: tags.length, events: orders.length, points: readings.length };
  const kinds = ["tree", "series", "events", "points"] as const;
  for (const kind of kinds)
    assert.deepEqual(outcome(await on.run(ids[kind])), { status: "COMPLETED", created: made[kind] }, kind);

  await checkPlant(tags, orders);
  const ordered = readings.toSorted((one, other) => one.timeMs - other.timeMs);
  assert.deepEqual(await stored(tag), ordered);

  for (const kind of kinds) {
    await on.ask(`POST /transformations/${ids[kind]}/reset`, {});
    assert.deepEqual(outcome(await on.run(ids[kind])), { status: "COMPLETED", unchanged: made[kind] }, kind);
  }
  const changed = readings.map((one, at) => (at % 7 === 0 && at < 7_000 ? { ...one, value: at + 0.5 } : one));
  const rows = Object.entries(readingRows(tag, changed)).filter((_, at) => at % 7 === 0 && at < 7_000);
  await on.putRaw(["historian", "readings"], Object.fromEntries(rows));
  assert.deepEqual(outcome(await on.run(ids.points)), { status: "COMPLETED", changed: 1_000 });
  assert.deepEqual(outcome(await on.run(ids.events)), { status: "COMPLETED" });
  assert.deepEqual(
    await stored(tag),
    changed.toSorted((one, other) => one.timeMs - other.timeMs),
  );
});
