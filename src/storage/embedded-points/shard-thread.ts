// The main thread's client of one shard: sends records and calls to its thread, and settles their promises.
import { MessageChannel, type MessagePort, type Worker } from "node:worker_threads";
import { startWorker } from "../../lib/heap-limits.ts";
import { WorkerRpc } from "../../lib/worker-rpc.ts";
import { problemOf, ShardCaller } from "./shard-calls.ts";
import {
  type CallMessage,
  type CallReply,
  cellOf,
  type MessageFromShard,
  type MessageToShard,
  type OpenShardCall,
  type RecordToApply,
  type ShardCalls,
  type ShardSettings,
} from "./shard-messages.ts";

/**
 * Records are sent in batches, because waking the thread costs more than applying a small record. A batch is
 * sent when it has so many records or bytes, after so many milliseconds, or with the next call.
 */
const batchRecordsMax = 16;
const batchBytesMax = 2 ** 18;
const batchDelayMs = 5;

export type ShardClient = Pick<ShardThread, "apply" | "call" | "close"> &
  Partial<Pick<ShardThread, "help" | "connect" | "flush">>;

/** How another thread reaches a shard. */
export interface ShardConnection {
  /** Move it to that thread. */
  readonly port: MessagePort;
  /** Shared memory: numbers with the places of `cellOf`. */
  readonly cells: Int32Array;
}

/** Called when a shard begins a long read, with memory for the `help` of other shards. */
type OnHelpWanted = (buffer: SharedArrayBuffer) => void;

export interface OpenedShard {
  readonly client: ShardClient;
  /** The sequence number up to which the shard has every change in blocks on disk. */
  readonly flushedSequence: number;
}

export class ShardThread {
  readonly #worker: Worker;
  readonly #rpc: WorkerRpc<MessageToShard, CallReply>;
  /** The callbacks of records that the shard has not confirmed, in the order they were sent. */
  readonly #unconfirmed: (() => void)[] = [];
  #batch: RecordToApply[] = [];
  #batchBytes = 0;
  readonly #batchTimer: NodeJS.Timeout;
  readonly #calls: ShardCaller;
  readonly #cells = new Int32Array(
    new SharedArrayBuffer(Object.keys(cellOf).length * Int32Array.BYTES_PER_ELEMENT),
  );

  private constructor(settings: ShardSettings, onHelpWanted: OnHelpWanted | undefined) {
    this.#worker = startWorker(new URL("./shard-worker.ts", import.meta.url), settings);
    this.#worker.on("message", (message: MessageFromShard) => {
      if (!("kind" in message)) return;
      if (message.kind === "confirmed") this.#confirm(message.records);
      else if (message.kind === "help-wanted") onHelpWanted?.(message.buffer);
    });
    this.#rpc = new WorkerRpc(this.#worker, "its thread");
    this.#rpc.ended.then(() => this.#confirm(this.#unconfirmed.length));
    this.#batchTimer = setTimeout(() => this.flush(), batchDelayMs).unref();
    const post = (calls: readonly CallMessage[]) => this.#rpc.post({ kind: "calls", calls });
    this.#calls = new ShardCaller({ shard: settings.shard, rpc: this.#rpc, post });
  }

  static async open(settings: ShardSettings, onHelpWanted?: OnHelpWanted): Promise<OpenedShard> {
    const client = new ShardThread(settings, onHelpWanted);
    const reply = await client.#calls.request("open", undefined).catch((error: Error) => {
      throw new Error(`shard ${settings.shard} cannot be opened: ${problemOf(error)}`, { cause: error });
    });
    return { client, flushedSequence: client.#calls.resultOf(reply) as number };
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
    Atomics.add(this.#cells, cellOf.applied, 1);
    this.#batch.push(record);
    this.#batchBytes += record.slice.length;
    if (this.#batchBytes >= batchBytesMax || this.#batch.length >= batchRecordsMax) this.flush();
    else if (this.#batch.length === 1) this.#batchTimer.refresh();
  }

  /** Lets the thread decode blocks of another shard's read, unless it has calls of its own. */
  help(buffer: SharedArrayBuffer): void {
    const isIdle = this.#rpc.isIdle && Atomics.load(this.#cells, cellOf.calls) === 0;
    if (!this.#rpc.hasEnded && isIdle) this.#rpc.post({ kind: "help", buffer });
  }

  /** As `ShardCaller.call`. */
  call<Call extends OpenShardCall>(
    call: Call,
    input: ShardCalls[Call]["input"],
  ): Promise<ShardCalls[Call]["result"]> {
    this.flush();
    return this.#calls.call(call, input);
  }

  /** Lets another thread call this shard. The connection ends with the thread of the shard. */
  connect(): ShardConnection {
    const { port1, port2 } = new MessageChannel();
    this.#rpc.post({ kind: "connect", port: port1, cells: this.#cells }, [port1]);
    return { port: port2, cells: this.#cells };
  }

  /** Closes the shard's file and ends its thread. */
  async close(): Promise<void> {
    try {
      await this.call("close", undefined);
      await this.#rpc.ended; // Before its end it stores compiled code.
    } finally {
      clearTimeout(this.#batchTimer);
      await this.#worker.terminate();
    }
  }

  /** Sends the records that wait. */
  flush(): void {
    if (this.#batch.length === 0) return;
    this.#rpc.post({ kind: "apply", records: this.#batch });
    Atomics.add(this.#cells, cellOf.sent, this.#batch.length);
    this.#batch = [];
    this.#batchBytes = 0;
  }

  #confirm(records: number): void {
    for (const onConfirmed of this.#unconfirmed.splice(0, records)) onConfirmed();
  }
}
