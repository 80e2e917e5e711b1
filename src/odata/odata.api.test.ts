// The OData interface on a real server: addresses, options, formats and refusals (docs/reference/odata.md).
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type AskOData, allItems, odataOf } from "../../test/support/odata.ts";
import { idsOf, startTestServer, type TestServer, withFront } from "../../test/support/server.ts";

let server: TestServer;
let ask: AskOData;
let ids: Readonly<Record<"plant" | "pumpA" | "pumpB" | "slash" | "tank", string>>;
let securityCategories: readonly number[];

before(async () => {
  server = await startTestServer(withFront);
  ask = odataOf(server);
  const made = await server.ask.v06("POST /assets", {
    items: [
      { name: "Plant", refId: "p", source: "SAP", sourceId: "PLANT" },
      {
        ...{ name: "Pump A", parentRefId: "p", source: "SAP", sourceId: "P-A", description: "feeds water" },
        metadata: { manufacturer: "Acme", "serial no": "77", "a.b": "dotted" },
      },
      { name: "O'Neil", parentRefId: "p", source: "SAP", sourceId: "P-B" },
      { name: "a/b", parentRefId: "p" },
      { name: "Tank", source: "PI" },
    ],
  });
  const [plant, pumpA, pumpB, slash, tank] = idsOf(made).map(String) as [
    string,
    string,
    string,
    string,
    string,
  ];
  ids = { plant, pumpA, pumpB, slash, tank };
  const categories = await server.ask("POST /securitycategories", { items: [{ name: "a" }, { name: "b" }] });
  securityCategories = idsOf(categories);
  await server.ask("POST /timeseries", {
    items: [
      { name: "pressure", assetId: Number(pumpA), unit: "bar", description: "before the pump" },
      { name: "flow", assetId: Number(pumpA), unit: "m3/h", isStep: true },
      { name: "state", assetId: Number(pumpB), isString: true },
      { name: "loose", unit: "Pa", securityCategories },
    ],
  });
});
after(() => server.close());

/** The names found, in their order. */
async function names(path: string): Promise<unknown[]> {
  const { status, items, text } = await ask(path);
  assert.equal(status, 200, text);
  return items.map((item) => item["Name"]);
}

async function refused(path: string, status: number, reason: string, options = {}): Promise<void> {
  const response = await ask(path, options);
  assert.equal(`${response.status} ${response.reason}`, `${status} ${reason}`, `${path} ${response.text}`);
}

test("the service document lists what can be read without arguments, with and without a slash", async () => {
  for (const path of ["", "/"]) {
    const { json } = await ask(path);
    assert.equal(json?.["@odata.context"], `${server.baseUrl}/odata/v1/projects/demo/$metadata`);
    const value = json?.["value"] as { name: string; kind: string; url: string }[];
    assert.deepEqual(value.at(-1), { name: "AssetsRoots", kind: "FunctionImport", url: "AssetsRoots" });
    assert.deepEqual(value[0], { name: "Assets", kind: "EntitySet", url: "Assets" });
  }
});

test("$metadata is XML unless only JSON is accepted, and has an ETag", async () => {
  const typeFor = async (accept: string, path = "$metadata") =>
    (await ask(path, { headers: { accept } })).headers.get("content-type");
  assert.equal(await typeFor("*/*"), "application/xml");
  assert.equal(await typeFor("application/json, text/plain, */*"), "application/xml");
  assert.equal(await typeFor("application/json"), "application/json");
  assert.equal(await typeFor("application/json", "$metadata?$format=xml"), "application/xml");
  assert.equal(await typeFor("*/*", "$metadata?$format=json"), "application/json");
  await refused("$metadata?$format=yaml", 406, "NotAcceptable");
  const { headers } = await ask("$metadata");
  const again = await ask("$metadata", { headers: { "if-none-match": headers.get("etag")! } });
  assert.equal(again.status, 304);
  assert.equal(again.text, "");
});

