// Long computations off the main thread: who may run one when, and the main thread's end of the compute
// thread.
//
// A computation never holds the event loop: it runs in the compute thread, step by step, callers in turn. It
// stops when its request ends, and when it has compared as many characters as one may.
import { Worker } from "node:worker_threads";
import type { Caller } from "../access/caller.ts";
import { fail } from "../errors.ts";
import { FairScheduler } from "../lib/fair-scheduler.ts";
import { FairSemaphore } from "../lib/fair-semaphore.ts";
import { limits } from "../limits.ts";
import type { Computation, ComputationModule, FromThread, ToThread } from "./computation.ts";

/** Whose request it is, and when it ends. */
export interface Requester {
  readonly caller: Pick<Caller, "projectId" | "user" | "userId">;
  /** Aborted when the client goes away or the deadline passes. */
  readonly signal: AbortSignal;
}

export interface ComputingLoad {
  /** Computations that hold a place, and those that wait for one. */
  readonly running: number;
  readonly waiting: number;
  /** Characters compared in the compute thread, and seconds of steps on the main thread. */
  readonly compared: number;
  readonly mainThreadSeconds: number;
}

interface Pending {
  readonly resolve: (answer: never) => void;
  readonly reject: (why: unknown) => void;
}

export class Computing {
  readonly #places = {
    large: new FairSemaphore({
      places: limits.computationsLargeAtOnce,
      perCaller: limits.computationsLargePerCaller,
    }),
    small: new FairSemaphore({ places: limits.computationsAtOnce, perCaller: limits.computationsPerCaller }),
    background: new FairSemaphore({
      places: limits.computationsBackgroundAtOnce,
      perCaller: limits.computationsBackgroundPerCaller,
    }),
  };
  readonly #slices = new FairScheduler();
  /** Questions without an answer yet, by session; a session has one at a time. */
  readonly #pending = new Map<number, Pending>();
  #worker: Worker | undefined;
  #isClosed = false;
  #lastSession = 0;
  #compared = 0;

  get load(): ComputingLoad {
    const loads = Object.values(this.#places).map(({ load }) => load);
    return {
      running: loads.reduce((sum, { taken }) => sum + taken, 0),
      waiting: loads.reduce((sum, { waiting }) => sum + waiting, 0),
      compared: this.#compared,
      mainThreadSeconds: this.#slices.busyMs / 1000,
    };
  }

  /**
   * Runs a step of a few milliseconds on the main thread, in the caller's turn: for computations whose data
   * would cost more to copy than to compute with. Rejects without running it once the request has ended.
   */
  step<Result>({ caller, signal }: Requester, step: () => Result): Promise<Result> {
    return this.#slices.run(keyOf(caller), signal, step);
  }

  /**
   * Gives `use` a session of the computation in the compute thread: questions are asked one after another.
   * Waits for a place first. Refuses (400) a computation that compares too many characters.
   */
  session<Start, Question, Answer, Result>(
    { caller, signal }: Requester,
    {
      module,
      start,
    }: { readonly module: ComputationModule<Computation<Start, Question, Answer>>; readonly start: Start },
    use: (ask: (question: Question) => Promise<Answer>) => Promise<Result>,
  ): Promise<Result> {
    const key = keyOf(caller);
    return this.#places[module.size].use(key, signal, async () => {
      const session = ++this.#lastSession;
      this.#post({ kind: "open", session, caller: key, module: module.url.href, start });
      const giveUp = () => this.#settle(session, ({ reject }) => reject(signal.reason));
      signal.addEventListener("abort", giveUp, { once: true });
      try {
        return await use((question) => this.#ask(session, question, signal));
      } finally {
        signal.removeEventListener("abort", giveUp);
        this.#post({ kind: "close", session });
      }
    });
  }

  /** Ends the compute thread, whatever it computes. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#worker?.terminate();
  }

  #ask<Answer>(session: number, question: unknown, signal: AbortSignal): Promise<Answer> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      if (this.#isClosed) throw new Error("the server is stopping");
      this.#pending.set(session, { resolve, reject });
      this.#post({ kind: "ask", session, question });
    });
  }

  #settle(session: number, settle: (pending: Pending) => void): void {
    const pending = this.#pending.get(session);
    this.#pending.delete(session);
    if (pending) settle(pending);
  }

  #hear(message: FromThread): void {
    this.#settle(message.session, ({ resolve, reject }) => {
      if (message.kind === "answer") resolve(message.answer as never);
      else if (message.kind === "failed") reject(new Error(`a computation failed: ${message.problem}`));
      else reject(fail("computation-too-long", { limit: limits.computationCharactersMax }));
    });
    if (message.kind === "answer") this.#compared += message.compared;
  }

  /** The thread starts with the first computation, and again after it has ended by a fault. */
  #post(message: ToThread): void {
    if (this.#isClosed) return;
    this.#worker ??= this.#started();
    this.#worker.postMessage(message);
  }

  #started(): Worker {
    const worker = new Worker(new URL("./compute-worker.ts", import.meta.url));
    const end = (problem: string) => {
      if (this.#worker !== worker) return;
      this.#worker = undefined;
      for (const session of [...this.#pending.keys()])
        this.#settle(session, ({ reject }) => reject(new Error(`the compute thread ended: ${problem}`)));
    };
    worker.on("message", (message: FromThread) => this.#hear(message));
    worker.on("error", (problem) => end(String(problem)));
    worker.on("exit", () => end("it was stopped"));
    worker.unref();
    return worker;
  }
}

/** Keys and tokens of one account are one caller. */
const keyOf = ({ projectId, user, userId }: Requester["caller"]): string =>
  JSON.stringify([projectId, userId ?? user]);
