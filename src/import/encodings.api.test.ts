// Files in common encodings, imported like by a user: every kind of file, invalid bytes, and a resumed
// import.
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { encoded } from "../../test/support/encoded.ts";
import { withFaults } from "../../test/support/faulty-proxy.ts";
import { temporaryFolder } from "../../test/support/folder.ts";
import { startTestServer, type TestServer } from "../../test/support/server.ts";
import { exitCodes } from "../client/command.ts";
import { assetImport } from "../resources/assets/assets.import.ts";
import { rawImport } from "../resources/raw/raw.import.ts";
import { importCsv } from "./import-csv.ts";
import { importRecords } from "./import-records.ts";

const folder = temporaryFolder();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const never = new AbortController().signal;
const commands = { csv: importCsv, assets: importRecords(assetImport), raw: importRecords(rawImport) };

interface Import {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly words: readonly string[];
  readonly address?: string;
}

async function imported(kind: keyof typeof commands, { name, bytes, words, address }: Import) {
  const file = join(folder, name);
  writeFileSync(file, bytes);
  const said: string[] = [];
  const output = { write: (text: string) => said.push(text) };
  const surroundings = { env: { MILLRACE_KEY: server.key }, output, stop: never, abort: never };
  const code = await commands[kind]([file, "--server", address ?? server.baseUrl, ...words], surroundings);
  return { code, said: said.join("").replaceAll(folder, "") };
}

const namesOf = async (resource: string, start: string) =>
  (await server.ask(`GET /${resource}?limit=1000`)).items
    .map(({ name }) => String(name))
    .filter((name) => name.startsWith(start))
    .sort();

/** The encoding that the user names, how the file is written, and a string in that encoding. */
const files = [
  { said: "utf-8", written: "utf-8", mark: "", text: "Öl °C € 漢😀" },
  { said: "UTF-8", written: "utf-8", mark: "\ufeff", text: "Öl °C € 漢😀" },
  { said: "latin1", written: "latin1", mark: "", text: "Öl °C ÿ" },
  { said: "windows-1252", written: "windows-1252", mark: "", text: "Öl °C €œ" },
  { said: "utf-16", written: "utf-16le", mark: "\ufeff", text: "Öl °C € 漢😀" },
  { said: "utf-16", written: "utf-16be", mark: "\ufeff", text: "Öl °C € 漢😀" },
  { said: "utf-16le", written: "utf-16le", mark: "", text: "Öl °C € 漢😀" },
  { said: "utf-16be", written: "utf-16be", mark: "", text: "Öl °C € 漢😀" },
] as const;

for (const [n, { said: encoding, written, mark, text }] of files.entries())
  test(`${encoding}: points, assets and raw rows of ${written}${mark && " with a mark"}`, async () => {
    const words = ["--encoding", encoding];
    const bytesOf = (lines: readonly string[]) => encoded(`${mark}${lines.join("\r\n")}\r\n`, written);
    const points = bytesOf([`t;e${n} ${text}`, "0;1", "60;2"]);
    const wide = { name: `e${n}.csv`, bytes: points, words: [...words, "--delimiter", ";"] };
    const csv = await imported("csv", wide);
    assert.equal(csv.code, exitCodes.loaded, csv.said);
    assert.deepEqual(await namesOf("timeseries", `e${n} `), [`e${n} ${text}`]);
    const names = [`a${n} ${text}`, `b${n} ${text}`];
    const ofCsv = { name: `a${n}.csv`, bytes: bytesOf(["name", names[0]!]), words };
    const ofLines = { name: `b${n}.jsonl`, bytes: bytesOf([JSON.stringify({ name: names[1]! })]), words };
    for (const one of [ofCsv, ofLines]) {
      const { code, said } = await imported("assets", one);
      assert.equal(code, exitCodes.loaded, said);
    }
    assert.deepEqual(await namesOf("assets", `a${n} `), [names[0]]);
    assert.deepEqual(await namesOf("assets", `b${n} `), [names[1]]);
    const table = ["--database", "db", "--table", `t${n}`];
    const rows = bytesOf([JSON.stringify({ key: text, unit: text })]);
    const raw = await imported("raw", { name: `r${n}.jsonl`, bytes: rows, words: [...words, ...table] });
    assert.equal(raw.code, exitCodes.loaded, raw.said);
    const { items } = await server.ask(`GET /raw/db/t${n}`);
    assert.deepEqual(
      items.map(({ key, columns }) => [key, columns]),
      [[text, { unit: text }]],
    );
  });

