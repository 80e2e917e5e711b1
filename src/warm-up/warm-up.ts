// The warm-up of the main thread: after the start, it sends requests to a sample server in memory while no
// client sends any, so that V8 has compiled the code that the first requests of clients need.
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "pino";
import type { ClientWork } from "../lib/client-work.ts";
import { WarmUpPace } from "../lib/warm-up-pace.ts";
import { SampleConnection } from "./sample-connection.ts";
import { sampleRequests } from "./sample-requests.ts";
import { openSampleServer, type SampleParts } from "./sample-server.ts";

/** Of each request. After 10 of them, the first ten frames took a third longer than after 20. */
const rounds = 20;
/** From the start to the first step: clients that wait for the server come first. */
const beginMs = 60;
/** After a request of a client: others may follow. */
const postponedMs = 20;
/** Of a stop for the step that runs. It takes milliseconds; if it never ends, the server must. */
const stopMsMax = 2_000;

/** The clients that come first. */
interface Clients {
  readonly server: Pick<Server, "on" | "off">;
  /** Has the calls of front threads; the requests to `server` are added. */
  readonly work: ClientWork;
}

interface WarmUpParts extends SampleParts {
  readonly log: Pick<Logger, "warn">;
}

/** Warms up while there is no work for clients. Returns the function that ends it. */
export function startWarmUp(clients: Clients, { log, ...parts }: WarmUpParts): () => Promise<void> {
  const report = (problem: unknown) => log.warn({ err: problem }, "The warm-up failed");
  return whileIdle(clients, { steps: warmUpSteps(parts), report });
}

/** Each step takes about as long as one request. */
export async function* warmUpSteps(parts: SampleParts): AsyncGenerator<undefined, void> {
  const { http, key, errors, forget } = yield* openSampleServer(parts);
  try {
    const requests = sampleRequests(key);
    for (let round = 0; round < rounds; round++) {
      forget();
      using connection = await SampleConnection.open(http.server);
      for (const request of requests) {
        const status = await connection.send(request);
        if (status >= 300)
          throw new Error(`The response to ${request.path} has the status ${status}`, {
            cause: new Error(errors.at(-1)),
          });
        yield;
      }
    }
  } finally {
    await http.close();
  }
}

interface Steps {
  readonly steps: AsyncGenerator<undefined, void>;
  /** Receives an error, which ends the steps. */
  readonly report: (problem: unknown) => void;
}

/** Runs the steps while there is no work for clients. Returns the function that ends them. */
export function whileIdle({ server, work }: Clients, { steps, report }: Steps): () => Promise<void> {
  const note = (_request: IncomingMessage, response: ServerResponse) => {
    work.begin();
    response.once("close", () => work.end());
  };
  server.on("request", note);
  const stopping = new AbortController();
  const ended = run(steps, work, stopping.signal)
    .catch(report)
    .finally(() => server.off("request", note));
  return async () => {
    stopping.abort();
    const late = new AbortController();
    const limit = pause(stopMsMax, undefined, { signal: late.signal }).catch(() => undefined);
    await Promise.race([ended, limit]);
    late.abort();
  };
}

async function run(steps: Steps["steps"], work: ClientWork, signal: AbortSignal): Promise<void> {
  const wait = (ms: number) => pause(ms, undefined, { ref: false, signal }).catch(() => undefined);
  const pace = new WarmUpPace();
  let noted = work.begun;
  try {
    await wait(beginMs);
    while (!signal.aborted) {
      if (work.open > 0 || work.begun > noted) pace.noteWork();
      for (; noted < work.begun; noted++) pace.noteCall();
      const next = pace.decide();
      if (next === "end") return;
      if (next === "postpone") await wait(postponedMs);
      else if ((await steps.next()).done) return;
      else await wait(0);
    }
  } finally {
    await steps.return();
  }
}
