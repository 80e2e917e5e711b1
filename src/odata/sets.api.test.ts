// Events, files, sequences and relationships over OData: the features of each set.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type AskOData, allItems, odataOf } from "../../test/support/odata.ts";
import { idsOf, startTestServer, type TestServer, withFront } from "../../test/support/server.ts";

let server: TestServer;
let ask: AskOData;
let ids: Readonly<Record<"plant" | "pump" | "alarm" | "manual" | "empty" | "table", string>>;

before(async () => {
  server = await startTestServer(withFront);
  ask = odataOf(server);
  const assets = await server.ask.v06("POST /assets", {
    items: [
      { name: "Plant", refId: "p", source: "SAP", sourceId: "PLANT" },
      { name: "Pump", parentRefId: "p" },
    ],
  });
  const [plant, pump] = idsOf(assets) as [number, number];
  ids = {
    ...{ plant: String(plant), pump: String(pump) },
    alarm: await makeEvents(plant, pump),
    manual: await makeFile({ fileName: "manual.txt", sourceId: "f1", assetIds: [pump] }, "read me"),
    empty: await makeFile({ fileName: "empty.txt", sourceId: "f2", assetIds: [pump] }),
    table: await makeSequences(plant),
  };
  const related = await server.ask("POST /relationships", {
    items: [
      { ...relation("r1", ["asset", "PLANT"], ["event", "e1"]), labels: ["a", "b"] },
      relation("r2", ["sequence", "W"], ["file", "gone"]),
    ],
  });
  assert.equal(related.status, 200, related.text);
});
after(() => server.close());

async function makeEvents(plant: number, pump: number): Promise<string> {
  const startTime = Date.UTC(2024, 0, 1);
  const events = await server.ask("POST /events", {
    items: [
      {
        ...{ type: "alarm", subtype: "high", source: "dcs", sourceId: "e1", description: "pump trips" },
        ...{ startTime, endTime: startTime + 500, assetIds: [plant, pump], metadata: { shift: "night" } },
      },
      {
        ...{ type: "stop", source: "dcs", startTime: startTime + 3_600_000 },
        metadata: { shift: "day", "a.b": "x" },
      },
      { type: "note", description: "no start" },
    ],
  });
  return String(idsOf(events)[0]);
}

async function makeFile(file: object, bytes?: string): Promise<string> {
  const made = await server.ask("POST /files/initupload", { source: "x", ...file });
  const { fileId, uploadURL } = (made.json as { data: { fileId: number; uploadURL: string } }).data;
  if (bytes)
    await fetch(uploadURL, { method: "PUT", body: bytes, headers: { "content-type": "text/plain" } });
  return String(fileId);
}

async function makeSequences(assetId: number): Promise<string> {
  const columns = [
    { name: "depth", externalId: "d", valueType: "DOUBLE" },
    { name: "rock", externalId: "r", valueType: "STRING" },
    { valueType: "LONG" },
  ];
  const sequences = await server.ask("POST /sequences", {
    items: [
      { name: "well log", externalId: "W", assetId, columns },
      { name: "other", columns: [{ externalId: "d", valueType: "STRING" }] },
    ],
  });
  const [table] = sequences.items as { id: number; columns: { id: number }[] }[];
  const [depth, rock] = table!.columns;
  const values = (row: number) => [
    { columnId: depth!.id, value: row / 2 },
    { columnId: rock!.id, value: row % 2 ? "sand" : "clay" },
  ];
  const rows = Array.from({ length: 30 }, (_, row) => ({ rowNumber: row, values: values(row) }));
  const posted = await server.ask(`POST /sequences/${table!.id}/postdata`, { items: [{ rows }] });
  assert.equal(posted.status, 200, posted.text);
  return String(table!.id);
}

type End = readonly [type: string, externalId: string];

const relation = (externalId: string, source: End, target: End) => ({
  externalId,
  ...{ sourceType: source[0], sourceExternalId: source[1] },
  ...{ targetType: target[0], targetExternalId: target[1] },
});

const found = async (path: string, name: string) => {
  const { status, items, text } = await ask(path);
  assert.equal(status, 200, text);
  return items.map((item) => item[name]);
};

async function refused(path: string, status: number, reason: string): Promise<void> {
  const response = await ask(path);
  assert.equal(`${response.status} ${response.reason}`, `${status} ${reason}`, `${path} ${response.text}`);
}

