// The embedded points store: journals every change, then passes it to the shards, which serve all reads.
//
// A change is journaled as a whole before any shard gets it. The shards then get its parts in one turn of the
// event loop, and so do the parts of a read. So no read sees half of a change.
import { existsSync } from "node:fs";
import { readdir, stat, unlink } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fail } from "../../errors.ts";
import { makeFolder } from "../../lib/durable-files.ts";
import { invariant } from "../../lib/invariant.ts";
import type { TimeRange } from "../../lib/time.ts";
import { limits } from "../../limits.ts";
import { CannotOpen } from "../cannot-open.ts";
import type {
  AggregateColumns,
  AggregateQuery,
  CopyablePoints,
  Damage,
  FrozenPoints,
  OldPoints,
  OldPointsQuery,
  Point,
  PointBatch,
  PointColumns,
  PointSeries,
  PointsStats,
  ScanQuery,
  SeriesId,
} from "../points.ts";
import { shardOf } from "../shard-of.ts";
import { ByteBudget } from "./byte-budget.ts";
import { type Change, memoryBytesOf, shardsOf } from "./change.ts";
import type { PointsConnection } from "./connected-points.ts";
import { Journal, type StoredRecord } from "./journal.ts";
import { recoverJournal } from "./journal-recovery.ts";
import { LatestPointCache } from "./latest-point-cache.ts";
import { firstSequenceOf } from "./segment.ts";
import { type JournalFiles, linkSegments, realFiles } from "./segment-files.ts";
import { SeriesVersions } from "./series-versions.ts";
import type { LatestResult, ShardSettings } from "./shard-messages.ts";
import { type OpenedShard, type ShardClient, ShardThread } from "./shard-thread.ts";
import { SharedRing, viewOf } from "./shared-ring.ts";
import { newStore, readStoreFile, type StoreFile, writeStoreFile } from "./store-file.ts";

/** After a failed checkpoint, the next one is tried when the journal has grown by this much. */
const checkpointRetryBytes = 16 * 2 ** 20;
const shardsMax = 16;
/** Pause in writing after which the journal writes a durability mark. */
const markDelayMsDefault = 20;
/** Any size can be read. This one balances the points that a read decodes against the overhead of a block. */
const blockPointsDefault = 8192;

export interface EmbeddedPointsSettings {
  /** Created when missing. The caller makes sure that only one process uses it. */
  readonly folder: string;
  /** For a new store only; an existing one keeps its number. Default: one for each core. */
  readonly shards?: number;
  /** Size of the journal at which all points are flushed to blocks. */
  readonly checkpointBytes?: number;
  /** Pause in writing after which all points are flushed to blocks. */
  readonly idleMs?: number;
  /** Pause in writing after which the journal writes a durability mark. */
  readonly markDelayMs?: number;
  /** Points of a full block. */
  readonly blockPoints?: number;
  /** Memory of each shard for cached aggregates; 0 caches none. */
  readonly aggregateCacheBytes?: number;
  /** The file system calls of the journal. Tests replace them to simulate failures. */
  readonly files?: JournalFiles;
  /** Opens a shard. Tests replace it to run shards step by step in their own thread. */
  readonly openShard?: typeof ShardThread.open;
}

/** Opens the store in a folder, or creates one, and recovers the changes that are only in the journal. */
export async function openEmbeddedPoints(settings: EmbeddedPointsSettings): Promise<EmbeddedPoints> {
  const { folder, files = realFiles, blockPoints = blockPointsDefault, aggregateCacheBytes } = settings;
  const existing = await readStoreFile(folder);
  const storeFile = existing ?? newStore(settings.shards ?? Math.min(availableParallelism(), shardsMax));
  await (existing ? requireShards(folder, existing) : prepareFolder(folder));
  const shardSettings = Array.from({ length: storeFile.shards }, (_, shard) => {
    const file = shardFileOf(shard);
    const cache = aggregateCacheBytes !== undefined && { aggregateCacheBytes };
    return { ...storeFile, shard, path: join(folder, file), file, blockPoints, ...cache };
  });
  const open = settings.openShard ?? ShardThread.open;
  const opened: readonly OpenedShard[] = await openShards(
    shardSettings.map((one) => open(one, (buffer) => helpShard(one.shard, opened, buffer))),
  );
  if (!existing) await writeStoreFile(folder, storeFile);
  const memory = { budget: new ByteBudget(limits.pointsInFlightBytesMax), ring: new SharedRing() };
  const distribution = { ...memory, shards: opened.map(({ client }) => client) };
  const flushedSequence = Math.min(...opened.map((one) => one.flushedSequence));
  const recovered = await recoverJournal(
    { folder, files },
    flushedSequence,
    async ({ sequence, change, bytes }) => {
      await memory.budget.acquire(memoryBytesOf(change));
      const slice = memory.ring.allocate(bytes.length);
      viewOf(slice).set(bytes);
      distribute(distribution, { sequence, change, slice }, true);
    },
  );
  await refuseGap(opened, shardSettings, recovered.next);
  const latestPoints = new LatestPointCache();
  const versions = new ConnectedVersions();
  const onStored = (stored: StoredRecord) => {
    latestPoints.update(stored.change);
    distribute(distribution, stored, false);
    // After it: a thread that sees the new version reads the shard with this record.
    versions.changed(stored.change);
  };
  const journalSettings = { folder, files, ring: memory.ring, onStored };
  const journal = await Journal.open(journalSettings, recovered.segments, recovered.next);
  return new EmbeddedPoints({
    folder,
    budget: memory.budget,
    shards: distribution.shards,
    latestPoints,
    versions,
    journal,
    damage: recovered.damage,
    checkpointBytes: settings.checkpointBytes ?? limits.journalCheckpointBytes,
    idleMs: settings.idleMs ?? limits.journalIdleMs,
    markDelayMs: settings.markDelayMs ?? markDelayMsDefault,
  });
}

