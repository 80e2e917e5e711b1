// Imports of assets, events and raw rows from files into a real server.
import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { type Fault, withFaults } from "../../test/support/faulty-proxy.ts";
import { temporaryFolder } from "../../test/support/folder.ts";
import { startTestServer, type TestServer } from "../../test/support/server.ts";
import { exitCodes } from "../client/command.ts";
import { limits } from "../limits.ts";
import { recordKinds } from "../transfers.ts";
import { importRecords } from "./import-records.ts";

const folder = temporaryFolder();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const never = new AbortController().signal;

interface Import {
  readonly name: string;
  readonly lines: readonly string[];
  readonly words?: readonly string[];
  readonly address?: string;
}

async function imported(kind: string, { name, lines, words = [], address = server.baseUrl }: Import) {
  const file = join(folder, name);
  writeFileSync(file, `${lines.join("\n")}\n`);
  const said: string[] = [];
  const output = { write: (text: string) => said.push(text) };
  const surroundings = { env: { MILLRACE_KEY: server.key }, output, stop: never, abort: never };
  const code = await importRecords(recordKinds.find(({ name }) => name === kind)!)(
    [file, "--server", address, ...words],
    surroundings,
  );
  return { code, said: said.join("") };
}

const refusedIn = (name: string) =>
  readFileSync(join(folder, `${name}.refused.csv`), "utf8")
    .split("\n")
    .slice(1, -1);

async function namesByParent(prefix: string): Promise<string[]> {
  const { items } = await server.ask("GET /assets?limit=10000");
  const names = new Map(items.map(({ id, name }) => [id, name]));
  return items
    .filter(({ name }) => String(name).startsWith(prefix))
    .map(({ name, parentId }) => `${name} < ${names.get(parentId) ?? ""}`)
    .sort();
}

test("assets come below their parents, however these are named and wherever they stand", async () => {
  await server.ask("POST /assets", { items: [{ name: "site" }] });
  const lines = [
    "tag,id,parentId,parentName,source,sourceId,parentSourceId,note",
    "a motor,,,a pump,,,,late",
    "a pump,7,,,x,p,r,",
    "a root,,,site,x,r,,",
    "a seal,,7,,,,,",
  ];
  const words = ["--map", "tag=name", "--map", "note=metadata.note"];
  const dry = await imported("assets", { name: "a.csv", lines, words: [...words, "--dry-run"] });
  assert.equal(dry.code, exitCodes.loaded, dry.said);
  assert.match(dry.said, /Dry run: nothing is written\n.*4 assets would be loaded/s);
  assert.deepEqual(await namesByParent("a "), []);
  const { code, said } = await imported("assets", { name: "a.csv", lines, words });
  assert.equal(code, exitCodes.loaded, said);
  const expected = ["a motor < a pump", "a pump < a root", "a root < site", "a seal < a pump"];
  assert.deepEqual(await namesByParent("a "), expected);
  const [motor] = (await server.ask("GET /assets?name=a%20motor")).items;
  assert.deepEqual(motor?.["metadata"], { note: "late" });
  assert.deepEqual(
    readdirSync(folder).filter((name) => name !== "a.csv"),
    [],
  );
});

