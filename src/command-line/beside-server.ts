// Opens the data folder for commands, also while a server runs on it.
import { accessOf } from "../access-parts.ts";
import { catalogBackend, openIds } from "../catalog-backend.ts";
import { readSettings, type Settings } from "../config.ts";
import type { Services } from "../context.ts";
import { refuseWhileCopied } from "../copy/copy-record.ts";
import { StartRefused, secretOf } from "../data-folder.ts";
import { requireCatalog } from "../data-parts.ts";
import { makeFilesPrivate } from "../file-modes.ts";
import { realSystem as system } from "../lib/system.ts";
import { byUrlName, type Project } from "../resources/projects/projects.ts";

/** The catalog of the data folder, with keys, rights and settings. */
export type Opened = Pick<Services, "catalog" | "ids" | "system" | "keys" | "rights" | "sessions"> & {
  readonly settings: Settings;
};

/** Opens the catalog of the configured data folder, which must exist, while `work` runs. */
export async function withCatalog(work: (opened: Opened) => Promise<void>): Promise<void> {
  const settings = readSettings(process.env, process.cwd());
  if (settings.catalogUrl === undefined) requireCatalog(settings.data);
  makeFilesPrivate();
  const chosen = catalogBackend(settings, system, console.error);
  const catalog = await chosen.open();
  try {
    await refuseWhileCopied(catalog);
    const services = { catalog, ids: await openIds(catalog, system), system };
    const secret = await chosen.secret(secretOf(settings.data, system));
    await work({ ...services, ...accessOf(services, secret), settings });
  } finally {
    await catalog.close();
  }
}

/** The same with the project `name`, else the configured one. Throws `StartRefused` if there is none. */
export function withProject(
  name: string | undefined,
  work: (opened: Opened, project: Project) => Promise<void>,
): Promise<void> {
  return withCatalog(async (opened) => {
    const { settings, catalog } = opened;
    const urlName = name?.normalize("NFC") ?? settings.project;
    const project = await catalog.read("system", (tx) => byUrlName(tx, urlName));
    if (!project) throw new StartRefused(`There is no project ${urlName} in ${settings.data}`);
    await work(opened, project);
  });
}
