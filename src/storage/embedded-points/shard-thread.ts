// The main thread's client of one shard: sends records and calls to its thread, and settles their promises.
import type { Worker } from "node:worker_threads";
import { fail } from "../../errors.ts";
import { startWorker } from "../../lib/heap-limits.ts";
import { WorkerRpc } from "../../lib/worker-rpc.ts";
import type {
  CallMessage,
  CallReply,
  MessageFromShard,
  MessageToShard,
  OpenShardCall,
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

/**
 * Calls of one turn of the event loop are sent together, as a message costs 20 to 50 us on both sides. More
 * calls are sent in several messages, so that a shard does other work between them.
 */
const callsPerMessageMax = 16;

export type ShardClient = Pick<ShardThread, "apply" | "call" | "close"> & Partial<Pick<ShardThread, "help">>;

/** Called when a shard begins a long read, with memory for the `help` of other shards. */
type OnHelpWanted = (buffer: SharedArrayBuffer) => void;

export interface OpenedShard {
  readonly client: ShardClient;
  /** The sequence number up to which the shard has every change in blocks on disk. */
  readonly flushedSequence: number;
}

export class ShardThread {
  readonly #shard: number;
  readonly #worker: Worker;
  readonly #rpc: WorkerRpc<MessageToShard, CallReply>;
  /** The callbacks of records that the shard has not confirmed, in the order they were sent. */
  readonly #unconfirmed: (() => void)[] = [];
  #batch: RecordToApply[] = [];
  #batchBytes = 0;
  readonly #batchTimer: NodeJS.Timeout;
  #calls: CallMessage[] = [];

  private constructor(settings: ShardSettings, onHelpWanted: OnHelpWanted | undefined) {
    this.#shard = settings.shard;
    this.#worker = startWorker(new URL("./shard-worker.ts", import.meta.url), settings);
    this.#worker.on("message", (message: MessageFromShard) => {
      if (!("kind" in message)) return;
      if (message.kind === "confirmed") this.#confirm(message.records);
      else if (message.kind === "help-wanted") onHelpWanted?.(message.buffer);
    });
    this.#rpc = new WorkerRpc(this.#worker, "its thread");
    this.#rpc.ended.then(() => this.#confirm(this.#unconfirmed.length));
    this.#batchTimer = setTimeout(() => this.#sendBatch(), batchDelayMs).unref();
  }

  static async open(settings: ShardSettings, onHelpWanted?: OnHelpWanted): Promise<OpenedShard> {
    const client = new ShardThread(settings, onHelpWanted);
    const reply = await client.#request("open", undefined).catch((error: Error) => {
      throw new Error(`shard ${settings.shard} cannot be opened: ${problemOf(error)}`, { cause: error });
    });
    return { client, flushedSequence: client.#resultOf(reply) as number };
  }

  /**
   * Records are applied in the order of these calls, and each later `call` sees them. `onConfirmed` is called
   * when the shard no longer needs the record's slice: after it has applied the record, or when its thread
   * has ended.
   */
  apply(record: RecordToApply, onConfirmed: () => void): void {
    if (this.#rpc.hasEnded) {
      onConfirmed();
      return;
    }
    this.#unconfirmed.push(onConfirmed);
    this.#batch.push(record);
    this.#batchBytes += record.slice.length;
    if (this.#batchBytes >= batchBytesMax || this.#batch.length >= batchRecordsMax) this.#sendBatch();
    else if (this.#batch.length === 1) this.#batchTimer.refresh();
  }

  /** Lets the thread decode blocks of another shard's read, unless it has calls of its own. */
  help(buffer: SharedArrayBuffer): void {
    if (!this.#rpc.hasEnded && this.#rpc.isIdle) this.#rpc.post({ kind: "help", buffer });
  }

  /** Rejects with the shard's own failure, or with `points-shard-stopped` when its thread has ended. */
  async call<Call extends OpenShardCall>(
    call: Call,
    input: ShardCalls[Call]["input"],
  ): Promise<ShardCalls[Call]["result"]> {
    this.#sendBatch();
    const reply = await this.#request(call, input).catch((error: Error) => {
      throw fail("points-shard-stopped", { shard: this.#shard, problem: problemOf(error) });
    });
    return this.#resultOf(reply) as ShardCalls[Call]["result"];
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

  #request(call: ShardCall, input: unknown): Promise<CallReply> {
    const id = this.#rpc.newId();
    const reply = this.#rpc.replyTo(id);
    if (this.#rpc.hasEnded) return reply;
    if (this.#calls.push({ id, call, input }) === 1) queueMicrotask(() => this.#sendCalls());
    if (this.#calls.length === callsPerMessageMax) this.#sendCalls();
    return reply;
  }

  #sendCalls(): void {
    if (this.#calls.length === 0) return;
    this.#rpc.post({ kind: "calls", calls: this.#calls });
    this.#calls = [];
  }

  #resultOf(reply: CallReply): unknown {
    if (reply.kind === "result") return reply.result;
    const { failure, problem } = reply;
    if (failure !== undefined) throw fail(failure.code, failure.details as never);
    throw new Error(`shard ${this.#shard}: ${problem}`);
  }

  #sendBatch(): void {
    if (this.#batch.length === 0) return;
    this.#rpc.post({ kind: "apply", records: this.#batch });
    this.#batch = [];
    this.#batchBytes = 0;
  }

  #confirm(records: number): void {
    for (const onConfirmed of this.#unconfirmed.splice(0, records)) onConfirmed();
  }
}

/** The message of the error that ended the thread, if there was one. */
const problemOf = ({ cause, message }: Error): string => (cause instanceof Error ? cause.message : message);
