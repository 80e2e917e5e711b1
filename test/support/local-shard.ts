// A shard that runs in the thread of its test: one slice of work in each turn of the event loop. Calls
// `onStep` after each write.
import { readFileSync } from "node:fs";
import { Shard } from "../../src/storage/embedded-points/shard.ts";
import type {
  LatestQuery,
  OldPointsInput,
  OpenShardCall,
  RecordToApply,
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
  #checkpoint: { resolve: (result: undefined) => void; reject: (error: unknown) => void } | undefined;
  /** Sizes of the write-ahead log since the last truncation. */
  #logSizes: number[] = [0];
  /** Turns to wait before a slice of work, so that one shard is slower than another. */
  readonly #delay: number;
  /** Why a record could not be applied. From then on every call fails. */
  #stopped: unknown;
  #isClosed = false;
  #isWorking = false;

  private constructor(start: ShardSettings, { delay, onStep }: { delay: number; onStep: () => void }) {
    this.#start = start;
    this.#shard = new Shard(start.path, start);
    this.#delay = delay;
    this.#onStep = onStep;
  }

  /** For `openShard` of the store's settings. `opened` gets the shards. */
  static opener(
    settings: { delayOf: (shard: number) => number; onStep: () => void },
    opened: LocalShard[] = [],
  ) {
    return async (start: ShardSettings): Promise<OpenedShard> => {
      const local = new LocalShard(start, { ...settings, delay: settings.delayOf(start.shard) });
      opened[start.shard] = local;
      const call = (name: OpenShardCall, input: unknown) => local.#call(name, input);
      const apply = (record: RecordToApply, onConfirmed: () => void) => {
        local.#apply(record);
        onConfirmed();
      };
      const client = { apply, call, close: async () => local.#close() } as ShardClient;
      return { client, flushedSequence: local.#shard.flushedSequence };
    };
  }

  /**
   * The states of the shard that a power cut may leave: its file, with a log that ends after any transaction
   * or within one. SQLite is trusted to recover a torn log up to its last whole transaction, and to order the
   * writes of a checkpoint.
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
      if (this.#stopped === undefined && sequence > this.#shard.flushedSequence)
        this.#shard.applyRecord(viewOf(place));
    } catch (error) {
      this.#stopped = error;
    }
    this.#afterWrite();
    this.#workSoon();
  }

  async #call(name: OpenShardCall, input: unknown): Promise<unknown> {
    if (this.#stopped !== undefined) throw this.#stopped;
    if (name !== "checkpoint") return this.#handlers[name](input as never);
    this.#shard.startCheckpoint(input as number);
    this.#workSoon();
    return new Promise((resolve, reject) => {
      this.#checkpoint = { resolve, reject };
    });
  }

  readonly #handlers = {
    scan: (query: ScanQuery) => this.#shard.scan(query),
    aggregate: (query: AggregateQuery) => this.#shard.aggregate(query),
    latest: (query: LatestQuery) => this.#shard.latest(query),
    oldPoints: (input: OldPointsInput) => this.#shard.oldPoints(input),
    stats: () => this.#shard.stats(),
    freeze: () => this.#shard.freeze(),
    thaw: () => this.#shard.thaw(),
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
      if (this.#shard.work() !== undefined) this.#checkpoint!.resolve(undefined);
      this.#afterWrite();
      this.#workSoon();
    } catch (error) {
      this.#shard.cancelCheckpoint();
      this.#checkpoint?.reject(error);
    }
  }

  #afterWrite(): void {
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
