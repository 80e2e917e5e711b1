// The main thread's end of one shard: sends it changes and queries, and hands back its answers.
import { Worker } from "node:worker_threads";
import { fail } from "../../errors.ts";
import type { FromShard, ShardCall, ShardCalls, ShardStart, ToApply, ToShard } from "./shard-calls.ts";

/** Changes that share a message to the shard, unless it is asked something or so much time has passed. */
const heldMax = 16;
const heldBytesMax = 2 ** 18;
const heldMsMax = 5;

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
  /** What to call for each change that is not confirmed yet, in order. */
  readonly #unconfirmed: (() => void)[] = [];
  /** Changes that were not sent yet: a message wakes a thread, which costs more than to apply a small one. */
  #held: ToApply[] = [];
  #heldBytes = 0;
  readonly #timer: NodeJS.Timeout;
  #nextId = 1;
  #ended: string | undefined;
  #opened: { resolve: (applied: number) => void; reject: (why: Error) => void } | undefined;

  private constructor(start: ShardStart) {
    this.#start = start;
    this.#worker = new Worker(new URL("./shard-worker.ts", import.meta.url), { workerData: start });
    this.#timer = setTimeout(() => this.#sendHeld(), heldMsMax).unref();
    this.#worker.on("message", (message: FromShard) => this.#hear(message));
    this.#worker.on("error", (why) => this.#end((why as Error).message));
    this.#worker.on("exit", () => this.#end("its thread has ended"));
  }

  static async open(start: ShardStart): Promise<OpenShard> {
    const thread = new ShardThread(start);
    const applied = await new Promise<number>((resolve, reject) => {
      thread.#opened = { resolve, reject };
    });
    return { thread, applied };
  }

  /**
   * Changes are applied in the order of these calls, and seen by every query asked later. `onConfirmed` is
   * called when the frame is needed no more and the shard is ready for others.
   */
  apply(change: ToApply, onConfirmed: () => void): void {
    if (this.#ended !== undefined) {
      onConfirmed();
      return;
    }
    this.#unconfirmed.push(onConfirmed);
    this.#held.push(change);
    this.#heldBytes += change.place.length;
    if (this.#heldBytes >= heldBytesMax || this.#held.length >= heldMax) this.#sendHeld();
    else if (this.#held.length === 1) this.#timer.refresh();
  }

  #sendHeld(): void {
    if (this.#held.length === 0) return;
    this.#post({ kind: "apply", changes: this.#held });
    this.#held = [];
    this.#heldBytes = 0;
  }

  #post(message: ToShard): void {
    this.#worker.postMessage(message);
  }

  /** Refuses with the shard's own refusal, or `points-shard-stopped`. */
  ask<Call extends ShardCall>(
    call: Call,
    query: ShardCalls[Call]["asks"],
  ): Promise<ShardCalls[Call]["answers"]> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== undefined) {
        reject(this.#stopped());
        return;
      }
      const id = this.#nextId++;
      this.#asked.set(id, { resolve, reject });
      this.#sendHeld();
      this.#post({ kind: "ask", id, call, query });
    });
  }

  /** Lets go of the shard's file and ends its thread. */
  async close(): Promise<void> {
    try {
      await this.ask("close", undefined);
    } finally {
      clearTimeout(this.#timer);
      await this.#worker.terminate();
    }
  }

  #hear(message: FromShard): void {
    if (message.kind === "open") this.#opened?.resolve(message.applied);
    else if (message.kind === "confirmed") this.#confirm(message.changes);
    else this.#settle(message);
  }

  #confirm(changes: number): void {
    for (const onConfirmed of this.#unconfirmed.splice(0, changes)) onConfirmed();
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
    this.#confirm(this.#unconfirmed.length);
  }

  #stopped(): Error {
    return fail("points-shard-stopped", { shard: this.#start.shard, problem: this.#ended ?? "" });
  }
}
