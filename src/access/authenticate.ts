// Turns the credentials of a request into its caller.
import type { IncomingHttpHeaders } from "node:http";
import { fail } from "../errors.ts";
import { type Caller, requireCapability } from "./caller.ts";
import type { Acl, Action } from "./capabilities.ts";
import type { Keyring } from "./keys.ts";

/** Who asks; undefined without credentials or with bad ones. A key decides (client-endpoints 1.2). */
export async function callerOf(keys: Keyring, headers: IncomingHttpHeaders): Promise<Caller | undefined> {
  const key = headers["api-key"];
  return typeof key === "string" ? keys.callerOf(key) : undefined;
}

/** Refuses strangers (401), and callers of other projects (C2) or without the capability (403). */
export function admit(
  caller: Caller | undefined,
  project: string,
  capability: readonly [Acl, Action] | "member",
): Caller {
  if (!caller) throw fail("unauthenticated", {});
  if (caller.project !== project) throw fail("foreign-project", { project });
  if (capability !== "member") requireCapability(caller, ...capability);
  return caller;
}
