// Sends calls to the thread of a shard, and settles their promises.
import { errorFrom } from "../../errors/between-threads.ts";
import { fail } from "../../errors.ts";
import type { WorkerRpc } from "../../lib/worker-rpc.ts";
import type { CallMessage, CallReply, OpenShardCall, ShardCall, ShardCalls } from "./shard-messages.ts";

/**
 * Calls of one turn of the event loop are sent together, as a message costs 20 to 50 us on both sides. More
 * calls are sent in several messages, so that a shard does other work between them.
 */
const callsPerMessageMax = 16;

interface ShardCallerParts {
  readonly shard: number;
  readonly rpc: Pick<WorkerRpc<unknown, CallReply>, "newId" | "replyTo" | "hasEnded">;
  /** Posts the calls to the thread. */
  readonly post: (calls: readonly CallMessage[]) => void;
}

export class ShardCaller {
  readonly #parts: ShardCallerParts;
  #calls: CallMessage[] = [];

  constructor(parts: ShardCallerParts) {
    this.#parts = parts;
  }

  /** Rejects with the shard's own failure, or with `points-shard-stopped` when its thread has ended. */
  async call<Call extends OpenShardCall>(
    call: Call,
    input: ShardCalls[Call]["input"],
  ): Promise<ShardCalls[Call]["result"]> {
    const reply = await this.request(call, input).catch((error: Error) => {
      throw fail("points-shard-stopped", { shard: this.#parts.shard, problem: problemOf(error) });
    });
    return this.resultOf(reply) as ShardCalls[Call]["result"];
  }

  /** Rejects when the thread has ended. */
  request(call: ShardCall, input: unknown): Promise<CallReply> {
    const { rpc } = this.#parts;
    const id = rpc.newId();
    const reply = rpc.replyTo(id);
    if (rpc.hasEnded) return reply;
    if (this.#calls.push({ id, call, input }) === 1) queueMicrotask(() => this.#send());
    if (this.#calls.length === callsPerMessageMax) this.#send();
    return reply;
  }

  /** Throws the failure of the call. */
  resultOf(reply: CallReply): unknown {
    if (reply.kind === "result") return reply.result;
    throw errorFrom(reply, `shard ${this.#parts.shard}`);
  }

  #send(): void {
    if (this.#calls.length === 0) return;
    const calls = this.#calls;
    this.#calls = [];
    this.#parts.post(calls);
  }
}

/** The message of the error that ended the thread, if there was one. */
export const problemOf = ({ cause, message }: Error): string =>
  cause instanceof Error ? cause.message : message;
