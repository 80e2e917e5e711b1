// Decides whether a caller may come in to a route at all.
import { fail } from "../errors.ts";
import type { AuthenticationResult } from "./authenticator.ts";
import { type Caller, requireCapability } from "./caller.ts";
import type { Acl, Action } from "./capabilities.ts";

/**
 * Refuses requests without credentials (401), and callers of other projects or without the capability (403).
 */
export function authorize(
  { caller, refusal }: AuthenticationResult,
  project: string,
  capability: readonly [Acl, Action] | "member",
): Caller {
  if (!caller) throw refusal ?? fail("unauthenticated", { reason: "no-credentials" });
  if (caller.project !== project) throw fail("foreign-project", { project });
  if (capability !== "member") requireCapability(caller, ...capability);
  return caller;
}
