// "See as this group": an administrator reads with the rights of one group, in this window alone.
import type { QueryClient } from "@tanstack/react-query";
import { type Capability, defaults } from "../api/generated.ts";
import type { Session } from "./session.ts";

const storageKey = "millrace.see-as";
const header = "X-See-As-Group";

/** Actions that change nothing: a session that sees as a group has no others. */
const readActions = new Set(["READ", "LIST", "MEMBEROF"]);

/** The group that this window sees as. A reload of the page keeps it. */
export function seenGroupId(): number | undefined {
  const stored = Number(sessionStorage.getItem(storageKey));
  return Number.isSafeInteger(stored) && stored > 0 ? stored : undefined;
}

/** Makes each request of the generated client one of a member of the group; without an id, of the session. */
export function setSeenGroup(groupId: number | undefined): void {
  if (groupId === undefined) {
    sessionStorage.removeItem(storageKey);
    defaults.headers = {};
  } else {
    sessionStorage.setItem(storageKey, String(groupId));
    defaults.headers = { [header]: String(groupId) };
  }
}

/** Begins to see as a group, or ends it, and loads the pages again. */
export async function seeAs(queryClient: QueryClient, groupId: number | undefined): Promise<void> {
  await queryClient.cancelQueries();
  setSeenGroup(groupId);
  await queryClient.invalidateQueries({ queryKey: ["session"] });
  await queryClient.resetQueries({ predicate: ({ queryKey }) => queryKey[0] !== "session" });
}

/** The session as the pages show it while it sees as a group: the group's rights, without changes. */
export function asMember(session: Session, { id, name, capabilities }: SeenGroup): Session {
  const reads = capabilities.map(withoutChanges).filter((capability) => Object.keys(capability).length > 0);
  return { ...session, capabilities: reads, isAdministrator: false, seenAs: { id, name } };
}

function withoutChanges(capability: Capability): Capability {
  const types = Object.entries(capability as Record<string, { actions: string[]; scope: object }>);
  const reads = types.map(([type, { actions, scope }]) => ({
    ...{ type, scope, actions: actions.filter((action) => readActions.has(action)) },
  }));
  return Object.fromEntries(
    reads
      .filter(({ actions }) => actions.length > 0)
      .map(({ type, actions, scope }) => [type, { actions, scope }]),
  );
}

export interface SeenGroup {
  readonly id: number;
  readonly name: string;
  readonly capabilities: Session["capabilities"];
}