export const shardFileOf = (shard: number): string => `shard-${shard}.sqlite`;

/** Refuses a folder without a store, or with a store that lacks the file of a shard. */
export async function requireStore(folder: string): Promise<void> {
  const storeFile = await readStoreFile(folder);
  if (storeFile === undefined) throw new CannotOpen(`${join(folder, "store.json")} is missing`, "incomplete");
  await requireShards(folder, storeFile);
}

/** Whether the folder has a store, complete or not. */
export const hasStore = (folder: string): boolean => existsSync(join(folder, "store.json"));

async function requireShards(folder: string, { shards }: StoreFile): Promise<void> {
  for (let shard = 0; shard < shards; shard++) {
    const path = join(folder, shardFileOf(shard));
    const { size } = await stat(path).catch(() => ({ size: 0 }));
    if (size === 0) throw new CannotOpen(`${path} is missing or empty`, "incomplete");
  }
}

/**
 * Prepares the folder for a new store. Shards are created before `store.json`, and the journal after it. So
 * shards without both are left over from a start that was interrupted, and are removed.
 */
async function prepareFolder(folder: string): Promise<void> {
  await makeFolder(folder);
  const names = await readdir(folder);
  if (names.some((name) => firstSequenceOf(name) !== undefined)) await requireStore(folder);
  for (const name of names) if (/^shard-\d+\.sqlite/.test(name)) await unlink(join(folder, name));
}

/** Opens all shards, or closes those that are open when one fails. */
async function openShards(opening: readonly Promise<OpenedShard>[]): Promise<OpenedShard[]> {
  const settled = await Promise.allSettled(opening);
  const opened = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const failed = settled.find((one) => one.status === "rejected");
  if (failed === undefined) return opened;
  await Promise.allSettled(opened.map(({ client }) => client.close()));
  throw failed.reason;
}

/** Refuses a shard that lacks changes which neither the journal has: its file is from another time. */
async function refuseGap(
  opened: readonly OpenedShard[],
  settings: readonly ShardSettings[],
  next: number,
): Promise<void> {
  const flushed = opened.map((one) => one.flushedSequence);
  if (Math.max(...flushed) < next) return;
  await Promise.allSettled(opened.map(({ client }) => client.close()));
  const { file } = settings[flushed.indexOf(Math.min(...flushed))]!;
  throw new Error(`${file} lacks changes that other shards have and the journal no more`);
}

/** Lets the threads of other shards help with a long read. */
function helpShard(shard: number, opened: readonly OpenedShard[], buffer: SharedArrayBuffer): void {
  for (const [other, { client }] of opened.entries()) if (other !== shard) client.help?.(buffer);
}

interface Distribution {
  readonly budget: ByteBudget;
  readonly ring: SharedRing;
  readonly shards: readonly ShardClient[];
}

/**
 * Passes a stored record to the shards that it touches, in one turn of the event loop.
 *
 * Takes over the record's slice and the acquired bytes of the budget. Both are released when the last of
 * these shards has confirmed the record. A shard whose thread ends confirms all its records, so nothing
 * leaks; the journal keeps them for the next start.
 */
function distribute(
  { budget, ring, shards }: Distribution,
  { sequence, change, slice }: StoredRecord,
  isReplay: boolean,
): void {
  const touched = shardsOf(change, shards.length);
  const bytes = memoryBytesOf(change);
  let unconfirmed = touched.length;
  const onConfirmed = () => {
    if (--unconfirmed > 0) return;
    ring.free(slice);
    budget.release(bytes);
  };
  for (const shard of touched) shards[shard]!.apply({ sequence, slice, isReplay }, onConfirmed);
}

