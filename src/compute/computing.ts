// Runs long computations in the compute thread, which all callers share, and short steps on the main thread.
//
// A computation never blocks the event loop: it runs step by step, callers in fair turns. It stops when its
// request ends, and when it has compared as many characters as its limit allows.
import type { Worker } from "node:worker_threads";
import type { Caller } from "../access/caller.ts";
import { fail } from "../errors.ts";
import { FairScheduler } from "../lib/fair-scheduler.ts";
import { startWorker } from "../lib/heap-limits.ts";
import { Semaphore } from "../lib/semaphore.ts";
import { WorkerRpc } from "../lib/worker-rpc.ts";
import { limits } from "../limits.ts";
import type { Computation, ComputationModule, FromComputeThread, ToComputeThread } from "./computation.ts";

/** The caller of a request, and the request's end. */
export interface Requester {
  readonly caller: Pick<Caller, "projectId" | "user" | "userId">;
  /** Aborted when the client goes away or the deadline passes. */
  readonly signal: AbortSignal;
}

export interface ComputingLoad {
  /** Computations that hold a place, and those that wait for one. */
  readonly running: number;
  readonly waiting: number;
  /** Characters compared in the compute thread. */
  readonly compared: number;
  /** The time of all steps on the main thread. */
  readonly mainThreadSeconds: number;
}

interface SessionInput<Start, Query, Result> {
  readonly module: ComputationModule<Computation<Start, Query, Result>>;
  readonly start: Start;
}

type ComputeThread = WorkerRpc<ToComputeThread, FromComputeThread>;

export class Computing {
  readonly #places = {
    large: new Semaphore({
      places: limits.computationsLargeAtOnce,
      perCaller: limits.computationsLargePerCaller,
    }),
    small: new Semaphore({ places: limits.computationsAtOnce, perCaller: limits.computationsPerCaller }),
    background: new Semaphore({
      places: limits.computationsBackgroundAtOnce,
      perCaller: limits.computationsBackgroundPerCaller,
    }),
  };
  readonly #scheduler = new FairScheduler();
  #worker: Worker | undefined;
  #thread: ComputeThread | undefined;
  #isClosed = false;
  #lastSession = 0;
  #compared = 0;

  get load(): ComputingLoad {
    const loads = Object.values(this.#places).map(({ load }) => load);
    return {
      running: loads.reduce((sum, { taken }) => sum + taken, 0),
      waiting: loads.reduce((sum, { waiting }) => sum + waiting, 0),
      compared: this.#compared,
      mainThreadSeconds: this.#scheduler.busyMs / 1000,
    };
  }

  /**
   * Runs a step of a few milliseconds on the main thread, in the caller's turn: for computations whose data
   * would cost more to copy than to compute with. Rejects without running it once the request has ended.
   */
  step<Result>({ caller, signal }: Requester, step: () => Result): Promise<Result> {
    return this.#scheduler.run(keyOf(caller), signal, step);
  }

  /**
   * Passes `use` a session of the computation: a function that runs one query at a time in the compute
   * thread. Waits for a place first. Refuses (400) a computation that compares too many characters.
   */
  session<Start, Query, Result, Outcome>(
    { caller, signal }: Requester,
    { module, start }: SessionInput<Start, Query, Result>,
    use: (run: (query: Query) => Promise<Result>) => Promise<Outcome>,
  ): Promise<Outcome> {
    const key = keyOf(caller);
    return this.#places[module.size].use(key, signal, async () => {
      const id = ++this.#lastSession;
      this.#open().post({ kind: "open", id, caller: key, module: module.url.href, start });
      const onAbort = () => this.#thread?.cancel(id, signal.reason);
      signal.addEventListener("abort", onAbort, { once: true });
      try {
        return await use((query) => this.#run<Result>(id, query, signal));
      } finally {
        signal.removeEventListener("abort", onAbort);
        this.#thread?.post({ kind: "close", id });
      }
    });
  }

  /** Ends the compute thread, also while it computes. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#worker?.terminate();
  }

  async #run<Result>(id: number, query: unknown, signal: AbortSignal): Promise<Result> {
    signal.throwIfAborted();
    const reply = await this.#open().request({ kind: "query", id, query });
    if (reply.kind === "failed") throw new Error(`a computation failed: ${reply.problem}`);
    if (reply.kind === "too long")
      throw fail("computation-too-long", { limit: limits.computationCharactersMax });
    this.#compared += reply.compared;
    return reply.result as Result;
  }

  /** Starts the thread for the first computation, and again after it has failed. */
  #open(): ComputeThread {
    if (this.#isClosed) throw new Error("the server is stopping");
    if (this.#thread && !this.#thread.hasEnded) return this.#thread;
    const worker = startWorker(new URL("./compute-worker.ts", import.meta.url));
    worker.unref();
    this.#worker = worker;
    this.#thread = new WorkerRpc(worker, "the compute thread");
    return this.#thread;
  }
}

/** Keys and tokens of one account are one caller. */
const keyOf = ({ projectId, user, userId }: Requester["caller"]): string =>
  JSON.stringify([projectId, userId ?? user]);