test("an entity has all of its declared properties, the absent ones null", async () => {
  const { json } = await ask(`Assets('${ids.pumpA}')`);
  const { CreatedTime, LastUpdatedTime, ...rest } = json!;
  assert.match(String(CreatedTime), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/);
  assert.equal(LastUpdatedTime, CreatedTime);
  assert.deepEqual(rest, {
    "@odata.context": `${server.baseUrl}/odata/v1/projects/demo/$metadata#Assets/$entity`,
    Id: ids.pumpA,
    ExternalId: "P-A",
    Name: "Pump A",
    Description: "feeds water",
    ParentId: ids.plant,
    ParentExternalId: "PLANT",
    Source: "SAP",
    MetaData: { manufacturer: "Acme", serial_x0020_no: "77", a_x002E_b: "dotted" },
    RootId: ids.plant,
    DataSetId: null,
    Labels: null,
  });
});

test("keys come quoted, named or encoded; anything else is refused", async () => {
  for (const key of [`'${ids.pumpA}'`, `Id='${ids.pumpA}'`, `%27${ids.pumpA}%27`, "@k"])
    assert.equal((await ask(`Assets(${key})?@k='${ids.pumpA}'`)).json?.["Name"], "Pump A", key);
  await refused("Assets('nope')", 404, "ResourceNotFound");
  await refused("Assets('a%2Fb')", 404, "ResourceNotFound");
  for (const key of [ids.pumpA, "", "Name='x'", "null"]) await refused(`Assets(${key})`, 400, "KeyInvalid");
  for (const key of ["('1'", "('1','2')", "(Id='1',Id='2')"])
    await refused(`Assets${key}`, 400, "FilterSyntax");
  await refused(`Assets/${ids.pumpA}`, 404, "ResourceNotFound");
});

test("properties, their raw values, members and absent values by path", async () => {
  const at = async (path: string) => {
    const { status, text, json } = await ask(`Assets('${ids.pumpA}')/${path}`);
    return [status, json?.["value"] ?? json?.["manufacturer"] ?? text];
  };
  assert.deepEqual(await at("Name"), [200, "Pump A"]);
  assert.deepEqual(await at("Name/$value"), [200, "Pump A"]);
  assert.deepEqual(await at("DataSetId"), [204, ""]);
  assert.deepEqual(await at("DataSetId/$value"), [204, ""]);
  assert.deepEqual(await at("MetaData"), [200, "Acme"]);
  assert.deepEqual(await at("MetaData/a_x002E_b"), [200, "dotted"]);
  assert.deepEqual(await at("Parent/Name"), [200, "Plant"]);
  assert.deepEqual(await at("Root/ExternalId/$value"), [200, "PLANT"]);
  await refused(`Assets('${ids.pumpA}')/MetaData/none`, 404, "ResourceNotFound");
  await refused(`Assets('${ids.pumpA}')/Nope`, 404, "ResourceNotFound");
  await refused(`Assets('${ids.plant}')/Parent/Name`, 404, "ResourceNotFound");
  assert.equal((await ask(`Assets('${ids.plant}')/Parent`)).status, 204);
});

