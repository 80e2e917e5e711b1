// The blocks of one shard in its SQLite file (FORMAT.md, "Shards"): their times, summaries and bytes.
//
// Rows and bytes are two tables, so that a scan over a year of summaries reads no points. Blocks of one
// series and kind never overlap in time. A damaged block moves to a table of its own, so that its time range
// can be written again.
import { DatabaseSync } from "node:sqlite";
import { freeChunk } from "../../lib/free-memory.ts";
import { invariant } from "../../lib/invariant.ts";
import { SizedCache } from "../../lib/sized-cache.ts";
import type { TimeRange } from "../../lib/time.ts";
import { Kernels } from "../kernels.ts";
import { numberKind, type ValueKind } from "../point-columns.ts";
import type { Damage, PointColumns, SeriesId } from "../points.ts";
import { combineSummaries, type Summary, summariesOfBlock } from "../summary.ts";
import {
  checkedTimes,
  DamagedBlock,
  decodeTimes,
  decodeVerified,
  encodeBlock,
  verifyBlock,
} from "./block.ts";
import {
  type BlockBounds,
  type BlockRow,
  DamageFound,
  foundRowOf,
  orDamageFound,
  type PointSetKey,
  rowOf,
} from "./block-row.ts";
import { firstRows, prepareStatements } from "./block-statements.ts";
import { BucketCache } from "./bucket-cache.ts";
import { addChecksum, blockChecksumOf, encodeRow } from "./checksummed-row.ts";
import { DaySummaries } from "./day-summaries.ts";
import { DecodedBlocks } from "./decoded-blocks.ts";
import { ReadTransaction } from "./read-transaction.ts";
import { RecentRows, RowRun, runRowsMax } from "./recent-rows.ts";
import { openShardFile, pageBytesOf } from "./shard-file.ts";
import {
  RowCheck,
  type ShardIdentity,
  type StoredShardState,
  stateOf,
  stateValues,
} from "./stored-shard-state.ts";
import { type WaitingBlock, WaitingBlocks } from "./waiting-blocks.ts";

/** Sums over blocks; those over none are null. */
interface CountedBlocks {
  readonly blocks: number;
  readonly points: number | null;
  readonly firstMs: number | null;
  readonly lastMs: number | null;
}

export interface WholeBlocks {
  readonly blocks: number;
  readonly points: number;
  readonly firstMs?: number;
  /** The start of the first block after them. */
  readonly nextMs?: number;
  /** It ends after the range. */
  readonly isNextCut?: boolean;
}

/** Encoded blocks in memory: those of 12 million points. SQLite takes three times as long for one. */
const encodedBytesMax = 2 ** 23;

/** The times of a block that cannot be read. */
export interface DamagedRange {
  readonly series: SeriesId;
  readonly kind: ValueKind;
  readonly firstMs: number;
  readonly lastMs: number;
}

interface DamagedRow extends DamagedRange {
  readonly id: number;
  readonly expected: string;
  readonly found: string;
}

export interface BlockTableSettings extends Partial<ShardIdentity> {
  readonly file: string;
  readonly blockPoints: number;
  /** Memory for cached aggregates; 0 caches none. */
  readonly aggregateCacheBytes?: number;
}

export class BlockTable {
  /** Points of a full block. */
  readonly blockPoints: number;
  /** Cached aggregates of series of numbers. Reads insert into it; changes of blocks here invalidate it. */
  readonly bucketCache: BucketCache;
  /** Summaries of whole days. Changes of blocks here keep them right. */
  readonly days: DaySummaries;
  /** One transaction for the statements of several reads. Each write ends it. */
  readonly reads: ReadTransaction;
  readonly #database: DatabaseSync;
  readonly #path: string;
  readonly #file: string;
  /** While the file is frozen: a reader that needs it as it is. */
  #frozen: DatabaseSync | undefined;
  readonly #statements: ReturnType<typeof prepareStatements>;
  #state: { -readonly [Name in keyof StoredShardState]: StoredShardState[Name] };
  /** The check that all rows are there, until it is complete. */
  #rowCheck: RowCheck | undefined;
  /** The damage that the check found. */
  #missingRows: readonly Damage[] = [];
  readonly kernels = new Kernels();
  readonly #blocks = new DecodedBlocks(this.kernels);
  /** Encoded blocks by id, each with a checksum that was verified. */
  readonly #encoded = new SizedCache<number, Uint8Array>(encodedBytesMax, freeChunk);
  readonly #rows = new RecentRows();
  /** Of the running transaction. */
  readonly #waiting: WaitingBlocks;
  /** Few, so every read searches all of them. */
  #damaged: readonly DamagedRange[] = [];

