// Each CSV response escapes formulas when requested, and otherwise writes the stored values.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestServer, type TestServer } from "../../test/support/server.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const csv = { accept: "text/csv" };
async function bothOf(methodAndPath: string, body?: unknown): Promise<[plain: string, escaped: string]> {
  const plain = await server.ask(methodAndPath, body, csv);
  const escaped = await server.ask(`${methodAndPath}?escapeFormulas=true`, body, csv);
  assert.deepEqual([plain.status, escaped.status], [200, 200], escaped.text);
  const off = await server.ask(`${methodAndPath}?escapeFormulas=false`, body, csv);
  assert.equal(off.text, plain.text);
  return [plain.text, escaped.text];
}

test("of raw rows: keys, column names and strings, but no number", async () => {
  const columns = '{"=a":"=1+2","n":-1.50,"t":"-2","u":"@x","v":["=1"],"w":"ok"}';
  await server.ask(
    "POST /raw/db/t/create?ensureParent=true",
    `{"items":[{"key":"+k(1)","columns":${columns}}]}`,
  );
  assert.deepEqual(await bothOf("GET /raw/db/t"), [
    '"key","=a","n","t","u","v","w"\n+k(1),=1+2,-1.50,-2,@x,"[""=1""]",ok\n',
    `"key","'=a","n","t","u","v","w"\n'+k(1),'=1+2,-1.50,-2,'@x,"[""=1""]",ok\n`,
  ]);
});

test("of rows of a sequence: column names and strings, but no number", async () => {
  const columns = [
    { name: "=name", valueType: "STRING" },
    { name: "n", valueType: "DOUBLE" },
  ];
  const [made] = (await server.ask("POST /sequences", { items: [{ name: "s", columns }] })).items;
  const [text, number] = made!["columns"] as { id: number }[];
  const values = [
    { columnId: text!.id, value: "=1" },
    { columnId: number!.id, value: -2.5 },
  ];
  const rows = [{ rowNumber: 1, values }];
  await server.ask(`POST /sequences/${made!["id"]}/postdata`, { items: [{ rows }] });
  const heads = `name(${text!.id}),n(${number!.id})`;
  assert.deepEqual(await bothOf(`POST /sequences/${made!["id"]}/getdata`, { items: [{}] }), [
    `rowNumber,=${heads}\n1,=1,-2.5\n`,
    `rowNumber,'=${heads}\n1,'=1,-2.5\n`,
  ]);
});

test("of the time series frame: the names of series", async () => {
  await server.ask("POST /timeseries", { items: [{ name: "=s" }] });
  await server.ask("POST /timeseries/data", {
    items: [{ name: "=s", datapoints: [{ timestamp: 0, value: -1 }] }],
  });
  const frame = { items: [{ name: "=s" }], aggregates: ["min"], granularity: "1h", start: 0, end: 3_600_000 };
  assert.deepEqual(await bothOf("POST /timeseries/dataframe", frame), [
    "timestamp,=s|min\n0,-1\n",
    "timestamp,'=s|min\n0,-1\n",
  ]);
});
