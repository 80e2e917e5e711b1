// The rights of the person at the console, as the groups grant them. The server checks every request itself.
import type { Session } from "./session.ts";

interface Grant {
  readonly actions: readonly string[];
  readonly scope: Readonly<Record<string, unknown>>;
}

/** Whether a group grants the action, for all records or for some of them. */
export const mayDo = ({ capabilities, isAdministrator }: Session, acl: string, action: string): boolean =>
  isAdministrator ||
  capabilities.some((capability) => {
    const granted = (capability as Record<string, Grant | undefined>)[acl];
    return granted?.actions.includes(action) ?? false;
  });

/** Whether every group that grants the action does so for some records only. */
export const isForSomeRecords = ({ capabilities, isAdministrator }: Session, acl: string, action: string) =>
  !isAdministrator &&
  capabilities.every((capability) => {
    const granted = (capability as Record<string, Grant | undefined>)[acl];
    return granted?.scope["all"] === undefined || !granted.actions.includes(action);
  });
