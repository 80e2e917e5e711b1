// The thread of one shard: applies changes and answers queries in the order they come, and moves points
// into blocks between them.
import { parentPort, workerData } from "node:worker_threads";
import { Failure, fail } from "../../errors.ts";
import { invariant } from "../../lib/invariant.ts";
import type { PointColumns } from "../points.ts";
import { bytesAt } from "./frame-memory.ts";
import { Shard } from "./shard.ts";
import type { FromShard, ShardCall, ShardCalls, ShardStart, ToApply, ToShard } from "./shard-calls.ts";

/**
 * While more heads than this wait for being written, changes are not confirmed, so that writers slow down.
 */
const backlogMax = 32;
/** After a failure of the file (a full disk, say) the background work waits so long before it tries again. */
const retryMs = 1000;

const start = workerData as ShardStart;
invariant(parentPort !== null, "a shard runs in a thread of its own");
const port = parentPort;
const shard = new Shard(start.path, start);
/** Set when a change could not be applied: what the heads hold is not what the journal says any more. */
let stopped: string | undefined;
let unconfirmed = 0;
let checkpointId: number | undefined;
let isWorking = false;

const answers: { readonly [Call in ShardCall]: (asked: ShardCalls[Call]["asks"], id: number) => void } = {
  scan: (asked, id) => sendColumns(id, shard.scan(asked)),
  aggregate: (asked, id) => send({ kind: "answer", id, answer: shard.aggregate(asked) }),
  latest: (asked, id) => send({ kind: "answer", id, answer: shard.latest(asked) }),
  stats: (_, id) => send({ kind: "answer", id, answer: shard.stats() }),
  checkpoint: (sequence, id) => {
    shard.beginCheckpoint(sequence);
    checkpointId = id;
  },
  close: (_, id) => {
    shard.close();
    send({ kind: "answer", id, answer: undefined });
    port.close();
  },
};

port.on("message", (message: ToShard) => {
  if (message.kind === "apply") for (const change of message.changes) apply(change);
  else answer(message);
  if (!isWorking && shard.isBusy) workSoon();
});
send({ kind: "open", applied: shard.applied });
if (shard.isBusy) workSoon();

function apply({ sequence, place, isReplay }: ToApply): void {
  unconfirmed += 1;
  try {
    if (stopped === undefined && sequence > shard.applied) shard.applyFrame(bytesAt(place));
  } catch (why) {
    stopped = (why as Error).message;
    endCheckpoint((id) => sendFailure(id, why));
  }
  if (isReplay || shard.backlog <= backlogMax || stopped !== undefined) confirm();
}

function confirm(): void {
  if (unconfirmed === 0) return;
  send({ kind: "confirmed", changes: unconfirmed });
  unconfirmed = 0;
}

function answer({ id, call, query }: ToShard & { kind: "ask" }): void {
  try {
    if (stopped !== undefined && call !== "close") {
      throw fail("points-shard-stopped", { shard: start.shard, problem: stopped });
    }
    (answers[call] as (asked: unknown, id: number) => void)(query, id);
  } catch (why) {
    sendFailure(id, why);
  }
}

function workSoon(): void {
  isWorking = true;
  setImmediate(work);
}

function work(): void {
  isWorking = false;
  if (stopped !== undefined) return;
  try {
    const completed = shard.work();
    if (completed !== undefined) endCheckpoint((id) => send({ kind: "answer", id, answer: undefined }));
    if (shard.backlog <= backlogMax) confirm();
    if (shard.isBusy) workSoon();
  } catch (why) {
    shard.giveUpCheckpoint();
    endCheckpoint((id) => sendFailure(id, why));
    isWorking = true;
    setTimeout(workSoon, retryMs).unref();
  }
}

function endCheckpoint(tell: (id: number) => void): void {
  if (checkpointId !== undefined) tell(checkpointId);
  checkpointId = undefined;
}

function send(message: FromShard, transfer: ArrayBuffer[] = []): void {
  port.postMessage(message, transfer);
}

function sendColumns(id: number, { times, values }: PointColumns): void {
  // Numbers lie in the same buffer.
  send({ kind: "answer", id, answer: { times, values } }, [times.buffer as ArrayBuffer]);
}

function sendFailure(id: number, why: unknown): void {
  const problem = why instanceof Error ? why.message : String(why);
  const refusal = why instanceof Failure ? { code: why.failure, details: why.details as never } : undefined;
  send({ kind: "failed", id, problem, ...(refusal && { refusal }) });
}