test("assets and events keep all of their fields, and are linked by external ids", async () => {
  await server.ask("POST /assets", { items: [{ name: "x site", externalId: "SITE" }] });
  const { items: types } = await server.ask("POST /semantictypes", { items: [{ name: "cause" }] });
  const semanticTypeId = types[0]!["id"];
  const assets = [
    "name,externalId,parentExternalId,dataSetId,labels,sourceCreatedTime,sourceModifiedTime",
    "x pump,X-2,X-1,7,hot;cold,1970-01-01T00:00:01Z,2000",
    "x unit,X-1,SITE,,,,",
  ];
  const loaded = await imported("assets", { name: "x.csv", lines: assets });
  assert.equal(loaded.code, exitCodes.loaded, loaded.said);
  assert.deepEqual(await namesByParent("x "), ["x pump < x unit", "x site < ", "x unit < x site"]);
  const [pump] = (await server.ask("GET /assets?externalId=X-2")).items;
  const common = {
    dataSetId: 7,
    labels: ["hot", "cold"],
    sourceCreatedTime: 1_000,
    sourceModifiedTime: 2_000,
  };
  const commonOf = ({
    dataSetId,
    labels,
    sourceCreatedTime,
    sourceModifiedTime,
  }: object & typeof common) => ({
    ...{ dataSetId, labels, sourceCreatedTime, sourceModifiedTime },
  });
  assert.deepEqual(commonOf(pump as unknown as typeof common), common);

  const semanticPhrases = [{ text: "seal worn, again", semanticTypeId }];
  const line = {
    externalId: "E-1",
    assetExternalIds: ["X-2"],
    tagIds: ["T-1", pump!["id"]],
    semanticPhrases,
  };
  const events = [JSON.stringify({ ...line, ...common }), '{"externalId":"E-2","semanticPhrases":5}'];
  const part = await imported("events", { name: "x.jsonl", lines: events });
  assert.equal(part.code, exitCodes.someRefused, part.said);
  assert.match(refusedIn("x.jsonl").join("\n"), /^2,semanticPhrases,5,not a JSON list of phrases$/m);
  const [event] = (await server.ask("GET /events?externalId=E-1")).items;
  assert.deepEqual(commonOf(event as unknown as typeof common), common);
  const shown = [event!["assetIds"], event!["tagIds"], event!["semanticPhrases"]];
  assert.deepEqual(shown, [[pump!["id"]], ["T-1"], semanticPhrases]);

  const cell = JSON.stringify(semanticPhrases).replaceAll('"', '""');
  const csv = ["externalId,tagIds,semanticPhrases", `E-3,5;T-2,"${cell}"`];
  assert.equal((await imported("events", { name: "y.csv", lines: csv })).code, exitCodes.loaded);
  const [other] = (await server.ask("GET /events?externalId=E-3")).items;
  assert.deepEqual([other!["tagIds"], other!["semanticPhrases"]], [["5", "T-2"], semanticPhrases]);
});

test("a file upside down over many requests becomes the tree that it describes", async () => {
  const count = 2_500;
  const lines = Array.from({ length: count }, (_, i) => {
    const number = count - 1 - i;
    const parent = number === 0 ? {} : { parentName: `t ${Math.floor((number - 1) / 10)}` };
    return JSON.stringify({ name: `t ${number}`, ...parent, metadata: { number } });
  });
  let creations = 0;
  const faultOf = ({ method, path }: { method: string; path: string }): Fault =>
    method === "POST" && path.endsWith("/assets") && ++creations % 2 === 0 ? "lose" : undefined;
  const { code, said } = await withFaults(server.baseUrl, faultOf, (address) =>
    imported("assets", { name: "t.jsonl", lines, address }),
  );
  assert.equal(code, exitCodes.loaded, said);
  const found = await namesByParent("t ");
  assert.equal(found.length, count);
  assert.equal(new Set(found).size, count);
  assert.ok(found.includes("t 2499 < t 249") && found.includes("t 0 < "));
});

test("lines that cannot be loaded are listed with their reasons; the rest is loaded", async () => {
  const lines = [
    '{"name":"r one"}',
    '{"description":"nameless"}',
    "[1]",
    '{"name":"r two","parentName":"nowhere"}',
    '{"name":"r three","parentName":"r four"}',
    '{"name":"r four","parentName":"r three"}',
    `{"name":"r ${"x".repeat(300)}"}`,
    '{"name":"r five","colour":"red"}',
  ];
  const { code, said } = await imported("assets", { name: "r.jsonl", lines });
  assert.equal(code, exitCodes.someRefused, said);
  assert.deepEqual(await namesByParent("r "), ["r one < "]);
  const reasons = refusedIn("r.jsonl").join("\n");
  for (const [line, text] of [
    [2, ",name,,missing"],
    [3, "not a JSON object"],
    [4, "parentName,nowhere,not an asset of the file or of the server"],
    [5, "its parent is not loaded"],
    [6, "its parent is not loaded"],
    [7, "items[0].name"],
    [8, "colour,red,not a field"],
  ])
    assert.match(reasons, new RegExp(`^${line},?.*${String(text).replaceAll(/[[\].]/g, "\\$&")}`, "m"));
});

test("events are linked to assets by name and by id", async () => {
  const { items } = await server.ask("POST /assets", { items: [{ name: "e pump" }, { name: "e valve" }] });
  const lines = [
    "startTime,endTime,type,assetNames,assetIds,metadata.shift,source,sourceId",
    `2026-01-01T00:00:00Z,1767229200000,stop,e pump; e valve,,night,e,1`,
    `1767225600000,,stop,,${items[1]!["id"]},,e,2`,
    "yesterday,,stop,,,,e,3",
    ",,stop,nobody,,,e,4",
  ];
  const { code, said } = await imported("events", { name: "e.csv", lines });
  assert.equal(code, exitCodes.someRefused, said);
  const found = (await server.ask("GET /events?source=e")).items;
  assert.deepEqual(
    found.map(({ startTime, endTime, assetIds, metadata }) => [startTime, endTime, assetIds, metadata]),
    [
      [1767225600000, 1767229200000, items.map(({ id }) => id), { shift: "night" }],
      [1767225600000, undefined, [items[1]!["id"]], {}],
    ],
  );
  assert.deepEqual(refusedIn("e.csv"), [
    "4,startTime,yesterday,neither ISO 8601 nor milliseconds since 1970",
    "5,assetNames,nobody,not an asset of the file or of the server",
  ]);
});

