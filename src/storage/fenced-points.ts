// A points store that checks before each append that the writer still has its lease.
import type { PointsStore } from "./points.ts";

/** Calls `check` before each append; `check` throws if the writer has lost its lease. */
export const fencedPoints = (points: PointsStore, check: () => void): PointsStore => ({
  scanPoints: points.scanPoints,
  append: async (batch) => {
    check();
    await points.append(batch);
  },
  scan: (query) => points.scan(query),
  aggregate: (query) => points.aggregate(query),
  latest: (series, beforeMs) => points.latest(series, beforeMs),
  delete: (series, range) => points.delete(series, range),
  oldPoints: (series, blocksMax) => points.oldPoints(series, blocksMax),
  stats: () => points.stats(),
  close: () => points.close(),
});