test("events are found by metadata, by the assets they list, and by their times", async () => {
  const types = (filter: string) => found(`Events?$filter=${filter}`, "Type");
  assert.deepEqual(await types("MetaData/shift eq 'night'"), ["alarm"]);
  assert.deepEqual(await types("MetaData/shift ne 'night'"), ["stop", "note"]);
  assert.deepEqual(await types("MetaData/shift eq null"), ["note"]);
  assert.deepEqual(await types("startswith(MetaData/shift,'d') and MetaData/a_x002E_b eq 'x'"), ["stop"]);
  assert.deepEqual(await types("not contains(MetaData/shift,'x')"), ["alarm", "stop"]);
  assert.deepEqual(await types(`AssetIds/any(a:a eq '${ids.pump}')`), ["alarm"]);
  assert.deepEqual(await types(`AssetIds/any(a:a eq '${ids.pump}' or a eq '5')`), ["alarm"]);
  assert.deepEqual(await types(`AssetIds/any(a:endswith(a,'${ids.plant.slice(-4)}'))`), ["alarm"]);
  assert.deepEqual(await types("AssetIds/any() and Type ne 'x'"), ["alarm"]);
  assert.deepEqual(await types(`AssetIds/all(a:a eq '${ids.pump}') and Source eq 'dcs'`), ["stop"]);
  assert.deepEqual(await types("StartTime ge 2024-01-01T03:00:00%2B02:00"), ["stop"]);
  assert.deepEqual(await types("StartTime ge 2024-01-01T03:00:00+02:00"), ["stop"]);
  assert.deepEqual(await types("StartTime eq null"), ["note"]);
  assert.deepEqual(await types("EndTime le 2024-01-01T00:00:00.5Z"), ["alarm"]);
  assert.deepEqual(await types("Type eq 'alarm' or Type eq 'stop' and SubType eq 'high'"), ["alarm"]);
  await refused("Events?$filter=AssetIds eq '1'", 400, "FilterType");
  await refused("Events?$filter=Type/any(t:t eq '1')", 400, "FilterType");
});

test("events are linked to assets both ways by path alone, and searched by all their words", async () => {
  assert.deepEqual(await found(`Assets('${ids.pump}')/Events`, "Type"), ["alarm"]);
  assert.deepEqual(await found(`Events('${ids.alarm}')/Assets`, "Name"), ["Plant", "Pump"]);
  await refused(`Assets('${ids.pump}')?$expand=Events`, 400, "NotExpandable");
  await refused(`Events('${ids.alarm}')?$expand=Assets`, 400, "NotExpandable");
  assert.deepEqual(await found("EventsSearch(Search='DCS trips')", "Type"), ["alarm"]);
  assert.equal((await ask("EventsSearch(Search='dcs')/$count")).text, "2");
  await refused("EventsSearch(Search='!')", 400, "KeyInvalid");
});

test("files know whether their bytes have come, and lead to them", async () => {
  assert.deepEqual(await found("Files?$filter=Uploaded", "Name"), ["manual.txt"]);
  assert.deepEqual(await found("Files?$filter=Uploaded eq false", "Name"), ["empty.txt"]);
  assert.deepEqual(
    await found("Files?$filter=MimeType eq 'text/plain' and SourceCreatedTime eq null", "Name"),
    ["manual.txt"],
  );
  const one = await ask(`Files('${ids.manual}')?$select=Name&$expand=Assets($select=Name),DownloadUrl`);
  assert.deepEqual(one.json?.["Assets"], [{ Name: "Pump" }]);
  const link = one.json?.["DownloadUrl"] as Record<string, string>;
  assert.equal(link["FileId"], ids.manual);
  assert.equal(link["@odata.mediaContentType"], "text/plain");
  assert.equal(await (await fetch(link["Url"]!)).text(), "read me");
  for (const path of [`Files('${ids.manual}')/DownloadUrl/$value`, `DownloadUrl('${ids.manual}')/$value`]) {
    const { status, headers } = await ask(path);
    assert.equal(status, 302);
    assert.equal(headers.get("cache-control"), "no-store");
    assert.equal(await (await fetch(headers.get("location")!)).text(), "read me");
  }
  await refused(`DownloadUrl('${ids.empty}')/$value`, 404, "ResourceNotFound");
  await refused(`Files('${ids.empty}')/DownloadUrl/$value`, 404, "ResourceNotFound");
  assert.deepEqual(await found(`DownloadUrl('${ids.manual}')/File/Assets`, "Name"), ["Pump"]);
  await refused("Files?$filter=AssetIds/any(a:a eq '5')", 400, "PropertyNotFilterable");
});