test("a filter finds the entities that match: quotes, precedence, null, lists, prefixes", async () => {
  assert.deepEqual(await names("Assets?$filter=Name eq 'O''Neil'"), ["O'Neil"]);
  assert.deepEqual(await names("Assets?%24filter=Source%20eq%20%27PI%27"), ["Tank"]);
  assert.deepEqual(await names("Assets?$filter=not contains(Name,'A') and Source eq 'SAP'"), [
    "Plant",
    "O'Neil",
  ]);
  assert.deepEqual(await names("Assets?$filter=Name eq 'Tank' or Name eq 'a/b' and ExternalId eq 'x'"), [
    "Tank",
  ]);
  assert.deepEqual(await names("Assets?$filter=ExternalId eq null"), ["Tank", "a/b"]);
  assert.deepEqual(await names("Assets?$filter=ExternalId ne 'P-A' and Name ne 'Tank'"), [
    "Plant",
    "O'Neil",
    "a/b",
  ]);
  assert.deepEqual(await names("Assets?$filter=Name in ('Tank','Plant','x')"), ["Plant", "Tank"]);
  assert.deepEqual(await names("Assets?$filter=startswith(ExternalId,'P-') or endswith(Name,'k')"), [
    "Tank",
    "Pump A",
    "O'Neil",
  ]);
  assert.deepEqual(await names("Assets?$filter=not startswith(ExternalId,'P-')"), ["Plant"]);
  assert.deepEqual(await names("Assets?$filter=ExternalId gt 'P-A'"), ["Plant", "O'Neil"]);
  assert.deepEqual(await names("Assets?$filter='P-A' lt ExternalId"), ["Plant", "O'Neil"]);
  assert.deepEqual(await names("Assets?$filter=ParentExternalId eq 'PLANT'"), ["Pump A", "O'Neil", "a/b"]);
  assert.deepEqual(await names("Assets?$filter=ParentExternalId eq null"), ["Plant", "Tank"]);
  assert.deepEqual(await names("Assets?$filter=ParentExternalId ne 'PLANT'"), ["Plant", "Tank"]);
  assert.deepEqual(await names(`Assets?$filter=RootId eq '${ids.plant}' and Name ne 'Plant'`), [
    "Pump A",
    "O'Neil",
    "a/b",
  ]);
  assert.deepEqual(
    await names("Assets?$filter=CreatedTime gt 2020-01-01T00:00:00+02:00 and Source eq 'PI'"),
    ["Tank"],
  );
  assert.deepEqual(await names("Assets?$filter=CreatedTime lt 2020-01-01T00:00:00%2B02:00"), []);
  assert.deepEqual(await names("Assets?$filter=Labels eq null and DataSetId eq null and Name eq 'Tank'"), [
    "Tank",
  ]);
  assert.deepEqual(await names("Assets?$filter=Nope eq 'x'"), []);
  assert.deepEqual(await names("Assets?$filter=contains(Name,'Tank') eq true"), ["Tank"]);
  assert.deepEqual(await names(`Assets?$filter=Id eq '${ids.tank}' and contains(Name,'T')`), ["Tank"]);
  assert.deepEqual(await names(`Timeseries?$filter=IsString eq false and Unit in ('bar','Pa')`), [
    "loose",
    "pressure",
  ]);
  assert.deepEqual(await names(`Timeseries?$filter=IsStep`), ["flow"]);
  assert.deepEqual(await names(`Timeseries?$filter=AssetId eq null`), ["loose"]);
  assert.deepEqual(await names(`Timeseries?$filter=endswith(AssetId,'${ids.pumpB.slice(-5)}')`), ["state"]);
});

test("filters against the rules of a set, and unsupported options, are refused", async () => {
  await refused("Assets", 400, "FilterRequired");
  await refused("Assets?$filter=true", 400, "FilterRequired");
  await refused("Assets?$top=1001", 400, "FilterRequired");
  assert.equal((await ask("Assets?$top=1000")).next, undefined);
  await refused("Assets?$filter=Source eq 'SAP's'", 400, "FilterSyntax");
  for (const word of ["constructor", "toString", "hasOwnProperty"]) {
    await refused(`Assets?$filter=${word}(Name) eq 1`, 400, "FilterSyntax");
    await refused(`Assets?$filter=Name ${word} 'x'`, 400, "FilterSyntax");
  }
  await refused("Assets?$filter=ParentId eq '1'", 400, "PropertyNotFilterable");
  await refused("Assets?$filter=MetaData/a eq 'b'", 400, "PropertyNotFilterable");
  await refused("Timeseries?$filter=SecurityCategories/any(s:s eq 1)", 400, "PropertyNotFilterable");
  await refused("Assets?$filter=Id eq '1' or Id eq '2'", 400, "FilterExpressionNotAllowed");
  await refused("Assets?$filter=Id in ('1','2')", 400, "FilterExpressionNotAllowed");
  await refused("Assets?$filter=startswith(Source,'S')", 400, "FilterExpressionNotAllowed");
  await refused("Timeseries?$filter=tolower(Name) eq 'x'", 501, "FilterFeatureNotSupported");
  await refused("Timeseries?$filter=length(Name) gt 3", 501, "FilterFeatureNotSupported");
  await refused("Timeseries?$filter=Name eq Unit", 501, "FilterFeatureNotSupported");
  await refused("Timeseries?$filter=Asset/Name eq 'x'", 501, "FilterFeatureNotSupported");
  await refused("Timeseries?$filter=foo(Name) eq 1", 400, "FilterSyntax");
  await refused("Timeseries?$filter=CreatedTime gt 'abc'", 400, "FilterType");
  await refused("Timeseries?$filter=Name eq 5", 400, "FilterType");
  await refused("Assets?$filter=Id eq 101", 400, "FilterType");
});

