// The Tennessee Eastman plant: 53 tags of 15 disturbance runs, loaded with the command line as a plant's
// asset tree, and read back equal to the source value for value.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { temporaryFolder } from "../support/folder.ts";
import { startTestServer, type TestServer } from "../support/server.ts";
import { dataPath, rowsOf, withData } from "./shared-data.ts";

const dayMs = 86_400_000;
const firstDay = "2026-01-01";
/** A run lasts 50 hours, so that a day of its own begins every third day. */
const daysPerRun = 3;

/** The part of the plant that a tag belongs to, told by its description. */
const parts: readonly (readonly [RegExp, string])[] = [
  [/^Feed|Feed$|feed \(/, "feeds"],
  [/^Recycle|^Compressor/, "recycle compressor"],
  [/^React|Reactor|Agitator/, "reactor"],
  [/^Cond/, "condenser"],
  [/^Sep/, "separator"],
  [/^Strip|^Steam/, "stripper"],
  [/^Purge/, "purge"],
  [/^Product/, "product"],
];

interface Tag {
  readonly name: string;
  readonly description: string;
  readonly unit: string;
  readonly part: string;
}

let server: TestServer;
const folder = temporaryFolder();
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

function tagsOf(): Tag[] {
  const rows = rowsOf("tep/tags.csv").slice(1);
  return rows.map(([name, description, unit]) => {
    const part = parts.find(([pattern]) => pattern.test(description!));
    assert.ok(part, `${description} belongs to no part of the plant`);
    return { name: name!, description: description!, unit: unit!, part: part[1] };
  });
}

async function importPlant(tags: readonly Tag[]): Promise<string> {
  const mapping = Object.fromEntries(
    tags.map(({ name, part, ...given }) => [
      name,
      { ...given, part: undefined, asset: `Tennessee Eastman/${part}`, metadata: { tag: name } },
    ]),
  );
  const mappingFile = join(folder, "mapping.json");
  await writeFile(mappingFile, JSON.stringify(mapping));
  const words =
    `src/main.ts import csv ${dataPath("tep/measurements.csv")} --time-column minute --time-format min
    --epoch-by scenario=${firstDay}+${daysPerRun}d --mapping ${mappingFile} --only-mapped
    --state ${join(folder, "state.json")} --report ${join(folder, "refused.csv")}
    --server ${server.baseUrl} --key ${server.key}`.split(/\s+/);
  const { stdout } = await promisify(execFile)(process.execPath, words);
  return stdout;
}

describe("Tennessee Eastman", withData("tep/measurements.csv"), () => {
  it("is loaded as a plant: asset tree, series with units and metadata, 239,295 points", async () => {
    const tags = tagsOf();
    const report = await importPlant(tags);
    assert.match(report, /239\s295 points loaded/);
    const assets = await itemsOf("GET /assets?limit=100");
    const root = assets.find((asset) => asset["depth"] === 0)!;
    assert.equal(root["name"], "Tennessee Eastman");
    assert.deepEqual(
      new Set(assets.map((asset) => asset["name"])),
      new Set([root["name"], ...parts.map((part) => part[1])]),
    );
    const series = await itemsOf(`GET /timeseries?path=[${root["id"]}]&limit=100&includeMetadata=true`);
    const found = series.map(({ name, description, unit, assetId, metadata }) => {
      assert.deepEqual(metadata, { tag: name });
      return { name, description, unit, part: assets.find((asset) => asset["id"] === assetId)!["name"] };
    });
    const byName = (a: { name?: unknown }, b: { name?: unknown }) =>
      String(a.name) < String(b.name) ? -1 : 1;
    assert.deepEqual(found.sort(byName), [...tags].sort(byName));
  });

  it("reads back equal to the source, value for value", async () => {
    const [header, ...rows] = rowsOf("tep/measurements.csv");
    const runs = [...new Set(rows.map((row) => row[0]))];
    const timeOf = (row: readonly string[]) =>
      Date.parse(`${firstDay}T00:00:00Z`) +
      runs.indexOf(row[0]!) * daysPerRun * dayMs +
      Number(row[1]) * 60_000;
    for (const [column, name] of header!.entries()) {
      if (column < 2) continue;
      const [series] = await itemsOf(`GET /timeseries/data/${name}?limit=100000`);
      const expected = rows.map((row) => ({ timestamp: timeOf(row), value: Number(row[column]) }));
      assert.deepEqual(series!["datapoints"], expected, name);
    }
  });
});

async function itemsOf(question: string): Promise<Record<string, unknown>[]> {
  const response = await server.ask(question);
  assert.equal(response.status, 200, response.text);
  return (response.json as { data: { items: Record<string, unknown>[] } }).data.items;
}
