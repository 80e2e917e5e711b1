// The main thread's end of one shard: sends it changes and questions, and hands back its answers.
import { Worker } from "node:worker_threads";
import { fail } from "../../errors.ts";
import type { Change } from "./change.ts";
import type { FromShard, ShardCall, ShardCalls, ShardStart, ToApply, ToShard } from "./shard-calls.ts";

interface Asked {
  readonly resolve: (answer: never) => void;
  readonly reject: (why: Error) => void;
}

/** What the store says to a shard. */
export type ShardLink = Pick<ShardThread, "apply" | "ask" | "close">;

export interface OpenShard {
  readonly thread: ShardLink;
  /** The sequence number up to which the shard holds all changes in blocks. */
  readonly applied: number;
}

export class ShardThread {
  readonly #start: ShardStart;
  readonly #worker: Worker;
  readonly #asked = new Map<number, Asked>();
  readonly #onConfirmed: (bytes: number) => void;
  #nextId = 1;
  #unconfirmedBytes = 0;
  #ended: string | undefined;
  #opened: { resolve: (applied: number) => void; reject: (why: Error) => void } | undefined;

  private constructor(start: ShardStart, onConfirmed: (bytes: number) => void) {
    this.#start = start;
    this.#onConfirmed = onConfirmed;
    this.#worker = new Worker(new URL("./shard-worker.ts", import.meta.url), { workerData: start });
    this.#worker.on("message", (message: FromShard) => this.#hear(message));
    this.#worker.on("error", (why) => this.#end((why as Error).message));
    this.#worker.on("exit", () => this.#end("its thread has ended"));
  }

  static async open(start: ShardStart, onConfirmed: (bytes: number) => void): Promise<OpenShard> {
    const thread = new ShardThread(start, onConfirmed);
    const applied = await new Promise<number>((resolve, reject) => {
      thread.#opened = { resolve, reject };
    });
    return { thread, applied };
  }

  /** Changes are applied in the order of these calls, and seen by every question asked later. */
  apply(change: ToApply): void {
    this.#unconfirmedBytes += change.bytes;
    if (this.#ended !== undefined) {
      this.#confirm(change.bytes);
      return;
    }
    const message: ToShard = { kind: "apply", ...change };
    this.#worker.postMessage(message, buffersOf(change.change));
  }

  /** Refuses with the shard's own refusal, or `points-shard-stopped`. */
  ask<Call extends ShardCall>(
    call: Call,
    question: ShardCalls[Call]["asks"],
  ): Promise<ShardCalls[Call]["answers"]> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== undefined) {
        reject(this.#stopped());
        return;
      }
      const id = this.#nextId++;
      this.#asked.set(id, { resolve, reject });
      const message: ToShard = { kind: "ask", id, call, question };
      this.#worker.postMessage(message);
    });
  }

  /** Lets go of the shard's file and ends its thread. */
  async close(): Promise<void> {
    try {
      await this.ask("close", undefined);
    } finally {
      await this.#worker.terminate();
    }
  }

  #hear(message: FromShard): void {
    if (message.kind === "open") this.#opened?.resolve(message.applied);
    else if (message.kind === "confirmed") this.#confirm(message.bytes);
    else this.#settle(message);
  }

  #confirm(bytes: number): void {
    this.#unconfirmedBytes -= bytes;
    this.#onConfirmed(bytes);
  }

  #settle(message: FromShard & { kind: "answer" | "failed" }): void {
    const asked = this.#asked.get(message.id);
    this.#asked.delete(message.id);
    if (message.kind === "answer") asked?.resolve(message.answer as never);
    else if (message.refusal) asked?.reject(fail(message.refusal.code, message.refusal.details as never));
    else asked?.reject(new Error(`shard ${this.#start.shard}: ${message.problem}`));
  }

  #end(problem: string): void {
    this.#ended ??= problem;
    this.#opened?.reject(new Error(`shard ${this.#start.shard} cannot be opened: ${this.#ended}`));
    for (const { reject } of this.#asked.values()) reject(this.#stopped());
    this.#asked.clear();
    this.#confirm(this.#unconfirmedBytes);
  }

  #stopped(): Error {
    return fail("points-shard-stopped", { shard: this.#start.shard, problem: this.#ended ?? "" });
  }
}

/** The buffers that a change owns alone, which move to the other thread instead of being copied. */
function buffersOf(change: Change): ArrayBuffer[] {
  if (change.kind === "erase") return [];
  const buffers = new Set<ArrayBuffer>();
  for (const runs of [change.batch.numbers, change.batch.strings]) {
    if (runs === undefined) continue;
    for (const column of [runs.series, runs.ends, runs.times, runs.values]) {
      if (ArrayBuffer.isView(column)) buffers.add(column.buffer as ArrayBuffer);
    }
  }
  return [...buffers];
}