test("options that are not served, unknown, repeated or unreadable", async () => {
  const address = "Assets?$filter=Source eq 'SAP'";
  for (const option of ["$orderby=Name", "$skip=5", "$search=a", "$apply=x", "$foo=1", "orderby=Name"])
    await refused(`${address}&${option}`, 501, "QueryOptionNotSupported");
  await refused(`${address}&$filter=true`, 400, "QueryOptionRepeated");
  for (const option of ["$top=-1", "$top=x", "$count=yes", "$skip=x", "$select=", "$expand="])
    await refused(`${address}&${option}`, 400, "QueryOptionInvalid");
  assert.equal((await ask(`${address}&$skip=0&foo=1&sap-client=2`)).status, 200);
  for (const path of ["$batch", "$all", "$entity", "$crossjoin(Assets)", `Assets('${ids.plant}')/$ref`])
    await refused(path, 501, "FeatureNotSupported");
  await refused("$batch", 501, "FeatureNotSupported", { method: "POST" });
});

test("$select, $expand and $count define the response, and the context describes it", async () => {
  const address = "Assets?%24filter=Source%20eq%20%27SAP%27&%24select=Id%2CParent&%24top=2&$count=true";
  const { json } = await ask(`${address}&%24expand=Parent%28%24select%3DId%2CName%29`);
  assert.deepEqual(json, {
    "@odata.context": `${server.baseUrl}/odata/v1/projects/demo/$metadata#Assets(Id,Parent(Id,Name))`,
    "@odata.count": 3,
    value: [
      { Id: ids.plant, Parent: null },
      { Id: ids.pumpA, Parent: { Id: ids.plant, Name: "Plant" } },
    ],
  });
  const expand = "Timeseries($top=1;$select=Name;$count=true)";
  const one = await ask(`Assets('${ids.pumpA}')?$select=MetaData/manufacturer&$expand=${expand}`);
  const { "@odata.context": _, ...entity } = one.json!;
  assert.deepEqual(entity, {
    MetaData: { manufacturer: "Acme" },
    "Timeseries@odata.count": 2,
    Timeseries: [{ Name: "flow" }],
  });
  const unknown = await ask(`Assets('${ids.pumpA}')?$select=Nope,Name`);
  assert.deepEqual(unknown.json, {
    "@odata.context": `${server.baseUrl}/odata/v1/projects/demo/$metadata#Assets(Name,Nope)/$entity`,
    Name: "Pump A",
  });
  const levels = await ask(
    `Assets('${ids.plant}')?$select=Name&$expand=Children($levels=2;$select=Name;$top=1)`,
  );
  assert.deepEqual(levels.json?.["Children"], [{ Name: "Pump A", Children: [] }]);
});

test("an entity with several paths to it is expanded in each of them, with all other options", async () => {
  const assetsOf = async (filter: string, select: string) => {
    const { items } = await ask(`Timeseries?$filter=${filter}&$select=${select}&$expand=Asset($select=Name)`);
    return items.map(({ Name, Asset }) => [Name, Asset && (Asset as { Name: string }).Name]);
  };
  const [flow, pressure, state] = [
    ["flow", "Pump A"],
    ["pressure", "Pump A"],
    ["state", "O'Neil"],
  ];
  assert.deepEqual(await assetsOf("Name ne ''", "Name"), [flow, ["loose", null], pressure, state]);
  assert.deepEqual(await assetsOf("Name in ('flow','pressure')", "Name"), [flow, pressure]);
  assert.deepEqual(await assetsOf("Name in ('pressure','state')", "Name,Unit"), [pressure, state]);
  assert.deepEqual(await assetsOf("Name eq 'loose'", "Name"), [["loose", null]]);
  const nothing = await ask(
    "Timeseries?$filter=Name in ('flow','state')&$select=Nope&$expand=Asset($select=Nope)",
  );
  assert.deepEqual(nothing.json?.["value"], [{ Asset: {} }, { Asset: {} }]);
  assert.deepEqual((await ask("Timeseries?$filter=Name eq 'flow'&$select=Nope")).json?.["value"], [{}]);
});

