// The compute thread: runs the steps of all sessions, callers in turn, so that messages are read between
// them.
import { parentPort } from "node:worker_threads";
import { FairScheduler } from "../lib/fair-scheduler.ts";
import { invariant } from "../lib/invariant.ts";
import { limits } from "../limits.ts";
import type { Computation, FromThread, ToThread } from "./computation.ts";

type AnyComputation = Computation<unknown, unknown, unknown>;

interface Session {
  readonly caller: string;
  readonly closed: AbortController;
  /** Resolves once the module is loaded; questions of a session are answered one after another. */
  readonly computation: Promise<ReturnType<AnyComputation>>;
  compared: number;
}

invariant(parentPort !== null, "computations run in a thread of their own");
const port = parentPort;
const slices = new FairScheduler();
const sessions = new Map<number, Session>();

const send = (message: FromThread) => port.postMessage(message);

port.on("message", (message: ToThread) => {
  const { session } = message;
  if (message.kind === "open") sessions.set(session, opened(message));
  else if (message.kind === "ask") void answer(session, message.question);
  else {
    sessions.get(session)?.closed.abort();
    sessions.delete(session);
  }
});

function opened({ caller, module, start }: ToThread & { kind: "open" }): Session {
  const load = async () => {
    const { computation } = (await import(module)) as { readonly computation: AnyComputation };
    return computation(start);
  };
  const computation = load();
  computation.catch(() => {}); // It is raised where a question awaits it.
  return { caller, closed: new AbortController(), computation, compared: 0 };
}

async function answer(id: number, question: unknown): Promise<void> {
  const session = sessions.get(id);
  if (!session) {
    // It was opened in an earlier thread, which has ended by a fault.
    send({ kind: "failed", session: id, problem: "the session is unknown" });
    return;
  }
  const { caller, closed } = session;
  const before = session.compared;
  try {
    const steps = (await session.computation)(question);
    for (;;) {
      const { done, value } = await slices.run(caller, closed.signal, () => steps.next());
      if (done) {
        send({ kind: "answer", session: id, answer: value, compared: session.compared - before });
        return;
      }
      session.compared += value;
      if (session.compared > limits.computationCharactersMax) {
        send({ kind: "too long", session: id });
        return;
      }
    }
  } catch (problem) {
    if (!closed.signal.aborted) send({ kind: "failed", session: id, problem: String(problem) });
  }
}
