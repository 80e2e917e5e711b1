// A store of datapoints that counts the points written to it and, optionally, read from it.
import type { PointsStore } from "./points.ts";

interface Counts {
  /** Called with the number of points of each batch, once it is on disk. */
  readonly written: (points: number) => void;
  /** Called with the number of points, or of buckets, of each result. Without it reads cost nothing more. */
  readonly read?: (points: number) => void;
}

export function countedPoints(points: PointsStore, { written, read }: Counts): PointsStore {
  const counted = async <Result>(result: Promise<Result>, sizeOf: (found: Result) => number) => {
    const found = await result;
    read?.(sizeOf(found));
    return found;
  };
  const reads: Pick<PointsStore, "scan" | "aggregate" | "latest"> = read
    ? {
        scan: (query) => counted(points.scan(query), ({ times }) => times.length),
        aggregate: (query) => counted(points.aggregate(query), ({ times }) => times.length),
        latest: (series, beforeMs) =>
          counted(
            points.latest(series, beforeMs),
            (found) => found.filter((one) => one !== undefined).length,
          ),
      }
    : {
        scan: (query) => points.scan(query),
        aggregate: (query) => points.aggregate(query),
        latest: (series, beforeMs) => points.latest(series, beforeMs),
      };
  return {
    ...reads,
    scanPoints: points.scanPoints,
    async append(batch) {
      const count = (batch.numbers?.times.length ?? 0) + (batch.strings?.times.length ?? 0);
      await points.append(batch);
      written(count);
    },
    delete: (series, range) => points.delete(series, range),
    oldPoints: (series, blocksMax) => points.oldPoints(series, blocksMax),
    stats: () => points.stats(),
    close: () => points.close(),
  };
}
