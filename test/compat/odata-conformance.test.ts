// The conformance checklist of the OData interface (docs/reference/odata.md): 96 numbered requirements with a
// test each; a requirement with a test file of its own names that file.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, before, test } from "node:test";
import { type AskOData, allItems, type ODataOptions, odataOf } from "../support/odata.ts";
import { type Item, idsOf, startTestServer, type TestServer, withFront } from "../support/server.ts";

let server: TestServer;
let ask: AskOData;
let root: string;
/** Ids as the interface has them, by names of the records. */
let ids: Readonly<
  Record<"plant" | "pump" | "quote" | "pressure" | "state" | "empty" | "huge" | "manual", string>
>;

const start = Date.UTC(2024, 0, 1);
const minute = (count: number) => new Date(start + count * 60_000).toISOString().replace(".000Z", "Z");

before(async () => {
  server = await startTestServer(withFront);
  ask = odataOf(server);
  root = `${server.baseUrl}/odata/v1/projects/${server.project}`;
  const [plant, pump, quote] = await makeAssets();
  ids = {
    ...{ plant: String(plant), pump: String(pump), quote: String(quote) },
    ...(await makeSeries(pump)),
    manual: await makeFile(pump),
  };
  await makeEvents(plant, pump);
  await makeSequence(plant);
  await makeRaw();
  const end = (externalId: string) => ({ sourceType: "asset", sourceExternalId: externalId });
  const target = { targetType: "asset", targetExternalId: "PLANT" };
  await server.ask("POST /relationships", { items: [{ externalId: "r1", ...end("P-1"), ...target }] });
});
after(() => server.close());

async function makeAssets(): Promise<[number, number, number]> {
  const made = await server.ask.v06("POST /assets", {
    items: [
      { name: "plant", refId: "p", source: "SAP", sourceId: "PLANT" },
      { name: "pump 1", parentRefId: "p", source: "SAP", sourceId: "P-1", metadata: { a: "b" } },
      { name: "O'Neil", parentRefId: "p", source: "SAP" },
      { name: "valve", parentRefId: "p", source: "PI" },
    ],
  });
  return idsOf(made) as [number, number, number];
}

async function makeSeries(assetId: number) {
  const categories = await server.ask("POST /securitycategories", { items: [{ name: "secret" }] });
  await server.ask("POST /timeseries", {
    items: [
      { name: "pressure", assetId, unit: "bar", securityCategories: idsOf(categories) },
      { name: "state", assetId, isString: true },
      { name: "empty", unit: "Pa" },
      { name: "huge" },
    ],
  });
  const points = (values: readonly unknown[]) => ({
    items: values.map((value, at) => ({ timestamp: start + at * 60_000, value })),
  });
  await server.ask("POST /timeseries/data/pressure", points(Array.from({ length: 120 }, (_, at) => at / 2)));
  await server.ask("POST /timeseries/data/state", points(["on", "off"]));
  await server.ask("POST /timeseries/data/huge", points([1.5e308, 1.5e308]));
  const named = Object.fromEntries(
    (await ask("Timeseries?$top=10")).items.map((one) => [one["Name"], one["Id"]]),
  );
  return named as Record<"pressure" | "state" | "empty" | "huge", string>;
}

async function makeFile(assetId: number): Promise<string> {
  const file = { fileName: "manual x.txt", mimeType: "text/plain", assetIds: [assetId] };
  const made = (await server.ask("POST /files/initupload", file)).json;
  const { fileId, uploadURL } = (made as { data: { fileId: number; uploadURL: string } }).data;
  await fetch(uploadURL, { method: "PUT", body: "read me", headers: { "content-type": "text/plain" } });
  return String(fileId);
}

async function makeEvents(plant: number, pump: number): Promise<void> {
  const at = { startTime: start, endTime: start + 1 };
  await server.ask("POST /events", {
    items: [
      { type: "a", subtype: "x", description: "one", assetIds: [pump], ...at, metadata: { a: "b" } },
      {
        type: "b",
        subtype: "c",
        source: "dcs",
        assetIds: [plant, pump],
        ...at,
        startTime: start - 7_200_000,
      },
      { type: "b", subtype: "d", source: "dcs", description: "three" },
    ],
  });
}

