// Loads points as W1 does, in its own thread, until it gets a stop message; then posts points per second.
import { parentPort, workerData } from "node:worker_threads";
import { generateSeries, pointsPerRequest, seed } from "./generate.ts";
import { drive, openConnections, type RequestBytes } from "./http.ts";
import { post } from "./systems/millrace.ts";

export interface Load {
  readonly port: number;
  readonly series: number;
  /** The beginning of the names of the series. */
  readonly name: string;
  /** So many times the number of series are loaded, one set after the other: `name0`, `name1`, ... */
  readonly sets: number;
}

const pointsPerSeries = 50_000;

const { port, name, series, sets } = workerData as Load;
const bodies = generateSeries(series, pointsPerSeries, seed).map(({ times, values }) =>
  Array.from({ length: pointsPerSeries / pointsPerRequest }, (_, piece) => {
    const points: string[] = [];
    for (let at = piece * pointsPerRequest; at < (piece + 1) * pointsPerRequest; at++)
      points.push(`{"timestamp":${times[at]},"value":${values[at]}}`);
    return `{"items":[${points.join(",")}]}`;
  }),
);
let [isStopped, sent] = [false, 0];
parentPort!.on("message", () => {
  isStopped = true;
});

function* requests(): Generator<RequestBytes> {
  for (let set = 0; set < sets; set++)
    for (let piece = 0; piece < pointsPerSeries / pointsPerRequest; piece++)
      for (const [at, pieces] of bodies.entries()) {
        if (isStopped) return;
        sent += pointsPerRequest;
        yield post(`/timeseries/data/${name}${set * series + at}`, pieces[piece]!);
      }
  throw new Error("more is loaded than there are series for");
}

const connections = await openConnections(port);
parentPort!.postMessage("loading");
const seconds = await drive(connections, requests());
for (const one of connections) one.close();
parentPort!.postMessage(sent / seconds);
parentPort!.close();
