// W10: how long small requests take while points are loaded at full speed over four other connections, and
// while backups of what was loaded are made at the same time.
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { Connection, expectSuccess, type RequestBytes } from "./http.ts";
import type { Load } from "./load-thread.ts";
import { repeatBackups } from "./repeated-backups.ts";
import { get, post } from "./systems/millrace.ts";
import type { Running } from "./systems/system.ts";
import { type Figures, percentile } from "./workloads.ts";

export interface InterferenceScale {
  /** The duration of the load. */
  readonly seconds: number;
}

export const fullInterference: InterferenceScale = { seconds: 15 };
export const quickInterference: InterferenceScale = { seconds: 3 };

const seriesCount = 50;
/**
 * The load has 2.5 M points a set and must not end before the measurement: this is enough for 25 M points/s.
 */
const setsPerSecond = 10;
/** Between two small requests, so that they do not become a load of their own. */
const pauseMs = 2;

type Times = Readonly<Record<"asset" | "latest" | "load", number>>;

/** One round on a fresh server; throws when a request is refused. */
export async function measureInterference(running: Running, scale: InterferenceScale): Promise<Figures> {
  const { asset, latest, load } = await timesUnderLoad(running, scale);
  return { W10asset: asset, W10latest: latest, W10load: load };
}

/** The same with backups, one after the other. */
export async function measureBackupInterference(
  running: Running,
  scale: InterferenceScale,
): Promise<Figures> {
  const stop = new AbortController();
  const backups = repeatBackups(running, stop.signal);
  const { asset, latest, load } = await timesUnderLoad(running, scale).finally(() => stop.abort());
  const { backups: made, pausedMsMax } = await backups;
  return {
    ...{ W10backupAsset: asset, W10backupLatest: latest, W10backupLoad: load },
    ...{ W10backups: made, W10backupPause: pausedMsMax },
  };
}

async function timesUnderLoad(running: Running, { seconds }: InterferenceScale): Promise<Times> {
  const connection = await Connection.open(running.port);
  await running.declare(["probed"]);
  const asset = expectSuccess(await connection.send(post("/assets", '{"items":[{"name":"a pump"}]}')));
  const [, id] = /"id":(\d+)/.exec(asset.body.toString())!;
  const point = '{"items":[{"timestamp":1,"value":2}]}';
  expectSuccess(await connection.send(post("/timeseries/data/probed", point)));
  const [assets, latest]: [number[], number[]] = [[], []];
  try {
    const load = await whileLoaded(running, { seconds, name: "load" }, async () => {
      for (const until = performance.now() + seconds * 1000; performance.now() < until; ) {
        assets.push(await timeOf(connection, get(`/assets/${id}`)));
        latest.push(await timeOf(connection, get("/timeseries/latest/probed")));
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    });
    return { asset: percentile(assets, 0.99), latest: percentile(latest, 0.99), load };
  } finally {
    connection.close();
  }
}

/** Loads points at full speed during `work`, which takes about so many seconds; in points per second. */
export async function whileLoaded(
  running: Running,
  { seconds, name }: { readonly seconds: number; readonly name: string },
  work: () => Promise<void>,
): Promise<number> {
  const load: Load = { port: running.port, name, series: seriesCount, sets: seconds * setsPerSecond };
  await running.declare(Array.from({ length: load.sets * seriesCount }, (_, at) => `${name}${at}`));
  const loader = new Worker(new URL("./load-thread.ts", import.meta.url), { workerData: load });
  try {
    await once(loader, "message");
    await work();
    loader.postMessage("stop");
    const [rate] = await once(loader, "message");
    return rate;
  } finally {
    await loader.terminate();
  }
}

export async function timeOf(connection: Connection, request: RequestBytes): Promise<number> {
  const started = performance.now();
  expectSuccess(await connection.send(request));
  return performance.now() - started;
}
