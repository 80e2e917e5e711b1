// `millrace key`: makes, lists and revokes API keys, also while a server runs on the same data folder.
import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import type { KeyProject, Keyring } from "../access/keys.ts";
import { accessOf, openCatalog } from "../app.ts";
import { readSettings } from "../config.ts";
import { catalogFileOf, StartRefused, secretOf } from "../data-folder.ts";
import { IdSource } from "../lib/ids.ts";
import { realWorld as world } from "../lib/world.ts";
import { byUrlName } from "../resources/projects/projects.ts";
import { type Command, Misused } from "./command.ts";

const options = { label: { type: "string" }, project: { type: "string" } } as const;

type Words = readonly string[];
type Action = (keys: Keyring, project: KeyProject, given: { words: Words; label: string }) => Promise<void>;

export const key: Command = {
  usage: `Usage: millrace key create [--label TEXT] [--project NAME]
       millrace key list [--project NAME]
       millrace key revoke <id> [--project NAME]

A key gives full rights in one project: that of --project, else of MILLRACE_PROJECT, else "default".
It is shown when it is created, and never again. A running server knows of changes within a second.
The data folder is that of MILLRACE_DATA, else ./millrace-data.`,
  async run(words) {
    const { positionals, values } = parseArgs({ args: [...words], options, allowPositionals: true });
    const [name = "", ...rest] = positionals;
    const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
    if (!action) throw new Misused(name === "" ? "What should be done?" : `There is no "key ${name}".`);
    await withKeys(values.project, (keys, project) =>
      action(keys, project, { words: rest, label: values.label ?? "made on the command line" }),
    );
    return 0;
  },
};

const actions: Readonly<Record<string, Action>> = {
  async create(keys, project, { words, label }) {
    expectWords(words, 0);
    const made = await keys.create(project, label);
    console.log(`Key ${made.id} of project ${project.urlName}, shown this once:\n\n  ${made.key}\n`);
  },

  async list(keys, project, { words }) {
    expectWords(words, 0);
    const line = (id: string | number, created: string, label: string) =>
      console.log(`${String(id).padEnd(16)}  ${created.padEnd(24)}  ${label}`);
    line("id", "created", "label");
    for (const { id, name, createdTime } of await keys.list(project))
      line(id, new Date(createdTime).toISOString(), name);
  },

  async revoke(keys, project, { words }) {
    expectWords(words, 1);
    const known = (await keys.list(project)).find(({ id }) => String(id) === words[0]);
    if (!known) throw new StartRefused(`The project ${project.urlName} has no key ${words[0]}`);
    await keys.revoke(known.id);
    console.log(`Key ${known.id} (${known.name}) is revoked.`);
  },
};

function expectWords(words: Words, count: number): void {
  if (words.length < count) throw new Misused("The id of the key is missing; see: millrace key list");
  if (words.length > count) throw new Misused(`"${words[count]}" is one word too many.`);
}

/** Opens the catalog beside a server that may be running on it. */
async function withKeys(
  projectName: string | undefined,
  work: (keys: Keyring, project: KeyProject) => Promise<void>,
): Promise<void> {
  const settings = readSettings(process.env, process.cwd());
  const urlName = projectName?.normalize("NFC") ?? settings.project;
  if (!existsSync(catalogFileOf(settings.data)))
    throw new StartRefused(`${settings.data} is no data folder (MILLRACE_DATA); the first start makes it`);
  const catalog = await openCatalog(settings.data, world);
  try {
    const project = await catalog.read("system", (tx) => byUrlName(tx, urlName));
    if (!project) throw new StartRefused(`There is no project ${urlName} in ${settings.data}`);
    const ids = new IdSource(world, await catalog.lastId());
    await work(accessOf({ catalog, ids, world }, secretOf(settings.data, world)).keys, project);
  } finally {
    await catalog.close();
  }
}
