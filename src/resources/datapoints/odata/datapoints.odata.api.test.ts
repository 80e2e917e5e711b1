// Datapoints over OData: points, latest points and aggregates as sets, navigations and function results.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type AskOData, allItems, odataOf } from "../../../../test/support/odata.ts";
import { startTestServer, type TestServer } from "../../../../test/support/server.ts";

let server: TestServer;
let ask: AskOData;
let id: (name: string) => string;

const start = Date.UTC(2024, 0, 1);
const minuteMs = 60_000;
const at = (minutes: number) => new Date(start + minutes * minuteMs).toISOString().replace(".000Z", "Z");

before(async () => {
  server = await startTestServer();
  ask = odataOf(server);
  await server.ask("POST /timeseries", {
    items: [{ name: "level" }, { name: "state", isString: true }, { name: "empty" }],
  });
  const { items } = await server.ask("GET /timeseries");
  id = (name) => String(items.find((one) => one["name"] === name)?.["id"]);
  const times = Array.from({ length: 12_000 }, (_, minute) => minute);
  const points = (value: (minute: number) => unknown, count: number) => ({
    items: times.slice(0, count).map((m) => ({ timestamp: start + m * minuteMs, value: value(m) })),
  });
  await server.ask(
    "POST /timeseries/data/level",
    points((minute) => minute % 10, 12_000),
  );
  await server.ask(
    "POST /timeseries/data/state",
    points((minute) => `s${minute}`, 400),
  );
});
after(() => server.close());

async function refused(path: string, status: number, reason: string): Promise<void> {
  const response = await ask(path);
  assert.equal(`${response.status} ${response.reason}`, `${status} ${reason}`, `${path} ${response.text}`);
}

test("points that alternatives name are all found", async () => {
  await server.ask("POST /timeseries", { items: [{ name: "other" }] });
  const [made] = (await server.ask("GET /timeseries?q=other")).items;
  const points = [0, 1, 2].map((minute) => ({ timestamp: start + minute * minuteMs, value: 100 + minute }));
  await server.ask("POST /timeseries/data/other", { items: points });
  const [level, other] = [id("level"), String(made!["id"])];
  const pointId = (series: string, minute: number) => `${series}_${start + minute * minuteMs}`;
  const found = async (filter: string) =>
    (await allItems(ask, `DataPoints?$filter=${filter}`)).map((item) => item["Id"]);
  const both = [pointId(level, 3), pointId(other, 1)];
  assert.deepEqual(await found(`Id eq '${both[0]}' or Id eq '${both[1]}'`), both);
  assert.deepEqual(await found(`Id in ('${both[0]}','${both[1]}')`), both);
  const early = `(TimeseriesId eq '${level}' and TimeStamp lt ${at(1)})`;
  const late = `(TimeseriesId eq '${other}' and TimeStamp ge ${at(2)} and Value gt 1)`;
  assert.deepEqual(await found(`${early} or ${late}`), [pointId(level, 0), pointId(other, 2)]);
  const latest = await ask(
    `Latest?$filter=${early} or (TimeseriesId eq '${other}' and TimeStamp ge ${at(2)})`,
  );
  assert.deepEqual(
    latest.items.map((item) => item["TimeseriesId"]),
    [other],
    latest.text,
  );
  await server.ask("POST /timeseries/delete", { items: [Number(other)] });
});

test("points of a series in a half-open range, ascending, each with an id of its own", async () => {
  const range = `TimeStamp ge ${at(0)} and TimeStamp lt ${at(2)}`;
  const { items, json } = await ask(`Timeseries('${id("level")}')/DataPoints?$filter=${range}`);
  assert.ok(String(json?.["@odata.context"]).endsWith("/$metadata#DataPoints"));
  const point = (minute: number) => ({
    Id: `${id("level")}_${start + minute * minuteMs}`,
    TimeStamp: at(minute),
    Value: minute,
    TimeseriesId: id("level"),
  });
  assert.deepEqual(items, [point(0), point(1)]);
  const hidden = await ask(`DataPoints?$filter=TimeseriesId eq '${id("level")}' and ${range}`);
  assert.deepEqual(hidden.items, items);
  const one = await ask(`DataPoints('${id("level")}_${start}')`);
  assert.equal(one.json?.["Value"], 0);
  await refused(`DataPoints('${id("level")}_${start + 1}')`, 404, "ResourceNotFound");
});

test("all points page by page, in order and each once; counted without being read", async () => {
  const path = `Timeseries('${id("level")}')/DataPoints`;
  const all = await allItems(ask, `${path}?$select=TimeStamp`);
  assert.equal(all.length, 12_000);
  const sorted = [...new Set(all.map(({ TimeStamp }) => String(TimeStamp)))].sort();
  assert.deepEqual(
    sorted,
    all.map(({ TimeStamp }) => TimeStamp),
  );
  assert.equal((await ask(`${path}/$count`)).text, "12000");
  assert.equal((await ask(`${path}/$count?$filter=TimeStamp lt ${at(7)}`)).text, "7");
  assert.equal((await allItems(ask, `${path}?$top=10001&$select=Id`)).length, 10_001);
});

