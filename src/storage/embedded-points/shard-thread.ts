// The main thread's client of one shard: sends records and calls to its thread, and settles their promises.
import { Worker } from "node:worker_threads";
import { fail } from "../../errors.ts";
import { PendingCalls } from "../../lib/pending-calls.ts";
import type {
  MessageFromShard,
  MessageToShard,
  RecordToApply,
  ShardCall,
  ShardCalls,
  ShardSettings,
} from "./shard-messages.ts";

/**
 * Records are sent in batches, because waking the thread costs more than applying a small record. A batch is
 * sent when it has so many records or bytes, after so many milliseconds, or with the next call.
 */
const batchRecordsMax = 16;
const batchBytesMax = 2 ** 18;
const batchDelayMs = 5;

export type ShardClient = Pick<ShardThread, "apply" | "call" | "close">;

export interface OpenedShard {
  readonly client: ShardClient;
  /** The sequence number up to which the shard has every change in blocks on disk. */
  readonly applied: number;
}

export class ShardThread {
  readonly #shard: number;
  readonly #worker: Worker;
  readonly #calls = new PendingCalls();
  /** The callbacks of records that the shard has not confirmed, in the order they were sent. */
  readonly #unconfirmed: (() => void)[] = [];
  #batch: RecordToApply[] = [];
  #batchBytes = 0;
  readonly #batchTimer: NodeJS.Timeout;
  /** Why the thread has ended; undefined while it runs. */
  #ended: string | undefined;
  #opening: { resolve: (applied: number) => void; reject: (error: Error) => void } | undefined;

  private constructor(settings: ShardSettings) {
    this.#shard = settings.shard;
    this.#worker = new Worker(new URL("./shard-worker.ts", import.meta.url), { workerData: settings });
    this.#batchTimer = setTimeout(() => this.#sendBatch(), batchDelayMs).unref();
    this.#worker.on("message", (message: MessageFromShard) => this.#receive(message));
    this.#worker.on("error", (error) => this.#end((error as Error).message));
    this.#worker.on("exit", () => this.#end("its thread has ended"));
  }

  static async open(settings: ShardSettings): Promise<OpenedShard> {
    const client = new ShardThread(settings);
    const applied = await new Promise<number>((resolve, reject) => {
      client.#opening = { resolve, reject };
    });
    return { client, applied };
  }

  /**
   * Records are applied in the order of these calls, and each later `call` sees them. `onConfirmed` is called
   * when the shard no longer needs the record's slice: after it has applied the record, or when its thread
   * has ended.
   */
  apply(record: RecordToApply, onConfirmed: () => void): void {
    if (this.#ended !== undefined) {
      onConfirmed();
      return;
    }
    this.#unconfirmed.push(onConfirmed);
    this.#batch.push(record);
    this.#batchBytes += record.slice.length;
    if (this.#batchBytes >= batchBytesMax || this.#batch.length >= batchRecordsMax) this.#sendBatch();
    else if (this.#batch.length === 1) this.#batchTimer.refresh();
  }

  /** Rejects with the shard's own failure, or with `points-shard-stopped` when its thread has ended. */
  async call<Call extends ShardCall>(
    call: Call,
    input: ShardCalls[Call]["input"],
  ): Promise<ShardCalls[Call]["result"]> {
    if (this.#ended !== undefined) throw this.#stoppedFailure();
    return this.#calls.start((id) => {
      this.#sendBatch();
      this.#post({ kind: "call", id, call, input });
    });
  }

  /** Closes the shard's file and ends its thread. */
  async close(): Promise<void> {
    try {
      await this.call("close", undefined);
    } finally {
      clearTimeout(this.#batchTimer);
      await this.#worker.terminate();
    }
  }

  #sendBatch(): void {
    if (this.#batch.length === 0) return;
    this.#post({ kind: "apply", records: this.#batch });
    this.#batch = [];
    this.#batchBytes = 0;
  }

  #post(message: MessageToShard): void {
    this.#worker.postMessage(message);
  }

  #receive(message: MessageFromShard): void {
    switch (message.kind) {
      case "opened":
        this.#opening?.resolve(message.applied);
        break;
      case "confirmed":
        this.#confirm(message.records);
        break;
      case "result":
        this.#calls.resolve(message.id, message.result);
        break;
      case "failed":
        this.#calls.reject(message.id, this.#errorOf(message));
    }
  }

  #errorOf({ failure, problem }: MessageFromShard & { kind: "failed" }): Error {
    if (failure !== undefined) return fail(failure.code, failure.details as never);
    return new Error(`shard ${this.#shard}: ${problem}`);
  }

  #confirm(records: number): void {
    for (const onConfirmed of this.#unconfirmed.splice(0, records)) onConfirmed();
  }

  #end(problem: string): void {
    this.#ended ??= problem;
    this.#opening?.reject(new Error(`shard ${this.#shard} cannot be opened: ${this.#ended}`));
    this.#calls.rejectAll(() => this.#stoppedFailure());
    this.#confirm(this.#unconfirmed.length);
  }

  #stoppedFailure(): Error {
    return fail("points-shard-stopped", { shard: this.#shard, problem: this.#ended ?? "" });
  }
}