test("an expansion that is not supported is refused", async () => {
  const one = `Assets('${ids.pumpA}')?$expand=`;
  for (const expand of ["Nope", "Parent,Parent", "Parent($top=x)", "Parent($levels=0)", "Parent($levels=5)"])
    await refused(one + expand, 400, "QueryOptionInvalid");
  await refused(`${one}*($expand=*($expand=*))`, 400, "QueryOptionInvalid");
  const deep = "Parent($expand=Parent($expand=Parent($expand=Parent($expand=Parent))))";
  await refused(one + deep, 400, "QueryOptionInvalid");
  for (const expand of ["Parent($orderby=Name)", "Children/$ref", "Children/$count", "Timeseries($search=x)"])
    await refused(one + expand, 501, "QueryOptionNotSupported");
  await refused(`${one}Timeseries($filter=MetaData/a eq 'x')`, 400, "PropertyNotFilterable");
  await refused(`Assets('${ids.pumpA}')?$filter=Name eq 'a'`, 400, "QueryOptionInvalid");
});

test("counts are plain digits, of sets, navigations and functions", async () => {
  const digits = async (path: string) => {
    const { text, headers } = await ask(path, { headers: { accept: "application/json" } });
    assert.equal(headers.get("content-type"), "text/plain");
    return text;
  };
  assert.equal(await digits("Assets/$count"), "5");
  assert.equal(await digits("Assets/$count?$filter=Source eq 'SAP'&$top=1&$select=Name"), "3");
  assert.equal(await digits(`Assets('${ids.pumpA}')/Timeseries/$count`), "2");
  assert.equal(await digits("AssetsSearch(Search='p')/$count"), "2");
  assert.equal(await digits("AssetsRoots/$count"), "2");
});

test("functions: with arguments inline and by alias, with and without parentheses", async () => {
  assert.deepEqual(await names("AssetsRoots"), ["Plant", "Tank"]);
  assert.deepEqual(await names("AssetsRoots()?$filter=Source eq 'PI'"), ["Tank"]);
  assert.deepEqual(await names("AssetsSearch(Search='pump%20a')?$top=3"), ["Pump A"]);
  assert.deepEqual(await names("AssetsSearch(Search=@p1)?@p1='WATER'"), ["Pump A"]);
  assert.deepEqual(await names("TimeseriesSearch(Search='pump')"), ["pressure"]);
  for (const call of [
    "AssetsSearch",
    "AssetsSearch(Search=1)",
    "AssetsSearch(Search='')",
    "AssetsSearch(Nope='a')",
  ])
    await refused(call, 400, "KeyInvalid");
  await refused("Nope(Search='a')", 404, "ResourceNotFound");
});

test("pages lead on to the end, each entity once; $top counts over all of them", async () => {
  const small = { headers: { prefer: "odata.maxpagesize=2" } };
  const first = await ask("Assets?$filter=Name ne ''", small);
  assert.equal(first.headers.get("preference-applied"), "odata.maxpagesize=2");
  assert.equal(first.items.length, 2);
  const found = await allItems(ask, "Assets?$filter=Name ne ''&$count=true", small);
  assert.deepEqual(found.map(({ Id }) => Id).sort(), Object.values(ids).sort());
  assert.equal((await allItems(ask, "Assets?$filter=Name ne ''&$top=3", small)).length, 3);
  assert.equal((await ask("Assets?$filter=Name ne ''&$top=2", small)).next, undefined);
  const next = first.next!;
  await refused(`${next}A`, 400, "SkipTokenInvalid");
  await refused(next.replace("Name", "ExternalId"), 400, "SkipTokenInvalid");
  await refused("Assets?$skiptoken=abc", 400, "SkipTokenInvalid");
  assert.equal(
    (await allItems(ask, "AssetsSearch(Search='p')", { headers: { prefer: "maxpagesize=1" } })).length,
    2,
  );
});