async function makeSequence(assetId: number): Promise<void> {
  const columns = [{ name: "depth", externalId: "d", valueType: "DOUBLE" }];
  const made = await server.ask("POST /sequences", {
    items: [{ name: "log", externalId: "W", assetId, columns }],
  });
  const [{ id, columns: sequenceColumns }] = made.items as unknown as [
    { id: number; columns: [{ id: number }] },
  ];
  const rows = [5, 6].map((rowNumber) => ({
    rowNumber,
    values: [{ columnId: sequenceColumns[0].id, value: 1 }],
  }));
  await server.ask(`POST /sequences/${id}/postdata`, { items: [{ rows }] });
}

async function makeRaw(): Promise<void> {
  await server.ask("POST /raw/create", { items: [{ dbName: "d" }] });
  await server.ask("POST /raw/d/create", { items: [{ tableName: "t" }] });
  const odd = '{"key":"0","columns":{"a.b":1,"big":1e400,"tags":["a"],"size":{"h":2.5}}}';
  const plain = Array.from({ length: 12 }, (_, at) => `{"key":"k${at}","columns":{}}`);
  const json = { "content-type": "application/json" };
  await server.ask("POST /raw/d/t/create", `{"items":[${[odd, ...plain].join(",")}]}`, json);
}

/** A successful response. */
async function got(path: string, options?: ODataOptions) {
  const response = await ask(path, options);
  assert.equal(response.status, 200, response.text);
  return response;
}

const accepting = (accept: string | undefined): ODataOptions => ({ headers: { accept } });
const values = async (path: string, name = "Name") => (await got(path)).items.map((item) => item[name]);
const whole = async (path: string) => (await got(path)).json!;

async function context(path: string): Promise<string> {
  const found = String((await whole(path))["@odata.context"]);
  assert.ok(found.startsWith(`${root}/$metadata#`), found);
  return found.slice(`${root}/$metadata`.length);
}

async function refused(path: string, status: number, reason?: string, options?: ODataOptions): Promise<void> {
  const response = await ask(path, options);
  assert.equal(response.status, status, `${path} ${response.text}`);
  if (reason !== undefined) assert.equal(response.reason, reason, `${path} ${response.text}`);
}

async function digits(path: string, expected: number): Promise<void> {
  const { text, headers } = await got(path, accepting("application/json"));
  assert.deepEqual([headers.get("content-type"), text], ["text/plain", String(expected)], path);
}

const posted = (body: unknown, headers: Readonly<Record<string, string>> = {}): ODataOptions => ({
  method: "POST",
  body,
  headers: { "content-type": "application/json", ...headers },
});

const sap = "Assets?$filter=Source eq 'SAP'";
const assetMembers =
  "Id ExternalId Name Description ParentId ParentExternalId Source MetaData RootId DataSetId Labels " +
  "CreatedTime LastUpdatedTime";
const hidden = ["DownloadUrl", "DataPointsSynthetic", "Aggregates", "Latest", "DataPoints", "StringPoints"];
const aggregate = () => `Start=${minute(0)},End=${minute(120)},Granularity='1h'`;
const bound = (call: string) => `Timeseries('${ids.pressure}')/${call}`;