test("a filter by values matches the points of the range", async () => {
  const path = `Timeseries('${id("level")}')/DataPoints`;
  const { items } = await ask(
    `${path}?$filter=Value ge 9 and TimeStamp lt ${at(20)}&$select=Value,TimeStamp`,
  );
  assert.deepEqual(items, [
    { TimeStamp: at(9), Value: 9 },
    { TimeStamp: at(19), Value: 9 },
  ]);
  assert.equal((await ask(`${path}/$count?$filter=Value eq 3 or Value eq 4`)).text, "2400");
  assert.equal((await allItems(ask, `${path}?$filter=Value eq 3&$top=1100`)).length, 1100);
});

test("numbers and strings are in different sets, and the other one is empty", async () => {
  const strings = await ask(
    `Timeseries('${id("state")}')/StringPoints?$filter=contains(Value,'s39')&$select=Value`,
  );
  assert.equal(strings.items.length, 11);
  assert.deepEqual((await ask(`Timeseries('${id("state")}')/DataPoints`)).items, []);
  assert.deepEqual((await ask(`Timeseries('${id("level")}')/StringPoints`)).items, []);
  assert.equal((await ask(`Timeseries('${id("state")}')/StringPoints/$count`)).text, "400");
  assert.equal((await allItems(ask, `StringPoints?$filter=TimeseriesId eq '${id("state")}'`)).length, 400);
});

test("without a series, sets of points are empty, and function results are no sets", async () => {
  for (const path of [
    "DataPoints",
    "StringPoints?$filter=Value eq 'x'",
    "Latest",
    "Aggregates",
    "DataPointsSynthetic",
  ])
    assert.deepEqual((await ask(path)).items, [], path);
  assert.deepEqual((await ask("DataPoints?$filter=TimeseriesId eq '1'")).items, []);
});

test("the latest point of a series, by path, by key and expanded", async () => {
  const { json } = await ask(`Timeseries('${id("level")}')/Latest`);
  const { "@odata.context": _, ...latest } = json!;
  const expected = {
    Id: id("level"),
    TimeStamp: at(11_999),
    Value: 9,
    StringValue: null,
    TimeseriesId: id("level"),
  };
  assert.deepEqual(latest, expected);
  assert.equal((await ask(`Latest('${id("state")}')`)).json?.["StringValue"], "s399");
  assert.equal((await ask(`Timeseries('${id("empty")}')/Latest`)).status, 204);
  const { items } = await ask("Timeseries?$filter=Name ne ''&$select=Name&$expand=Latest");
  assert.deepEqual(
    items.map(({ Name, Latest }) => [Name, Latest && (Latest as { Value: unknown }).Value]),
    [
      ["empty", null],
      ["level", 9],
      ["state", null],
    ],
  );
  await refused(`Timeseries('${id("level")}')?$expand=DataPoints`, 400, "NotExpandable");
  await refused(`Timeseries('${id("level")}')?$expand=StringPoints`, 400, "NotExpandable");
});

test("aggregates of a series: inline or by alias, qualified or not, all ten or those selected", async () => {
  const times = `Start=${at(0).replaceAll(":", "%3A")},End=${at(120)}`;
  const series = `Timeseries('${id("level")}')`;
  const qualified = await ask(`${series}/DataPlatform.V1.Aggregate(${times},Granularity='1h')`);
  assert.match(
    String(qualified.json?.["@odata.context"]),
    /#Collection\(DataPlatform\.V1\.AggregateDataPoint\)$/,
  );
  const [first, second] = qualified.items;
  assert.equal(qualified.items.length, 2);
  assert.equal(Object.keys(first!).length, 13);
  assert.deepEqual([first?.["Count"], first?.["Sum"], first?.["Max"], first?.["Min"]], [60, 270, 9, 0]);
  assert.equal(second?.["Id"], `${id("level")}_${start + 60 * minuteMs}`);
  const aliased = await ask(
    `${series}/Aggregate(Start=@s,End=@e,Granularity=@g)?@s=${at(0)}&@e=${at(120)}&@g='1h'`,
  );
  assert.deepEqual(aliased.items, qualified.items);
  const selected = await ask(
    `${series}/Aggregate(${times},Granularity='60m')?$select=TimeStamp,Count&$filter=Count gt 1`,
  );
  assert.deepEqual(selected.items, [
    { TimeStamp: at(0), Count: 60 },
    { TimeStamp: at(60), Count: 60 },
  ]);
});

