// The compute thread: runs the steps of all sessions in turns of callers, and reads messages between the
// turns.
import { type MessagePort, parentPort } from "node:worker_threads";
import { FairScheduler } from "../lib/fair-scheduler.ts";
import { invariant } from "../lib/invariant.ts";
import { limits } from "../limits.ts";
import type { Computation, FromThread, ToThread } from "./computation.ts";

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
    port.on("message", (message: ToThread) => this.#receive(message));
  }

  #receive(message: ToThread): void {
    const { session } = message;
    if (message.kind === "open") this.#sessions.set(session, opened(message));
    else if (message.kind === "ask") void this.#run(session, message.question);
    else {
      this.#sessions.get(session)?.closed.abort();
      this.#sessions.delete(session);
    }
  }

  async #run(id: number, query: unknown): Promise<void> {
    const session = this.#sessions.get(id);
    if (!session) {
      // The session was opened in an earlier thread, which a fault has ended.
      this.#send({ kind: "failed", session: id, problem: "the session is unknown" });
      return;
    }
    const { caller, closed } = session;
    const before = session.compared;
    try {
      const steps = (await session.computation)(query);
      for (;;) {
        const { done, value } = await this.#scheduler.run(caller, closed.signal, () => steps.next());
        if (done) {
          const compared = session.compared - before;
          this.#send({ kind: "answer", session: id, answer: value, compared });
          return;
        }
        session.compared += value;
        if (session.compared > limits.computationCharactersMax) {
          this.#send({ kind: "too long", session: id });
          return;
        }
      }
    } catch (problem) {
      if (!closed.signal.aborted) this.#send({ kind: "failed", session: id, problem: String(problem) });
    }
  }

  #send(message: FromThread): void {
    this.#port.postMessage(message);
  }
}

function opened({ caller, module, start }: ToThread & { kind: "open" }): Session {
  const load = async () => {
    const { computation } = (await import(module)) as { readonly computation: AnyComputation };
    return computation(start);
  };
  const computation = load();
  computation.catch(() => {}); // The query that awaits the module gets this failure.
  return { caller, closed: new AbortController(), computation, compared: 0 };
}

invariant(parentPort !== null, "computations run in a thread of their own");
new ComputeWorker(parentPort);
