// The state of a message in the record of its run. `deliveryTime` is when the next attempt is due.
import { limits } from "../../../limits.ts";
import type { Delivery, Transformation, TransformationRun } from "../schema.ts";

/** An ended run, with a message to send if its transformation has a webhook for this end. */
export function withDelivery(
  run: TransformationRun,
  transformation: Transformation | undefined,
  nowMs: number,
): TransformationRun {
  const { webhook } = transformation ?? {};
  const needsMessage =
    run.status === "FAILED" || (run.status === "COMPLETED_WITH_REFUSALS" && webhook?.onRefusals === true);
  return webhook && needsMessage
    ? { ...run, delivery: { state: "PENDING", attempts: 0 }, deliveryTime: nowMs }
    : run;
}

/** A run whose next attempt begins now. If the server ends meanwhile, the time of a later one is set. */
export function withAttempt(run: TransformationRun, nowMs: number): TransformationRun {
  const attempts = (run.delivery?.attempts ?? 0) + 1;
  const delivery: Delivery = { state: "PENDING", attempts, lastTime: nowMs };
  return { ...run, delivery, deliveryTime: nowMs + delayAfter(attempts) };
}

/** Each delay is six times the one before. */
const delayAfter = (attempts: number): number =>
  Math.min(limits.webhookDelayMs * 6 ** (attempts - 1), limits.webhookDelayMsMax);

/** A run after an attempt; `problem` is undefined if the message was received. */
export function withOutcome(run: TransformationRun, problem: string | undefined): TransformationRun {
  const { deliveryTime, ...rest } = run;
  const { problem: _, ...delivery } = run.delivery!;
  if (problem === undefined) return { ...rest, delivery: { ...delivery, state: "DELIVERED" } };
  const isLast = delivery.attempts >= limits.webhookAttempts || deliveryTime === undefined;
  return isLast
    ? { ...rest, delivery: { ...delivery, problem, state: "FAILED" } }
    : { ...run, delivery: { ...delivery, problem } };
}

/** A run whose message is not sent any more. */
export function withoutAttempts(run: TransformationRun, problem: string): TransformationRun {
  const { deliveryTime: _, ...rest } = run;
  return { ...rest, delivery: { ...rest.delivery!, problem, state: "FAILED" } };
}
