// One shard of the store: the heads and blocks of its series. Only one thread uses it.

import { freeChunk } from "../../lib/free-memory.ts";
import { kindOf, numberKind, stringKind, type ValueKind } from "../point-columns.ts";
import type {
  AggregateColumns,
  AggregateQuery,
  OldPoints,
  PointColumns,
  ScanQuery,
  SeriesId,
} from "../points.ts";
import { shardOf } from "../shard-of.ts";
import { DamageFound, type PointSetKey } from "./block-row.ts";
import { BlockTable, type BlockTableSettings } from "./block-table.ts";
import type { Change } from "./change.ts";
import { deleteFromBlocks, type Flushed, flushFullBlocks, flushOldest } from "./flush.ts";
import { type Head, HeadVersions } from "./head.ts";
import { Heads } from "./heads.ts";
import { readRecord } from "./journal-record.ts";
import { findOldPoints } from "./old-points.ts";
import { SeriesReader } from "./series-reader.ts";
import type { LatestQuery, LatestResult, OldPointsInput, ShardStats } from "./shard-messages.ts";
import type { SharedBlocks } from "./shared-blocks.ts";
import { WaitingSeries } from "./waiting-series.ts";

/**
 * A head is flushed when it has grown by the points of so many blocks, so that a burst of writes is encoded
 * after it. The journal's checkpoint bounds the points in all heads together.
 */
const flushAtBlocks = 16;
/**
 * Many heads that grow together are flushed earlier, so that those of a shard with one kind of values have
 * about so many points. Of numbers, these take 48 MB.
 */
const pointsInHeadsMax = 3_000_000;
/** But not before a head has so many blocks. */
const flushAtBlocksMin = 2;
/** Length of a slice of background work, after which reads get their turn. */
const sliceMs = 8;
/** Time for the check of rows when the shard is opened. The rest of the check is background work. */
const checkAtOpenMs = 100;

const kinds: readonly ValueKind[] = [numberKind, stringKind];

/**
 * Where a head with points is:
 *
 * | State | Head in | Left by |
 * |---|---|---|
 * | few points | `#heads` only | growth, or a checkpoint |
 * | full blocks | `#headsWithFullBlocks` | `work`, which flushes full blocks |
 * | of a checkpoint | `#heads`, its series in `#seriesOfCheckpoint` | `work`, which flushes all points;
 * `cancelCheckpoint` |
 * | taken by `work` | its local list | success; a failure puts it back |
 */
export class Shard {
  readonly #table: BlockTable;
  /** By kind of values. */
  readonly #heads: readonly Heads[];
  /** Heads that may have full blocks. */
  readonly #headsWithFullBlocks = new Set<Head>();
  /** By kind of values. */
  readonly #seriesOfCheckpoint = kinds.map(() => new WaitingSeries());
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
    const versions = new HeadVersions();
    this.#heads = kinds.map((kind) => new Heads(kind, versions, this.#isOwnSeries));
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
    const change = readRecord(record, this.#isOwnSeries);
    this.apply(change);
    if (change.kind === "append") for (const runs of Object.values(change.batch)) freeChunk(runs.times);
  }

  /** Applies this shard's part of a change. Changes come in the order of the journal. */
  apply(change: Change): void {
    if (change.kind === "delete") {
      this.#delete(change);
      return;
    }
    const { numbers, strings } = change.batch;
    const grown = (head: Head) => this.#flushIfFull(head);
    if (numbers !== undefined) this.#heads[numberKind]!.addRuns(numbers, grown);
    if (strings !== undefined) this.#heads[stringKind]!.addRuns(strings, grown);
  }

  /** Runs several of the reads below, which then take less time. */
  withReads<Result>(reads: () => Result): Result {
    return this.#table.reads.run(reads);
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
    const inHeads = this.#heads.reduce((sum, heads) => sum + heads.points, 0);
    return { points: points + inHeads, blocks, damage: this.#table.damage() };
  }

  /**
   * From now on, `work` flushes all points in heads to blocks, and then records `sequence`. It flushes the
   * series in the order of the rows of blocks: SQLite fills pages that grow at their end, and half fills
   * others.
   */
  startCheckpoint(sequence: number): void {
    for (const kind of kinds) this.#seriesOfCheckpoint[kind]!.start(this.#heads[kind]!.series());
    this.#checkpoint = sequence;
  }

  /** The heads keep the points that are not in blocks yet. Those with full blocks are flushed by `work`. */
  cancelCheckpoint(): void {
    for (const kind of kinds)
      for (const series of this.#seriesOfCheckpoint[kind]!.takeAll()) {
        const head = this.#heads[kind]!.large(series);
        if (head !== undefined) this.#flushIfFull(head);
      }
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
    return this.#seriesOfCheckpoint.every(({ isEmpty }) => isEmpty) ? this.#completeCheckpoint() : undefined;
  }

  #putBack(head: Head): void {
    if (this.#checkpoint !== undefined) this.#seriesOfCheckpoint[head.kind]!.putBack(head.series);
    else this.#headsWithFullBlocks.add(head);
  }

  #completeCheckpoint(): number | undefined {
    const completed = this.#checkpoint;
    if (completed !== undefined) this.#table.recordFlushed(completed);
    this.#checkpoint = undefined;
    return completed;
  }

  #takeNext(): { head: Head; flush: typeof flushFullBlocks } | undefined {
    const toEmpty = this.#takeOfCheckpoint();
    const head = toEmpty ?? this.#headsWithFullBlocks.values().next().value;
    if (head === undefined) return undefined;
    this.#headsWithFullBlocks.delete(head);
    return { head, flush: toEmpty === undefined ? flushFullBlocks : flushOldest };
  }

  /** A series may have lost its head meanwhile: its points were deleted, or are in blocks. */
  #takeOfCheckpoint(): Head | undefined {
    for (const kind of kinds)
      for (let series = this.#next(kind); series !== undefined; series = this.#next(kind)) {
        const head = this.#heads[kind]!.take(series);
        if (head !== undefined) return head;
      }
    return undefined;
  }

  #next(kind: ValueKind): SeriesId | undefined {
    return this.#seriesOfCheckpoint[kind]!.next();
  }

  /** Removes the points from the head that are in blocks now. */
  #removeFlushed({ head, from, to, hasMore }: Flushed): void {
    head.remove(from, to);
    head.countAfterFlush = head.count;
    if (hasMore) this.#putBack(head);
    const heads = this.#heads[head.kind]!;
    if (head.count === 0 && heads.has(head)) heads.remove(head.series);
  }

  #flushIfFull(head: Head): void {
    const { blockPoints } = this.#table;
    const share = pointsInHeadsMax / this.#heads[head.kind]!.largeCount;
    const points = Math.min(flushAtBlocks * blockPoints, Math.max(flushAtBlocksMin * blockPoints, share));
    if (head.count - head.countAfterFlush >= points) this.#headsWithFullBlocks.add(head);
  }

  #delete({ series, range }: Change & { kind: "delete" }): void {
    const [startMs, endMs] = [range?.startMs ?? -Infinity, range?.endMs ?? Infinity];
    for (const kind of kinds) {
      const heads = this.#heads[kind]!;
      heads.take(series)?.removeBetween(startMs, endMs);
      if (range === undefined) heads.remove(series);
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
