// Makes the project of the settings at the first start.

import type { Settings } from "./config.ts";
import type { Services } from "./context.ts";
import { StartRefused } from "./data-folder.ts";
import { ensureProject } from "./resources/projects/projects.ts";

/** The access that the first start shows once. */
export interface FirstAccess {
  /** The key of the project that this start has created, unless the settings have one. */
  readonly newKey?: string;
  /** The token of a one-time link to the console, if this start has created the project. */
  readonly linkToken?: string;
}

const settingsKeyName = "administrator (MILLRACE_ADMIN_KEY)";

/**
 * Creates the project of the settings with a first key and a link to the console, unless the project exists.
 * Call after the port is open: a start that is refused because the port is in use must not lose the key.
 */
export async function ensureOwnProject(
  services: Services,
  { project: urlName, adminKey }: Settings,
): Promise<FirstAccess> {
  const { keys, sessions } = services;
  const { project, isNew } = await ensureProject(services, urlName);
  if (adminKey !== undefined && !(await keys.ensure(project, settingsKeyName, adminKey)))
    throw new StartRefused(
      `MILLRACE_ADMIN_KEY is a key of another project than ${urlName}, or was; choose another for this one`,
    );
  if (!isNew) return {};
  const created = adminKey === undefined ? await keys.create(project, "administrator") : undefined;
  const linkToken = await sessions.createLink(project);
  return { ...(created && { newKey: created.key }), linkToken };
}
