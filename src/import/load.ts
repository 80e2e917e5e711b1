// Sends batches with several requests in flight, and acknowledges them in the order of the file.
import type { Batch } from "./batches.ts";

interface Loading {
  readonly inFlightMax: number;
  readonly send: (batch: Batch) => Promise<void>;
  /** Called in the order of the file once a batch and all before it are on disk. */
  readonly acknowledge: (batch: Batch) => void;
  /** Aborted: no request is begun any more; those in flight are finished. */
  readonly stop: AbortSignal;
}

/**
 * A batch whose times do not lie after all times in flight waits for those: of equal times the last of the
 * file has to win, and requests that are open together may arrive in any order.
 */
export async function load(batches: AsyncIterable<Batch>, loading: Loading): Promise<void> {
  const { inFlightMax, send, acknowledge, stop } = loading;
  const inFlight: { batch: Batch; sent: Promise<void> }[] = [];
  const settleFirst = async () => {
    const first = inFlight[0];
    if (!first) return;
    await first.sent;
    inFlight.shift();
    acknowledge(first.batch);
  };
  const mustWait = (batch: Batch) =>
    inFlight.length >= inFlightMax || inFlight.some((one) => one.batch.lastMs >= batch.firstMs);
  try {
    for await (const batch of batches) {
      if (stop.aborted) break;
      while (inFlight.length > 0 && mustWait(batch)) await settleFirst();
      const sent = batch.points === 0 ? Promise.resolve() : send(batch);
      sent.catch(() => {});
      inFlight.push({ batch, sent });
    }
    while (inFlight.length > 0) await settleFirst();
  } finally {
    await Promise.allSettled(inFlight.map((one) => one.sent));
  }
}
