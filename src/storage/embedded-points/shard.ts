// One shard of the store: the heads and blocks of its series. Only one thread uses it.

import { kindOf, numberKind, type PointValues, stringKind, type ValueKind } from "../point-columns.ts";
import type {
  AggregateColumns,
  AggregateQuery,
  OldPoints,
  PointColumns,
  PointRuns,
  ScanQuery,
  SeriesId,
} from "../points.ts";
import { BlockTable, type BlockTableSettings, DamageFound, type PointSetKey } from "./block-table.ts";
import { type Change, shardOf } from "./change.ts";
import { deleteFromBlocks, type Flushed, flushFullBlocks, flushOldest } from "./flush.ts";
import { Head, HeadVersions } from "./head.ts";
import { readRecord } from "./journal-record.ts";
import { findOldPoints } from "./old-points.ts";
import { SeriesReader } from "./series-reader.ts";
import type { LatestQuery, LatestResult, OldPointsInput, ShardStats } from "./shard-messages.ts";
import type { SharedBlocks } from "./shared-blocks.ts";

/**
 * A head is flushed when it has grown by the points of so many blocks, so that a burst of writes is encoded
 * after it. The journal's checkpoint bounds the points in all heads together.
 */
const flushAtBlocks = 16;
/** Length of a slice of background work, after which reads get their turn. */
const sliceMs = 8;
/** Time for the check of rows when the shard is opened. The rest of the check is background work. */
const checkAtOpenMs = 100;

/**
 * The heads for the runs of the last record, by index of the run. A scan cycle sends the same series in the
 * same order each time, so most runs need no lookup.
 *
 * Bound: the runs of the largest record. Invalidation: an entry is used only when its series is that of the
 * run; removing a head clears the cache.
 */
interface CachedRunHeads {
  readonly series: SeriesId[];
  /** Undefined for a series of another shard. */
  readonly heads: (Head | undefined)[];
}

/**
 * Where a head with points is:
 *
 * | State | Head in | Left by |
 * |---|---|---|
 * | few points | `#heads` only | growth, or a checkpoint |
 * | full blocks | `#headsWithFullBlocks` | `work`, which flushes full blocks |
 * | of a checkpoint | `#headsOfCheckpoint` | `work`, which flushes all points; `cancelCheckpoint` |
 * | taken by `work` | its local list | success; a failure puts it back |
 */
