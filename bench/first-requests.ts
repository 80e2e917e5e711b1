// W20: the start of a server, and its first requests of each kind beside those that follow.
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { inFreshFolder } from "./folders.ts";
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
/** From the first response to the first measured request. Threads compile their code meanwhile. */
const idleMs = 1_000;
const firstCount = 10;
/** Requests of one kind to one server; the last 20 are those around the hundredth. */
const requestCount = 110;
/** With those to a server that was not idle before. */
const allCount = requestCount + firstCount;
const lastCount = 20;
/** Starts without stored compiled code. */
const coldStarts = 3;

const frames = { aggregates: ["avg"], granularity: "1h", limit: 2000 };

/** The request number `at` of each kind. */
function requestsOf(): Readonly<Record<FirstKind, (at: number) => RequestBytes>> {
  const series = generateSeries(seriesCount, pointsPerSeries + allCount * pointsPerWrite, seed);
  const scans = generateScans(scannedCount, allCount, seed);
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

/**
 * One round: two servers per kind, all after each other on one data folder, which the first start fills. One
 * is idle before the first request, the other gets it at once.
 */
export const measureFirstRequests = (): Promise<Figures> =>
  inFreshFolder(async (folder) => {
    await onServer(folder, {}, fill);
    const starts: number[] = [];
    const figures: Record<string, number> = {};
    for (const [kind, requestAt] of Object.entries(requestsOf())) {
      const timesAfter = (waitMs: number, requests: readonly RequestBytes[]) =>
        onServer(folder, {}, async (running, startMs) => {
          starts.push(startMs);
          await pause(waitMs);
          return await timesOf(running, requests);
        });
      const requests = Array.from({ length: allCount }, (_, at) => requestAt(at));
      const times = await timesAfter(idleMs, requests.slice(0, requestCount));
      const usual = percentile(times.slice(-lastCount), 0.5);
      const atOnce = await timesAfter(0, requests.slice(requestCount));
      figures[`W20first${kind}`] = times[0]!;
      figures[`W20usual${kind}`] = usual;
      figures[`W20ratio${kind}`] = meanOf(times.slice(0, firstCount)) / usual;
      figures[`W20once${kind}`] = atOnce[0]!;
      figures[`W20onceRatio${kind}`] = meanOf(atOnce) / usual;
    }
    const cold: number[] = [];
    for (let i = 0; i < coldStarts; i++) {
      const env = { NODE_COMPILE_CACHE: join(folder, `compiled-${i}`) };
      cold.push(await onServer(folder, env, async (_running, startMs) => startMs));
    }
    const seconds = (times: readonly number[]) => percentile(times, 0.5) / 1000;
    return { ...figures, W20start: seconds(starts), W20cold: seconds(cold) };
  });

const meanOf = (times: readonly number[]) => times.reduce((sum, one) => sum + one, 0) / times.length;

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
async function timesOf(running: Running, requests: readonly RequestBytes[]): Promise<number[]> {
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
