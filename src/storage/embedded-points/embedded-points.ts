// The embedded points store: journals every change, then hands it to the shards, and asks them every
// query.
//
// One request is journaled before any part of it is handed on, and then all its parts in the same turn, as
// are all parts of a query: no query sees half of a request.
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
  Damage,
  PointBatch,
  PointColumns,
  PointsStats,
  PointsStore,
  ScanQuery,
  SeriesId,
} from "../points.ts";
import { bytesOf, type Change, shardOf, shardsOf } from "./change.ts";
import { bytesAt, FrameMemory } from "./frame-memory.ts";
import { Gate } from "./gate.ts";
import { Journal, type JournalFiles, realFiles, recoverJournal, type StoredChange } from "./journal.ts";
import { LastPoints } from "./last-points.ts";
import { firstOf } from "./segment.ts";
import type { FoundPoint } from "./series-reader.ts";
import type { ShardStart } from "./shard-calls.ts";
import { type OpenShard, type ShardLink, ShardThread } from "./shard-thread.ts";
import { newStore, readStoreFile, type StoreFile, writeStoreFile } from "./store-file.ts";

/** After a checkpoint that failed the next is tried when the journal has grown by this. */
const checkpointRetryBytes = 16 * 2 ** 20;
const shardsMax = 16;
/** When nothing was written for so long, the journal says that all of it was on disk. */
const markMsDefault = 20;
/** Readers take blocks of any size; the figure balances what a read decodes against what a block costs. */
const blockPointsDefault = 8192;

export interface EmbeddedPointsSettings {
  /** Made when absent; used by one process at a time, which the caller sees to. */
  readonly folder: string;
  /** Only for a store that is being made; an existing one keeps its own number. Default one a core. */
  readonly shards?: number;
  /** Journal after which all points are moved into blocks. */
  readonly checkpointBytes?: number;
  /** The same happens when nothing was written for so long. */
  readonly idleMs?: number;
  /** When nothing was written for so long, the journal says that all of it was on disk. */
  readonly markMs?: number;
  /** Points of a full block. */
  readonly blockPoints?: number;
  /** The calls that write the journal, so that tests can let them fail. */
  readonly files?: JournalFiles;
  /** Runs a shard, so that tests can run it in their own thread, step by step. */
  readonly openShard?: typeof ShardThread.open;
}

/** Opens the store in a folder, or makes one, and brings back what a crash left in the journal. */
export async function openEmbeddedPoints(settings: EmbeddedPointsSettings): Promise<PointsStore> {
  const { folder, files = realFiles, checkpointBytes = limits.journalCheckpointBytes } = settings;
  const { blockPoints = blockPointsDefault, idleMs = limits.journalIdleMs } = settings;
  const { markMs = markMsDefault } = settings;
  const known = await readStoreFile(folder);
  const made = known ?? newStore(settings.shards ?? Math.min(availableParallelism(), shardsMax));
  await (known ? requireShards(folder, known) : prepareNew(folder));
  const gate = new Gate(limits.pointsInFlightBytesMax);
  const starts = Array.from({ length: made.shards }, (_, shard) => {
    const file = shardFileOf(shard);
    return { ...made, shard, path: join(folder, file), file, blockPoints };
  });
  const open = settings.openShard ?? ShardThread.open;
  const opened = await openThreads(starts.map((start) => open(start)));
  if (!known) await writeStoreFile(folder, made);
  const threads = opened.map((one) => one.thread);
  const applied = Math.min(...opened.map((one) => one.applied));
  const memory = new FrameMemory();
  const recovered = await recoverJournal({ folder, files }, applied, async ({ sequence, change, raw }) => {
    await gate.enter(bytesOf(change));
    const place = memory.take(raw.length);
    bytesAt(place).set(raw);
    handOn({ gate, memory, threads }, { sequence, change, place }, true);
  });
  const { next } = recovered;
  await refuseGap(opened, starts, next);
  const lastPoints = new LastPoints();
  const onStored = (stored: StoredChange) => {
    lastPoints.note(stored.change);
    handOn({ gate, memory, threads }, stored, false);
  };
  const settingsOfJournal = { folder, files, memory, onStored };
  const journal = await Journal.open(settingsOfJournal, recovered.segments, next);
  const { damage } = recovered;
  return new EmbeddedPoints({
    folder,
    gate,
    threads,
    lastPoints,
    journal,
    damage,
    checkpointBytes,
    idleMs,
    markMs,
  });
}

export const shardFileOf = (shard: number): string => `shard-${shard}.sqlite`;