export class Shard {
  readonly #table: BlockTable;
  /** By kind of values. */
  readonly #heads: readonly Map<SeriesId, Head>[] = [new Map(), new Map()];
  readonly #cachedRunHeads: CachedRunHeads[] = [
    { series: [], heads: [] },
    { series: [], heads: [] },
  ];
  readonly #headVersions = new HeadVersions();
  /** Heads that may have full blocks. */
  readonly #headsWithFullBlocks = new Set<Head>();
  /** Heads that the running checkpoint has not emptied yet, the next one last. */
  readonly #headsOfCheckpoint: Head[] = [];
  /** The sequence number of the running checkpoint. */
  #checkpoint: number | undefined;
  readonly #isOwnSeries: (series: SeriesId) => boolean;

  readonly #sharing: SharedBlocks | undefined;

  /** Without `shards`, the shard owns all series. With `sharing`, other threads help with long reads. */
  constructor(
    path: string,
    settings: BlockTableSettings & { readonly shards?: number },
    sharing?: SharedBlocks,
  ) {
    const { shard = 0, shards = 1 } = settings;
    this.#sharing = sharing;
    this.#isOwnSeries = (series) => shards === 1 || shardOf(series, shards) === shard;
    this.#table = new BlockTable(path, settings);
    const untilMs = performance.now() + checkAtOpenMs;
    while (this.#table.hasUncheckedRows && performance.now() < untilMs) this.#table.checkMoreRows();
  }

  /** The sequence number up to which every change is in blocks on disk. */
  get flushedSequence(): number {
    return this.#table.flushedSequence;
  }

  /** Whether `work` has something to do. */
  get hasWork(): boolean {
    return this.#hasHeadsToWrite || this.#table.hasUncheckedRows;
  }

  get #hasHeadsToWrite(): boolean {
    return this.#headsWithFullBlocks.size > 0 || this.#checkpoint !== undefined;
  }

  /** Number of heads that wait to be flushed. */
  get headsToFlush(): number {
    return this.#headsWithFullBlocks.size;
  }

  /**
   * Applies this shard's part of a journal record. Copies the points: the record's bytes are free afterwards.
   */
  applyRecord(record: Uint8Array): void {
    this.apply(readRecord(record, this.#isOwnSeries));
  }

  /** Applies this shard's part of a change. Changes come in the order of the journal. */
  apply(change: Change): void {
    if (change.kind === "delete") {
      this.#delete(change);
      return;
    }
    if (change.batch.numbers !== undefined) this.#addRuns(change.batch.numbers, numberKind);
    if (change.batch.strings !== undefined) this.#addRuns(change.batch.strings, stringKind);
  }

  scan(query: ScanQuery): PointColumns {
    return this.#read(query.series, kindOf(query.isString), (reader) => reader.scan(query));
  }

  aggregate(query: AggregateQuery): AggregateColumns {
    return this.#read(query.series, numberKind, (reader) => reader.aggregate(query));
  }

  latest({ series, beforeMs }: LatestQuery): (LatestResult | undefined)[] {
    return series.map((one) =>
      this.#read(one.series, kindOf(one.isString), (reader) => {
        const point = reader.lastBefore(beforeMs);
        return point && { point, isNewest: reader.hasNoPointFrom(beforeMs) };
      }),
    );
  }

  oldPoints({ series, blocksMax }: OldPointsInput): OldPoints[] {
    return series.map((one) => {
      const key: PointSetKey = { series: one.series, kind: kindOf(one.isString) };
      return findOldPoints(
        this.#table,
        { key, head: this.#heads[key.kind]!.get(key.series) },
        one,
        blocksMax,
      );
    });
  }

  stats(): ShardStats {
    const { points, blocks } = this.#table.totals;
    let inHeads = 0;
    for (const heads of this.#heads) for (const head of heads.values()) inHeads += head.count;
    return { points: points + inHeads, blocks, damage: this.#table.damage() };
  }

  /** From now on, `work` flushes all points in heads to blocks, and then records `sequence`. */
  startCheckpoint(sequence: number): void {
    for (const heads of this.#heads) for (const head of heads.values()) this.#headsOfCheckpoint.push(head);
    this.#checkpoint = sequence;
  }

  /** The heads keep the points that are not in blocks yet. Those with full blocks are flushed by `work`. */
  cancelCheckpoint(): void {
    for (const head of this.#headsOfCheckpoint.splice(0)) this.#flushIfFull(head);
    this.#checkpoint = undefined;
  }

  /**
   * Does a slice of the background work in one transaction. Returns the sequence number of a checkpoint that
   * it completed. When it throws, nothing is lost: the heads have all points, and the work can be tried
   * again.
   */
  work(): number | undefined {
    if (!this.#hasHeadsToWrite) {
      this.#table.checkMoreRows();
      return undefined;
    }
    const taken: Head[] = [];
    try {
      return this.#flushSlice(taken);
    } catch (error) {
      for (const head of taken) this.#putBack(head);
      if (!(error instanceof DamageFound)) throw error;
      this.#table.quarantine(error);
      return undefined;
    }
  }

  /** Keeps the file as it is until `thaw`. */
  freeze(): void {
    this.#table.freeze();
  }

  thaw(): void {
    this.#table.thaw();
  }

  close(): void {
    this.#table.close();
  }

  /** `taken` gets the heads that are put back if this throws. */
  #flushSlice(taken: Head[]): number | undefined {
    const flushed: Flushed[] = [];
    const untilMs = performance.now() + sliceMs;
    this.#table.transaction(() => {
      while (performance.now() < untilMs) {
        const next = this.#takeNext();
        if (next === undefined) break;
        taken.push(next.head);
        flushed.push(next.flush(this.#table, next.head));
      }
    });
    for (const one of flushed) this.#removeFlushed(one);
    taken.length = 0;
    return this.#headsOfCheckpoint.length === 0 ? this.#completeCheckpoint() : undefined;
  }

  #putBack(head: Head): void {
    if (this.#checkpoint !== undefined) this.#headsOfCheckpoint.push(head);
    else this.#headsWithFullBlocks.add(head);
  }

  #completeCheckpoint(): number | undefined {
    const completed = this.#checkpoint;
    if (completed !== undefined) this.#table.recordFlushed(completed);
    this.#checkpoint = undefined;
    return completed;
  }

  #takeNext(): { head: Head; flush: typeof flushFullBlocks } | undefined {
    const toEmpty = this.#headsOfCheckpoint.pop();
    const head = toEmpty ?? this.#headsWithFullBlocks.values().next().value;
    if (head === undefined) return undefined;
    this.#headsWithFullBlocks.delete(head);
    return { head, flush: toEmpty === undefined ? flushFullBlocks : flushOldest };
  }

  /** Removes the points from the head that are in blocks now. */
  #removeFlushed({ head, from, to, hasMore }: Flushed): void {
    head.remove(from, to);
    head.countAfterFlush = head.count;
    if (hasMore) this.#putBack(head);
    const heads = this.#heads[head.kind]!;
    if (head.count === 0 && heads.get(head.series) === head) this.#removeHead(head.series, head.kind);
  }

  #addRuns(runs: PointRuns<PointValues>, kind: ValueKind): void {
    const cached = this.#cachedRunHeads[kind]!;
    let from = 0;
    for (let run = 0; run < runs.series.length; run++) {
      const series = runs.series[run]!;
      const to = runs.ends[run]!;
      if (cached.series[run] !== series) this.#cacheRunHead(cached, { run, series, kind });
      const head = cached.heads[run];
      if (head !== undefined && to > from) this.#addTo(head, runs, { from, to });
      from = to;
    }
  }

  #cacheRunHead(
    cached: CachedRunHeads,
    { run, series, kind }: { run: number; series: number; kind: ValueKind },
  ): void {
    cached.series[run] = series;
    cached.heads[run] = this.#isOwnSeries(series) ? this.#headOf(series, kind) : undefined;
  }

  #addTo(head: Head, points: PointColumns, { from, to }: { from: number; to: number }): void {
    head.add(points, from, to);
    this.#flushIfFull(head);
  }

  #flushIfFull(head: Head): void {
    if (head.count - head.countAfterFlush >= flushAtBlocks * this.#table.blockPoints)
      this.#headsWithFullBlocks.add(head);
  }

  #headOf(series: SeriesId, kind: ValueKind): Head {
    const heads = this.#heads[kind]!;
    const existing = heads.get(series);
    if (existing !== undefined) return existing;
    const head = new Head(series, kind, this.#headVersions);
    heads.set(series, head);
    return head;
  }

  #removeHead(series: SeriesId, kind: ValueKind): void {
    this.#heads[kind]!.delete(series);
    this.#cachedRunHeads[kind] = { series: [], heads: [] };
  }

  #delete({ series, range }: Change & { kind: "delete" }): void {
    const [startMs, endMs] = [range?.startMs ?? -Infinity, range?.endMs ?? Infinity];
    for (const kind of [numberKind, stringKind]) {
      const head = this.#heads[kind]!.get(series);
      head?.removeBetween(startMs, endMs);
      if (head !== undefined && range === undefined) this.#removeHead(series, kind);
      this.#retryQuarantining(() =>
        this.#table.transaction(() => deleteFromBlocks(this.#table, { series, kind }, startMs, endMs)),
      );
    }
  }

  #read<Result>(series: SeriesId, kind: ValueKind, read: (reader: SeriesReader) => Result): Result {
    const key: PointSetKey = { series, kind };
    return this.#retryQuarantining(() =>
      read(
        new SeriesReader({ table: this.#table, sharing: this.#sharing }, key, this.#heads[kind]!.get(series)),
      ),
    );
  }

  /**
   * Quarantines each damaged block that `work` finds, and tries again. A read then fails if it needs that
   * block.
   */
  #retryQuarantining<Result>(work: () => Result): Result {
    for (;;) {
      try {
        return work();
      } catch (error) {
        if (!(error instanceof DamageFound)) throw error;
        this.#table.quarantine(error);
      }
    }
  }
}
