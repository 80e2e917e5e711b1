// The heads of a shard with one kind of values. A head with few numbers is in `SmallHeads` until it gets
// more, or loses some; then it is a `Head`.
import { numberKind, type PointValues, type ValueKind } from "../point-columns.ts";
import type { PointRuns, SeriesId } from "../points.ts";
import { Head, type HeadVersions } from "./head.ts";
import { SmallHeads } from "./small-heads.ts";

/** Where the head of a series is: the slot of a small head, or the head. */
type Place = number | Head;

/**
 * The places for the runs of the last record, by index of the run. A scan cycle sends the same series in the
 * same order each time, so most runs need no lookup.
 *
 * Bound: the runs of the largest record. Invalidation: an entry is used only when its series is that of the
 * run, and a slot only while it is that of the series; removing a head clears the cache.
 */
interface CachedRuns {
  readonly series: SeriesId[];
  /** Undefined for a series of another shard. */
  readonly places: (Place | undefined)[];
}

export class Heads {
  readonly #kind: ValueKind;
  readonly #versions: HeadVersions;
  readonly #isOwnSeries: (series: SeriesId) => boolean;
  readonly #small: SmallHeads;
  /** The other heads. */
  readonly #large = new Map<SeriesId, Head>();
  #cachedRuns: CachedRuns = { series: [], places: [] };

  constructor(kind: ValueKind, versions: HeadVersions, isOwnSeries: (series: SeriesId) => boolean) {
    this.#kind = kind;
    this.#versions = versions;
    this.#small = new SmallHeads(versions);
    this.#isOwnSeries = isOwnSeries;
  }

  /** The series that have a head, in any order. */
  series(): Float64Array {
    const small = this.#small.count;
    const series = new Float64Array(small + this.#large.size);
    this.#small.copySeries(series);
    let at = small;
    for (const one of this.#large.keys()) series[at++] = one;
    return series;
  }

  /** Number of heads that are not small. */
  get largeCount(): number {
    return this.#large.size;
  }

  /** Number of points in all heads, including those that a later point with the same time will replace. */
  get points(): number {
    let points = this.#small.points;
    for (const head of this.#large.values()) points += head.count;
    return points;
  }

  /** For a read: a head that must not be changed, with the points that the series has now. */
  get(series: SeriesId): Head | undefined {
    const slot = this.#small.slotOf(series);
    return slot === undefined ? this.#large.get(series) : this.#copyOf(series, slot);
  }

  /** For a change: the head, which is not a small one from now on. */
  take(series: SeriesId): Head | undefined {
    const slot = this.#small.slotOf(series);
    return slot === undefined ? this.#large.get(series) : this.#enlarge(series, slot);
  }

  /** The head, unless it is a small one. */
  large(series: SeriesId): Head | undefined {
    return this.#large.get(series);
  }

  /** Whether this is still the head of its series. */
  has(head: Head): boolean {
    return this.#large.get(head.series) === head;
  }

  remove(series: SeriesId): void {
    const slot = this.#small.slotOf(series);
    if (slot !== undefined) this.#small.remove(slot);
    this.#large.delete(series);
    this.#cachedRuns = { series: [], places: [] };
  }

  /** Adds copies of the points of this shard's series. Calls `grown` with each head that is not small. */
  addRuns(runs: PointRuns<PointValues>, grown: (head: Head) => void): void {
    const cached = this.#cachedRuns;
    let from = 0;
    for (let run = 0; run < runs.series.length; run++) {
      if (cached.series[run] !== runs.series[run]) this.#cacheRun(cached, run, runs.series[run]!);
      const place = cached.places[run];
      const to = runs.ends[run]!;
      if (place !== undefined && to > from) {
        const head = this.#addRun(place, runs, run, from);
        if (head !== undefined) {
          cached.places[run] = head;
          grown(head);
        }
      }
      from = to;
    }
  }

  #cacheRun(cached: CachedRuns, run: number, series: SeriesId): void {
    cached.series[run] = series;
    cached.places[run] = this.#isOwnSeries(series)
      ? (this.#small.slotOf(series) ?? this.#large.get(series) ?? this.#open(series))
      : undefined;
  }

  #open(series: SeriesId): Place {
    if (this.#kind === numberKind) return this.#small.open(series);
    const head = new Head(series, this.#kind, this.#versions);
    this.#large.set(series, head);
    return head;
  }

  /**
   * Adds the points from index `from` to the end of the run. Returns the head, unless they are in a small
   * one. This runs for each series of a scan cycle: it makes objects only for a head that grows.
   */
  #addRun(place: Place, runs: PointRuns<PointValues>, run: number, from: number): Head | undefined {
    const to = runs.ends[run]!;
    if (typeof place !== "number") {
      place.add(runs, from, to);
      return place;
    }
    const series = runs.series[run]!;
    if (this.#small.isOf(place, series) && this.#small.add(place, runs, from, to)) return undefined;
    const head = this.take(series)!;
    head.add(runs, from, to);
    return head;
  }

  #copyOf(series: SeriesId, slot: number): Head {
    const small = this.#small;
    const copied = {
      version: small.versionOf(slot),
      changes: small.changesOf(slot),
      points: small.pointsOf(slot),
    };
    return new Head(series, this.#kind, this.#versions, copied);
  }

  #enlarge(series: SeriesId, slot: number): Head {
    const head = this.#copyOf(series, slot);
    this.#small.remove(slot);
    this.#large.set(series, head);
    return head;
  }
}
