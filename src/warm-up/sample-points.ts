// The datapoints of the warm-up: reads go to the real store for a series that does not exist, and return
// samples. Those of latest points do not: after one, every write looks for series that were read.
import type { PointsStore } from "../storage/points.ts";
import { firstSampleId } from "./sample-records.ts";

const pointCount = 1_000;
const bucketCount = 240;
const absentSeries = firstSampleId;

const values = (count: number) => Float64Array.from({ length: count }, (_, i) => Math.sin(i / 100) * 100);
const timesFrom = (count: number, startMs: number, stepMs: number) =>
  Float64Array.from({ length: count }, (_, i) => startMs + i * stepMs);

const refused = async (): Promise<never> => {
  throw new Error("the warm-up does not need this operation");
};

/** `append` receives the writes: they must not reach the real store. */
export const samplePoints = (
  real: Pick<PointsStore, "scanPoints" | "scan" | "aggregate">,
  append: PointsStore["append"],
): PointsStore => ({
  scanPoints: real.scanPoints,
  append,
  async scan(query) {
    await real.scan({ ...query, series: absentSeries });
    return { times: timesFrom(pointCount, query.startMs, 1_000), values: values(pointCount) };
  },
  async aggregate(query) {
    await real.aggregate({ ...query, series: absentSeries });
    const columns = query.aggregates.map(() => values(bucketCount));
    return { times: timesFrom(bucketCount, query.startMs, query.bucketMs), columns };
  },
  latest: async (series) => series.map(() => ({ timeMs: 0, value: 12.5 })),
  ...{ delete: refused, oldPoints: refused, stats: refused, close: async () => {} },
});
