// Two real machine series of the Numenta Anomaly Benchmark: repeats, an hour out of order, gaps of days, 17
// digits.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { naiveAggregate } from "../../src/storage/conformance/naive-aggregate.ts";
import { startTestServer, type TestServer } from "../support/server.ts";
import { rowsOf, withData } from "./shared-data.ts";

const dayMs = 86_400_000;

interface Point {
  readonly timestamp: number;
  readonly value: number;
}

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

/** The rows in the order of the file, and the expected points: of equal times the later row. */
function load(file: string): { rows: Point[]; stored: Point[] } {
  const rows = rowsOf(`nab-industrial/${file}`)
    .slice(1)
    .map(([time, value]) => ({ timestamp: Date.parse(`${time!.replace(" ", "T")}Z`), value: Number(value) }));
  const lastOfTime = new Map(rows.map((row) => [row.timestamp, row]));
  return { rows, stored: [...lastOfTime.values()].sort((a, b) => a.timestamp - b.timestamp) };
}

async function write(name: string, rows: readonly Point[]): Promise<void> {
  await server.ask("POST /timeseries", { items: [{ name, unit: "F" }] });
  for (let from = 0; from < rows.length; from += 1_000) {
    const response = await server.ask(`POST /timeseries/data/${name}`, {
      items: rows.slice(from, from + 1_000),
    });
    assert.equal(response.status, 200);
  }
}

async function read(name: string, query: string): Promise<Record<string, number>[]> {
  const response = await server.ask(`GET /timeseries/data/${name}?${query}`);
  assert.equal(response.status, 200);
  const { data } = response.json as { data: { items: { datapoints: Record<string, number>[] }[] } };
  return data.items[0]!.datapoints;
}

for (const file of ["machine_temperature_system_failure.csv", "ambient_temperature_system_failure.csv"])
  describe(file, withData(`nab-industrial/${file}`), () => {
    const name = file.replace("_system_failure.csv", "");

    it("reads back equal to the source, the repeated hour as written last", async () => {
      const { rows, stored } = load(file);
      await write(name, rows);
      assert.deepEqual(await read(name, "limit=100000"), stored);
    });

    it("averages each day as the definition says", async () => {
      const { stored } = load(file);
      const startMs = Math.floor(stored[0]!.timestamp / dayMs) * dayMs;
      const endMs = Math.floor(stored.at(-1)!.timestamp / dayMs) * dayMs + dayMs;
      const found = await read(
        name,
        `start=${startMs}&end=${endMs}&aggregates=avg,count,cv&granularity=1d&limit=1000`,
      );
      const expected = naiveAggregate(
        {
          times: Float64Array.from(stored, (point) => point.timestamp),
          values: Float64Array.from(stored, (point) => point.value),
        },
        {
          startMs,
          endMs,
          bucketMs: dayMs,
          isStep: false,
          aggregates: ["average", "count", "continuousVariance"],
          limit: 1000,
        },
      );
      assert.deepEqual(
        found.map((bucket) => bucket.timestamp),
        [...expected.times],
      );
      const close = (a: number, b: number) => Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b), 1);
      found.forEach((bucket, row) => {
        assert.ok(close(bucket.average!, expected.columns[0]![row]!));
        assert.equal(bucket.count, expected.columns[1]![row]);
        assert.ok(close(bucket.continuousVariance!, expected.columns[2]![row]!));
      });
    });
  });
