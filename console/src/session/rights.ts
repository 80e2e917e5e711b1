// The rights of the person at the console, as the groups grant them. The server checks every request itself.
import type { Session } from "./session.ts";

/** Whether a group grants the action, for all records or for some of them. */
export const mayDo = ({ capabilities, isAdministrator }: Session, acl: string, action: string): boolean =>
  isAdministrator ||
  capabilities.some((capability) => {
    const granted = (capability as Record<string, { readonly actions: readonly string[] } | undefined>)[acl];
    return granted?.actions.includes(action) ?? false;
  });
