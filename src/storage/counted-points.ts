// A store of datapoints that counts what is written to it and read from it.
import type { PointsStore } from "./points.ts";

interface Counts {
  /** Called with the number of points of each batch, once it is on disk. */
  readonly written: (points: number) => void;
  /** Called with the number of points, or of buckets, of each result. */
  readonly read?: (points: number) => void;
}

export function countedPoints(points: PointsStore, { written, read = () => undefined }: Counts): PointsStore {
  return {
    async append(batch) {
      const count = (batch.numbers?.times.length ?? 0) + (batch.strings?.times.length ?? 0);
      await points.append(batch);
      written(count);
    },
    async scan(query) {
      const found = await points.scan(query);
      read(found.times.length);
      return found;
    },
    async aggregate(query) {
      const found = await points.aggregate(query);
      read(found.times.length);
      return found;
    },
    async latest(series, beforeMs) {
      const found = await points.latest(series, beforeMs);
      read(found.length);
      return found;
    },
    delete: (series, range) => points.delete(series, range),
    stats: () => points.stats(),
    close: () => points.close(),
  };
}
