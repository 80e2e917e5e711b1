// The memory budgets for bodies and responses, and the reservation of each request.
import { limits } from "../limits.ts";
import type { ResponseMemory } from "../query/read-within.ts";
import { bodyBuffers } from "./body.ts";
import { MemoryBudget } from "./memory-budget.ts";
import type { Metrics } from "./metrics.ts";
import type { Kernel } from "./pipeline.ts";
import { type Deadlines, type RequestLifetime, usualDeadlines } from "./request-lifetime.ts";

/** The bounds of all responses; tests use other ones. */
export interface ResponseBounds {
  readonly bytes: number;
  readonly deadlines: Deadlines;
}

export const usualBounds: ResponseBounds = {
  bytes: limits.responsesInFlightBytesMax,
  deadlines: usualDeadlines,
};

/**
 * The memory that the requests of a thread share, with its metrics. Front threads divide it among them; only
 * the memory that one large body or response may take in addition is that of each.
 */
export function memoryOf(
  { bytes, deadlines }: ResponseBounds,
  metrics: Pick<Metrics, "showResponses">,
  threads = 1,
): Pick<Kernel, "bodies" | "responses" | "deadlines"> {
  const budget = new MemoryBudget({
    sharedBytes: limits.bodiesInFlightBytesMax / threads,
    clientBytes: limits.clientBodiesBytesMax / threads,
    reserveBytes: limits.bodyReserveBytes,
    uncountedBytes: limits.bodyBytesUncounted,
  });
  const responses = new MemoryBudget({
    sharedBytes: bytes / threads,
    clientBytes: limits.clientResponsesBytesMax / threads,
    reserveBytes: limits.responseReserveBytes,
    uncountedBytes: limits.responseBytesUncounted,
  });
  metrics.showResponses(responses);
  return { bodies: { budget, buffers: bodyBuffers() }, responses, deadlines };
}

/** The reservation of a request lasts until its response is sent or aborted. */
export function responseMemory(
  budget: MemoryBudget,
  client: string,
  lifetime: RequestLifetime,
): ResponseMemory {
  const reservation = budget.open(client);
  lifetime.atEnd(() => reservation.release());
  return {
    async reserve(bytes) {
      lifetime.signal.throwIfAborted();
      await reservation.resize(bytes, lifetime.signal);
    },
  };
}
