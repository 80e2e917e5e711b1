// A shard that runs in the thread of its test, one slice of work a turn, and tells when something was
// written.
import { readFileSync } from "node:fs";
import { Shard } from "../../src/storage/embedded-points/shard.ts";
import type {
  LatestQuery,
  RecordToApply,
  ShardCall,
  ShardSettings,
} from "../../src/storage/embedded-points/shard-messages.ts";
import type { OpenedShard, ShardClient } from "../../src/storage/embedded-points/shard-thread.ts";
import { viewOf } from "../../src/storage/embedded-points/shared-ring.ts";
import type { AggregateQuery, ScanQuery } from "../../src/storage/points.ts";
import type { Wreck } from "./simulated-disk.ts";

type Bytes = Uint8Array<ArrayBuffer>;

export class LocalShard {
  readonly #start: ShardSettings;
  readonly #shard: Shard;
  readonly #onStep: () => void;
  #completed: { resolve: (answer: undefined) => void; reject: (why: unknown) => void } | undefined;
  /** Sizes that the log of the database had since it was last on disk as a whole. */
  #logSizes: number[] = [0];
  /** Turns to wait before a slice of work, so that one shard is later than another. */
  readonly #delay: number;
  /** Why a change could not be applied: no query is answered any more. */
  #stopped: unknown;
  #isClosed = false;
  #isWorking = false;

  private constructor(start: ShardSettings, { delay, onStep }: { delay: number; onStep: () => void }) {
    this.#start = start;
    this.#shard = new Shard(start.path, start);
    this.#delay = delay;
    this.#onStep = onStep;
  }

  /** To be handed to the store as `openShard`; `opened` gets to know the shard. */
  static opener(
    settings: { delayOf: (shard: number) => number; onStep: () => void },
    opened: LocalShard[] = [],
  ) {
    return async (start: ShardSettings): Promise<OpenedShard> => {
      const local = new LocalShard(start, { ...settings, delay: settings.delayOf(start.shard) });
      opened[start.shard] = local;
      const ask = (call: ShardCall, query: unknown) => local.#ask(call, query);
      const apply = (change: RecordToApply, onConfirmed: () => void) => {
        local.#apply(change);
        onConfirmed();
      };
      const thread = { apply, call: ask, close: async () => local.#close() } as ShardClient;
      return { client: thread, applied: local.#shard.applied };
    };
  }

  /**
   * What a power cut may leave of the shard: its file, and of the log any beginning that a transaction ended,
   * or half of one. That SQLite takes a torn log for what its last whole transaction left, and orders the
   * writes of a checkpoint, is relied on, not proved.
   */
  wrecks(): Wreck[] {
    const { path, file } = this.#start;
    const [database, log] = [read(path), read(`${path}-wal`)];
    const sizes = [...this.#logSizes, log.length - 100].filter((size) => size >= 0 && size <= log.length);
    return [...new Set(sizes)].map(
      (size) =>
        new Map([
          [file, database],
          [`${file}-wal`, log.slice(0, size)],
        ]),
    );
  }

  #apply({ sequence, slice: place }: RecordToApply): void {
    try {
      if (this.#stopped === undefined && sequence > this.#shard.applied)
        this.#shard.applyRecord(viewOf(place));
    } catch (why) {
      this.#stopped = why;
    }
    this.#stepDone();
    this.#workSoon();
  }

  async #ask(call: ShardCall, query: unknown): Promise<unknown> {
    if (this.#stopped !== undefined) throw this.#stopped;
    if (call !== "checkpoint") return this.#answers[call](query as never);
    this.#shard.startCheckpoint(query as number);
    this.#workSoon();
    return new Promise((resolve, reject) => {
      this.#completed = { resolve, reject };
    });
  }

  readonly #answers = {
    scan: (asked: ScanQuery) => this.#shard.scan(asked),
    aggregate: (asked: AggregateQuery) => this.#shard.aggregate(asked),
    latest: (asked: LatestQuery) => this.#shard.latest(asked),
    stats: () => this.#shard.stats(),
    close: () => this.#close(),
  };

  #workSoon(turns = this.#delay): void {
    if (this.#isWorking && turns === this.#delay) return;
    this.#isWorking = true;
    setImmediate(() => (turns > 0 ? this.#workSoon(turns - 1) : this.#work()));
  }

  #work(): void {
    this.#isWorking = false;
    if (this.#isClosed || !this.#shard.hasWork) return;
    try {
      if (this.#shard.work() !== undefined) this.#completed!.resolve(undefined);
      this.#stepDone();
      this.#workSoon();
    } catch (why) {
      this.#shard.cancelCheckpoint();
      this.#completed?.reject(why);
    }
  }

  #stepDone(): void {
    const size = read(`${this.#start.path}-wal`).length;
    if (size < this.#logSizes.at(-1)!) this.#logSizes = [0];
    if (size > this.#logSizes.at(-1)!) this.#logSizes.push(size);
    this.#onStep();
  }

  #close(): void {
    this.#isClosed = true;
    this.#shard.close();
  }
}

/** The bytes of a file; none where it is not there. */
function read(path: string): Bytes {
  try {
    return Uint8Array.from(readFileSync(path));
  } catch {
    return new Uint8Array(0);
  }
}
