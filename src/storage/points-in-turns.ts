// A store of datapoints whose results wait for the turn of their request, as writing a response takes long.

import type { Turn } from "../lib/fair-turns.ts";
import type { TimeRange } from "../lib/time.ts";
import type {
  AggregateQuery,
  OldPointsQuery,
  PointBatch,
  PointSeries,
  PointsStore,
  ScanQuery,
  SeriesId,
} from "./points.ts";

/**
 * Made for each request: a class, because an object with a function for each method takes ten times as long.
 */
export class PointsInTurns implements PointsStore {
  readonly scanPoints: number;
  readonly #points: PointsStore;
  readonly #turn: Turn;

  constructor(points: PointsStore, turn: Turn) {
    this.scanPoints = points.scanPoints;
    this.#points = points;
    this.#turn = turn;
  }

  scan(query: ScanQuery) {
    return this.#inTurn(this.#points.scan(query));
  }

  aggregate(query: AggregateQuery) {
    return this.#inTurn(this.#points.aggregate(query));
  }

  latest(series: readonly PointSeries[], beforeMs: number) {
    return this.#inTurn(this.#points.latest(series, beforeMs));
  }

  append(batch: PointBatch) {
    return this.#points.append(batch);
  }

  delete(series: SeriesId, range?: TimeRange) {
    return this.#points.delete(series, range);
  }

  oldPoints(series: readonly OldPointsQuery[], blocksMax: number) {
    return this.#points.oldPoints(series, blocksMax);
  }

  stats() {
    return this.#points.stats();
  }

  close() {
    return this.#points.close();
  }

  async #inTurn<Result>(result: Promise<Result>): Promise<Result> {
    const found = await result;
    const waiting = this.#turn.next();
    if (waiting) await waiting;
    return found;
  }
}
