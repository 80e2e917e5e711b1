// A server that is killed during a run of a retention rule: no point that the rule keeps is removed,
// the audit log says that the result is unknown, and the next run removes the rest.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { passTime, silentWatch as watch } from "../../../test/support/retention-time.ts";
import { startTestServer, type TestServer } from "../../../test/support/server.ts";
import { realSystem } from "../../lib/system.ts";
import { limits } from "../../limits.ts";
import { runDueRules } from "./runs.ts";

const dayMs = 24 * 3_600_000;
const program = new URL("../../../test/support/killed-retention-run.ts", import.meta.url).pathname;

/** Runs the rules in a process that kills itself. */
function runAndKill({ dataFolder: data, project }: TestServer, nowMs: number): void {
  const settings = { host: "127.0.0.1", port: 0, data, project, logLevel: "silent", hostsModels: false };
  const rest = { trustedProxies: [], outboundNetworks: [], attemptsPerMinute: 1e6, consoleFolder: data };
  const given = [{ ...settings, ...rest }, nowMs].map((one) => JSON.stringify(one));
  const options = { encoding: "utf8", timeout: 300_000 } as const;
  const { signal, stderr } = spawnSync(process.execPath, [program, ...given], options);
  assert.equal(signal, "SIGKILL", stderr);
}

test("after kill -9 in the midst of a run, the next one continues and removes nothing else", async () => {
  let nowMs = Date.UTC(2026, 0, 1);
  const server = await startTestServer({ system: { ...realSystem, nowMs: () => nowMs } });
  const ask = async (line: string, body?: object) => (await server.ask.v06(line, body)).items;
  const named = Array.from({ length: 12 }, (_, i) => ({ name: `series ${i}` }));
  const series = (await ask("POST /timeseries", { items: named })).map(({ id }) => id as number);
  // A point every three minutes for 40 days: blocks of some days.
  const times = Float64Array.from({ length: 40 * 480 }, (_, i) => nowMs - 40 * dayMs + i * 180_000);
  for (const id of series) {
    const runs = { series: Float64Array.of(id), ends: Uint32Array.of(times.length) };
    await server.app.services.points.append({ numbers: { ...runs, times, values: times } });
  }
  await ask("POST /retentionrules", { items: [{ name: "all", wholeProject: true, keepDays: 10 }] });
  await runDueRules(server.app.services, watch);
  await passTime(server.app.services, limits.retentionDelayMs, (step) => {
    nowMs += step;
  });
  const kept = times.filter((timeMs) => timeMs >= nowMs - 10 * dayMs);

  await server.restart(() => {
    runAndKill(server, nowMs);
    nowMs += 1_000; // Ids are made from the clock: servers that begin at one time would have equal ones.
  });
  const left = async () => {
    const { points } = server.app.services;
    const range = { isString: false, startMs: -Infinity, endMs: Infinity, limit: 1e6 };
    return Promise.all(series.map(async (id) => (await points.scan({ series: id, ...range })).times));
  };
  const areKept = (found: Float64Array) => {
    assert.deepEqual(found, times.slice(-found.length), "the oldest ones are removed");
    assert.ok(found.length >= kept.length, `${found.length} of ${kept.length}`);
  };
  const after = await left();
  for (const found of after) areKept(found);
  const whole = after.filter((found) => found.length === times.length).length;
  assert.ok(whole > 0 && whole < series.length, `${whole} series are left`);

  const recorded = async () => {
    const items = await ask("GET /audit?limit=100");
    return items.filter(({ action }) => action === "remove old datapoints").map(({ result }) => result);
  };
  for (const sinceMs = performance.now(); (await recorded()).length === 0; await pause(20))
    assert.ok(performance.now() - sinceMs < 120_000, "the log has no record of the run");
  assert.deepEqual(await recorded(), ["unknown"]);

  nowMs += limits.retentionIntervalMs;
  await runDueRules(server.app.services, watch);
  for (const found of await left()) {
    areKept(found);
    assert.ok(found.length < times.length, "the next run continues");
  }
  assert.deepEqual(await recorded(), ["done", "unknown"]);
  await server.close();
});
