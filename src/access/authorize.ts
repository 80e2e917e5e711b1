// Decides whether a caller has access to a project at all.
import { fail } from "../errors.ts";
import type { AuthenticationResult } from "./authenticator.ts";
import type { Caller } from "./caller.ts";

/** Refuses requests without valid credentials (401), and callers of other projects (403). */
export function authorize({ caller, refusal }: AuthenticationResult, project: string): Caller {
  if (!caller) throw refusal ?? fail("unauthenticated", { reason: "no-credentials" });
  if (caller.projectUrlName !== project) throw fail("foreign-project", { project });
  return caller;
}