const lines: Readonly<Record<number, () => Promise<void>>> = {
  1: async () => {
    for (const path of ["", "/"])
      assert.equal((await got(path)).json?.["@odata.context"], `${root}/$metadata`);
    assert.equal((await values("", "name")).length, 17);
  },
  2: async () => {
    const listed = await values("", "name");
    for (const name of [...hidden, "Resource"]) assert.ok(!listed.includes(name), name);
  },
  4: async () => {
    const type = async (accept: string | undefined) =>
      (await got("$metadata", accepting(accept))).headers.get("content-type");
    assert.equal(await type("*/*"), "application/xml");
  },
  5: async () => {
    const { headers } = await got("$metadata", accepting("application/json, text/plain, */*"));
    assert.equal(headers.get("content-type"), "application/xml");
  },
  7: async () => {
    for (const format of ["json", "xml"])
      assert.equal(
        (await got(`$metadata?$format=${format}`)).headers.get("content-type"),
        `application/${format}`,
      );
  },
  8: async () => {
    const { text } = await got("$metadata");
    const count = (pattern: RegExp) => [...text.matchAll(pattern)].length;
    assert.equal(count(/<EntityType [^>]*OpenType="true"/g), 23);
    assert.equal(count(/<EntityType /g), 23);
    assert.equal(count(/<ComplexType [^>]*OpenType="true"/g), 3);
    assert.equal(count(/<EntitySet /g), 23);
    assert.equal(count(/<Function /g), 6);
    assert.equal(count(/<FunctionImport /g), 5);
  },
  9: async () => {
    const { text } = await got("$metadata");
    const [, ...sets] = text.split("<EntitySet ");
    for (const set of sets) {
      assert.match(set, /Capabilities\.V1\.SkipSupported" Bool="false"/);
      assert.match(set, /Property="Sortable" Bool="false"/);
    }
    assert.match(text, /Capabilities\.V1\.BatchSupported" Bool="false"/);
    const functions = /FilterFunctions">.*?<\/Annotation>/s.exec(text)?.[0] ?? "";
    const named = [...functions.matchAll(/<String>(\w+)</g)].map(([, name]) => name);
    assert.deepEqual(named, ["contains", "startswith", "endswith"]);
  },
  10: async () => {
    assert.equal(await context(sap), "#Assets");
    const [first] = (await got(sap)).items;
    assert.equal(Object.keys(first!).join(" "), assetMembers);
  },
  11: async () =>
    assert.equal((await got("Assets?%24filter=Source%20eq%20%27SAP%27")).text, (await got(sap)).text),
  12: async () => assert.deepEqual(await values("Assets?$filter=Name eq 'O''Neil'"), ["O'Neil"]),
  13: () => refused("Assets?$filter=Source eq 'SAP's'", 400, "FilterSyntax"),
  14: () => refused("Assets", 400, "FilterRequired"),
  15: async () => assert.equal((await got("Assets?$top=1000")).next, undefined),
  16: () => refused("Assets?$filter=ParentId eq '1'", 400, "PropertyNotFilterable"),
  17: () => refused("Assets?$filter=MetaData/a eq 'b'", 400, "PropertyNotFilterable"),
  18: async () => assert.deepEqual(await values("Events?$filter=MetaData/a eq 'b'", "Description"), ["one"]),
  19: () => refused("Files?$filter=AssetIds/any(a:a eq '5')", 400, "PropertyNotFilterable"),
  20: async () => {
    const on = (id: string) => values(`Events?$filter=AssetIds/any(a:a eq '${id}')`, "Type");
    assert.deepEqual((await on(ids.pump)).sort(), ["a", "b"]);
    assert.deepEqual(await on(ids.plant), ["b"]);
  },
  21: () => refused("Timeseries?$filter=SecurityCategories/any(s:s eq 1)", 400, "PropertyNotFilterable"),
  22: () => refused("Assets?$filter=Id eq '1' or Id eq '2'", 400, "FilterExpressionNotAllowed"),
  23: async () =>
    assert.deepEqual(await values(`Assets?$filter=Id eq '${ids.pump}' and contains(Name,'p')`), ["pump 1"]),
  24: () => refused("Relationships?$filter=startswith(ExternalId,'a')", 400, "FilterExpressionNotAllowed"),
  25: () => refused("Relationships?$filter=Source/ExternalId eq 'a'", 400, "PropertyNotFilterable"),
  26: async () => {
    const filter = "contains(Name,'x') or startswith(Name,'y') or Name eq 'z'";
    assert.deepEqual(await values(`Files?$filter=${filter}`), ["manual x.txt"]);
  },
  27: async () =>
    assert.deepEqual(await values("Assets?$filter=not contains(Name,'p') and Source eq 'SAP'"), ["O'Neil"]),
  28: async () => {
    const found = await values("Events?$filter=Type eq 'a' or Type eq 'b' and SubType eq 'c'", "SubType");
    assert.deepEqual(found.sort(), ["c", "x"]);
  },
  29: async () => {
    assert.deepEqual(await values("Events?$filter=Source eq null", "Type"), ["a"]);
    assert.deepEqual(await values("Events?$filter=Source ne null", "Type"), ["b", "b"]);
    assert.deepEqual(await values("Events?$filter=Source ne 'dcs'", "Type"), ["a"]);
  },
  30: async () => {
    const from = (time: string) => values(`Events?$filter=StartTime ge ${time}`, "Type");
    assert.deepEqual((await from("2024-01-01T00:00:00%2B02:00")).sort(), ["a", "b"]);
    assert.deepEqual(await from("2024-01-01T00:00:00%2B01:00"), ["a"]);
  },
  31: async () =>
    assert.deepEqual(await values("Events?$filter=StartTime ge 2024-01-01T00:00:00+01:00", "Type"), ["a"]),
  32: async () => {
    const found = await values("Timeseries?$filter=IsString eq false and Unit in ('bar','Pa')");
    assert.deepEqual(found.sort(), ["empty", "pressure"]);
  },
  33: () => refused("Timeseries?$filter=tolower(Name) eq 'x'", 501, "FilterFeatureNotSupported"),
  34: () => refused("Timeseries?$filter=foo(Name) eq 1", 400, "FilterSyntax"),
  35: () => refused("Timeseries?$filter=CreatedTime gt 'abc'", 400, "FilterType"),
  36: async () => assert.deepEqual(await values("Assets?$filter=Nope eq 'x'"), []),
  37: () => refused(`${sap}&$orderby=Name`, 501, "QueryOptionNotSupported"),
  38: async () => {
    await refused(`${sap}&$skip=5`, 501, "QueryOptionNotSupported");
    await got(`${sap}&$skip=0`);
  },
  39: () => refused("$batch", 501, "FeatureNotSupported", { method: "POST" }),
  40: async () => {
    await refused(`${sap}&$foo=1`, 501);
    await got(`${sap}&foo=1`);
  },
  41: () => refused(`${sap}&$filter=Name eq 'x'`, 400, "QueryOptionRepeated"),
  42: async () => {
    assert.equal(await context(`${sap}&$select=Id,Name`), "#Assets(Id,Name)");
    const [first] = (await got(`${sap}&$select=Name,Id`)).items;
    assert.deepEqual(Object.keys(first!), ["Id", "Name"]);
  },
  43: async () => {
    const { json, items } = await got(`${sap}&$count=true&$top=1`);
    assert.deepEqual([json?.["@odata.count"], items.length], [3, 1]);
  },
  44: async () => {
    const long = accepting("application/json;IEEE754Compatible=true");
    const { json, headers } = await got(`${sap}&$count=true&$top=1`, long);
    assert.equal(json?.["@odata.count"], "3");
    assert.match(headers.get("content-type")!, /;IEEE754Compatible=true/);
  },
  45: async () => {
    const long = accepting("application/json;IEEE754Compatible=true");
    const memberships = (await got(`Timeseries('${ids.pressure}')`, long)).json?.[
      "SecurityCategories"
    ] as unknown[];
    assert.deepEqual(
      memberships.map((one) => typeof one),
      ["string"],
    );
  },
  46: () => digits("Assets/$count?$filter=Source eq 'SAP'", 3),
  47: () => digits(`Assets('${ids.pump}')/Timeseries/$count`, 2),
  48: () => refused("Assets('nope')", 404, "ResourceNotFound"),
  49: async () => {
    await ask("Raw", posted({ Database: "a/b" }));
    assert.equal((await whole("Raw('a%2Fb')"))["Database"], "a/b");
    await refused("Assets('a%2Fb')", 404, "ResourceNotFound");
  },
  50: async () =>
    assert.equal((await got(`Assets(%27${ids.pump}%27)`)).text, (await got(`Assets('${ids.pump}')`)).text),
  51: () => refused(`Assets('${ids.plant}')/Parent`, 204),
  52: async () => {
    const path = `Assets('${ids.pump}')/Name`;
    assert.deepEqual(await whole(path), { "@odata.context": `${root}/$metadata#${path}`, value: "pump 1" });
    assert.equal((await got(`${path}/$value`)).text, "pump 1");
  },
  53: async () => {
    const expand = "Parent($select=Id),Timeseries($top=2;$select=Id,Name)";
    const { Parent, Timeseries } = await whole(`Assets('${ids.pump}')?$expand=${expand}`);
    assert.deepEqual(Parent, { Id: ids.plant });
    assert.deepEqual(Timeseries, [
      { Id: ids.pressure, Name: "pressure" },
      { Id: ids.state, Name: "state" },
    ]);
  },
  54: async () => {
    const address = "Assets?%24filter=Source%20eq%20%27SAP%27&%24select=Id%2CParent";
    const [plant, pump] = (await got(`${address}&%24expand=Parent%28%24select%3DId%2CName%29`)).items;
    assert.deepEqual(plant, { Id: ids.plant, Parent: null });
    assert.deepEqual(pump?.["Parent"], { Id: ids.plant, Name: "plant" });
  },
  55: async () => {
    await refused(`Assets('${ids.pump}')?$expand=Events`, 400, "NotExpandable");
    assert.equal((await values(`Assets('${ids.pump}')/Events`, "Id")).length, 2);
  },
  56: () => refused(`Timeseries('${ids.pressure}')?$expand=DataPoints`, 400, "NotExpandable"),
  57: async () => {
    const range = `TimeStamp ge ${minute(1)} and TimeStamp lt ${minute(4)}`;
    assert.deepEqual(await values(`${bound("DataPoints")}?$filter=${range}`, "Value"), [0.5, 1, 1.5]);
  },
  58: async () => {
    assert.equal((await whole(bound("Latest")))["Value"], 59.5);
    assert.equal((await whole(`Timeseries('${ids.state}')/Latest`))["StringValue"], "off");
    await refused(`Timeseries('${ids.empty}')/Latest`, 204);
  },
  59: async () => {
    const call = bound(`DataPlatform.V1.Aggregate(${aggregate().replaceAll(":", "%3A")})`);
    assert.equal(await context(call), "#Collection(DataPlatform.V1.AggregateDataPoint)");
    assert.deepEqual(await values(call, "Max"), [29.5, 59.5]);
  },
  60: async () => {
    const aliases = `@s=${minute(0)}&@e=${minute(120)}&@g='1h'`;
    const call = bound(`DataPlatform.V1.Aggregate(Start=@s,End=@e,Granularity=@g)?${aliases}`);
    assert.deepEqual(await values(call, "Max"), [29.5, 59.5]);
  },
  61: async () => assert.deepEqual(await values(bound(`Aggregate(${aggregate()})`), "Count"), [60, 60]),
  62: async () => {
    const given = `Tags='pressure',Granularity='1h',Start=${minute(0)}`;
    for (const end of ["", ",End=null", ",End=@none"]) {
      assert.equal(await context(`TimeseriesAggregate(${given}${end})`), "#Aggregates");
      assert.equal((await values(`TimeseriesAggregate(${given}${end})`, "Id")).length, 2);
    }
  },
  63: async () => {
    await refused(bound(`Aggregate(Start=${minute(0)},End=${minute(1)},Granularity='7x')`), 400);
    await refused(bound(`Aggregate(Start=${minute(0)},End=${minute(1)})`), 400);
  },
  64: async () => {
    for (const path of ["AssetsRoots", "AssetsRoots()"]) assert.deepEqual(await values(path), ["plant"]);
  },
  65: async () => {
    assert.equal(await context("AssetsSearch(Search='pump%201')?$top=3"), "#Assets");
    assert.deepEqual(await values("AssetsSearch(Search=@p)?@p='pump%201'&$top=3"), ["pump 1"]);
  },
  66: () => digits("AssetsSearch(Search='p')/$count", 2),
  67: async () => {
    const rows = "Raw('d')/Tables('t')/Rows";
    assert.equal(await context(rows), `#${rows}`);
    const small = { headers: { prefer: "odata.maxpagesize=5" } };
    assert.ok((await got(rows, small)).next?.startsWith(rows));
  },
  68: async () => {
    const small = { headers: { prefer: "odata.maxpagesize=5" } };
    const rows = await allItems(ask, "Raw('d')/Tables('t')/Rows", small);
    assert.equal(new Set(rows.map(({ Key }) => Key)).size, 13);
    assert.equal(rows.length, 13);
  },
  69: async () => {
    const { next } = await got(sap, { headers: { prefer: "maxpagesize=1" } });
    await refused(`${next!.slice(0, -3)}abc`, 400, "SkipTokenInvalid");
    await refused(next!.replace("SAP", "PI"), 400, "SkipTokenInvalid");
  },
  70: async () => {
    const rows = "Raw('d')/Tables('t')/Rows";
    const { items, headers } = await got(rows, { headers: { prefer: "odata.maxpagesize=5" } });
    assert.deepEqual([items.length, headers.get("preference-applied")], [5, "odata.maxpagesize=5"]);
  },
  71: async () => assert.deepEqual(await values("Tables?$filter=Database eq 'd'", "Table"), ["t"]),
  72: async () => {
    const { RawData } = await whole("Raw('d')/Tables('t')/Rows('0')");
    assert.deepEqual(RawData, {
      a_x002E_b: 1,
      ...{ "big@odata.type": "#Double", big: "INF" },
      ...{ "tags@odata.type": "#Collection(String)", tags: ["a"] },
      size: { "@odata.type": "#DataPlatform.V1.RawData", h: 2.5 },
    });
  },
  73: async () => {
    const { status, headers, json } = await ask("Raw", posted({ Database: "n" }));
    assert.deepEqual([status, headers.get("location")], [201, `${root}/Raw('n')`]);
    assert.equal(json?.["@odata.context"], `${root}/$metadata#Raw/$entity`);
  },
  74: async () => {
    const path = "Raw('d')/Tables('t')/Rows";
    const { status, headers } = await ask(path, posted({ Key: "min" }, { prefer: "return=minimal" }));
    assert.deepEqual([status, headers.get("odata-entityid")], [204, `${root}/${path}('min')`]);
    assert.equal(headers.get("preference-applied"), "return=minimal");
  },
  75: () => refused("Raw", 409, undefined, posted({ Database: "d" })),
  76: async () => {
    for (const [path, method] of [
      ["Assets", "POST"],
      ["Raw('d')", "PATCH"],
      ["Raw('d')", "DELETE"],
    ] as const) {
      const { status, headers } = await ask(path, method === "POST" ? posted({}) : { method });
      assert.deepEqual([status, headers.get("allow")], [405, "GET, HEAD"], `${method} ${path}`);
    }
  },
  77: async () => {
    const { status, headers } = await ask(`DownloadUrl('${ids.manual}')/$value`);
    assert.equal(status, 302);
    assert.equal(await (await fetch(headers.get("location")!)).text(), "read me");
  },
  78: async () => {
    // No interface takes numbers that are not finite, but sums of finite ones can be.
    const { items } = await got(`Timeseries('${ids.huge}')/Aggregate(${aggregate()})?$select=Sum,Average`);
    assert.equal(items[0]?.["Sum"], "INF");
  },
  80: () => refused(sap, 406, "NotAcceptable", accepting("application/atom+xml")),
  81: async () => {
    await refused(sap, 400, "OdataVersionUnsupported", { headers: { "OData-MaxVersion": "3.0" } });
    await got(sap, { headers: { MaxDataServiceVersion: "3.0", "OData-MaxVersion": "4.0" } });
  },
  82: async () => {
    const full = accepting("application/json;odata.metadata=full");
    const { json } = await got(`Timeseries('${ids.pressure}')`, full);
    const id = `${root}/Timeseries('${ids.pressure}')`;
    assert.equal(json?.["@odata.type"], "#DataPlatform.V1.Timeseries");
    assert.deepEqual([json?.["@odata.id"], json?.["Latest@odata.navigationLink"]], [id, `${id}/Latest`]);
    const called = json?.["#DataPlatform.V1.Aggregate"] as Item;
    assert.deepEqual(called, { title: "Aggregate", target: `${id}/DataPlatform.V1.Aggregate` });
  },
  83: async () => {
    const none = {
      headers: { accept: "application/json;odata.metadata=none", prefer: "odata.maxpagesize=1" },
    };
    const { json } = await got(`${sap}&$count=true`, none);
    assert.deepEqual(Object.keys(json!), ["@odata.count", "value", "@odata.nextLink"]);
  },
  84: async () => {
    const { status, headers, json } = await ask(sap, { headers: { "api-key": undefined } });
    assert.equal(status, 401);
    assert.match(headers.get("www-authenticate")!, /Basic .*Bearer|Bearer.*Basic/);
    assert.equal((json!["error"] as Item)["code"], "401");
  },
  85: async () => {
    const url = root.replace(/[^/]+$/, "unknown");
    assert.equal((await fetch(url, { headers: { "api-key": server.key } })).status, 403);
  },
  86: async () => void (await got(sap, { headers: { "content-type": "application/json" } })),
  87: async () => {
    const { status, text } = await ask("/", { method: "HEAD", headers: { "X-CSRF-Token": "Fetch" } });
    assert.deepEqual([status, text], [200, ""]);
  },
  88: async () => {
    const origin = "https://app.example";
    const wish = {
      origin,
      "access-control-request-method": "GET",
      "access-control-request-headers": "api-key",
    };
    assert.equal((await fetch(`${root}/Assets`, { method: "OPTIONS", headers: wish })).status, 204);
    const { headers } = await got(sap, { headers: { origin } });
    assert.match(headers.get("access-control-expose-headers")!, /OData-Version/);
  },
  89: async () => assert.deepEqual(await values("Assets/?$filter=Source eq 'PI'"), ["valve"]),
  90: async () => {
    const nested = (depth: number) =>
      `Assets?$filter=${"(".repeat(depth)}Name eq 'valve'${")".repeat(depth)}`;
    assert.deepEqual(await values(nested(100)), ["valve"]);
    await refused(nested(101), 400, "FilterTooLarge");
  },
  95: async () => {
    assert.deepEqual(await values("SequenceColumns", "ExternalId"), ["d"]);
    assert.deepEqual(await values("SequenceRows", "RowNumber"), ["5", "6"]);
    assert.ok((await got("SequenceRows", { headers: { prefer: "maxpagesize=1" } })).next);
  },
  96: async () => {
    const filter = `TimeseriesId eq '${ids.pressure}' and TimeStamp ge ${minute(118)}`;
    assert.deepEqual(await values(`DataPoints?$filter=${filter}`, "Value"), [59, 59.5]);
  },
};

/** Lines that have files of their own. */
const elsewhere: Readonly<Record<number, string>> = {
  3: "test/compat/odata-metadata.test.ts",
  6: "test/compat/odata-metadata.test.ts",
  79: "test/compat/odata-power-query.test.ts",
  91: "test/real-input/odata-abnf.test.ts",
  92: "test/compat/odata-openui5.test.ts",
  93: "test/odata-client/odata-client.test.ts",
  94: "test/compat/odata-o.test.ts",
};

for (const [line, check] of Object.entries(lines)) test(`line ${line} of the checklist`, check);

test("all lines of the checklist are tested, here or in files of their own", () => {
  const tested = [...Object.keys(lines), ...Object.keys(elsewhere)].map(Number).sort((a, b) => a - b);
  assert.deepEqual(
    tested,
    Array.from({ length: 96 }, (_, at) => at + 1),
  );
  for (const file of Object.values(elsewhere))
    assert.ok(existsSync(new URL(`../../${file}`, import.meta.url)), file);
});
