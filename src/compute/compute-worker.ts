// The compute thread: runs the steps of all sessions in fair turns, and reads messages between two steps.
import { type MessagePort, parentPort } from "node:worker_threads";
import { FairScheduler } from "../lib/fair-scheduler.ts";
import { invariant } from "../lib/invariant.ts";
import { limits } from "../limits.ts";
import type { Computation, FromComputeThread, ToComputeThread } from "./computation.ts";

type AnyComputation = Computation<unknown, unknown, unknown>;

interface Session {
  readonly caller: string;
  readonly closed: AbortController;
  /** Resolves once the module is loaded. Queries of a session run one after another. */
  readonly computation: Promise<ReturnType<AnyComputation>>;
  compared: number;
}

class ComputeWorker {
  readonly #port: MessagePort;
  readonly #scheduler = new FairScheduler();
  readonly #sessions = new Map<number, Session>();

  constructor(port: MessagePort) {
    this.#port = port;
    port.on("message", (message: ToComputeThread) => this.#receive(message));
  }

  #receive(message: ToComputeThread): void {
    const { id } = message;
    if (message.kind === "open") this.#sessions.set(id, opened(message));
    else if (message.kind === "query") void this.#run(id, message.query);
    else {
      this.#sessions.get(id)?.closed.abort();
      this.#sessions.delete(id);
    }
  }

  async #run(id: number, query: unknown): Promise<void> {
    const session = this.#sessions.get(id);
    if (!session) {
      // The session was opened in an earlier thread, which has failed.
      this.#send({ kind: "failed", id, problem: "the session is unknown" });
      return;
    }
    const { caller, closed } = session;
    const before = session.compared;
    try {
      const steps = (await session.computation)(query);
      for (;;) {
        const { done, value } = await this.#scheduler.run(caller, closed.signal, () => steps.next());
        if (done) {
          this.#send({ kind: "result", id, result: value, compared: session.compared - before });
          return;
        }
        session.compared += value;
        if (session.compared > limits.computationCharactersMax) {
          this.#send({ kind: "too long", id });
          return;
        }
      }
    } catch (problem) {
      if (!closed.signal.aborted) this.#send({ kind: "failed", id, problem: String(problem) });
    }
  }

  #send(message: FromComputeThread): void {
    this.#port.postMessage(message);
  }
}

function opened({ caller, module, start }: ToComputeThread & { kind: "open" }): Session {
  const load = async () => {
    const { computation } = (await import(module)) as { readonly computation: AnyComputation };
    return computation(start);
  };
  const computation = load();
  computation.catch(() => {}); // The query that awaits the module reports this failure.
  return { caller, closed: new AbortController(), computation, compared: 0 };
}

invariant(parentPort !== null, "computations run in a thread of their own");
new ComputeWorker(parentPort);
