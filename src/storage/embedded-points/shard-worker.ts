// The thread of one shard: applies records and runs calls in the order they arrive, and moves points from
// heads to blocks between them.
import { availableParallelism } from "node:os";
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { messageOf } from "../../errors/between-threads.ts";
import { fail } from "../../errors.ts";
import { invariant } from "../../lib/invariant.ts";
import { WarmUpPace } from "../../lib/warm-up-pace.ts";
import { Kernels } from "../kernels.ts";
import type { AggregateColumns, PointColumns } from "../points.ts";
import { Shard } from "./shard.ts";
import {
  type CallMessage,
  type CallReply,
  type ConnectedCalls,
  cellOf,
  type HelpRequest,
  type MessageFromShard,
  type MessageToShard,
  type RecordToApply,
  type ShardCall,
  type ShardCalls,
  type ShardSettings,
} from "./shard-messages.ts";
import { helpWith, SharedBlocks } from "./shared-blocks.ts";
import { viewOf } from "./shared-ring.ts";
import { warmUp } from "./warm-up.ts";

/** While more heads than this wait to be flushed, records are not confirmed, which slows writers down. */
const headsToFlushMax = 32;
/** A call that takes longer costs far more than a message, which takes 20 to 50 us on both sides. */
const longCallMs = 1;
/** Moving the buffer of a result costs less than copying so many bytes twice. */
const movedBytesMin = 2 ** 14;
/** After so many calls of another thread, this one does other work. */
const callsPerReplyMax = 16;
/** Length of a slice of help for another shard. A call to this shard waits for it. */
const helpSliceMs = 2;
/** From the start to the first step of the warm-up: the main thread needs the processor until then. */
const warmUpAfterMs = 700;
/** Between two steps of it, so that calls come between them. Messages of the pause postpone the next step. */
const warmUpPauseMs = 5;
/** Delay before background work is tried again after a failure, for example of a full disk. */
const retryMs = 1000;

/** Calls that write nothing, except that they may quarantine a damaged block. */
const reads: ReadonlySet<ShardCall> = new Set(["scan", "aggregate", "latest", "oldPoints"]);

const helpRequest = (buffer: SharedArrayBuffer): HelpRequest => ({ kind: "help-wanted", buffer });

/** To another thread that calls this shard. */
type Connection = Pick<Extract<MessageToShard, { kind: "connect" }>, "port" | "cells">;

type CallHandlers = {
  readonly [Call in ShardCall]: (input: ShardCalls[Call]["input"], id: number) => void;
};

class ShardWorker {
  readonly #port: MessagePort;
  readonly #number: number;
  readonly #shard: Shard;
  /**
   * Why a record could not be applied. From then on the heads differ from the journal, so every call fails.
   */
  #stopped: string | undefined;
  /** Records applied and not yet confirmed. */
  #unconfirmed = 0;
  /** The call of the running checkpoint. */
  #checkpointId: number | undefined;
  #isWorkScheduled = false;
  /** Of the blocks of other shards. */
  readonly #helpKernels = new Kernels();
  /** The memory of reads that this thread helps with. */
  readonly #helped = new Set<SharedArrayBuffer>();
  /** Records received, modulo 2^32. */
  #received = 0;
  readonly #warmUpPace = new WarmUpPace();
  /** Calls of other threads whose records the main thread has not sent. */
  #waiting: { readonly from: Connection; readonly message: ConnectedCalls }[] = [];
  /** Where replies go: to the main thread, or to the thread whose calls run. */
  #caller: MessagePort;
  /** The replies to the calls of the message that is being handled, and the buffers that move with them. */
  #replies: CallReply[] | undefined;
  #transfer: ArrayBuffer[] = [];

