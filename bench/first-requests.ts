// W20: the start of a server, and its first requests of each kind beside those that follow.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { generateScans, generateSeries, seed, startMs } from "./generate.ts";
import { Connection, drive, expectSuccess, type RequestBytes, requestBytes } from "./http.ts";
import { stopProcess } from "./process.ts";
import { administratorKey, get, getOData, millrace, post, startMillrace } from "./systems/millrace.ts";
import type { Running } from "./systems/system.ts";
import { type Figures, type FirstKind, percentile } from "./workloads.ts";

const seriesCount = 10;
const pointsPerSeries = 20_000;
const pointsPerWrite = 1_000;
const scannedCount = 1_000;
const records = 1_000;
/** From the first response to the first measured request. */
const idleMs = 1_000;
const firstCount = 10;
/** Requests of one kind to one server; the last 20 are those around the hundredth. */
const requestCount = 110;
const lastCount = 20;
/** Starts without stored compiled code. */
const coldStarts = 3;

const frames = { aggregates: ["avg"], granularity: "1h", limit: 2000 };

/** The request number `at` of each kind. */
function requestsOf(): Readonly<Record<FirstKind, (at: number) => RequestBytes>> {
  const series = generateSeries(seriesCount, pointsPerSeries + requestCount * pointsPerWrite, seed);
  const scans = generateScans(scannedCount, requestCount, seed);
  const names = series.map((one) => one.name);
  const scanned = names.concat(Array.from({ length: scannedCount - seriesCount }, (_, i) => `scan${i}`));
  const [first] = series as [(typeof series)[0]];
  const at = (point: number) => first.times[point]!;
  const whole = {
    startMs,
    endMs: startMs + Math.ceil((at(pointsPerSeries) - startMs) / 3_600_000) * 3_600_000,
  };
  const frame = { items: names.map((name) => ({ name })), start: startMs, end: whole.endMs, ...frames };
  return {
    Write: (i) => {
      const from = pointsPerSeries + i * pointsPerWrite;
      return millrace.requests.backfill(first, from, from + pointsPerWrite);
    },
    Message: (i) => millrace.scanMessage!(scanned, scans[i]!),
    Latest: () => millrace.requests.latest(first.name, at(pointsPerSeries - 1)),
    Raw: () => millrace.requests.raw(first.name, { startMs, endMs: at(pointsPerWrite) }),
    Average: () => millrace.requests.hourlyAverage(first.name, whole),
    Frame: () => post("/timeseries/dataframe", JSON.stringify(frame)),
    Assets: () => get("/assets?limit=100"),
    Create: (i) => post("/assets", JSON.stringify({ items: [{ name: `new ${i}` }] })),
    Events: () => get("/events/search?query=pump&limit=100"),
    Page: () => getOData("Assets?$top=100"),
    Status: () =>
      requestBytes({ method: "GET", path: "/login/status", headers: { "api-key": administratorKey } }),
  };
}

/** One round: a server per kind, all after each other on one data folder, which the first start fills. */
export async function measureFirstRequests(): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), "millrace-bench-"));
  try {
    await onServer(folder, {}, fill);
    const starts: number[] = [];
    const figures: Record<string, number> = {};
    for (const [kind, requestAt] of Object.entries(requestsOf())) {
      const { startMs, times } = await onServer(folder, {}, async (running, startMs) => {
        await pause(idleMs);
        return { startMs, times: await timesOf(running, requestAt) };
      });
      starts.push(startMs);
      const usual = percentile(times.slice(-lastCount), 0.5);
      const first = times.slice(0, firstCount);
      figures[`W20first${kind}`] = first[0]!;
      figures[`W20usual${kind}`] = usual;
      figures[`W20ratio${kind}`] = first.reduce((sum, one) => sum + one, 0) / firstCount / usual;
    }
    const cold: number[] = [];
    for (let i = 0; i < coldStarts; i++) {
      const env = { NODE_COMPILE_CACHE: join(folder, `compiled-${i}`) };
      cold.push(await onServer(folder, env, async (_running, startMs) => startMs));
    }
    const seconds = (times: readonly number[]) => percentile(times, 0.5) / 1000;
    return { ...figures, W20start: seconds(starts), W20cold: seconds(cold) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Starts a server, and passes the time until its first response to a client with a key. */
async function onServer<Result>(
  folder: string,
  env: Readonly<Record<string, string>>,
  work: (running: Running, startMs: number) => Promise<Result>,
): Promise<Result> {
  const began = performance.now();
  const running = await startMillrace(folder, env);
  const startMs = performance.now() - began;
  try {
    return await work(running, startMs);
  } finally {
    await stopProcess(running.started);
  }
}

async function fill(running: Running): Promise<void> {
  const series = generateSeries(seriesCount, pointsPerSeries, seed);
  const scanned = Array.from({ length: scannedCount - seriesCount }, (_, i) => `scan${i}`);
  await running.declare(series.map((one) => one.name).concat(scanned));
  const connection = await Connection.open(running.port);
  const names = Array.from({ length: records }, (_, i) => ({ name: `pump ${i}` }));
  const events = names.map(({ name }, i) => ({ name, description: name, startTime: startMs + i }));
  await drive(
    [connection],
    [
      ...series.map((one) => millrace.requests.backfill(one, 0, pointsPerSeries)),
      post("/assets", JSON.stringify({ items: names })),
      post("/events", JSON.stringify({ items: events })),
    ],
  );
  connection.close();
}

/** Milliseconds of each request, one after the other over a new connection. */
async function timesOf(running: Running, requestAt: (at: number) => RequestBytes): Promise<number[]> {
  const requests = Array.from({ length: requestCount }, (_, at) => requestAt(at));
  const connection = await Connection.open(running.port);
  const times: number[] = [];
  for (const request of requests) {
    const began = performance.now();
    expectSuccess(await connection.send(request));
    times.push(performance.now() - began);
  }
  connection.close();
  return times;
}