interface Parts {
  readonly folder: string;
  readonly budget: ByteBudget;
  readonly shards: readonly ShardClient[];
  readonly latestPoints: LatestPointCache;
  readonly versions: ConnectedVersions;
  readonly journal: Journal;
  readonly damage: readonly Damage[];
  readonly checkpointBytes: number;
  readonly idleMs: number;
  readonly markDelayMs: number;
}

/** The versions of series that connected threads have; without such a thread there are none to count. */
class ConnectedVersions {
  #cells: Int32Array | undefined;
  #versions: SeriesVersions | undefined;

  /** The memory that threads share. */
  connect(): Int32Array {
    this.#cells ??= SeriesVersions.memory();
    this.#versions ??= new SeriesVersions(this.#cells);
    return this.#cells;
  }

  changed(change: Change): void {
    this.#versions?.changed(change);
  }
}

export class EmbeddedPoints implements CopyablePoints {
  readonly scanPoints = 20_000;
  readonly #parts: Parts;
  readonly #writes = new Set<Promise<void>>();
  #nextCheckpointBytes: number;
  #checkpoint: Promise<void> | undefined;
  /** Resolves when the journal may be shortened again, which frozen files may need. */
  #journalFree: Promise<void> | undefined;
  #isClosed = false;
  /** Both timers restart with each write. They do not keep the process alive. */
  readonly #idleTimer: NodeJS.Timeout;
  readonly #markTimer: NodeJS.Timeout;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#idleTimer = setTimeout(() => this.#checkpointWhenIdle(), parts.idleMs).unref();
    this.#markTimer = setTimeout(() => parts.journal.writeMark(), parts.markDelayMs).unref();
    this.#nextCheckpointBytes = parts.checkpointBytes;
  }

  /** Lets another thread read the shards, with a `ConnectedPoints`. */
  connect(): PointsConnection {
    const { shards, versions } = this.#parts;
    return {
      scanPoints: this.scanPoints,
      shards: shards.map((shard) => shard.connect!()),
      versions: versions.connect(),
    };
  }

  /** Sends records to a shard that connected threads wait for. */
  flush(shard: number): void {
    this.#parts.shards[shard]!.flush!();
  }

  append(batch: PointBatch): Promise<void> {
    const count = (batch.numbers?.times.length ?? 0) + (batch.strings?.times.length ?? 0);
    return count === 0 ? Promise.resolve() : this.#write({ kind: "append", batch });
  }

  delete(series: SeriesId, range?: TimeRange): Promise<void> {
    return this.#write({ kind: "delete", series, range });
  }

  scan(query: ScanQuery): Promise<PointColumns> {
    return this.#shardOf(query.series).call("scan", query);
  }

  aggregate(query: AggregateQuery): Promise<AggregateColumns> {
    return this.#shardOf(query.series).call("aggregate", query);
  }

  async latest(series: readonly PointSeries[], beforeMs: number): Promise<(Point | undefined)[]> {
    const { shards, latestPoints } = this.#parts;
    const points = series.map((one) => latestPoints.get(one.series, beforeMs));
    if (!points.includes(undefined)) return points;
    const misses = Map.groupBy(
      points.keys().filter((index) => points[index] === undefined),
      (index) => shardOf(series[index]!.series, shards.length),
    );
    const lookups = [...misses].map(async ([shard, indexes]) => {
      const refs = indexes.map((index) => series[index]!);
      const tokens = refs.map((one) => latestPoints.startLookup(one.series));
      let results: readonly (LatestResult | undefined)[] = [];
      try {
        results = await shards[shard]!.call("latest", { series: refs, beforeMs });
      } finally {
        for (const [i, { series: id }] of refs.entries()) {
          const newest = results[i]?.isNewest ? results[i].point : undefined;
          latestPoints.finishLookup(id, tokens[i]!, newest);
        }
      }
      for (const [i, index] of indexes.entries()) points[index] = results[i]?.point;
    });
    await Promise.all(lookups);
    return points;
  }

  async oldPoints(series: readonly OldPointsQuery[], blocksMax: number): Promise<OldPoints[]> {
    const { shards } = this.#parts;
    const found: OldPoints[] = [];
    const parts = Map.groupBy(series.keys(), (index) => shardOf(series[index]!.series, shards.length));
    await Promise.all(
      [...parts].map(async ([shard, indexes]) => {
        const some = indexes.map((index) => series[index]!);
        const results = await shards[shard]!.call("oldPoints", { series: some, blocksMax });
        for (const [i, index] of indexes.entries()) found[index] = results[i]!;
      }),
    );
    return found;
  }

  async stats(): Promise<PointsStats> {
    const { folder, shards, journal, damage } = this.#parts;
    const stats = await Promise.all(shards.map((shard) => shard.call("stats", undefined)));
    return {
      points: stats.reduce((sum, one) => sum + one.points, 0),
      blocks: stats.reduce((sum, one) => sum + one.blocks, 0),
      bytesOnDisk: await bytesIn(folder),
      journalBytes: journal.bytes,
      quarantined: [...damage, ...stats.flatMap((one) => one.damage)],
      ...(journal.stoppedBecause !== undefined && { writesStopped: journal.stoppedBecause }),
    };
  }

  async freeze(): Promise<FrozenPoints> {
    const { folder, shards, journal } = this.#parts;
    invariant(this.#journalFree === undefined, "one caller at a time freezes the store");
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#journalFree = promise;
    const freeJournal = () => {
      this.#journalFree = undefined;
      resolve();
    };
    const thaw = async () => {
      freeJournal();
      await Promise.allSettled(shards.map((shard) => shard.call("thaw", undefined)));
    };
    const frozen = await Promise.allSettled(shards.map((shard) => shard.call("freeze", undefined)));
    const failed = frozen.find((one) => one.status === "rejected");
    if (failed !== undefined) {
      await thaw();
      throw failed.reason;
    }
    return {
      async linkJournal(target, onCut) {
        const last = await journal.rotate();
        onCut();
        await linkSegments(folder, { sequence: last, target });
        freeJournal();
      },
      keepJournal: (target) => journal.keepIn(target),
      thaw,
    };
  }

  async cutJournal(target: string, onCut: () => void): Promise<boolean> {
    const { folder, journal } = this.#parts;
    const sequence = await journal.rotate();
    onCut();
    // In this order: a segment is linked into the other folder before it is deleted.
    await linkSegments(folder, { sequence, target, mayVanish: true });
    if (journal.keptIn === undefined) return false;
    await linkSegments(journal.keptIn, { sequence, target });
    return true;
  }

  forgetJournal(): void {
    this.#parts.journal.keepIn(undefined);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#idleTimer);
    clearTimeout(this.#markTimer);
    await Promise.allSettled([...this.#writes]);
    // A running checkpoint leaves the changes since its start. A failed one only makes the next start slower:
    // the journal still has the points.
    await this.#checkpoint?.catch(() => undefined);
    await this.#runCheckpoint().catch(() => undefined);
    await this.#parts.journal.close();
    await Promise.allSettled(this.#parts.shards.map((shard) => shard.close()));
  }

  #shardOf(series: SeriesId): ShardClient {
    const { shards } = this.#parts;
    return shards[shardOf(series, shards.length)]!;
  }

  #write(change: Change): Promise<void> {
    const write = this.#store(change);
    this.#writes.add(write);
    const remove = () => this.#writes.delete(write);
    write.then(remove, remove);
    return write;
  }

  async #store(change: Change): Promise<void> {
    invariant(!this.#isClosed, "nothing is written to a store after it was closed");
    const { budget, journal } = this.#parts;
    const bytes = memoryBytesOf(change);
    await budget.acquire(bytes);
    try {
      if (journal.bytes >= limits.journalBytesMax) await this.#requireCheckpoint();
      await journal.write(change);
    } catch (error) {
      // A stored change releases its bytes in `distribute`.
      budget.release(bytes);
      throw error;
    }
    if (!this.#isClosed) {
      this.#idleTimer.refresh();
      this.#markTimer.refresh();
    }
    // A failure here is not reported: the checkpoint is tried again, and writers get the failure when the
    // journal reaches its bound.
    if (journal.bytes >= this.#nextCheckpointBytes) this.#runCheckpoint().catch(() => undefined);
  }

  /** Points take many times more space in the journal than in blocks. Tried once in each pause in writing. */
  #checkpointWhenIdle(): void {
    if (this.#parts.journal.bytes >= limits.journalIdleBytes) this.#runCheckpoint().catch(() => undefined);
  }

  async #requireCheckpoint(): Promise<void> {
    try {
      await this.#runCheckpoint();
    } catch (error) {
      throw fail("points-not-stored", { problem: (error as Error).message });
    }
  }

  #runCheckpoint(): Promise<void> {
    this.#checkpoint ??= this.#checkpointNow().finally(() => {
      this.#checkpoint = undefined;
    });
    return this.#checkpoint;
  }

  /** Flushes every point journaled so far to blocks, then drops the journal up to there. */
  async #checkpointNow(): Promise<void> {
    const { shards, journal, checkpointBytes } = this.#parts;
    try {
      const boundary = await journal.rotate();
      await Promise.all(shards.map((shard) => shard.call("checkpoint", boundary)));
      await this.#journalFree;
      await journal.drop(boundary);
      this.#nextCheckpointBytes = checkpointBytes;
    } catch (error) {
      this.#nextCheckpointBytes = journal.bytes + checkpointRetryBytes;
      throw error;
    }
  }
}

async function bytesIn(folder: string): Promise<number> {
  const names = await readdir(folder);
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(folder, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