  /**
   * `file` is the name in reports of damage. Throws when the file belongs to another shard or another store.
   */
  constructor(path: string, settings: BlockTableSettings) {
    const { file, blockPoints, store = 0, shard = 0, aggregateCacheBytes } = settings;
    this.blockPoints = blockPoints;
    this.bucketCache = new BucketCache(aggregateCacheBytes);
    this.#path = path;
    this.#file = file;
    this.#database = openShardFile(path, file, { store, shard });
    this.reads = new ReadTransaction(this.#database);
    this.#statements = prepareStatements(this.#database);
    this.#waiting = new WaitingBlocks(pageBytesOf(this.#database));
    this.days = new DaySummaries(this.#database, blockPoints);
    this.#state = this.#readState();
    if (this.#state.store !== store || this.#state.shard !== shard) {
      const found = `shard ${this.#state.shard} of store ${this.#state.store}`;
      throw new Error(`${file} is ${found}, not shard ${shard} of store ${store}`);
    }
    this.#damaged = this.#readDamaged();
    this.#rowCheck = new RowCheck(this.#database);
  }

  /** Whether the check that no row is missing is still running. */
  get hasUncheckedRows(): boolean {
    return this.#rowCheck !== undefined;
  }

  /**
   * Checks some more rows. A missing row is reported as damage when all are checked. Its series cannot be
   * determined, so reads of that series lack its points.
   */
  checkMoreRows(): void {
    try {
      if (this.#rowCheck?.step() !== true) return;
      this.#missingRows = [this.#rowCheck.damage(this.#state, this.#file) ?? []].flat();
    } catch (error) {
      const found = (error as Error).message;
      this.#missingRows = [
        { file: this.#file, offset: 0, expected: "rows of blocks that can be read", found },
      ];
    }
    this.#rowCheck = undefined;
  }

  /** The sequence number up to which every change is in blocks. */
  get flushedSequence(): number {
    return this.#state.flushedSequence;
  }

  get totals(): { readonly points: number; readonly blocks: number } {
    return this.#state;
  }

  /** Runs `work` in a transaction, which is rolled back when it throws. */
  transaction<Result>(work: () => Result): Result {
    this.reads.end();
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      const result = work();
      this.#writeWaiting();
      this.days.writeChanged();
      this.#statements.writeState.run(...stateValues(this.#state));
      this.#database.exec("COMMIT");
      return result;
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      this.#waiting.forget();
      this.#blocks.forgetLast();
      this.days.forgetChanged();
      this.#encoded.clear();
      this.#rows.clear();
      this.#state = this.#readState();
      this.#damaged = this.#readDamaged();
      if (this.#rowCheck !== undefined) this.#rowCheck = new RowCheck(this.#database);
      throw error;
    }
  }

  /**
   * Records that every change up to `sequence` is in blocks, and syncs that and all earlier transactions to
   * disk. Earlier transactions need no sync of their own, because the journal still has their points. Also
   * truncates the write-ahead log of the database, which would keep its largest size.
   */
  recordFlushed(sequence: number): void {
    this.#database.exec("PRAGMA synchronous = FULL");
    try {
      this.transaction(() => {
        this.#state.flushedSequence = sequence;
      });
    } finally {
      this.#database.exec("PRAGMA synchronous = NORMAL");
    }
    this.#database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  }

  /** The last block that starts before `beforeMs`. Throws `DamageFound`. */
  lastBefore(key: PointSetKey, beforeMs: number): BlockRow | undefined {
    this.#writeWaitingOf(key);
    const run = this.#rows.of(key);
    if (run?.beginsBefore(beforeMs)) return run.at(run.firstFrom(beforeMs) - 1);
    return rowOf(key, this.#statements.before.get(key.series, key.kind, beforeMs));
  }

  /** The first block that starts at or after `fromMs`. Throws `DamageFound`. */
  firstFrom(key: PointSetKey, fromMs: number): BlockRow | undefined {
    this.#writeWaitingOf(key);
    const run = this.#rows.of(key);
    const found = run?.has(fromMs) ? run.at(run.firstFrom(fromMs)) : undefined;
    return found ?? rowOf(key, this.#statements.from.get(key.series, key.kind, fromMs));
  }

  /**
   * The blocks that overlap [startMs, endMs), in order. Blocks must not change during the iteration. Throws
   * `DamageFound`.
   */
  *overlapping(key: PointSetKey, startMs: number, endMs: number): Generator<BlockRow> {
    this.#writeWaitingOf(key);
    const run = this.#runFor(key, startMs, endMs);
    for (let index = Math.max(0, run.firstFrom(startMs) - 1); run.startOf(index) < endMs; index++) {
      const row = run.at(index)!;
      if (row.lastMs >= startMs) yield row;
    }
    if (run.toMs >= endMs) return;
    for (const found of this.#statements.between.iterate(key.series, key.kind, run.toMs, endMs))
      yield rowOf(key, foundRowOf(found));
  }

  /** The rows from the last block that starts before `startMs` on. They may end before `endMs`. */
  #runFor(key: PointSetKey, startMs: number, endMs: number): RowRun {
    const known = this.#rows.of(key);
    if (known?.beginsBefore(startMs) && (known.toMs >= endMs || known.isPart)) return known;
    const whole = known && !known.isPart ? this.#wholeRun(key) : undefined;
    const run = whole ?? this.#runFrom(key, startMs, known);
    this.#rows.set(key, run);
    return run;
  }

  /** All rows of the key, unless there are too many. */
  #wholeRun(key: PointSetKey): RowRun | undefined {
    const all = this.#statements.firstOfKey.all(key.series, key.kind);
    if (all.length > runRowsMax) return undefined;
    return new RowRun(key, all.map(foundRowOf), { fromMs: -Infinity, toMs: Infinity, isPart: false });
  }

  /** The first rows of a range. */
  #runFrom(key: PointSetKey, startMs: number, known: RowRun | undefined): RowRun {
    const page = this.#statements.firstOverlapping.all(key.series, key.kind, startMs).map(foundRowOf);
    const isFirst = page.length === 0 || page[0]!.firstMs >= startMs;
    return new RowRun(key, page, {
      fromMs: isFirst ? -Infinity : page[0]!.firstMs,
      toMs: page.length < firstRows ? Infinity : page.at(-1)!.firstMs + 1,
      isPart: known !== undefined,
    });
  }

  /**
   * Counts the blocks that are wholly in the range, up to `most` of them: the first ones. They are not
   * verified.
   */
  wholeBlocks({ series, kind }: PointSetKey, { startMs, endMs }: TimeRange, most: number): WholeBlocks {
    const counted = this.#statements.whole.get(series, kind, startMs, endMs, endMs, most);
    const { blocks, points, firstMs, lastMs } = counted as unknown as CountedBlocks;
    const fromMs = lastMs === null ? startMs : lastMs + 1;
    const next = this.#statements.bounds.get(series, kind, fromMs) as BlockBounds | undefined;
    return {
      ...{ blocks, points: points ?? 0 },
      ...(firstMs !== null && { firstMs }),
      ...(next && { nextMs: next.firstMs, isNextCut: next.lastMs >= endMs }),
    };
  }

  /**
   * The encoded block, with a checksum that was verified. The bytes are valid until another block is read.
   * Throws `DamageFound`.
   */
  readBytes(key: PointSetKey, row: BlockRow): Uint8Array {
    const known = this.#encoded.get(row.id);
    if (known !== undefined) return known;
    return orDamageFound(key, row, () => {
      const data = this.#statements.data.get(row.id) as { bytes: Uint8Array } | undefined;
      if (data === undefined) throw new DamagedBlock("the bytes of the block", "none");
      if (data.bytes.length < 4 || blockChecksumOf(data.bytes) !== row.blockChecksum)
        throw new DamagedBlock(`a block with checksum ${row.blockChecksum}`, "another block");
      verifyBlock(data.bytes);
      this.#encoded.set(row.id, data.bytes, data.bytes.length);
      return data.bytes;
    });
  }

  /** Decodes the points of a block. Throws `DamageFound`. */
  read(key: PointSetKey, row: BlockRow): PointColumns {
    const { times, values } = this.#decode(key, row);
    return { times: times.slice(), values: values.slice() };
  }

  /**
   * The columns are valid until another block is decoded. They may end with the first point at or after
   * `endMs`.
   */
  #decode(key: PointSetKey, row: BlockRow, endMs = Infinity): PointColumns {
    const last = this.#blocks.last(row.id, endMs);
    if (last !== undefined) return last;
    const bytes = this.readBytes(key, row);
    return orDamageFound(key, row, () => {
      const { times, values } = decodeVerified(bytes, this.kernels, endMs);
      checkedTimes(times, row);
      const points = { times: times.subarray(0, values.length), values };
      this.#blocks.setLast(row.id, points, values.length === row.count);
      return points;
    });
  }

  /** Whether the cache has the points of a block. */
  hasCached({ id }: BlockRow): boolean {
    return this.#blocks.cached(id) !== undefined;
  }

  /**
   * As `read`, from the cache if possible. The arrays belong to the table. Not for use inside a transaction,
   * whose rollback could restore a block that was removed.
   */
  readCached(key: PointSetKey, row: BlockRow): PointColumns {
    const cached = this.#blocks.cached(row.id);
    if (cached !== undefined) return cached;
    const points = this.read(key, row);
    if (key.kind === numberKind) this.#blocks.add(row.id, points);
    return points;
  }

  /**
   * As `readOnce`, but adds a block to the cache when it is read again soon. Not inside a transaction, as
   * `readCached`.
   */
  readAgain<Result>(
    key: PointSetKey,
    row: BlockRow,
    use: (points: PointColumns) => Result,
    endMs = Infinity,
  ): Result {
    const isInMemory = this.hasCached(row) || this.#blocks.last(row.id, endMs) !== undefined;
    if (isInMemory || key.kind !== numberKind || !this.#blocks.isReadAgain(row.id))
      return this.readOnce(key, row, use, endMs);
    return use(this.readCached(key, row));
  }

  /**
   * As `readCached`, but does not add to the cache: a long read has many blocks. `use` must not keep the
   * arrays or read another block. Points after the first one at or after `endMs` may be missing.
   */
  readOnce<Result>(
    key: PointSetKey,
    row: BlockRow,
    use: (points: PointColumns) => Result,
    endMs?: number,
  ): Result {
    return use(this.#blocks.cached(row.id) ?? this.#decode(key, row, endMs));
  }

  /** As `readOnce`, with the times alone, which take a small part of the time. */
  readTimesOnce<Result>(key: PointSetKey, row: BlockRow, use: (times: Float64Array) => Result): Result {
    const cached = this.#blocks.cached(row.id);
    if (cached !== undefined) return use(cached.times);
    const bytes = this.readBytes(key, row);
    return use(orDamageFound(key, row, () => checkedTimes(decodeTimes(bytes, this.kernels), row)));
  }

  /** The summary of a block of numbers. Throws `DamageFound`. */
  readSummary(key: PointSetKey, row: BlockRow): Summary {
    if (row.summaries.length === 0) throw new DamageFound(key, row, new DamagedBlock("a summary", "none"));
    return row.summaries.reduce(combineSummaries);
  }

  /**
   * Inside a transaction. There is at least one point. The points are in order and overlap no block of the
   * key.
   */
  insert({ series, kind }: PointSetKey, { times, values }: PointColumns): void {
    const count = times.length;
    const [firstMs, lastMs] = [times[0]!, times[count - 1]!];
    invariant(count > 0 && firstMs <= lastMs, "points in a block are in order");
    const bytes = encodeBlock(times, values);
    const summaries =
      kind === numberKind ? summariesOfBlock(times, values as Float64Array, this.kernels) : [];
    const blockChecksum = blockChecksumOf(bytes);
    this.#waiting.add({ series, kind, firstMs, lastMs, count, bytes, summaries, blockChecksum });
    if (this.#waiting.isFull) this.#writeWaiting();
  }

  #writeWaitingOf(key: PointSetKey): void {
    if (this.#waiting.hasBlockOf(key)) this.#writeWaiting();
  }

  #writeWaiting(): void {
    this.#waiting.write(
      (bytes) => Number(this.#statements.insertData.run(bytes).lastInsertRowid),
      (block, id) => this.#insertRow(block, id),
    );
  }

  #insertRow({ bytes: _, summaries, blockChecksum, ...bounds }: WaitingBlock, id: number): void {
    const { series, kind, firstMs, lastMs, count } = bounds;
    const keys = { ...bounds, id };
    const { header, checksum } = encodeRow(keys, { summaries, blockChecksum });
    this.#statements.insert.run(series, kind, firstMs, lastMs, count, id, header);
    if (kind === numberKind) this.#numbersChanged(series, keys);
    this.#rows.delete({ series, kind });
    this.#count(keys, checksum, 1);
  }

  /** Inside a transaction. */
  remove(key: PointSetKey, { id, firstMs, lastMs, count, checksum }: BlockRow): void {
    const { series, kind } = key;
    this.#statements.remove.run(series, kind, firstMs);
    this.#statements.removeData.run(id);
    // The id may be reused for the next block.
    this.#blocks.delete(id);
    this.#encoded.delete(id);
    this.#rows.delete(key);
    if (kind === numberKind) this.#numbersChanged(series, { firstMs, lastMs, count });
    this.#count({ series, kind, firstMs, count }, checksum, -1);
  }

  #numbersChanged(series: SeriesId, bounds: Omit<BlockBounds, "id">): void {
    this.bucketCache.invalidate(series, bounds.firstMs, bounds.lastMs);
    this.days.blockChanged(series, bounds);
  }

  #count(
    keys: { series: number; kind: number; firstMs: number; count: number },
    checksum: number,
    by: 1 | -1,
  ): void {
    this.#state.points += by * keys.count;
    this.#state.blocks += by;
    this.#state.rowChecksums = addChecksum(this.#state.rowChecksums, by * checksum);
    this.#rowCheck?.adjust(keys, checksum, by);
  }

  /**
   * Moves a damaged block out of the table of blocks, and keeps its bytes. When its row is damaged, its
   * series is not certain: the sums still count the row, so it is reported as missing until `millrace doctor`
   * repairs it.
   */
  quarantine({ key: { series, kind }, row, damage: { expected, found } }: DamageFound): void {
    const { id, firstMs, lastMs, count, checksum } = row;
    this.transaction(() => {
      this.#statements.remove.run(series, kind, firstMs);
      this.#encoded.delete(id);
      this.#rows.delete({ series, kind });
      // The times in a damaged row may be wrong.
      if (kind === numberKind) this.bucketCache.invalidate(series, -Infinity, Infinity);
      if (kind === numberKind) this.days.remove(series, -Infinity, Infinity);
      this.#statements.insertDamaged.run(id, series, kind, firstMs, lastMs, expected, found);
      if (checksum !== undefined) this.#count({ series, kind, firstMs, count }, checksum, -1);
    });
    this.#damaged = [...this.#damaged, { series, kind, firstMs, lastMs }];
  }

  /** The first damaged block of the key with times in [startMs, endMs]. */
  damagedIn({ series, kind }: PointSetKey, startMs: number, endMs: number): DamagedRange | undefined {
    return this.#damaged.find(
      (one) => one.series === series && one.kind === kind && one.firstMs <= endMs && one.lastMs >= startMs,
    );
  }

  /** Inside a transaction. Deletes the records of damaged blocks that are wholly in [startMs, endMs). */
  deleteDamaged({ series, kind }: PointSetKey, startMs: number, endMs: number): void {
    if (this.damagedIn({ series, kind }, startMs, endMs) === undefined) return;
    this.#statements.removeDamaged.run(series, kind, startMs, endMs);
    this.#damaged = this.#readDamaged();
  }

  /** The offset is the id in the table `data`, or 0. */
  damage(): Damage[] {
    const file = this.#file;
    const blocks = this.#readDamaged().map(({ id, expected, found }) => ({
      file,
      offset: id,
      expected,
      found,
    }));
    return [...this.#missingRows, ...blocks];
  }

  /**
   * Brings everything into the file, and keeps the file as it is until `thaw`, for a process that copies it.
   * A reader that began while the write-ahead log was empty reads nothing but the file, so SQLite moves no
   * page into it; further changes stay in the log.
   */
  freeze(): void {
    const { busy } = this.#database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get()!;
    if (busy !== 0) throw new Error(`another process reads ${this.#file}`);
    const reader = new DatabaseSync(this.#path, { readOnly: true });
    this.#frozen = reader;
    reader.exec("BEGIN");
    reader.prepare("SELECT count(*) FROM sqlite_schema").get();
  }

  thaw(): void {
    this.#frozen?.close();
    this.#frozen = undefined;
  }

  close(): void {
    this.thaw();
    this.#database.close();
  }

  #readDamaged(): DamagedRow[] {
    return this.#statements.damaged.all() as unknown as DamagedRow[];
  }

  #readState(): StoredShardState {
    const found = stateOf(this.#statements.state.get());
    if (found === undefined)
      throw new Error(
        `the state of ${this.#file} is damaged; \`millrace doctor\` restores it from the blocks`,
      );
    return { ...found };
  }
}