test("formats: levels of metadata, long integers as strings, and unacceptable ones", async () => {
  const accept = (value: string) => ({ headers: { accept: value } });
  const ieee = await ask(
    "Timeseries?$filter=Name eq 'loose'&$count=true",
    accept("application/json;IEEE754Compatible=true"),
  );
  assert.equal(
    ieee.headers.get("content-type"),
    "application/json;odata.metadata=minimal;IEEE754Compatible=true",
  );
  assert.equal(ieee.json?.["@odata.count"], "1");
  assert.deepEqual(ieee.items[0]?.["SecurityCategories"], securityCategories.map(String));
  const none = await ask("AssetsRoots?$count=true", accept("application/json;odata.metadata=none"));
  assert.deepEqual(Object.keys(none.json!), ["@odata.count", "value"]);
  const full = await ask(`Assets('${ids.pumpA}')`, accept("application/json;odata.metadata=full"));
  const id = `${server.baseUrl}/odata/v1/projects/demo/Assets('${ids.pumpA}')`;
  assert.equal(full.json?.["@odata.id"], id);
  assert.equal(full.json?.["@odata.type"], "#DataPlatform.V1.Asset");
  assert.equal(full.json?.["Timeseries@odata.navigationLink"], `${id}/Timeseries`);
  assert.equal(full.json?.["CreatedTime@odata.type"], "#DateTimeOffset");
  await refused("AssetsRoots", 406, "NotAcceptable", accept("application/atom+xml"));
  await refused("AssetsRoots?$format=xml", 406, "NotAcceptable");
  assert.equal((await ask("AssetsRoots?$format=json", accept("text/html"))).status, 200);
  const powerQuery =
    "application/json;odata.metadata=minimal;q=1.0,application/json;odata=minimalmetadata;q=0.9," +
    "application/atomsvc+xml;q=0.8,application/atom+xml;q=0.8,application/xml;q=0.7,text/plain;q=0.7";
  const { headers } = await ask("AssetsRoots", accept(powerQuery));
  assert.equal(headers.get("content-type"), "application/json;odata.metadata=minimal");
});

test("versions before 4.0 are refused, the headers of version 3 passed over", async () => {
  await refused("AssetsRoots", 400, "OdataVersionUnsupported", { headers: { "odata-maxversion": "3.0" } });
  const both = { "odata-maxversion": "4.0", maxdataserviceversion: "3.0", "odata-version": "4.0" };
  assert.equal((await ask("AssetsRoots", { headers: both })).status, 200);
});

test("a key counts in its header or as the password of HTTP Basic; strangers get a challenge", async () => {
  const basic = (password: string) => ({
    "api-key": undefined,
    authorization: `Basic ${Buffer.from(`anyone:${password}`).toString("base64")}`,
  });
  assert.equal((await ask("AssetsRoots", { headers: basic(server.key) })).status, 200);
  const strange = await ask("AssetsRoots", { headers: basic("wrong") });
  assert.equal(strange.status, 401);
  assert.equal(strange.message, "HTTP 401 Unauthorized: the API key is unknown or revoked");
  assert.equal(strange.headers.get("www-authenticate"), 'Basic realm="Millrace", Bearer');
  const foreign = await fetch(`${server.baseUrl}/odata/v1/projects/nowhere/Assets`, {
    headers: { "api-key": server.key },
  });
  assert.equal(foreign.status, 403);
});

test("only reading is allowed, also by HEAD and from pages of other origins", async () => {
  for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
    const { status, headers } = await ask("Assets", { method });
    assert.equal(status, 405);
    assert.equal(headers.get("allow"), "GET, HEAD");
  }
  const head = await ask("", { method: "HEAD", headers: { "x-csrf-token": "Fetch" } });
  assert.equal(`${head.status} ${head.text}`, "200 ");
  const get = await ask("AssetsRoots", {
    headers: { origin: "http://ui.test", "content-type": "application/json" },
  });
  assert.match(get.headers.get("access-control-expose-headers")!, /OData-Version/);
  assert.match(get.headers.get("vary")!, /Accept, Prefer, Authorization/);
});

test("an expanded collection that does not fit leads on to its rest", async () => {
  const items = Array.from({ length: 1002 }, (_, at) => ({ name: `level ${at}`, assetId: Number(ids.tank) }));
  await server.ask("POST /timeseries", { items });
  const expand = "Timeseries($select=Name;$filter=startswith(Name,@p);$count=true)";
  const { json } = await ask(`Assets('${ids.tank}')?$select=Name&$expand=${expand}&@p='level'`);
  const first = json?.["Timeseries"] as { Name: string }[];
  assert.equal(first.length, 1000);
  assert.equal(json?.["Timeseries@odata.count"], 1002);
  const link = String(json?.["Timeseries@odata.nextLink"]);
  const rest = await allItems(ask, link.slice(link.indexOf("/Assets(")));
  assert.deepEqual([...first, ...rest].map(({ Name }) => Name).sort(), items.map(({ name }) => name).sort());
});
