// W16: a pattern search over 10,000,000 points for a window of 1,000, and small requests meanwhile.
import { setTimeout as pause } from "node:timers/promises";
import { generateSeries, pointsPerRequest, seed } from "./generate.ts";
import { Connection, drive, expectSuccess } from "./http.ts";
import { get, millrace, post } from "./systems/millrace.ts";
import { type Figures, percentile } from "./workloads.ts";

export interface PatternScale {
  readonly points: number;
  readonly searches: number;
}

export const fullPattern: PatternScale = { points: 10_000_000, searches: 3 };
export const quickPattern: PatternScale = { points: 500_000, searches: 1 };

const windowSamples = 1_000;
/** Between two small requests, so that they do not become a load of their own. */
const pauseMs = 5;

/** One round on a fresh server; throws when a search does not find the window itself. */
export async function measurePatternSearch(port: number, scale: PatternScale): Promise<Partial<Figures>> {
  const connection = await Connection.open(port);
  try {
    const [series] = generateSeries(1, scale.points, seed) as [ReturnType<typeof generateSeries>[0]];
    const items = [{ name: series.name }];
    expectSuccess(await connection.send(post("/timeseries", JSON.stringify({ items }))));
    for (let from = 0; from < scale.points; from += pointsPerRequest)
      await drive([connection], [millrace.requests.backfill(series, from, from + pointsPerRequest)]);
    const middle = Math.floor(scale.points / 2);
    const [start, end] = [series.times[middle]!, series.times[middle + windowSamples]!];
    const spec = { timeSeries: items, aggregates: [], start, end };
    const everything = { minRange: 0, maxRange: series.times.at(-1)! + 1 };
    const question = post(
      "/analytics/patternsearch/search",
      JSON.stringify({ timeSeriesDataSpec: [spec], arguments: { limit: 5, ...everything } }),
    );
    const [seconds, latencies]: [number[], number[]] = [[], []];
    for (let search = 0; search < scale.searches; search++) {
      const started = performance.now();
      const { jobId } = bodyOf(await connection.send(question)) as { jobId: number };
      await untilDone(connection, { jobId, name: series.name, latencies });
      seconds.push((performance.now() - started) / 1000);
      requireOwnWindow(bodyOf(await connection.send(get(`/analytics/patternsearch/${jobId}`))), start);
    }
    return { W16search: percentile(seconds, 0.5), W16latest: percentile(latencies, 0.99) };
  } finally {
    connection.close();
  }
}

const bodyOf = (response: Parameters<typeof expectSuccess>[0]): unknown =>
  JSON.parse(expectSuccess(response).body.toString());

interface Search {
  readonly jobId: number;
  readonly name: string;
  /** Gets the duration of each small request, in milliseconds. */
  readonly latencies: number[];
}

async function untilDone(connection: Connection, { jobId, name, latencies }: Search): Promise<void> {
  for (;;) {
    const started = performance.now();
    expectSuccess(await connection.send(get(`/timeseries/latest/${name}`)));
    latencies.push(performance.now() - started);
    const job = bodyOf(await connection.send(get(`/analytics/jobs/${jobId}`)));
    const { status } = job as { status: string };
    if (status === "DONE") return;
    if (status !== "RUNNING") throw new Error(`The search is ${status}: ${JSON.stringify(job)}`);
    await pause(pauseMs);
  }
}

function requireOwnWindow(response: unknown, start: number): void {
  const { items } = (response as { data: { items: { from: number; score: number }[] } }).data;
  if (items[0]?.from !== start || items[0].score > 1e-3)
    throw new Error(`The best match is not the window itself: ${JSON.stringify(items)}`);
}