test("aggregates of several series, by id or name, up to now without an end", async () => {
  const call = (tags: string, rest = "") =>
    `TimeseriesAggregate(Tags='${tags}',Granularity='1d',Start=${at(0)}${rest})`;
  const { items, json } = await ask(`${call(`${id("level")},level`)}?$select=TimeseriesId,Count`);
  assert.ok(String(json?.["@odata.context"]).endsWith("#Aggregates(TimeseriesId,Count)"));
  assert.equal(items.length, 9, "a series that is named twice has each bucket once");
  assert.deepEqual(items[8], { TimeseriesId: id("level"), Count: 12_000 - 8 * 1440 });
  for (const end of [",End=null", ",End=@none", `,End=${at(12_000)}`])
    assert.equal((await ask(`${call("level", end)}/$count`)).text, "9", end);
  assert.equal(
    (await allItems(ask, call("level"), { headers: { prefer: "odata.maxpagesize=2" } })).length,
    9,
  );
  assert.equal((await ask(call('["level"]'))).items.length, 9);
  for (const none of ["", " ", "[]"]) assert.deepEqual((await ask(call(none))).items, [], none);
  await refused(call("nope"), 400, "KeyInvalid");
  await refused(call("state"), 400, "TextsNotAggregated");
});

test("arguments that cannot be taken are refused", async () => {
  const call = (inside: string) => `Timeseries('${id("level")}')/Aggregate(${inside})`;
  const times = `Start=${at(0)},End=${at(120)}`;
  for (const inside of [
    times,
    `${times},Granularity='7x'`,
    `${times},Granularity=1`,
    `Start=${at(1)},End=${at(0)},Granularity='1h'`,
  ])
    await refused(call(inside), 400, "KeyInvalid");
  await refused(call(`${times},Granularity='1h',Nope=1`), 400, "KeyInvalid");
  await refused(`Timeseries('1')/Aggregate(${times},Granularity='1h')`, 404, "ResourceNotFound");
});

test("what is written by columns is what is written row by row", async () => {
  const level = id("level");
  const points = [
    [at(0), 0.5],
    [at(0.00005), -0],
    [at(1500), 1e21],
    [at(1500.5), -123456.789012],
  ].map(([time, value]) => ({ timestamp: Date.parse(String(time)), value }));
  await server.ask("POST /timeseries", { items: [{ name: "odd" }] });
  await server.ask("POST /timeseries/data/odd", { items: points });
  const range = `Start=${at(0)},End=${at(3)},Granularity='1m'`;
  for (const path of [
    `Timeseries('${level}')/DataPoints?$top=50`,
    `Timeseries('${level}')/DataPoints?$filter=Value gt 7&$top=5`,
    `DataPoints?$filter=TimeseriesId in ('${level}','${await idOf("odd")}') and TimeStamp ge ${at(11_990)}`,
    `DataPoints?$filter=TimeseriesId eq '${await idOf("odd")}'`,
    `Timeseries('${level}')/DataPoints?$select=TimeseriesId&$top=3&$count=true`,
    `Timeseries('${level}')/DataPoints?$select=Value,Id&$top=3`,
    `Timeseries('${level}')/DataPoints?$select=Nope&$top=3`,
    `Timeseries('${level}')/Aggregate(${range})`,
    `Timeseries('${level}')/Aggregate(${range})?$select=Average,TimeStamp`,
    `TimeseriesAggregate(Tags='level,odd',${range})?$select=Id,Max,TimeseriesId`,
  ]) {
    const columns = await ask(path);
    const rows = await ask(path, { headers: { accept: "application/json;odata.metadata=full" } });
    assert.equal(columns.status, 200, columns.text);
    assert.ok(columns.items.length > 0, path);
    const plain = rows.items.map((row) => Object.entries(row).filter(([name]) => !/[@#]/.test(name)));
    assert.deepEqual(
      columns.items.map((row) => Object.entries(row)),
      plain,
      path,
    );
  }
});

const idOf = async (name: string) =>
  String((await ask(`Timeseries?$filter=Name eq '${name}'&$select=Id`)).items[0]!["Id"]);

test("buckets in which no selected aggregate has a value do not appear, nor in the count", async () => {
  await server.ask("POST /timeseries", { items: [{ name: "late" }] });
  const items = [0.5, 1.25].map((minutes, value) => ({ timestamp: start + minutes * minuteMs, value }));
  await server.ask("POST /timeseries/data/late", { items });
  const path = `TimeseriesAggregate(Tags='late',Granularity='1m',Start=${at(0)},End=${at(2)})`;
  const found = async (select: string) => {
    const { items, json } = await ask(`${path}?$count=true${select}`);
    assert.equal(json?.["@odata.count"], items.length);
    return items.map((item) => item["TimeStamp"]);
  };
  assert.deepEqual(await found("&$select=TimeStamp,Interpolation"), [at(1)]);
  assert.deepEqual(await found("&$select=TimeStamp,Interpolation,Max"), [at(0), at(1)]);
  assert.deepEqual(await found("&$select=TimeStamp"), [at(0), at(1)]);
  assert.deepEqual(await found(""), [at(0), at(1)]);
});
