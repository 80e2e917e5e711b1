// After a run of a retention rule, every read of a series is that of a series which never had the removed
// points: aggregates that were cached before, the latest point, and calculated series, also after a restart.
import "../../../test/support/small-checkpoints.ts";
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as turn } from "node:timers/promises";
import { passTime, silentWatch as watch } from "../../../test/support/retention-time.ts";
import { idsOf, startTestServer, type TestServer } from "../../../test/support/server.ts";
import { realSystem } from "../../lib/system.ts";
import { limits } from "../../limits.ts";
import { runDueRules } from "./runs.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const startMs = Date.UTC(2026, 0, 1);
let nowMs = startMs + 60 * dayMs;

let server: TestServer;
before(async () => {
  server = await startTestServer({ system: { ...realSystem, nowMs: () => nowMs } });
});
after(() => server.close());

const ask = async (line: string, body?: object) => {
  const response = await server.ask.v06(line, body);
  assert.equal(response.status, 200, `${line}: ${response.text}`);
  return response;
};

/** Whole numbers, so that sums do not depend on the order. */
async function append(id: number, times: Float64Array): Promise<void> {
  for (let at = 0; at < times.length; at += 5_000) {
    const some = times.slice(at, at + 5_000);
    const runs = { series: Float64Array.of(id), ends: Uint32Array.of(some.length) };
    const values = some.map((timeMs) => Math.round(Math.sin(timeMs / dayMs) * 1_000));
    await server.app.services.points.append({ numbers: { ...runs, times: some, values } });
  }
}

const timesOf = async (id: number) => {
  const all = { series: id, isString: false, startMs: -Infinity, endMs: Infinity, limit: 1e6 };
  return (await server.app.services.points.scan(all)).times;
};

/** The mean of a bucket depends in its last digit on the blocks that it is made of. */
const rounded = (_: string, value: unknown) =>
  typeof value === "number" ? Number(value.toPrecision(13)) : value;

/** The results of reads of a series, without its id and name. */
async function readsOf(id: number, name: string): Promise<string[]> {
  const [start, end, limit] = [startMs - dayMs, nowMs + dayMs, 10_000];
  const query = (item: object) =>
    ask("POST /timeseries/dataquery", { items: [item], start, end, limit }).then(({ items }) => items);
  const aggregates = "average,count,sum,min,max,stepinterpolation,totalvariation,interpolation";
  const answers = [
    await ask("POST /timeseries/latest", { items: [{ name, before: "now" }] }),
    await ask(`GET /timeseries/latest/${name}`),
    await query({ name }),
    ...(await Promise.all(
      ["30m", "1h", "7h", "1d", "10d"].map((granularity) => query({ name, aggregates, granularity })),
    )),
    await query({ name: "calculated", function: `2 * [${id}] + 1` }),
  ];
  return answers.map((answer) =>
    JSON.stringify("text" in answer ? answer.json : answer, rounded)
      .replaceAll(String(id), "ID")
      .replaceAll(name, "NAME"),
  );
}

/** The beginning of the difference; whole responses would fill the terminal. */
function firstDifference(one: string, other: string): string {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  return at === one.length && at === other.length
    ? ""
    : `${one.slice(at, at + 80)} | ${other.slice(at, at + 80)}`;
}

test("reads after a run are those of a series that never had the removed points", async () => {
  const [pump, control] = idsOf(
    await ask("POST /timeseries", { items: [{ name: "pump" }, { name: "control" }] }),
  );
  const times = Float64Array.from({ length: 60 * 24 * 12 }, (_, i) => startMs + i * 300_000);
  await append(pump!, times);
  const target = { seriesId: pump, keepDays: 20 };
  const preview = async () => {
    const { json } = await ask("POST /retentionrules/preview", target);
    return (json as { data: { points: number; blocks: number } }).data;
  };
  for (const sinceMs = performance.now(); (await preview()).blocks === 0; await turn(10))
    assert.ok(performance.now() - sinceMs < 120_000, "there are no blocks");
  const before = await readsOf(pump!, "pump");
  await ask("POST /retentionrules", { items: [{ name: "pump", ...target }] });
  await runDueRules(server.app.services, watch);
  await passTime(server.app.services, limits.retentionDelayMs, (step) => {
    nowMs += step;
  });
  const expected = await preview();
  await runDueRules(server.app.services, watch);

  const left = await timesOf(pump!);
  assert.equal(left.length, times.length - expected.points);
  assert.deepEqual(left, times.slice(expected.points), "the oldest ones are removed");
  const cutoff = nowMs - 20 * dayMs;
  const kept = times.filter((timeMs) => timeMs >= cutoff).length;
  assert.ok(left.length >= kept && left.length < times.length, `${left.length} of ${times.length}`);
  await append(control!, left);
  const ofControl = await readsOf(control!, "control");
  const areEqual = async () => {
    const ofPump = await readsOf(pump!, "pump");
    for (const [i, read] of ofPump.entries())
      assert.equal(firstDifference(read, ofControl[i]!), "", `read ${i}`);
    return ofPump;
  };
  const ofPump = await areEqual();
  assert.ok(ofPump.filter((read, i) => read !== before[i]).length > 5, "the reads before were others");
  await server.restart();
  await areEqual();
});