test("sequences come with their columns, and are found by them", async () => {
  const { json } = await ask(`Sequences('${ids.table}')`);
  const columns = json?.["Columns"] as Record<string, unknown>[];
  assert.deepEqual(
    columns.map(({ ExternalId, ValueType }) => [ExternalId, ValueType]),
    [
      ["d", "DOUBLE"],
      ["r", "STRING"],
      [columns[2]?.["ExternalId"], "LONG"],
    ],
  );
  const plain = await ask(`Sequences('${ids.table}')?$select=Name`);
  assert.deepEqual(Object.keys(plain.json!), ["@odata.context", "Name"]);
  const filter = "Columns/any(c:c/ExternalId eq 'd' and c/ValueType eq 'STRING')";
  assert.deepEqual(await found(`Sequences?$filter=${filter}`, "Name"), ["other"]);
  assert.deepEqual(await found("Sequences?$filter=Columns/all(c:c/ExternalId eq 'd')", "Name"), ["other"]);
  for (const outer of [
    "Name eq 'd'",
    "c/ExternalId eq 'd' and Name eq 'other'",
    "Columns/any(d:d/Name eq 'd')",
  ])
    await refused(`Sequences?$filter=Columns/any(c:${outer})`, 501, "FilterFeatureNotSupported");
  for (const undeclared of ["c/constructor eq 'x'", "c/Nope eq 'x'", "c/Nope eq 5"])
    assert.deepEqual(await found(`Sequences?$filter=Columns/any(c:${undeclared})`, "Name"), []);
  assert.deepEqual(await found(`Assets('${ids.plant}')/Sequences`, "Name"), ["well log"]);
  assert.deepEqual(await found("SequenceColumns?$filter=ExternalId eq 'd'", "ValueType"), [
    "DOUBLE",
    "STRING",
  ]);
  assert.equal((await ask("SequenceColumns/$count")).text, "4");
  const paged = await allItems(ask, "SequenceColumns", { headers: { prefer: "maxpagesize=1" } });
  assert.equal(paged.length, 4);
});

test("rows of a sequence by path, by number, filtered by their data, in pages", async () => {
  const path = `Sequences('${ids.table}')/Rows`;
  assert.deepEqual((await ask(`${path}('3')`)).json?.["RowData"], { d: 1.5, r: "sand" });
  await refused(`${path}('99')`, 404, "ResourceNotFound");
  const rows = await allItems(ask, path, { headers: { prefer: "odata.maxpagesize=7" } });
  assert.deepEqual(
    rows.map(({ RowNumber }) => RowNumber),
    rows.map((_, row) => String(row)),
  );
  assert.equal(rows.length, 30);
  assert.equal((await ask(`${path}/$count`)).text, "30");
  const numbers = (filter: string) => found(`${path}?$filter=${filter}`, "RowNumber");
  assert.deepEqual(await numbers("RowData/d ge 14 and RowData/r eq 'sand'"), ["29"]);
  assert.deepEqual(await numbers("RowData/d eq '14'"), []);
  assert.deepEqual(await numbers("RowNumber eq '7' or RowNumber eq '8'"), ["7", "8"]);
  assert.deepEqual(
    (await found("SequenceRows?$filter=startswith(RowData/r,'cl')&$top=2", "SequenceId")).length,
    2,
  );
  const one = await ask(`Sequences('${ids.table}')?$select=Name&$expand=Rows($top=2;$select=RowNumber)`);
  assert.deepEqual(one.json?.["Rows"], [{ RowNumber: "0" }, { RowNumber: "1" }]);
});

test("relationships lead to the records at their ends, if these exist", async () => {
  const { items } = await ask("Relationships?$filter=SourceType ne ''&$expand=Source,Target");
  const [first, second] = items as Record<string, Record<string, Record<string, unknown> | null>>[];
  assert.equal(first?.["Source"]?.["Asset"]?.["Name"], "Plant");
  assert.equal(first?.["Source"]?.["Timeseries"], null);
  assert.equal(first?.["Target"]?.["Event"]?.["Type"], "alarm");
  assert.equal(second?.["Source"]?.["Sequence"]?.["Name"], "well log");
  assert.equal(second?.["Target"]?.["File"], null);
  assert.equal((await ask("Relationships('r1')/Source/Asset")).json?.["Name"], "Plant");
  assert.equal((await ask("Resource('PLANT')")).json?.["ExternalId"], "PLANT");
  assert.deepEqual(await found("Relationships?$filter=contains(Labels,'b')", "Labels"), ["a,b"]);
  assert.deepEqual(await found("Relationships?$filter=Labels eq null", "ExternalId"), ["r2"]);
  await refused("Relationships?$filter=Labels eq 'a,b'", 501, "FilterFeatureNotSupported");
  await refused("Relationships?$filter=startswith(ExternalId,'a')", 400, "FilterExpressionNotAllowed");
  await refused("Relationships?$filter=Source/ExternalId eq 'a'", 400, "PropertyNotFilterable");
});
