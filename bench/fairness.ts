// W19: writes beside dashboards that read with one key, which has no limits.
import { generateScans, seed } from "./generate.ts";
import { Connection, expectSuccess, type RequestBytes } from "./http.ts";
import { timeOf, whileLoaded } from "./interference.ts";
import { readersOf } from "./many-readers.ts";
import { loadForReads, type ReadScale } from "./new-windows.ts";
import { get, millrace, post, withKey } from "./systems/millrace.ts";
import type { Running } from "./systems/system.ts";
import { type Figures, percentile } from "./workloads.ts";
import { runWrk } from "./wrk.ts";

export const fullFairness: ReadScale = { series: 40, pointsPerSeries: 300_000, windows: 0, seconds: 10 };
export const quickFairness: ReadScale = { series: 10, pointsPerSeries: 120_000, windows: 0, seconds: 4 };

/** Clients that read 100,000 points each, one request after the other. */
const greedy = { connections: 32, points: 100_000, requests: 100 } as const;
/** Dashboards whose panels are read about twice a second: latest values, averages and points in turn. */
const dashboards = { connections: 200, pauseMs: 500, requests: 3_000 } as const;
const scannedSeries = 1_000;
/** Between two small requests, so that they do not become a load of their own. */
const pauseMs = 2;

/** One round on a fresh server; throws when a request is refused. */
export async function measureFairness(running: Running, scale: ReadScale): Promise<Figures> {
  const series = await loadForReads(millrace, running, scale);
  const key = await createKey(running);
  const readers = readersOf(millrace.requests, series, scale.pointsPerSeries);
  const many = (count: number, make: (at: number) => RequestBytes) =>
    Array.from({ length: count }, (_, at) => withKey(make(at), key));
  const { seconds } = scale;
  const scans = await Scans.prepare(running);
  const alone = await scans.timesDuring(pauseFor(seconds));
  const greedyLoad = {
    ...greedy,
    seconds,
    requests: many(greedy.requests, () => readers.raw(greedy.points)),
  };
  const greedyRead = runWrk(running, greedyLoad);
  const beside = await scans.timesDuring(greedyRead);
  const kinds = [readers.latest, readers.average, () => readers.raw(1_000)];
  const panels = many(dashboards.requests, (at) => kinds[at % kinds.length]!());
  const undisturbed = await whileLoaded(running, { seconds, name: "alone" }, () => pauseFor(seconds));
  const small: number[] = [];
  let read = { perSecond: 0, p99Ms: 0 };
  const loaded = await whileLoaded(running, { seconds, name: "beside" }, async () => {
    const reading = runWrk(running, { ...dashboards, seconds, requests: panels });
    small.push(...(await scans.latestTimesDuring(reading)));
    read = await reading;
  });
  scans.close();
  return {
    W19alone: percentile(alone, 0.5),
    W19write: percentile(beside, 0.5),
    W19writeRare: percentile(beside, 0.99),
    W19greedy: (await greedyRead).perSecond,
    W19share: loaded / undisturbed,
    W19panels: read.perSecond,
    W19panel: read.p99Ms,
    W19latest: percentile(small, 0.99),
  };
}

const pauseFor = (seconds: number) => new Promise<void>((resolve) => setTimeout(resolve, seconds * 1_000));

/** A key of its own for the readers, with the rights of the administrator. */
async function createKey(running: Running): Promise<string> {
  const connection = await Connection.open(running.port);
  const bodyOf = async (request: RequestBytes) =>
    expectSuccess(await connection.send(request)).body.toString();
  const idIn = (body: string) => /"id":(\d+)/.exec(body)![1];
  const group = idIn(await bodyOf(get("/groups?all=true")));
  const account = `{"items":[{"uniqueName":"dashboards","groups":[${group}]}]}`;
  const user = idIn(await bodyOf(post("/users", account)));
  const keys = await bodyOf(post("/apikeys", `{"items":[{"userId":${user}}]}`));
  connection.close();
  return /"value":"([^"]+)"/.exec(keys)![1]!;
}

/** Small requests of one client, one after the other: a point for each of 1,000 series, or a latest value. */
class Scans {
  readonly #connection: Connection;
  readonly #requests: readonly RequestBytes[];
  #at = 0;

  private constructor(connection: Connection, requests: readonly RequestBytes[]) {
    this.#connection = connection;
    this.#requests = requests;
  }

  static async prepare(running: Running): Promise<Scans> {
    const names = Array.from({ length: scannedSeries }, (_, at) => `scan${at}`);
    await running.declare(names);
    const requests = generateScans(scannedSeries, 200, seed).map((one) => millrace.requests.scan(names, one));
    return new Scans(await Connection.open(running.port), requests);
  }

  timesDuring(work: Promise<unknown>): Promise<number[]> {
    return this.#during(work, () => this.#requests[this.#at++ % this.#requests.length]!);
  }

  latestTimesDuring(work: Promise<unknown>): Promise<number[]> {
    return this.#during(work, () => get("/timeseries/latest/scan0"));
  }

  async #during(work: Promise<unknown>, next: () => RequestBytes): Promise<number[]> {
    let isOver = false;
    const over = work.finally(() => {
      isOver = true;
    });
    const times: number[] = [];
    while (!isOver) {
      times.push(await timeOf(this.#connection, next()));
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    await over;
    return times;
  }

  close(): void {
    this.#connection.close();
  }
}