test("raw rows keep their values to the letter", async () => {
  const words = ["--database", "d/b", "--table", "t"];
  const lines = [
    '{"key":"a","columns":{"x":1.0, "y":[1e400]}}',
    '{"z":{"n":12345678901234567890},"key":"b","w":1.50}',
  ];
  const { code, said } = await imported("raw", { name: "raw.jsonl", lines, words });
  assert.equal(code, exitCodes.loaded, said);
  const { text } = await server.ask("GET /raw/d%2Fb/t");
  assert.ok(text.includes('"columns":{"x":1.0, "y":[1e400]}'), text);
  assert.ok(text.includes('"columns":{"z":{"n":12345678901234567890},"w":1.50}'), text);
  const csv = ["tag,value", "a,1.0", "c,", ",2"];
  const second = await imported("raw", {
    name: "raw.csv",
    lines: csv,
    words: [...words, "--key-column", "tag"],
  });
  assert.equal(second.code, exitCodes.someRefused, second.said);
  const after = await server.ask("GET /raw/d%2Fb/t");
  assert.deepEqual(after.items.map(({ key, columns }) => [key, columns])[0], ["a", { value: "1.0" }]);
  assert.deepEqual(refusedIn("raw.csv"), [
    "4,tag,,missing: the row has no key; --key-column names the column with the keys",
  ]);
});

test("what cannot begin says why", async () => {
  const cases: readonly (readonly [string, Import, RegExp])[] = [
    [
      "assets",
      { name: "x.csv", lines: ["name,colour", "a,b"] },
      /assets have no field colour.*--map "colour=metadata.colour"/,
    ],
    ["assets", { name: "x.txt", lines: ["name", "a"] }, /Say with --format/],
    ["raw", { name: "x.csv", lines: ["key", "a"] }, /Say where the rows go/],
    ["events", { name: "x.csv", lines: ["type"], words: ["--map", "x"] }, /--map is COLUMN=FIELD/],
    ["events", { name: "x.csv", lines: ["type"], words: ["--colour"] }, /Unknown option/],
  ];
  for (const [kind, input, text] of cases) {
    const { code, said } = await imported(kind, input);
    assert.equal(code, exitCodes.notBegun, said);
    assert.match(said, text);
  }
});

test("JSON lines end at line feeds alone, and a line without an end is refused by its number", async () => {
  const name = "u \u2028 and \u2029";
  const whole = await imported("assets", { name: "u.jsonl", lines: [`${JSON.stringify({ name })}\r`] });
  assert.equal(whole.code, exitCodes.loaded, whole.said);
  assert.deepEqual(await namesByParent("u "), [`${name} < `]);
  const lines = ['{"name":"v"}', "", `{"name":"${"v".repeat(limits.importLineBytesMax)}"}`];
  const { code, said } = await imported("assets", { name: "v.jsonl", lines });
  assert.equal(code, exitCodes.interrupted);
  assert.match(said, /v\.jsonl cannot be read: line 3 is longer than 16777216 bytes\n/);
});

test("numbers of JSON lines keep their text in metadata, and times can be any integer", async () => {
  const { code, said } = await imported("events", {
    name: "numbers.jsonl",
    lines: [
      '{"type":"n1","startTime":1.7e12,"endTime":1700000000001.0,"metadata":{"a":1.50,"b":true}}',
      '{"type":"n2","startTime":1.5}',
      '{"type":"n3","metadata":{"a":{"b":1}}}',
      '{"type":"n4","metadata":[1]}',
    ],
  });
  assert.equal(code, exitCodes.someRefused, said);
  const { items } = await server.ask("GET /events?type=n1");
  const shown = items.map(({ startTime, endTime, metadata }) => [startTime, endTime, metadata]);
  assert.deepEqual(shown, [[1_700_000_000_000, 1_700_000_000_001, { a: "1.50", b: "true" }]]);
  const report = readFileSync(join(folder, "numbers.jsonl.refused.csv"), "utf8");
  assert.match(report, /^2,startTime,1\.5,neither ISO 8601/m);
  assert.match(report, /^3,metadata\.a,.*an object or a list; metadata has single values$/m);
  assert.match(report, /^4,metadata,.*not an object of values$/m);
});
