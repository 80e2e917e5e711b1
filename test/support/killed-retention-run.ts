// A process that runs the retention rules of a data folder, four series at once, and kills itself with
// SIGKILL after the first deletion: `node killed-retention-run.ts <settings> <time>`.
import { pino } from "pino";
import { openApp } from "../../src/app.ts";
import type { Settings } from "../../src/config.ts";
import { realSystem } from "../../src/lib/system.ts";
import { limits } from "../../src/limits.ts";
import { runDueRules } from "../../src/resources/retention/runs.ts";

Object.assign(limits, { retentionSeriesAtOnce: 4 });
const [settings, time] = process.argv.slice(2).map((word) => JSON.parse(word)) as [Settings, number];
const log = pino({ level: "silent" });
const { services } = await openApp(settings, { ...realSystem, nowMs: () => time }, log);
const { points } = services;
const remove: typeof points.delete = async (...given) => {
  await points.delete(...given);
  process.kill(process.pid, "SIGKILL");
};
const killing = Object.assign(Object.create(points), { delete: remove });
const watch = { log: pino(pino.destination(2)), removed: () => undefined, failed: () => undefined };
await runDueRules({ ...services, points: killing }, watch);
console.error("The run deleted nothing");
process.exit(1);