  constructor(port: MessagePort, settings: ShardSettings) {
    this.#port = port;
    this.#caller = port;
    this.#number = settings.shard;
    const mayShare = settings.shards > 1 && availableParallelism() > 1;
    const requestHelp = (buffer: SharedArrayBuffer) => port.postMessage(helpRequest(buffer));
    this.#shard = new Shard(settings.path, settings, mayShare ? new SharedBlocks(requestHelp) : undefined);
    port.on("message", (message: MessageToShard) => this.#receive(message));
    if (this.#shard.hasWork) this.#scheduleWork();
    this.#warmUpIn(warmUpAfterMs, warmUp());
  }

  /** Runs the steps one by one while the thread has nothing else to do. */
  #warmUpIn(ms: number, steps: Generator<undefined, void>): void {
    const step = () => {
      if (this.#shard.hasWork) this.#warmUpPace.noteWork();
      const next = this.#warmUpPace.decide();
      if (next === "end") steps.return();
      else if (next === "postpone" || this.#hasNext(steps)) this.#warmUpIn(warmUpPauseMs, steps);
    };
    setTimeout(step, ms).unref();
  }

  /** Runs a step of the warm-up. An error ends the warm-up only: the shard works without it. */
  #hasNext(steps: Generator<undefined, void>): boolean {
    try {
      return !steps.next().done;
    } catch (error) {
      process.emitWarning(`The warm-up of shard ${this.#number} failed: ${(error as Error).message}`);
      return false;
    }
  }

  readonly #handlers: CallHandlers = {
    open: (_, id) => this.#sendResult(id, this.#shard.flushedSequence),
    scan: (query, id) => this.#sendColumns(id, this.#shard.scan(query)),
    aggregate: (query, id) => this.#sendBuckets(id, this.#shard.aggregate(query)),
    latest: (query, id) => this.#sendResult(id, this.#shard.latest(query)),
    oldPoints: (input, id) => this.#sendResult(id, this.#shard.oldPoints(input)),
    stats: (_, id) => this.#sendResult(id, this.#shard.stats()),
    checkpoint: (sequence, id) => {
      this.#shard.startCheckpoint(sequence);
      this.#checkpointId = id;
    },
    freeze: (_, id) => this.#sendResult(id, this.#shard.freeze()),
    thaw: (_, id) => this.#sendResult(id, this.#shard.thaw()),
    close: (_, id) => {
      this.#shard.close();
      this.#sendResult(id, undefined);
      this.#sendReplies();
      process.exit(); // Ends the thread, also while other threads are connected to it.
    },
  };

  #receive(message: MessageToShard): void {
    this.#warmUpPace.noteWork();
    if (message.kind === "help") this.#help(message.buffer);
    else if (message.kind === "apply") this.#applyAll(message.records);
    else if (message.kind === "connect") this.#connect(message);
    else this.#runAll(message.calls);
    if (!this.#isWorkScheduled && this.#shard.hasWork) this.#scheduleWork();
  }

  #applyAll(records: readonly RecordToApply[]): void {
    for (const record of records) this.#apply(record);
    this.#unconfirmed += records.length;
    const isReplay = records.at(-1)!.isReplay;
    if (isReplay || this.#stopped !== undefined || this.#shard.headsToFlush <= headsToFlushMax)
      this.#confirm();
    this.#received = (this.#received + records.length) | 0;
    const waiting = this.#waiting;
    if (waiting.length === 0) return;
    this.#waiting = [];
    for (const { from, message } of waiting) this.#runConnected(from, message);
  }

  #connect(from: Connection): void {
    const { port } = from;
    port.on("message", (first: ConnectedCalls) => {
      this.#warmUpPace.noteWork();
      let { calls, after } = first;
      // One reply to all calls that have arrived: a message costs more than many a call.
      while (calls.length < callsPerReplyMax) {
        const more = receiveMessageOnPort(port)?.message as ConnectedCalls | undefined;
        if (more === undefined) break;
        calls = [...calls, ...more.calls];
        after = more.after; // It never decreases.
      }
      // Messages of the main thread that were sent before may not have been read.
      while (this.#isBefore(after)) {
        const earlier = receiveMessageOnPort(this.#port);
        if (earlier === undefined) break;
        this.#receive(earlier.message as MessageToShard);
      }
      this.#runConnected(from, { calls, after });
    });
  }

  #runConnected(from: Connection, message: ConnectedCalls): void {
    if (this.#isBefore(message.after)) {
      this.#waiting.push({ from, message });
      return;
    }
    this.#caller = from.port;
    this.#runAll(message.calls);
    this.#caller = this.#port;
    Atomics.sub(from.cells, cellOf.calls, message.calls.length);
  }

