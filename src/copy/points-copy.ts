// Copies the datapoints of all series to another store, and compares the two.
//
// Points are written in the order of their times, and each write is atomic. So the last point of a series in
// the target says where an interrupted copy continues.
import { createHash } from "node:crypto";
import { limits } from "../limits.ts";
import { everything } from "../query/filter.ts";
import { byId } from "../query/page.ts";
import { timeSeriesTable } from "../resources/timeseries/schema.ts";
import type { Catalog, ProjectId } from "../storage/catalog.ts";
import type { PointBatch, PointColumns, PointRuns, PointSeries, PointsStore } from "../storage/points.ts";
import type { Sum } from "./catalog-copy.ts";
import { runWorkers } from "./workers.ts";

/** The series of a project in the order of their ids, a page at a time. */
export async function* seriesOf(catalog: Catalog, project: ProjectId): AsyncGenerator<PointSeries[]> {
  let after: readonly [number] | undefined;
  for (;;) {
    const page = { limit: limits.copySeriesAtOnce, ...(after && { after }) };
    const query = { filter: everything, order: byId, page, fields: ["id", "isString"] };
    const found = await catalog.read(project, (tx) => tx.find(timeSeriesTable, query));
    const last = found.at(-1);
    if (last === undefined) return;
    yield found.map(({ id, isString }) => ({ series: id, isString }));
    after = [last.id];
  }
}

export interface PointCopyStores {
  readonly from: PointsStore;
  readonly to: PointsStore;
  readonly signal: AbortSignal;
}

/** Copies the points that the target lacks of these series; reports the number of each write. */
export async function copySeries(
  { from, to, signal }: PointCopyStores,
  series: readonly PointSeries[],
  onPoints: (count: number) => void,
): Promise<void> {
  const latest = await to.latest(series, Number.MAX_SAFE_INTEGER);
  const left = series
    .map((one, index) => ({ one, startMs: (latest[index]?.timeMs ?? firstMs - 1) + 1 }))
    .values();
  // One series belongs to one worker, so that its points are written in their order.
  const worker = async () => {
    const batch = new Batch(to, onPoints);
    for (const { one, startMs } of left)
      for await (const columns of columnsOf(from, one, startMs)) {
        signal.throwIfAborted();
        await batch.add(one, columns);
      }
    await batch.flush();
  };
  await runWorkers(worker);
}

const firstMs = -Number.MAX_SAFE_INTEGER;

/** The points of a series at or after a time, a part at a time. */
async function* columnsOf(
  store: PointsStore,
  series: PointSeries,
  fromMs = firstMs,
): AsyncGenerator<PointColumns> {
  const limit = limits.copyPointsAtOnce;
  let startMs = fromMs;
  for (;;) {
    const columns = await store.scan({ ...series, startMs, endMs: Number.MAX_SAFE_INTEGER, limit });
    const { times } = columns;
    if (times.length > 0) yield columns;
    if (times.length < limit) return;
    startMs = times.at(-1)! + 1;
  }
}

/** Collects the points of several series for one write. */
class Batch {
  readonly #to: PointsStore;
  readonly #onPoints: (count: number) => void;
  #runs: { readonly series: PointSeries; readonly columns: PointColumns }[] = [];
  #points = 0;

  constructor(to: PointsStore, onPoints: (count: number) => void) {
    this.#to = to;
    this.#onPoints = onPoints;
  }

  async add(series: PointSeries, columns: PointColumns): Promise<void> {
    this.#runs.push({ series, columns });
    this.#points += columns.times.length;
    if (this.#points >= limits.copyPointsAtOnce) await this.flush();
  }

  async flush(): Promise<void> {
    const [runs, points] = [this.#runs, this.#points];
    this.#runs = [];
    this.#points = 0;
    if (points === 0) return;
    await this.#to.append(batchOf(runs));
    this.#onPoints(points);
  }
}

type Runs = readonly { readonly series: PointSeries; readonly columns: PointColumns }[];

function batchOf(runs: Runs): PointBatch {
  const strings = runs.filter(({ series }) => series.isString);
  const numbers = runs.filter(({ series }) => !series.isString);
  return {
    ...(strings.length > 0 && {
      strings: runsOf(strings, (all) => all.flatMap((values) => [...(values as readonly string[])])),
    }),
    ...(numbers.length > 0 && {
      numbers: runsOf(numbers, (all) => joined(all as readonly Float64Array[])),
    }),
  };
}

function runsOf<Values>(
  runs: Runs,
  join: (values: readonly PointColumns["values"][]) => Values,
): PointRuns<Values> {
  let end = 0;
  return {
    series: Float64Array.from(runs, ({ series }) => series.series),
    ends: Uint32Array.from(runs, ({ columns }) => (end += columns.times.length)),
    times: joined(runs.map(({ columns }) => columns.times)),
    values: join(runs.map(({ columns }) => columns.values)),
  };
}

function joined(parts: readonly Float64Array[]): Float64Array {
  const all = new Float64Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** The number of points of a series, and a checksum over all times and values, to the bit. */
async function sumOfSeries(store: PointsStore, series: PointSeries): Promise<Sum> {
  const [times, values] = [createHash("sha256"), createHash("sha256")];
  let count = 0;
  for await (const columns of columnsOf(store, series)) {
    times.update(columns.times);
    if (columns.values instanceof Float64Array) values.update(columns.values);
    else for (const value of columns.values) values.update(`${Buffer.byteLength(value)} ${value}`);
    count += columns.times.length;
  }
  return { count, sha256: `${times.digest("hex")} ${values.digest("hex")}` };
}

/** The series whose points differ, with both sums. */
export async function compareSeries(
  { from, to, signal }: PointCopyStores,
  series: readonly PointSeries[],
  onPoints: (count: number) => void,
): Promise<readonly { readonly series: number; readonly sums: readonly [Sum, Sum] }[]> {
  const different: { series: number; sums: [Sum, Sum] }[] = [];
  const left = series.values();
  const worker = async () => {
    for (const one of left) {
      signal.throwIfAborted();
      const sums = await Promise.all([sumOfSeries(from, one), sumOfSeries(to, one)]);
      if (sums[0].sha256 !== sums[1].sha256) different.push({ series: one.series, sums });
      onPoints(sums[0].count);
    }
  };
  await runWorkers(worker);
  return different;
}