/** Refuses a folder without a store, or with one that lacks the file of a shard. */
export async function requireStore(folder: string): Promise<void> {
  const known = await readStoreFile(folder);
  if (known === undefined) throw new CannotOpen(`${join(folder, "store.json")} is missing`, "incomplete");
  await requireShards(folder, known);
}

async function requireShards(folder: string, { shards }: StoreFile): Promise<void> {
  for (let shard = 0; shard < shards; shard++) {
    const path = join(folder, shardFileOf(shard));
    const { size } = await stat(path).catch(() => ({ size: 0 }));
    if (size === 0) throw new CannotOpen(`${path} is missing or empty`, "incomplete");
  }
}

/**
 * Makes the folder ready for a new store. Its shards are made before `store.json` and its journal after it,
 * so that shards without either are what a start left that was broken off.
 */
async function prepareNew(folder: string): Promise<void> {
  await makeFolder(folder);
  const names = await readdir(folder);
  if (names.some((name) => firstOf(name) !== undefined)) await requireStore(folder);
  for (const name of names) if (/^shard-\d+\.sqlite/.test(name)) await unlink(join(folder, name));
}

/** All of the threads or, when one cannot be opened, none. */
async function openThreads(opening: readonly Promise<OpenShard>[]): Promise<OpenShard[]> {
  const tried = await Promise.allSettled(opening);
  const opened = tried.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const failed = tried.find((one) => one.status === "rejected");
  if (failed === undefined) return opened;
  await Promise.allSettled(opened.map(({ thread }) => thread.close()));
  throw failed.reason;
}

/** A shard that is behind the others gets the rest from the journal, or else its file is the wrong one. */
async function refuseGap(
  opened: readonly OpenShard[],
  starts: readonly ShardStart[],
  next: number,
): Promise<void> {
  const applied = opened.map((one) => one.applied);
  if (Math.max(...applied) < next) return;
  await Promise.allSettled(opened.map(({ thread }) => thread.close()));
  const { file } = starts[applied.indexOf(Math.min(...applied))]!;
  throw new Error(`${file} lacks changes that other shards have and the journal no more`);
}

/** Tells each shard of what is its own in one turn; frees the frame when all have it. */
function handOn(
  { gate, memory, threads }: { gate: Gate; memory: FrameMemory; threads: readonly ShardLink[] },
  { sequence, change, place }: StoredChange,
  isReplay: boolean,
): void {
  const touched = shardsOf(change, threads.length);
  // Once it is stored, its columns are no longer ours to look at.
  const bytes = bytesOf(change);
  let left = touched.length;
  const onConfirmed = () => {
    if (--left > 0) return;
    memory.free(place);
    gate.leave(bytes);
  };
  for (const shard of touched) threads[shard]!.apply({ sequence, place, isReplay }, onConfirmed);
}

interface Parts {
  readonly folder: string;
  readonly gate: Gate;
  readonly threads: readonly ShardLink[];
  readonly lastPoints: LastPoints;
  readonly journal: Journal;
  readonly damage: readonly Damage[];
  readonly checkpointBytes: number;
  readonly idleMs: number;
  readonly markMs: number;
}