  /** Whether fewer records have arrived. */
  #isBefore(records: number): boolean {
    return ((this.#received - records) | 0) < 0;
  }

  #apply({ sequence, slice }: RecordToApply): void {
    try {
      if (this.#stopped === undefined && sequence > this.#shard.flushedSequence)
        this.#shard.applyRecord(viewOf(slice));
    } catch (error) {
      this.#stopped = (error as Error).message;
      this.#endCheckpoint((id) => this.#sendFailure(id, error));
    }
  }

  /**
   * Decodes blocks of another shard's read, until that read ends or this shard has work of its own. Messages
   * to this shard come between the slices.
   */
  #help(buffer: SharedArrayBuffer): void {
    if (this.#helped.has(buffer)) return;
    this.#helped.add(buffer);
    const slice = () => {
      const isFree = !this.#shard.hasWork && this.#unconfirmed === 0;
      const untilMs = performance.now() + helpSliceMs;
      const mayContinue = () => performance.now() < untilMs;
      if (isFree && helpWith(buffer, this.#helpKernels, mayContinue)) setImmediate(slice);
      else this.#helped.delete(buffer);
    };
    slice();
  }

  #confirm(): void {
    if (this.#unconfirmed === 0) return;
    const message: MessageFromShard = { kind: "confirmed", records: this.#unconfirmed };
    this.#port.postMessage(message);
    this.#unconfirmed = 0;
  }

  /** Replies to all calls in one message. Replies do not wait for another call after one that took long. */
  #runAll(calls: readonly CallMessage[]): void {
    if (calls.length > 1 && calls.every(({ call }) => reads.has(call)))
      this.#shard.withReads(() => this.#runEach(calls));
    else this.#runEach(calls);
  }

  #runEach(calls: readonly CallMessage[]): void {
    for (const one of calls) {
      if (one.call === "scan" || one.call === "aggregate") this.#warmUpPace.noteCall();
      this.#replies ??= [];
      const startedMs = performance.now();
      this.#run(one);
      if (performance.now() - startedMs > longCallMs) this.#sendReplies();
    }
    this.#sendReplies();
  }

  #sendReplies(): void {
    if (this.#replies?.length) this.#caller.postMessage(this.#replies, this.#transfer);
    this.#replies = undefined;
    this.#transfer = [];
  }

  #run({ id, call, input }: CallMessage): void {
    try {
      if (this.#stopped !== undefined && call !== "close" && call !== "thaw")
        throw fail("points-shard-stopped", { shard: this.#number, problem: this.#stopped });
      (this.#handlers[call] as (input: unknown, id: number) => void)(input, id);
    } catch (error) {
      this.#sendFailure(id, error);
    }
  }

  #scheduleWork(): void {
    this.#isWorkScheduled = true;
    setImmediate(() => this.#work());
  }

  #work(): void {
    this.#isWorkScheduled = false;
    if (this.#stopped !== undefined) return;
    try {
      const completed = this.#shard.work();
      if (completed !== undefined) this.#endCheckpoint((id) => this.#sendResult(id, undefined));
      if (this.#shard.headsToFlush <= headsToFlushMax) this.#confirm();
      if (this.#shard.hasWork) this.#scheduleWork();
    } catch (error) {
      this.#shard.cancelCheckpoint();
      this.#endCheckpoint((id) => this.#sendFailure(id, error));
      this.#isWorkScheduled = true;
      setTimeout(() => this.#scheduleWork(), retryMs).unref();
    }
  }

  #endCheckpoint(reply: (id: number) => void): void {
    if (this.#checkpointId !== undefined) reply(this.#checkpointId);
    this.#checkpointId = undefined;
  }

  /** Outside of calls only a checkpoint has a reply, which the main thread has called. */
  #reply(message: CallReply, transfer?: ArrayBuffer): void {
    if (this.#replies === undefined) this.#port.postMessage(message);
    else this.#replies.push(message);
    if (transfer !== undefined) this.#transfer.push(transfer);
  }

  #sendResult(id: number, result: unknown): void {
    this.#reply({ kind: "result", id, result });
  }

  /** Transfers the times; a column of numbers shares their buffer, so it moves with them. */
  #sendColumns(id: number, { times, values }: PointColumns): void {
    this.#reply({ kind: "result", id, result: { times, values } }, times.buffer as ArrayBuffer);
  }

  /** All columns share one buffer. */
  #sendBuckets(id: number, result: AggregateColumns): void {
    const buffer = result.times.buffer as ArrayBuffer;
    this.#reply({ kind: "result", id, result }, buffer.byteLength < movedBytesMin ? undefined : buffer);
  }

  #sendFailure(id: number, error: unknown): void {
    this.#reply({ kind: "failed", id, ...messageOf(error) });
  }
}

invariant(parentPort !== null, "a shard runs in a thread of its own");
new ShardWorker(parentPort, workerData as ShardSettings);
