// A store of datapoints whose results wait for the turn of their request, as writing a response takes long.
import type { Turn } from "../lib/fair-turns.ts";
import type { PointsStore } from "./points.ts";

export function pointsInTurns(points: PointsStore, turn: Turn): PointsStore {
  const inTurn = async <Result>(result: Promise<Result>) => {
    const found = await result;
    await turn.next();
    return found;
  };
  return {
    scanPoints: points.scanPoints,
    scan: (query) => inTurn(points.scan(query)),
    aggregate: (query) => inTurn(points.aggregate(query)),
    latest: (series, beforeMs) => inTurn(points.latest(series, beforeMs)),
    append: (batch) => points.append(batch),
    delete: (series, range) => points.delete(series, range),
    oldPoints: (series, blocksMax) => points.oldPoints(series, blocksMax),
    stats: () => points.stats(),
    close: () => points.close(),
  };
}