class EmbeddedPoints implements PointsStore {
  readonly #parts: Parts;
  readonly #underWay = new Set<Promise<void>>();
  #nextCheckpointBytes: number;
  #checkpoint: Promise<void> | undefined;
  #isClosed = false;
  /** Runs out when nothing was written for a while; keeps no process alive. */
  readonly #idle: NodeJS.Timeout;
  readonly #quiet: NodeJS.Timeout;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#idle = setTimeout(() => this.#settle(), parts.idleMs).unref();
    this.#quiet = setTimeout(() => parts.journal.mark(), parts.markMs).unref();
    this.#nextCheckpointBytes = parts.checkpointBytes;
  }

  append(batch: PointBatch): Promise<void> {
    const count = (batch.numbers?.times.length ?? 0) + (batch.strings?.times.length ?? 0);
    return count === 0 ? Promise.resolve() : this.#change({ kind: "append", batch });
  }

  delete(series: SeriesId, range?: TimeRange): Promise<void> {
    return this.#change({ kind: "erase", series, range });
  }

  scan(query: ScanQuery): Promise<PointColumns> {
    return this.#shardOf(query.series).ask("scan", query);
  }

  aggregate(query: AggregateQuery): Promise<AggregateColumns> {
    return this.#shardOf(query.series).ask("aggregate", query);
  }

  async latest(
    series: readonly { readonly series: SeriesId; readonly isString: boolean }[],
    beforeMs: number,
  ): Promise<(FoundPoint | undefined)[]> {
    const { threads, lastPoints } = this.#parts;
    const found = series.map((one) => lastPoints.find(one.series, beforeMs));
    if (!found.includes(undefined)) return found;
    const asked = Map.groupBy(
      found.keys().filter((index) => found[index] === undefined),
      (index) => shardOf(series[index]!.series, threads.length),
    );
    const answers = [...asked].map(async ([shard, indexes]) => {
      const unknown = indexes.map((index) => series[index]!);
      const tokens = unknown.map((one) => lastPoints.ask(one.series));
      const latest = await threads[shard]!.ask("latest", { series: unknown, beforeMs });
      for (const [i, index] of indexes.entries()) {
        found[index] = latest[i]?.point;
        lastPoints.learn(unknown[i]!.series, tokens[i]!, latest[i]?.isNewest ? latest[i].point : undefined);
      }
    });
    await Promise.all(answers);
    return found;
  }

  async stats(): Promise<PointsStats> {
    const { folder, threads, journal, damage } = this.#parts;
    const shards = await Promise.all(threads.map((thread) => thread.ask("stats", undefined)));
    return {
      points: shards.reduce((sum, one) => sum + one.points, 0),
      blocks: shards.reduce((sum, one) => sum + one.blocks, 0),
      bytesOnDisk: await bytesIn(folder),
      journalBytes: journal.bytes,
      quarantined: [...damage, ...shards.flatMap((one) => one.damage)],
      ...(journal.finished !== undefined && { writesStopped: journal.finished }),
    };
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#idle);
    clearTimeout(this.#quiet);
    await Promise.allSettled([...this.#underWay]);
    // A checkpoint that fails costs time at the next start and nothing else: the journal still holds the
    // points.
    await this.#runCheckpoint().catch(() => undefined);
    await this.#parts.journal.close();
    await Promise.allSettled(this.#parts.threads.map((thread) => thread.close()));
  }

  #shardOf(series: SeriesId): ShardLink {
    const { threads } = this.#parts;
    return threads[shardOf(series, threads.length)]!;
  }

  #change(change: Change): Promise<void> {
    const stored = this.#store(change);
    this.#underWay.add(stored);
    const forget = () => this.#underWay.delete(stored);
    stored.then(forget, forget);
    return stored;
  }

  async #store(change: Change): Promise<void> {
    invariant(!this.#isClosed, "nothing is written to a store after it was closed");
    const { gate, journal } = this.#parts;
    const bytes = bytesOf(change);
    await gate.enter(bytes);
    try {
      if (journal.bytes >= limits.journalBytesMax) await this.#makeRoom();
      await journal.write(change);
    } catch (why) {
      gate.leave(bytes);
      throw why;
    }
    if (!this.#isClosed) {
      this.#idle.refresh();
      this.#quiet.refresh();
    }
    // A checkpoint that fails in the background is tried again, and tells when the journal has grown to its
    // bound.
    if (journal.bytes >= this.#nextCheckpointBytes) this.#runCheckpoint().catch(() => undefined);
  }

  /**
   * The journal holds points at many times their size in blocks. One try a pause: after a failure the next
   * write begins another.
   */
  #settle(): void {
    if (this.#parts.journal.bytes >= limits.journalIdleBytes) this.#runCheckpoint().catch(() => undefined);
  }

  async #makeRoom(): Promise<void> {
    try {
      await this.#runCheckpoint();
    } catch (why) {
      throw fail("points-not-stored", { problem: (why as Error).message });
    }
  }

  #runCheckpoint(): Promise<void> {
    this.#checkpoint ??= this.#checkpointNow().finally(() => {
      this.#checkpoint = undefined;
    });
    return this.#checkpoint;
  }

  /** Moves every point journaled so far into blocks, then drops the journal up to there. */
  async #checkpointNow(): Promise<void> {
    const { threads, journal, checkpointBytes } = this.#parts;
    try {
      const boundary = await journal.rotate();
      await Promise.all(threads.map((thread) => thread.ask("checkpoint", boundary)));
      await journal.drop(boundary);
      this.#nextCheckpointBytes = checkpointBytes;
    } catch (why) {
      this.#nextCheckpointBytes = journal.bytes + checkpointRetryBytes;
      throw why;
    }
  }
}

async function bytesIn(folder: string): Promise<number> {
  const names = await readdir(folder);
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(folder, name)).then(
        (one) => one.size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