test("a byte that is not valid is refused by its offset before anything is loaded", async () => {
  const lines = Array.from({ length: 20_000 }, (_, n) => `{"name":"w${n}"}\n`).join("");
  const good = Buffer.from(lines);
  for (const [encoding, wrong] of [
    ["utf-8", 0xe9],
    ["latin1", 0x93],
    ["windows-1252", 0x81],
  ] as const) {
    const bytes = Buffer.concat([
      good,
      Buffer.from('{"name":"w '),
      Buffer.from([wrong]),
      Buffer.from('"}\n'),
    ]);
    const words = ["--encoding", encoding];
    const place = `at byte ${good.length + 11} (from 0)`;
    const { code, said } = await imported("assets", { name: "w.jsonl", bytes, words });
    assert.equal(code, exitCodes.notBegun, said);
    assert.ok(said.includes(`/w.jsonl is not ${encoding} ${place}; --encoding names another`), said);
    assert.ok(!existsSync(join(folder, "w.jsonl.import.db")));
    const wide = Buffer.concat([Buffer.from("t,w\n0,1\n60,"), Buffer.from([wrong]), Buffer.from("\n")]);
    const csv = await imported("csv", { name: "w.csv", bytes: wide, words });
    assert.equal(csv.code, exitCodes.notBegun, csv.said);
    assert.ok(csv.said.includes(`/w.csv is not ${encoding} at byte 11 (from 0)`), csv.said);
  }
  assert.deepEqual(await namesOf("assets", "w"), []);
  assert.deepEqual(await namesOf("timeseries", "w"), []);
});

test("an encoding that is unknown, or a mapping that is not UTF-8, is refused", async () => {
  const bytes = Buffer.from("t,m\n0,1\n");
  const unknown = await imported("csv", { name: "m.csv", bytes, words: ["--encoding", "ebcdic"] });
  assert.equal(unknown.code, exitCodes.notBegun);
  assert.match(unknown.said, /--encoding is one of utf-8, latin1, windows-1252, utf-16, .*, not ebcdic/);
  const mapping = join(folder, "mapping.csv");
  writeFileSync(mapping, encoded("column,unit\nm,°C\n", "latin1"));
  const latin = await imported("csv", { name: "m.csv", bytes, words: ["--mapping", mapping] });
  assert.equal(latin.code, exitCodes.notBegun);
  assert.match(latin.said, /The mapping \/mapping\.csv is not utf-8 at byte 14 \(from 0\)/);
  assert.deepEqual(await namesOf("timeseries", "m"), []);
});

/** Rows whose remarks have characters of each length, in a column that the mapping leaves out. */
const rowsWith = (text: string): readonly string[] =>
  Array.from({ length: 45_000 }, (_, at) => {
    const remark = Array.from(text)
      .slice(0, at % 12)
      .join("");
    return `${1_600_000_000 + at};${at};${remark}\r\n`;
  });

test("an interrupted import continues at the offset of the file, in any encoding", async () => {
  const mapping = join(folder, "remark.json");
  writeFileSync(mapping, '{"remark":null}');
  for (const [n, { said: encoding, written, mark, text }] of files.entries()) {
    const name = `x${n}.csv`;
    const head = `${mark}t;x${n};remark\r\n`;
    const rows = rowsWith(text);
    const bytes = encoded(head + rows.join(""), written);
    const words = ["--encoding", encoding, "--delimiter", ";", "--mapping", mapping];
    let isBroken = true;
    const faultOf = ({ path, body }: { path: string; body: Buffer }) =>
      isBroken && path.endsWith("/timeseries/data") && body.includes("1600030000000") ? 400 : undefined;
    await withFaults(server.baseUrl, faultOf, async (address) => {
      const first = await imported("csv", { name, bytes, words, address });
      assert.equal(first.code, exitCodes.interrupted, first.said);
      const { acknowledged } = JSON.parse(readFileSync(join(folder, `${name}.import.json`), "utf8"));
      const { line, endBytes } = acknowledged as { line: number; endBytes: number };
      assert.ok(line > 10_000, `${line}`);
      assert.equal(endBytes, encoded(head + rows.slice(0, line - 1).join(""), written).length, encoding);
      isBroken = false;
      const second = await imported("csv", { name, bytes, words, address });
      assert.equal(second.code, exitCodes.loaded, second.said);
      assert.match(second.said, new RegExp(`Going on after line ${line}\n`));
    });
    const path = `/timeseries/data/x${n}?start=0&end=4000000000000&limit=100000`;
    const [{ datapoints } = { datapoints: [] }] = (await server.ask(`GET ${path}`)).items as {
      datapoints: { value: number }[];
    }[];
    assert.equal(datapoints.length, rows.length);
    assert.ok(datapoints.every(({ value }, at) => value === at));
  }
});

test("an encoding other than that of the first run is another import", async () => {
  const bytes = Buffer.from(`t,y1\n${Array.from({ length: 45_000 }, (_, at) => `${at},${at}\n`).join("")}`);
  const refuse = ({ path, body }: { path: string; body: Buffer }) =>
    path.endsWith("/timeseries/data") && body.includes('"timestamp":30000000,') ? 400 : undefined;
  await withFaults(server.baseUrl, refuse, async (address) => {
    const wide = { name: "y.csv", bytes, address };
    assert.equal((await imported("csv", { ...wide, words: [] })).code, exitCodes.interrupted);
    const { code, said } = await imported("csv", { ...wide, words: ["--encoding", "latin1"] });
    assert.equal(code, exitCodes.notBegun);
    assert.match(said, /another import \(other columns, times, encoding, server or project\)/);
  });
});
