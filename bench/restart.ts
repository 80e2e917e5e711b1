// W13: kills the server during W1 and restarts it: measures the time, and checks that every acknowledged
// write exists.
import { once } from "node:events";
import { type GeneratedSeries, generateSeries, pointsPerRequest, seed } from "./generate.ts";
import { Connection, expectSuccess, openConnections, type RequestBytes } from "./http.ts";
import { stopProcess } from "./process.ts";
import { get, millrace } from "./systems/millrace.ts";
import type { Running } from "./systems/system.ts";
import type { Figures, Scale } from "./workloads.ts";

interface Sent {
  readonly series: GeneratedSeries;
  readonly from: number;
  readonly request: RequestBytes;
  isAcknowledged: boolean;
}

/** One round that begins on a fresh server; throws when a point is missing, wrong, or of half a request. */
export async function measureRestart(running: Running, scale: Scale): Promise<Figures> {
  const series = generateSeries(scale.series, scale.pointsPerSeries, seed);
  const all: Sent[] = [];
  for (let from = 0; from < scale.pointsPerSeries; from += pointsPerRequest)
    for (const one of series) {
      const request = millrace.requests.backfill(one, from, from + pointsPerRequest);
      all.push({ series: one, from, request, isAcknowledged: false });
    }
  await running.declare(series.map((one) => one.name));
  const sent = await loadUntilKilled(running, all);
  const started = performance.now();
  const again = await millrace.start(running.started.folder);
  try {
    const connection = await Connection.open(again.port);
    const first = await pointsIn(connection, series[0]!);
    const seconds = (performance.now() - started) / 1000;
    compare(sent, series[0]!, first);
    for (const one of series) compare(sent, one, await pointsIn(connection, one));
    connection.close();
    return { W13: seconds };
  } finally {
    await stopProcess(again.started);
  }
}

/** The requests that were sent; in the middle the process is killed at once. */
async function loadUntilKilled({ port, started: { child } }: Running, all: readonly Sent[]): Promise<Sent[]> {
  const ended = once(child, "exit");
  const connections = await openConnections(port);
  const sent: Sent[] = [];
  let acknowledged = 0;
  const load = async (connection: Connection) => {
    for (let one = all[sent.length]; one !== undefined; one = all[sent.length]) {
      sent.push(one);
      expectSuccess(await connection.send(one.request));
      one.isAcknowledged = true;
      if (++acknowledged === Math.floor(all.length / 2)) child.kill("SIGKILL");
    }
  };
  await Promise.allSettled(connections.map(load));
  for (const one of connections) one.close();
  await ended;
  if (acknowledged < all.length / 2 - 1) throw new Error(`only ${acknowledged} requests were acknowledged`);
  return sent;
}

interface Point {
  readonly timestamp: number;
  readonly value: number;
}

async function pointsIn(connection: Connection, { name }: GeneratedSeries): Promise<Point[]> {
  const response = await connection.send(get(`/timeseries/data/${name}?start=0&limit=100000`));
  return JSON.parse(expectSuccess(response).body.toString()).data.items[0].datapoints;
}

/** Requests of one series were sent one after the other, so that its points are those of the first ones. */
function compare(sent: readonly Sent[], { name, times, values }: GeneratedSeries, found: Point[]): void {
  const own = sent.filter(({ series }) => series.name === name);
  const acknowledged = own.filter(({ isAcknowledged }) => isAcknowledged).length;
  if (found.length < acknowledged * pointsPerRequest) throw new Error(`points of ${name} are missing`);
  if (found.length % pointsPerRequest !== 0) throw new Error(`half a request of ${name} is there`);
  if (found.length > own.length * pointsPerRequest) throw new Error(`${name} has too many points`);
  for (const [at, { timestamp, value }] of found.entries())
    if (timestamp !== times[at] || value !== values[at]) throw new Error(`point ${at} of ${name} is wrong`);
}
