// How long a request lives: until it is answered, its client goes away, or its deadline passes.
import type { ServerResponse } from "node:http";
import { fail } from "../errors.ts";
import { limits } from "../limits.ts";

export interface RequestScope {
  /** Aborted when the client goes away or the deadline passes. */
  readonly signal: AbortSignal;
  /** The work's outcome, or a refusal (503) if the deadline comes first. */
  within<Outcome>(work: Promise<Outcome>): Promise<Outcome>;
}

/** Watches one response; `ended` runs once, when it is closed for whatever reason. */
export function requestScope(response: ServerResponse, ended: () => void): RequestScope {
  const controller = new AbortController();
  const { signal } = controller;
  const giveUp = () => controller.abort(fail("deadline", { limitMs: limits.requestMsMax }));
  const timer = setTimeout(giveUp, limits.requestMsMax);
  response.once("close", () => {
    clearTimeout(timer);
    if (!response.writableFinished) controller.abort(new Error("the client went away"));
    ended();
  });
  return {
    signal,
    within: (work) =>
      new Promise((resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
        work.then(resolve, reject);
      }),
  };
}
