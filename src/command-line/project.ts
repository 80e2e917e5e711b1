// `millrace project`: creates and lists projects, also while a server runs on the same data folder.
import { parseArgs } from "node:util";
import { described, isProjectName } from "../config.ts";
import { StartRefused } from "../data-folder.ts";
import { allProjects, ensureProject } from "../resources/projects/projects.ts";
import { audited } from "./audited.ts";
import { type Opened, withCatalog } from "./beside-server.ts";
import { type Command, Misused } from "./command.ts";
import { expectWords, printTable } from "./words.ts";

type Action = (opened: Opened, words: readonly string[]) => Promise<void>;

export const project: Command = {
  usage: `Usage: millrace project create <name>
       millrace project list

Projects are separate: a key of one project sees nothing of another. The name of a project is part of every
address and never changes. It has letters, digits and hyphens, with no hyphen at either end. A new project
gets an administrator with a key, which is shown once. A running server serves the project at once.
The data folder is MILLRACE_DATA, else ./millrace-data.`,
  async run(words) {
    const { positionals } = parseArgs({ args: [...words], options: {}, allowPositionals: true });
    const [name = "", ...rest] = positionals;
    const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
    if (!action)
      throw new Misused(
        name === "" ? "Name an action: create or list." : `There is no action "project ${name}".`,
      );
    await withCatalog((opened) => action(opened, rest));
    return 0;
  },
};

const actions: Readonly<Record<string, Action>> = {
  async create({ keys, settings, ...services }, words) {
    expectWords(words, 1, "The name of the project is missing.");
    const urlName = words[0]!.normalize("NFC");
    if (!isProjectName(urlName))
      throw new Misused(`"${urlName}" is not a project name: use ${described.MILLRACE_PROJECT.expected}.`);
    const made = await ensureProject(services, urlName);
    if (!made.isNew)
      throw new StartRefused(
        `The project ${urlName} exists already; for a new key: millrace key create --project ${urlName}`,
      );
    const operation = { action: "millrace project create", resource: "project", ids: [urlName] } as const;
    const opened = { ...services, settings };
    // A project has its log once it exists, so this record follows.
    await audited(opened, made.project, { kind: "settings", ...operation }, async () => undefined);
    const { key } = await audited(opened, made.project, { kind: "keys", ...operation }, async (note) => {
      const created = await keys.create(made.project, "administrator");
      note(created.id);
      return created;
    });
    console.log(`Project ${urlName} is created. Its administrator's API key, shown this once:\n\n  ${key}\n`);
  },

  async list({ catalog }, words) {
    expectWords(words, 0, "");
    const projects = await catalog.read("system", allProjects);
    printTable([
      ["id", "created", "project", "name"],
      ...projects.map(({ id, createdTime, urlName, name }) => [
        id,
        new Date(createdTime).toISOString(),
        urlName,
        name,
      ]),
    ]);
  },
};
